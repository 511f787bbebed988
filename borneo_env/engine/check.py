"""Whether records are games that can be: for files from strangers, for records written by hand, and for tests.

The compiled rules trust their records, so what comes from elsewhere is checked here first: the range of every field,
that all counts agree with where the cards lie, and that the decision being asked for can have come about. What passes
can be played to its end, and passes again after every move.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.jit import attributes
from borneo_env.engine.loops import first_stuck
from borneo_env.engine.rules.contracts import AMOUNT, OF_ONE_SPICE
from borneo_env.engine.state import (
    AT_PORT,
    ATTACK,
    CARDS,
    CLOCK_MAX,
    COMMIT,
    CONTESTS_DEFENDED,
    CONTESTS_STARTED,
    CONTESTS_WON,
    DEFENCE,
    DEFEND,
    DISCARD,
    DROP,
    FIELDS,
    FIRST_HAND,
    GAME,
    HAND,
    HAND_LIMIT,
    HAND_ROOM,
    KEEP,
    LAST_CONTRACT,
    MONOPOLIES,
    N_COMPANIES,
    N_SPICES,
    NO_CARD,
    NOBODY,
    OPEN_PORTS,
    OUT,
    OVER,
    PAY,
    PILE,
    PLACE,
    SEATS,
    SHARED,
    SHIP,
    TAKE,
    THINGS,
    TRANSFERS,
    UNSEEN,
    WAREHOUSE,
    YIELD,
    copy_games,
    make_box,
)
from borneo_env.ruleset import Ruleset

Wrong = tuple[str, NDArray[np.bool_]]  # a statement that should hold, and where it does not

AT_A_TIME = 4096  # games; more would only need more memory
EVENTS_PER_TURN = 6  # what the clock counts: a keep, a card laid and later taken, a port taken, two shuffles


class BrokenGame(ValueError):
    """A record that no game can have come to."""


def check_games(ruleset: Ruleset, games: NDArray[np.void]) -> None:
    """Raise BrokenGame, naming the game and what is wrong, unless all complete games are consistent.

    Whatever passes can be played to its end, and passes after every move.
    """
    check_type(games)
    for first in range(0, len(games), AT_A_TIME):
        some = games[first : first + AT_A_TIME]
        _raise_first(_wrongs(ruleset, some), first)
        room = np.empty(MAX_OPTIONS, np.int16)
        stuck = first_stuck(attributes(make_box(ruleset)), attributes(copy_games(some)), room)  # type: ignore[no-untyped-call]  # compiled
        if stuck >= 0:
            raise BrokenGame(f"game {first + stuck}: not true: a game without a legal move is over")


def check_readable(ruleset: Ruleset, games: NDArray[np.void]) -> None:
    """Raise BrokenGame unless all games, complete or redacted, are such that they can be looked at."""
    check_type(games)
    _raise_first(_ranges(games), 0)
    _raise_first(_readable(make_box(ruleset)[0], games), 0)


def check_type(games: NDArray[np.void]) -> None:
    """Raise BrokenGame unless these are records of this version's games."""
    if not isinstance(games, np.ndarray) or games.dtype != GAME or games.ndim != 1:
        raise BrokenGame("the records have other fields than this version's games")


def _raise_first(wrongs: Iterator[Wrong], first: int) -> None:
    for statement, wrong in wrongs:
        if wrong.any():
            raise BrokenGame(f"game {first + int(np.argmax(wrong))}: not true: {statement}")


def _wrongs(ruleset: Ruleset, games: NDArray[np.void]) -> Iterator[Wrong]:
    """Later checks rely on earlier ones: first the ranges, so that indexing is safe."""
    yield from _ranges(games)
    box = make_box(ruleset)[0]
    yield from _readable(box, games)
    yield from _cards(ruleset, box, games)
    yield from _piles(games)
    yield from _ports(box, games)
    yield from _warehouses(ruleset, box, games)
    yield from _ladders(ruleset, box, games)
    yield from _decision(ruleset, games)
    yield from _hands(ruleset, games)
    yield from _payment(games)
    yield from _contest(box, games)
    yield from _distribution(games)
    yield from _past(box, games)
    yield "the right player decides", games["player"] != _decider(ruleset, games)


def _somewhere(wrong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Per game: whether it is wrong at any of the further axes."""
    return np.asarray(wrong.any(axis=tuple(range(1, wrong.ndim))))


def _limits() -> tuple[np.dtype[np.void], list[tuple[str, NDArray[Any], NDArray[Any]]]]:
    """The record as one array for each stretch of fields of a type, and the limits of each array: quick to compare."""
    arrays: list[tuple[str, str, tuple[int, ...]]] = []
    limits: list[tuple[str, NDArray[Any], NDArray[Any]]] = []
    for dtype, fields in groupby(FIELDS, key=lambda field: field.dtype):
        stretch = list(fields)
        sizes = [math.prod(field.shape) for field in stretch]
        low = np.repeat(np.array([field.low for field in stretch], dtype), sizes)
        high = np.repeat(np.array([field.high for field in stretch], dtype), sizes)
        name = f"from {stretch[0].name} to {stretch[-1].name}"
        arrays.append((name, dtype, low.shape))
        limits.append((name, low, high))
    return np.dtype(arrays), limits


STRETCHES, LIMITS = _limits()


def _ranges(games: NDArray[np.void]) -> Iterator[Wrong]:
    stretches = games.view(STRETCHES)
    if all((stretches[name] >= low).all() and (stretches[name] <= high).all() for name, low, high in LIMITS):
        return
    for field in FIELDS:
        values = games[field.name]
        statement = f"{field.name} is from {field.low} to {field.high}"
        yield statement, _somewhere((values < field.low) | (values > field.high))


def _readable(box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    """What must hold beside the ranges, so that nobody who looks at a game reads or writes outside of it."""
    yield "a ladder is not too long", _somewhere(games["height"] > box["slots"])
    take = games["phase"] == TAKE
    yield "a port is shared in the phase take", (games["sharing_port"] >= 0) != take
    yield "somebody shares", take & ((games["sharer"] < 0) | (games["sharer"] >= games["n_sharers"]))
    height = games["height"][np.arange(len(games)), _sharing_company(games)]
    yield "a trader that stands chooses", take & (games["sharing_rank"] >= height)


def _cards(ruleset: Ruleset, box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    place, since = games["place"], games["since"]
    cards, ports = place[:, :CARDS], place[:, CARDS:]
    yield "no thing is unseen in a complete game", _somewhere(place == UNSEEN)
    yield "cargo cards are in the game", _somewhere(cards == OUT)
    yield "things that are not in play lie outside", _somewhere(ports[:, int(box["ports"]) :] != OUT)
    yield "only cargo cards are in hands", _somewhere((ports >= HAND) & (ports < WAREHOUSE))
    yield "only cargo cards are discarded or played", _somewhere(np.isin(ports, (DISCARD, ATTACK, DEFENCE)))
    held = cards[:, None] == (HAND + np.arange(SEATS))[:, None]
    yield "hand_size counts the cards in hands", _somewhere(held.sum(2) != games["hand_size"])
    yield "only players have hands", _somewhere(games["hand_size"][:, ruleset.players :] > 0)
    piles = np.sort(np.where(held, since[:, None, :CARDS], CLOCK_MAX + 1), 2)[..., :HAND_ROOM]
    piles = np.where(piles > CLOCK_MAX, -1, piles)
    yield "hand_since tells the piles of the hand cards", _somewhere(piles != games["hand_since"])
    yield "the clock is not behind a card", games["clock"] < np.maximum(since.max(1), games["pile_since"])
    newest_held = games["hand_since"].max((1, 2))
    yield "hands were drawn from this pile or older ones", newest_held > games["pile_since"]
    newest = since[:, :CARDS] == games["pile_since"][:, None]
    yield "the draw pile is of one shuffle", _somewhere((cards == PILE) & ~newest)
    unseen = (newest & ((cards == PILE) | held.any(1))).sum(1)
    yield "the draw pile was not smaller than what is unseen of it", unseen > games["draw_size"]
    first = games["pile_since"] == 0
    yield "the first draw pile has all cards", first & (games["draw_size"] != CARDS)
    at_port = (cards >= AT_PORT) & (cards < HAND)
    yield "only cards at ports have an order", _somewhere((games["order"][:, :CARDS] > 0) != at_port)
    yield "ports have no order", _somewhere(games["order"][:, CARDS:] > 0)
    yield from _arrivals(place, since)


def _arrivals(place: NDArray[np.int8], since: NDArray[np.int16]) -> Iterator[Wrong]:
    """One thing after the other came to the table."""
    lying = (place >= WAREHOUSE) | ((place >= AT_PORT) & (place < HAND))
    lying[:, CARDS:] &= place[:, CARDS:] >= WAREHOUSE  # open ports have no time
    yield "what lies on the table came there", _somewhere(lying & (since == 0))
    times = np.sort(np.where(lying, since, -np.arange(1, THINGS + 1, dtype=np.int16)), 1)
    yield "things came to the table one after the other", _somewhere(times[:, 1:] == times[:, :-1])


def _piles(games: NDArray[np.void]) -> Iterator[Wrong]:
    piles = (("draw", "draw_left", slice(0, CARDS)), ("port_pile", "ports_left", slice(CARDS, THINGS)))
    for pile, left, things in piles:
        lying = games["place"][:, things] == PILE
        listed = np.zeros_like(lying)
        in_pile = np.arange(games[pile].shape[1]) < games[left][:, None]
        game, spot = np.nonzero(in_pile)
        thing = games[pile][game, spot].astype(int) - things.start
        yield f"{pile} lists things of its kind", np.isin(np.arange(len(games)), game[thing < 0])
        listed[game, thing] = True
        counted = lying.sum(1) == games[left]
        yield f"{pile} lists the {left} things that lie in it", _somewhere(listed != lying) | ~counted
    yield "the draw pile has not grown", games["draw_left"] > games["draw_size"]


def _ports(box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    everywhere, ended = np.arange(len(games)), games["ended"] == 1
    bottom = np.eye(N_COMPANIES, dtype=int)[box["flags_of"][:, 3]]
    for k in range(OPEN_PORTS):
        cards = games["place"][:, :CARDS] == AT_PORT + k
        yield f"laid counts the cards at port {k}", cards.sum(1) != games["laid"][:, k]
        opened = games["place"][:, CARDS:] == AT_PORT + k
        port = games["open"][:, k].astype(int)
        shut = port == NO_CARD
        yield f"port {k} is a port that lies there", ~shut & ((port < CARDS) | (opened.sum(1) != 1))
        yield f"port {k} is the port that lies there", ~shut & (games["place"][everywhere, port] != AT_PORT + k)
        yield f"no port lies at port {k} while it is shut", shut & opened.any(1)
        yield (
            f"port {k} is shut while it is shared, or for want of another at the end",
            np.where(ended, shut & (games["ports_left"] > 0), shut != (games["sharing_port"] == k)),
        )
        since = np.where(cards, games["since"][:, :CARDS], CLOCK_MAX + 1)
        order = np.where(cards, since.argsort(1).argsort(1) + 1, 0)
        lowest = np.where(~shut & cards.any(1), order.argmax(1), NO_CARD)
        yield f"lowest is the last card at port {k}", games["lowest"][:, k] != lowest
        played = np.where(cards, games["order"][:, :CARDS], CARDS + 1)
        yield f"order is the order of play at port {k}", _somewhere(cards & (played.argsort(1).argsort(1) + 1 != order))
        yield f"order counts the cards at port {k}", ~shut & (np.where(cards, played, 0).max(1) != games["laid"][:, k])
        whole = np.where(lowest < 0, 0, 1)[:, None] * bottom[lowest]
        shown = np.where(shut[:, None], 0, cards @ (box["strength"] - bottom) + whole)
        yield f"shown counts the visible flags at port {k}", _somewhere(shown != games["shown"][:, k])
        yield f"port {k} is not full yet", ~shut & (games["laid"][:, k] >= box["limit"][port])
        yield f"nobody has the monopoly of port {k} yet", ~shut & (shown.max(1) >= box["monopoly"][port])


def _warehouses(ruleset: Ruleset, box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    game, thing = np.nonzero(games["place"] >= WAREHOUSE)
    where = (game, games["place"][game, thing] - WAREHOUSE, box["spice_of"][thing], box["size_of"][thing])
    shape = games["stock"].shape
    stock = np.bincount(np.ravel_multi_index(where, shape), minlength=games["stock"].size).reshape(shape)
    yield "stock counts the things in warehouses", _somewhere(stock != games["stock"])
    yield "only players have warehouses", _somewhere(stock[:, ruleset.players :] > 0)
    made = games["fulfilled"].sum(1, dtype=int) + games["supply"]
    total = ruleset.tables.supply_in_play(ruleset.players)
    yield "contracts are in supply or fulfilled", _somewhere(made != np.array(total))
    yield "only players have contracts", _somewhere(games["fulfilled"][:, ruleset.players :] > 0)
    yield "the pirate ship sails in Blackbeard's secret only", (games["pirates"] != NOBODY) & (not ruleset.blackbeard)


def _ladders(ruleset: Ruleset, box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    ladder, height, placed = games["ladder"], games["height"], games["placed"].astype(int)
    standing = np.arange(ladder.shape[2]) < height[..., None]
    yield "ladders have no gaps", _somewhere((ladder >= 0) != standing)
    yield "traders belong to players", _somewhere(ladder >= ruleset.players)
    traders = np.stack([(ladder == p).sum((1, 2)) for p in range(ruleset.players)], 1)
    yield "placed counts the traders", traders.sum(1) != placed
    placing = games["phase"] == PLACE
    all_stand = placed >= ruleset.players * ruleset.traders
    yield "placing ends when all traders stand", placing == all_stand
    seats = np.arange(placed.max(initial=0))
    placers = _placing_player(ruleset, games["start"][:, None], seats)
    due = np.stack([((placers == p) & (seats < placed[:, None])).sum(1) for p in range(ruleset.players)], 1)
    yield "everybody has placed as many traders as the order of placing says", _somewhere(traders != due)
    behind_own = (ladder[..., 1:] == ladder[..., :-1]) & standing[..., 1:]
    yield (
        "nobody places a trader behind an own one in the card edition",
        placing & _somewhere(behind_own) & bool(box["card_edition"]),
    )


def _placing_player(ruleset: Ruleset, start: NDArray[np.int8], placed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Who places when so many traders have been placed (R1.6)."""
    players = ruleset.players
    rounds, seat = placed // players, placed % players
    placing: NDArray[np.int64] = (start.astype(int) + np.where(rounds % 2 == 1, players - 1 - seat, seat)) % players
    return placing


def _decision(ruleset: Ruleset, games: NDArray[np.void]) -> Iterator[Wrong]:
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
    yield "the cards at the ports are discarded at the end", ended & _somewhere(games["laid"] > 0)
    yield "the start player has the turn while placing", (phase == PLACE) & (games["turn"] != games["start"])


def _hands(ruleset: Ruleset, games: NDArray[np.void]) -> Iterator[Wrong]:
    """How many cards players can hold in each phase (R1.1, R4.5, R8.2, R8.4)."""
    phase, ended = games["phase"], games["ended"] == 1
    sizes = games["hand_size"][:, : ruleset.players]
    yield "hands are discarded at the end", ended & _somewhere(sizes > 0)
    yield "three cards are dealt to each hand", (phase == PLACE) & _somewhere(sizes != FIRST_HAND)
    everybody = np.arange(ruleset.players)
    of_turn, of_player = everybody == games["turn"][:, None], everybody == games["player"][:, None]
    least = np.where(of_turn & (phase == TAKE)[:, None], 0, 1)
    least[of_turn & (phase == DROP)[:, None]] = HAND_LIMIT + 1
    yield "nobody is without cards who will need one", ~ended & _somewhere(sizes < least)
    most = np.full(sizes.shape, HAND_LIMIT)
    most[of_turn & (phase == DROP)[:, None]] = HAND_LIMIT + 1
    most[of_turn & (phase == TAKE)[:, None]] = HAND_LIMIT - 1  # one has been laid at the port
    contest = np.isin(phase, (COMMIT, DEFEND, KEEP, YIELD))[:, None]
    most -= np.where(contest & of_turn, games["attack_cards"][:, None], 0)
    defender = of_player & np.isin(phase, (DEFEND, KEEP, YIELD))[:, None]
    most -= np.where(defender, games["defence_cards"][:, None], 0)
    yield "no hand is too full", ~ended & _somewhere(sizes > most)


def _payment(games: NDArray[np.void]) -> Iterator[Wrong]:
    kind, owed, pay = games["contract"], games["owed"], games["phase"] == PAY
    yield "a contract is paid in its phase", (kind == -1) == pay
    yield "spices are owed in the phase pay", (owed.sum(1) > 0) != pay
    everywhere = np.arange(len(games))
    yield "the contract that is paid is in supply", pay & (games["supply"][everywhere, kind] == 0)
    amount, first = np.array(AMOUNT)[kind], (owed > 0).argmax(1)
    yield "not more is owed than the contract asks for", pay & (owed.max(1) > amount)
    later = np.arange(N_SPICES) > first[:, None]
    rest = np.where(np.array(OF_ONE_SPICE)[kind], 0, amount)[:, None]
    yield "spices are paid in their order", pay & _somewhere(later & (owed != rest))


def _contest(box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
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
        yield f"cards of the {name} show a flag of the company", lying & _somewhere(cards & (strengths == 0))
        yield f"strength counts the flags of the {name}", lying & ((cards * strengths).sum(1) != strength)
        last = np.where(cards, np.arange(CARDS), NO_CARD).max(1)
        yield "last_played is the last card played", (phase == played) & (games["last_played"] != last)
    yield "an attack has cards", contest & (phase != COMMIT) & (games["attack_cards"] == 0)
    yield "nobody defends with more cards than attack", contest & (games["defence_cards"] > games["attack_cards"])
    yield "nobody defends before the attack", (phase == COMMIT) & (games["defence_cards"] > 0)


def _distribution(games: NDArray[np.void]) -> Iterator[Wrong]:
    everywhere, take = np.arange(len(games)), games["phase"] == TAKE
    yield "a company shares only while a port is shared", ~take & (games["sharer"] >= 0)
    yield "cards are left to choose from", take & (games["laid"][everywhere, games["sharing_port"]] == 0)
    sharers, many = games["sharers"], games["n_sharers"]
    sharing = np.arange(N_COMPANIES) < many[:, None]
    times = ((sharers[:, :, None] == np.arange(N_COMPANIES)) & sharing[:, :, None]).sum(1)
    yield "different companies share", take & _somewhere(times > 1)
    alone = (many == 1) & (sharers[:, 0] == games["monopoly"])
    yield "who has the monopoly shares alone", take & (games["monopoly"] != NOBODY) & ~alone


def _past(box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    """What is counted of the game so far is no more than can have happened.

    Every turn lays a card, and no port takes more than its limit: so many turns at most have been taken.
    """
    phase, tally = games["phase"], games["tally"].astype(int)
    yield "only players have done something", _somewhere(tally[:, int(box["players"]) :] > 0)
    done = tally.sum(1)
    shut = int(box["ports"]) - games["ports_left"] - (games["open"] >= 0).sum(1)
    yield "no more ports were shared out than are gone", done[:, MONOPOLIES] + done[:, SHARED] > shut
    undecided = np.isin(phase, (COMMIT, DEFEND))
    decided = done[:, CONTESTS_WON] + done[:, CONTESTS_DEFENDED]
    yield "no more contests were decided than started", decided > done[:, CONTESTS_STARTED] - undecided
    attacking = undecided[:, None] & (np.arange(SEATS) == games["turn"][:, None])
    beaten = tally[:, :, CONTESTS_WON] > tally[:, :, CONTESTS_STARTED] - attacking
    yield "nobody has won more contests than started", _somewhere(beaten)
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


def _sharing_company(games: NDArray[np.void]) -> NDArray[np.int8]:
    company: NDArray[np.int8] = games["sharers"][np.arange(len(games)), np.maximum(games["sharer"], 0)]
    return company


def _trader(games: NDArray[np.void], company: NDArray[np.int8], rank: NDArray[np.int8]) -> NDArray[np.int8]:
    """Whose trader stands there."""
    player: NDArray[np.int8] = games["ladder"][np.arange(len(games)), np.maximum(company, 0), rank]
    return player


def _decider(ruleset: Ruleset, games: NDArray[np.void]) -> NDArray[np.int64]:
    """Who should decide, by the phase."""
    players, phase = ruleset.players, games["phase"]
    last = (games["turn"].astype(int) + 1 + games["finished"]) % players
    company, upper, lower = games["company"], games["defender_rank"], games["attacker_rank"]
    cases = [
        (phase == OVER, np.full(len(games), NOBODY)),
        (phase == PLACE, _placing_player(ruleset, games["start"], games["placed"].astype(int))),
        (games["ended"] == 1, last),
        (np.isin(phase, (DEFEND, KEEP)), _trader(games, company, upper)),
        (phase == YIELD, _trader(games, company, lower)),
        (phase == TAKE, _trader(games, _sharing_company(games), games["sharing_rank"])),
    ]
    return np.select([where for where, _ in cases], [who for _, who in cases], games["turn"])
