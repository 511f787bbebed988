"""Whether the decision that a game asks for can have come about."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.check_cards import Wrong, placing_player, somewhere
from borneo_env.engine.state import (
    AMOUNT,
    ATTACK,
    CARDS,
    COMMIT,
    CONTESTS_DEFENDED,
    CONTESTS_STARTED,
    CONTESTS_WON,
    DEFENCE,
    DEFEND,
    DROP,
    FIRST_HAND,
    HAND_LIMIT,
    KEEP,
    LAST_CONTRACT,
    MONOPOLIES,
    N_COMPANIES,
    N_SPICES,
    NO_CARD,
    NOBODY,
    OF_ONE_SPICE,
    OVER,
    PAY,
    PILE,
    PLACE,
    SEATS,
    SHARED,
    SHIP,
    TAKE,
    TRANSFERS,
    YIELD,
)
from borneo_env.ruleset import Ruleset

EVENTS_PER_TURN = 6  # what the clock counts: a keep, a card laid and later taken, a port taken, two shuffles


def wrong_decisions(ruleset: Ruleset, games: NDArray[np.void]) -> Iterator[Wrong]:
    phase, ended = games["phase"], games["ended"] == 1
    for name in ("player", "turn", "start", "pirates"):
        yield f"{name} is a player", games[name] >= ruleset.players
    yield "somebody decides until the end", (games["player"] == NOBODY) != (phase == OVER)
    yield (
        "only last contracts follow the end",
        ended != (np.isin(phase, (LAST_CONTRACT, OVER)) | (ended & (phase == PAY))),
    )
    yield "nobody has two last contracts", games["finished"] > ruleset.players
    yield "the game is over after all last contracts", (phase == OVER) != (games["finished"] == ruleset.players)
    yield "last contracts come at the end", (games["finished"] > 0) & ~ended
    shut = (games["open"] == NO_CARD).sum(1)
    wanting = (shut == 1) | ((shut == 0) & (games["draw_left"] == 0))
    yield "the game ends for want of a port or of cards to draw", ended & ~wanting
    yield "the cards at the ports are discarded at the end", ended & somewhere(games["laid"] > 0)
    yield "the start player has the turn while placing", (phase == PLACE) & (games["turn"] != games["start"])


def wrong_hands(ruleset: Ruleset, games: NDArray[np.void]) -> Iterator[Wrong]:
    """How many cards players can hold in each phase (R1.1, R4.5, R8.2, R8.4)."""
    phase, ended = games["phase"], games["ended"] == 1
    sizes = games["hand_size"][:, : ruleset.players]
    yield "hands are discarded at the end", ended & somewhere(sizes > 0)
    yield "three cards are dealt to each hand", (phase == PLACE) & somewhere(sizes != FIRST_HAND)
    everybody = np.arange(ruleset.players)
    of_turn, of_player = everybody == games["turn"][:, None], everybody == games["player"][:, None]
    least = np.where(of_turn & (phase == TAKE)[:, None], 0, 1)
    least[of_turn & (phase == DROP)[:, None]] = HAND_LIMIT + 1
    yield "nobody is without cards who will need one", ~ended & somewhere(sizes < least)
    most = np.full(sizes.shape, HAND_LIMIT)
    most[of_turn & (phase == DROP)[:, None]] = HAND_LIMIT + 1
    most[of_turn & (phase == TAKE)[:, None]] = HAND_LIMIT - 1  # one has been laid at the port
    contest = np.isin(phase, (COMMIT, DEFEND, KEEP, YIELD))[:, None]
    most -= np.where(contest & of_turn, games["attack_cards"][:, None], 0)
    defender = of_player & np.isin(phase, (DEFEND, KEEP, YIELD))[:, None]
    most -= np.where(defender, games["defence_cards"][:, None], 0)
    yield "no hand is too full", ~ended & somewhere(sizes > most)


def wrong_payments(games: NDArray[np.void]) -> Iterator[Wrong]:
    kind, owed, pay = games["contract"], games["owed"], games["phase"] == PAY
    yield "a contract is paid in its phase", (kind == -1) == pay
    yield "spices are owed in the phase pay", (owed.sum(1) > 0) != pay
    everywhere = np.arange(len(games))
    yield "the contract that is paid is in supply", pay & (games["supply"][everywhere, kind] == 0)
    amount, first = np.array(AMOUNT)[kind], (owed > 0).argmax(1)
    yield "not more is owed than the contract asks for", pay & (owed.max(1) > amount)
    later = np.arange(N_SPICES) > first[:, None]
    rest = np.where(np.array(OF_ONE_SPICE)[kind], 0, amount)[:, None]
    yield "spices are paid in their order", pay & somewhere(later & (owed != rest))


def wrong_contests(box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    phase, company, rank = games["phase"], games["company"], games["attacker_rank"]
    contest = np.isin(phase, (COMMIT, DEFEND, KEEP, YIELD))
    yield "a company is contested in a contest", (company >= 0) != contest
    height = np.take_along_axis(games["height"], np.maximum(company, 0)[:, None], 1)[:, 0]
    standing = (rank < height) & (games["defender_rank"] < rank)
    yield "the contest is between traders that stand", contest & ~standing
    powers = np.uint64(1) << np.arange(CARDS, dtype=np.uint64)
    fighters = ((box["strength"] > 0) * powers[:, None]).sum(0, dtype=np.uint64)
    yield "fighters are the cards of the company", games["fighters"] != np.where(contest, fighters[company], 0)
    upper, lower = _trader(games, company, games["defender_rank"]), _trader(games, company, rank)
    attacker, defender = np.where(phase == YIELD, upper, lower), np.where(phase == YIELD, lower, upper)
    yield "the attacker has the turn", contest & (attacker != games["turn"])
    yield "nobody attacks an own trader", contest & (defender == games["turn"])
    yield from _cards_of_contest(box, games)
    attack, defence = games["strength"].T.astype(int)
    won = attack >= defence + (rank.astype(int) - games["defender_rank"] - 1)
    yield "a beaten defender yields", (phase == YIELD) & ~won
    yield "a defender who won may keep a card", (phase == KEEP) & (won | (games["defence_cards"] == 0))


def _cards_of_contest(box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    phase, place = games["phase"], games["place"][:, :CARDS]
    contest = np.isin(phase, (COMMIT, DEFEND, KEEP, YIELD))
    strengths = box["strength"].T.astype(int)[games["company"]]
    sides = (
        ("attack", ATTACK, (COMMIT, DEFEND), COMMIT),
        ("defence", DEFENCE, (COMMIT, DEFEND, KEEP), DEFEND),
    )
    for i, (name, side, lie, played) in enumerate(sides):
        cards, lying, strength = place == side, np.isin(phase, lie), games["strength"][:, i]
        yield f"cards of the {name} lie out in a contest only", ~lying & cards.any(1)
        yield f"{name}_cards counts the cards played", lying & (cards.sum(1) != games[f"{name}_cards"])
        yield f"cards of the {name} show a flag of the company", lying & somewhere(cards & (strengths == 0))
        yield f"strength counts the flags of the {name}", lying & ((cards * strengths).sum(1) != strength)
        last = np.where(cards, np.arange(CARDS), NO_CARD).max(1)
        yield "last_played is the last card played", (phase == played) & (games["last_played"] != last)
    yield "an attack has cards", contest & (phase != COMMIT) & (games["attack_cards"] == 0)
    yield "nobody defends with more cards than attack", contest & (games["defence_cards"] > games["attack_cards"])
    yield "nobody defends before the attack", (phase == COMMIT) & (games["defence_cards"] > 0)


def wrong_distributions(games: NDArray[np.void]) -> Iterator[Wrong]:
    everywhere, take = np.arange(len(games)), games["phase"] == TAKE
    yield "a company shares only while a port is shared", ~take & (games["sharer"] >= 0)
    yield "cards are left to choose from", take & (games["laid"][everywhere, games["sharing_port"]] == 0)
    sharers, many = games["sharers"], games["n_sharers"]
    sharing = np.arange(N_COMPANIES) < many[:, None]
    times = ((sharers[:, :, None] == np.arange(N_COMPANIES)) & sharing[:, :, None]).sum(1)
    yield "different companies share", take & somewhere(times > 1)
    alone = (many == 1) & (sharers[:, 0] == games["monopoly"])
    yield "who has the monopoly shares alone", take & (games["monopoly"] != NOBODY) & ~alone


def wrong_pasts(box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    """What is counted of the game so far is no more than can have happened.

    Every turn lays a card, and no port takes more than its limit: so many turns at most have been taken.
    """
    phase, tally = games["phase"], games["tally"].astype(int)
    yield "only players have done something", somewhere(tally[:, int(box["players"]) :] > 0)
    done = tally.sum(1)
    shut = int(box["ports"]) - games["ports_left"] - (games["open"] >= 0).sum(1)
    yield "no more ports were shared out than are gone", done[:, MONOPOLIES] + done[:, SHARED] > shut
    undecided = np.isin(phase, (COMMIT, DEFEND))
    decided = done[:, CONTESTS_WON] + done[:, CONTESTS_DEFENDED]
    yield "no more contests were decided than started", decided > done[:, CONTESTS_STARTED] - undecided
    attacking = undecided[:, None] & (np.arange(SEATS) == games["turn"][:, None])
    beaten = tally[:, :, CONTESTS_WON] > tally[:, :, CONTESTS_STARTED] - attacking
    yield "nobody has won more contests than started", somewhere(beaten)
    room = np.where(games["open"] >= 0, box["limit"][games["open"]] - games["laid"], 0).sum(1)
    piled = np.where(games["place"] == PILE, box["limit"], 0).sum(1)
    turns = box["limit"].sum() - room - piled
    at_end, traders_done = games["ended"] == 1, np.isin(phase, (COMMIT, DEFEND, KEEP, YIELD, SHIP))
    yield (
        "no more was done with traders than there were turns",
        ~at_end & (done[:, TRANSFERS] + done[:, CONTESTS_STARTED] > turns + traders_done),
    )
    to_come = np.where(phase == TAKE, 2, np.where(phase == SHIP, -1, 0))  # shuffles; a card kept before
    events = EVENTS_PER_TURN * turns - games["laid"].sum(1) - to_come
    yield "the clock has not counted more than happened", ~at_end & (games["clock"] > events)


def sharing_company(games: NDArray[np.void]) -> NDArray[np.int8]:
    company: NDArray[np.int8] = games["sharers"][np.arange(len(games)), np.maximum(games["sharer"], 0)]
    return company


def _trader(games: NDArray[np.void], company: NDArray[np.int8], rank: NDArray[np.int8]) -> NDArray[np.int8]:
    """Whose trader stands there."""
    player: NDArray[np.int8] = games["ladder"][np.arange(len(games)), np.maximum(company, 0), rank]
    return player


def decider(ruleset: Ruleset, games: NDArray[np.void]) -> NDArray[np.int64]:
    """Who should decide, by the phase."""
    players, phase = ruleset.players, games["phase"]
    last = (games["turn"].astype(int) + 1 + games["finished"]) % players
    company, upper, lower = games["company"], games["defender_rank"], games["attacker_rank"]
    cases = [
        (phase == OVER, np.full(len(games), NOBODY)),
        (phase == PLACE, placing_player(ruleset, games["start"], games["placed"].astype(int))),
        (games["ended"] == 1, last),
        (np.isin(phase, (DEFEND, KEEP)), _trader(games, company, upper)),
        (phase == YIELD, _trader(games, company, lower)),
        (phase == TAKE, _trader(games, sharing_company(games), games["sharing_rank"])),
    ]
    return np.select([where for where, _ in cases], [who for _, who in cases], games["turn"])
