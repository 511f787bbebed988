"""Whether records are games that can be: for files from strangers, and for tests.

The compiled rules trust their records, so what comes from a file is checked here first: the range of every field, and
that all counts agree with where the cards lie.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.state import (
    AT_PORT,
    ATTACK,
    CARDS,
    CLOCK_MAX,
    COMMIT,
    DEFENCE,
    DEFEND,
    FIELDS,
    GAME,
    HAND,
    HAND_ROOM,
    KEEP,
    LAST_CONTRACT,
    N_COMPANIES,
    NO_CARD,
    NOBODY,
    OPEN_PORTS,
    OUT,
    OVER,
    PAY,
    PILE,
    PLACE,
    SEATS,
    TAKE,
    THINGS,
    UNSEEN,
    WAREHOUSE,
    YIELD,
    make_box,
)
from borneo_env.ruleset import Ruleset

Wrong = tuple[str, NDArray[np.bool_]]  # a statement that should hold, and where it does not


class BrokenGame(ValueError):
    """A record that no game can have come to."""


def check_games(ruleset: Ruleset, games: NDArray[np.void]) -> None:
    """Raise BrokenGame, naming the game and what is wrong, unless all complete games are consistent."""
    if games.dtype != GAME:
        raise BrokenGame("the records have other fields than this version's games")
    for statement, wrong in _wrongs(ruleset, games):
        if wrong.any():
            raise BrokenGame(f"game {int(np.argmax(wrong))}: not true: {statement}")


def _wrongs(ruleset: Ruleset, games: NDArray[np.void]) -> Iterator[Wrong]:
    """Later checks rely on earlier ones: first the ranges, so that indexing is safe."""
    yield from _ranges(games)
    box = make_box(ruleset)[0]
    yield from _cards(ruleset, box, games)
    yield from _piles(games)
    yield from _elsewhere(games)
    yield from _ports(box, games)
    yield from _warehouses(ruleset, box, games)
    yield from _ladders(ruleset, box, games)
    yield from _decision(ruleset, box, games)


def _somewhere(wrong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Per game: whether it is wrong at any of the further axes."""
    return np.asarray(wrong.reshape(len(wrong), -1).any(axis=1))


def _ranges(games: NDArray[np.void]) -> Iterator[Wrong]:
    for field in FIELDS:
        values = games[field.name]
        statement = f"{field.name} is from {field.low} to {field.high}"
        yield statement, _somewhere((values < field.low) | (values > field.high))


def _cards(ruleset: Ruleset, box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    place, n_ports = games["place"], int(box["ports"])
    yield "no thing is unseen in a complete game", _somewhere(place == UNSEEN)
    yield "cargo cards are in the game", _somewhere(place[:, :CARDS] == OUT)
    yield "things that are not in play lie outside", _somewhere(place[:, CARDS + n_ports :] != OUT)
    in_hands = np.stack([(place == HAND + p).sum(1) for p in range(SEATS)], 1)
    yield "only cargo cards are in hands", _somewhere((place[:, CARDS:] >= HAND) & (place[:, CARDS:] < WAREHOUSE))
    yield "hand_size counts the cards in hands", _somewhere(in_hands != games["hand_size"])
    yield "only players have hands", _somewhere(in_hands[:, ruleset.players :] > 0)
    since = np.full((len(games), SEATS, HAND_ROOM), -1, np.int16)
    for game, player in np.argwhere(in_hands > 0):
        mine = np.sort(games["since"][game, place[game] == HAND + player])
        since[game, player, : len(mine)] = mine
    yield "hand_since tells the piles of the hand cards", _somewhere(since != games["hand_since"])
    yield "the clock is not behind a card", games["clock"] < games["since"].max(1)


def _elsewhere(games: NDArray[np.void]) -> Iterator[Wrong]:
    at_port = (games["place"] >= AT_PORT) & (games["place"] < HAND)
    at_port[:, CARDS:] = False
    yield "only cards at ports have an order", _somewhere((games["order"] > 0) != at_port)


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
    everywhere = np.arange(len(games))
    for k in range(OPEN_PORTS):
        cards = games["place"][:, :CARDS] == AT_PORT + k
        yield f"laid counts the cards at port {k}", cards.sum(1) != games["laid"][:, k]
        opened = games["place"][:, CARDS:] == AT_PORT + k
        port = games["open"][:, k].astype(int)
        shut = port == NO_CARD
        yield f"port {k} is a port that lies there", ~shut & ((port < CARDS) | (opened.sum(1) != 1))
        yield f"port {k} is the port that lies there", ~shut & (games["place"][everywhere, port] != AT_PORT + k)
        yield (
            f"port {k} is shut only while it is shared, or at the end",
            shut & (opened.any(1) | ((games["sharing_port"] != k) & (games["ended"] == 0))),
        )
        latest = np.where(cards, games["since"][:, :CARDS], -1).argmax(1)
        lowest = np.where(~shut & cards.any(1), latest, NO_CARD)
        yield f"lowest is the last card at port {k}", games["lowest"][:, k] != lowest
        since = np.where(cards, games["since"][:, :CARDS], CLOCK_MAX + 1)
        order = np.where(cards, since.argsort(1).argsort(1) + 1, 0)
        yield (
            f"order is the order of play at port {k}",
            ~shut & _somewhere(cards & (order != games["order"][:, :CARDS])),
        )
        visible = box["strength"].astype(int) - np.eye(N_COMPANIES, dtype=int)[box["flags_of"][:, 3]]
        shown = (
            cards @ visible
            + np.where(lowest < 0, 0, 1)[:, None] * np.eye(N_COMPANIES, dtype=int)[box["flags_of"][lowest, 3]]
        )
        yield (
            f"shown counts the visible flags at port {k}",
            _somewhere(np.where(shut[:, None], 0, shown) != games["shown"][:, k]),
        )


def _warehouses(ruleset: Ruleset, box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    stock = np.zeros_like(games["stock"])
    for game, thing in np.argwhere(games["place"] >= WAREHOUSE):
        stock[game, games["place"][game, thing] - WAREHOUSE, box["spice_of"][thing], box["size_of"][thing]] += 1
    yield "stock counts the things in warehouses", _somewhere(stock != games["stock"])
    yield "only players have warehouses", _somewhere(stock[:, ruleset.players :] > 0)
    made = games["fulfilled"].sum(1, dtype=int) + games["supply"]
    total = ruleset.tables.supply_in_play(ruleset.players)
    yield "contracts are in supply or fulfilled", _somewhere(made != np.array(total))
    yield "the pirate ship sails in Blackbeard's secret only", (games["pirates"] != NOBODY) & (not ruleset.blackbeard)


def _ladders(ruleset: Ruleset, box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    ladder, height = games["ladder"], games["height"]
    standing = np.arange(ladder.shape[2]) < height[..., None]
    yield "ladders have no gaps", _somewhere((ladder >= 0) != standing)
    yield "traders belong to players", _somewhere(ladder >= ruleset.players)
    yield "a ladder is not too long", _somewhere(height > box["slots"])
    traders = np.stack([(ladder == p).sum((1, 2)) for p in range(ruleset.players)], 1)
    yield "placed counts the traders", traders.sum(1) != games["placed"]
    yield "nobody has too many traders", _somewhere(traders > ruleset.traders)
    placing = games["phase"] == PLACE
    yield "placing ends when all traders stand", placing == (games["placed"] == ruleset.players * ruleset.traders)


def _decision(ruleset: Ruleset, box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    phase, ended = games["phase"], games["ended"] == 1
    for name in ("player", "turn", "start", "pirates"):
        yield f"{name} is a player", games[name] >= ruleset.players
    yield "somebody decides until the end", (games["player"] == NOBODY) != (phase == OVER)
    yield (
        "only last contracts follow the end",
        ended != (np.isin(phase, (LAST_CONTRACT, OVER)) | (ended & (phase == PAY))),
    )
    yield "the game is over after all last contracts", (phase == OVER) != (games["finished"] >= ruleset.players)
    yield "last contracts come at the end", (games["finished"] > 0) & ~ended
    yield "the start player has the turn while placing", (phase == PLACE) & (games["turn"] != games["start"])
    yield "a contract is paid in its phase", (games["contract"] == -1) == (phase == PAY)
    yield "spices are owed in the phase pay", (games["owed"].sum(1) > 0) != (phase == PAY)
    yield from _contest(box, games)
    yield from _distribution(games)
    yield "the right player decides", games["player"] != _decider(ruleset, games)


def _contest(box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    phase, company = games["phase"], games["company"]
    contest = np.isin(phase, (COMMIT, DEFEND, KEEP, YIELD))
    yield "a company is contested in a contest", (company >= 0) != contest
    rank = games["attacker_rank"]
    height = np.take_along_axis(games["height"], np.maximum(company, 0)[:, None], 1)[:, 0]
    standing = (rank < height) & (games["defender_rank"] < rank)
    yield "the contest is between traders that stand", contest & ~standing
    powers = np.uint64(1) << np.arange(CARDS, dtype=np.uint64)
    fighters = ((box["strength"] > 0) * powers[:, None]).sum(0, dtype=np.uint64)
    yield "fighters are the cards of the company", games["fighters"] != np.where(contest, fighters[company], 0)
    for cards, side in (("attack_cards", ATTACK), ("defence_cards", DEFENCE)):
        lying = (games["place"] == side).sum(1)
        yield f"{cards} counts the cards played", np.isin(phase, (COMMIT, DEFEND)) & (lying != games[cards])
    top = np.where(phase == YIELD, games["defender_rank"], rank)
    yield "the attacker has the turn", contest & (_trader(games, company, top) != games["turn"])


def _distribution(games: NDArray[np.void]) -> Iterator[Wrong]:
    everywhere, take = np.arange(len(games)), games["phase"] == TAKE
    yield "a port is shared in the phase take", (games["sharing_port"] >= 0) != take
    yield "somebody shares", take & ((games["sharer"] < 0) | (games["sharer"] >= games["n_sharers"]))
    height = games["height"][everywhere, _sharing_company(games)]
    yield "a trader that stands chooses", take & (games["sharing_rank"] >= height)
    yield "cards are left to choose from", take & (games["laid"][everywhere, games["sharing_port"]] == 0)


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
    rounds, seat = games["placed"].astype(int) // players, games["placed"].astype(int) % players
    placing = (games["start"] + np.where(rounds % 2 == 1, players - 1 - seat, seat)) % players
    last = (games["turn"].astype(int) + 1 + games["finished"]) % players
    company, upper, lower = games["company"], games["defender_rank"], games["attacker_rank"]
    cases = [
        (phase == OVER, np.full(len(games), NOBODY)),
        (phase == PLACE, placing),
        (games["ended"] == 1, last),
        (np.isin(phase, (DEFEND, KEEP)), _trader(games, company, upper)),
        (phase == YIELD, _trader(games, company, lower)),
        (phase == TAKE, _trader(games, _sharing_company(games), games["sharing_rank"])),
    ]
    return np.select([where for where, _ in cases], [who for _, who in cases], games["turn"])
