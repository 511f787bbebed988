"""Positions for tests: drawn in the words of the game, played by the texts of moves.

    red = card("red")
    game = position(players=3, phase="traders", ladders={"red": [1, 0]}, hands={0: [red, "ggg/b"], 1: ["bbb/r"]})
    game.play("attack red 2 1", f"commit {red}", "commit done", "defend done")
    assert game.ladder("red") == [0, 1]

A cargo card is drawn as its id (`card` finds it by what it shows), as a picture of its flags, top row/bottom row:
"rrr/y", as a payment: "pepper double", or as "any cargo". A port is drawn by its name, as a payment: "cloves port" or
"joker", or as "any port". Words that fit several things stand for the first one that is not drawn more exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from borneo_env.cards import COMPANIES, CONTRACT_KINDS, SPICES, load_tables
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import (
    AT_PORT,
    CARDS,
    DISCARD,
    HAND,
    OPEN_PORTS,
    OUT,
    PHASES,
    PILE,
    SEATS,
    WAREHOUSE,
    make_blank,
)
from borneo_env.ruleset import Ruleset

Drawn = int | str  # an id, or a word for what a thing shows
CARGO = load_tables("board").cargo  # the same in both editions
INITIALS = {company[0]: company for company in COMPANIES}
SIZES = ("single", "double", "port")
STOCK_ROWS = (*SPICES, "chest")
PILES = {"draw": PILE, "port pile": PILE, "discards": DISCARD}
DRAWABLE_PHASES = ("place", "contract", "traders", "ship", "last contract")


# Finding cards by what they show


def flags_of(picture: str) -> tuple[str, ...]:
    """The flags of a picture in reading order: "rrr/y" has three red in the top row, yellow in the bottom row."""
    return tuple(INITIALS[initial] for initial in picture.replace("/", ""))


def picture_of(flags: Sequence[str]) -> str:
    initials = [flag[0] for flag in flags]
    return "".join(initials[:3]) + "/" + initials[3]


def cards(
    major: str | None = None,
    minor: str | None = None,
    *,
    flags: str | None = None,
    without: str | None = None,
    spice: str | None = None,
    double: bool | None = None,
) -> list[int]:
    """All cargo cards that show what is asked for, by ascending id."""
    found = [
        number
        for number, cargo in enumerate(CARGO)
        if (major is None or cargo.flags.count(major) == 3)
        and (minor is None or cargo.flags.count(minor) == 1)
        and (flags is None or cargo.flags == flags_of(flags))
        and (without is None or without not in cargo.flags)
        and (spice is None or cargo.spice == spice)
        and (double is None or double == (cargo.count == 2))
    ]
    if not found:
        raise LookupError("no cargo card shows all this")
    return found


def card(major: str | None = None, minor: str | None = None, **shows: Any) -> int:
    """The first cargo card that shows what is asked for: `card("red", "blue", spice="pepper", double=False)`."""
    return cards(major, minor, **shows)[0]


# Drawing a position


def position(
    *,
    phase: str = "contract",
    turn: int = 0,
    player: int | None = None,
    start: int = 0,
    ladders: Mapping[str, Sequence[int]] | None = None,
    hands: Mapping[int, Sequence[Drawn]] | None = None,
    warehouses: Mapping[int, Sequence[Drawn]] | None = None,
    ports: Mapping[int, Sequence[Drawn]] | None = None,
    draw: Sequence[Drawn] = (),
    discards: Sequence[Drawn] = (),
    rest: str = "draw",
    port_pile: Sequence[str] | None = None,
    fulfilled: Mapping[int, Sequence[str]] | None = None,
    supply: Mapping[str, int] | None = None,
    pirates: int = -1,
    **ruleset: Any,
) -> Position:
    """A game in the middle, ready to play; `ruleset` is any field of Ruleset.

    phase, turn, player: what is decided, in whose turn, by whom (without it the turn player; of last contracts the
        first one).
    ladders: players by rank, `{"red": [2, 0]}`; hands: cards; those not given are empty.
    warehouses: things in the order they arrived.
    ports: by place, the name and the cards in the order played, `{0: ["Makassar", "rrr/y"]}`; places not given show
        a port that is not drawn elsewhere, without cards.
    draw, discards: cards, the top one first; rest: where all other cards lie: "draw" (below those given),
        "discards", or "warehouse 2" (the last to arrive).
    port_pile: names, the top one first, and ports drawn nowhere are out of the game; without it they are all in it.
    fulfilled: kinds by player, taken from the supply; supply: kinds with another number left.
    """
    if phase not in DRAWABLE_PHASES:
        raise ValueError(f"the phase {phase!r} is reached by playing; draw one of {', '.join(DRAWABLE_PHASES)}")
    batch = Batch(1, Ruleset(**ruleset), finished="hold", skip_forced=False)
    g = make_blank(batch.ruleset)[0]
    g["rng"] = batch.games[0]["rng"]
    lay_out(g, batch.ruleset, hands or {}, warehouses or {}, ports or {}, draw, discards, rest, port_pile)
    set_up_ladders(g, ladders or {}, 0 if phase == "place" else batch.ruleset.players * batch.ruleset.traders)
    set_up_contracts(g, fulfilled or {}, supply or {})
    g["phase"], g["turn"], g["start"], g["pirates"] = PHASES.index(phase), turn, start, pirates
    g["player"] = turn if player is None else player
    if phase == "last contract":
        g["player"] = (turn + 1) % batch.ruleset.players if player is None else player
        g["ended"], g["finished"] = 1, (g["player"] - turn - 1) % batch.ruleset.players
    for name, counted in recount(g, batch.ruleset).items():
        g[name] = counted
    batch.games[0] = g
    batch.refresh(check=False)  # much of a position is left out
    return Position(batch)


def set_up_ladders(g: np.void, ladders: Mapping[str, Sequence[int]], placed: int) -> None:
    for company, traders in ladders.items():
        g["ladder"][COMPANIES.index(company), : len(traders)] = traders
    g["placed"] = placed or sum(map(len, ladders.values()))


def set_up_contracts(g: np.void, fulfilled: Mapping[int, Sequence[str]], supply: Mapping[str, int]) -> None:
    for owner, kinds in fulfilled.items():
        for kind in kinds:
            g["fulfilled"][owner, CONTRACT_KINDS.index(kind)] += 1
            g["supply"][CONTRACT_KINDS.index(kind)] -= 1
    for kind, left in supply.items():
        g["supply"][CONTRACT_KINDS.index(kind)] = left
    if min(g["supply"]) < 0:
        raise ValueError("more contracts of a kind are fulfilled than there are")


def lay_out(g, ruleset, hands, warehouses, ports, draw, discards, rest, port_pile) -> None:
    """Lay every thing in exactly one place."""
    spots = {"draw": list(draw), "discards": list(discards), "port pile": list(port_pile or [])}
    spots |= {f"port {place}": list(ports.get(place, ["any port"])) for place in range(OPEN_PORTS)}
    spots |= {f"hand {owner}": list(drawn) for owner, drawn in hands.items()}
    spots |= {f"warehouse {owner}": list(drawn) for owner, drawn in warehouses.items()}
    left = assign(spots, faces_of(ruleset))
    spots.setdefault(rest, []).extend(thing for thing in left if thing < CARDS)
    if port_pile is None:
        spots["port pile"] = [thing for thing in left if thing >= CARDS]
    g["place"] = OUT
    for spot, things in spots.items():
        g["place"][things] = place_of(spot)
        if spot not in PILES and not spot.startswith("hand"):
            g["since"][things] = g["clock"] + 1 + np.arange(len(things))
            g["clock"] += len(things)
    for place in range(OPEN_PORTS):
        g["open"][place] = spots[f"port {place}"][0]
    g["since"][g["open"]] = 0  # a port has an age in a warehouse only
    for field, count, spot in (("draw", "draw_left", "draw"), ("port_pile", "ports_left", "port pile")):
        g[field], g[count] = -1, len(spots[spot])
        g[field][: len(spots[spot])] = spots[spot][::-1]


def place_of(spot: str) -> int:
    """The engine's number of a spot: "draw", "hand 2", "warehouse 0"."""
    if spot in PILES:
        return PILES[spot]
    word, number = spot.split()
    return {"port": AT_PORT, "hand": HAND, "warehouse": WAREHOUSE}[word] + int(number)


def faces_of(ruleset: Ruleset) -> list[tuple[Drawn, ...]]:
    """How each thing can be drawn, the most exact way first: its id, its picture or name, its payment, its sort."""
    tables = ruleset.tables
    cargo = [(picture_of(c.flags), f"{c.spice} {SIZES[c.count - 1]}", "any cargo") for c in tables.cargo]
    ports = [
        (p.name, "joker" if p.spice == "chest" else f"{p.spice} port", "any port")
        for p in tables.ports_in_play(ruleset.players)
    ]
    return [(number, *words) for number, words in enumerate(cargo + ports)]


def assign(spots: dict[str, list[Drawn]], faces: list[tuple[Drawn, ...]]) -> list[int]:
    """Put things in place of the words in the spots, those drawn most exactly first; returns the things left."""
    exactness = {word: face.index(word) for face in faces for word in face}
    drawn = [(things, i) for things in spots.values() for i in range(len(things))]
    left = list(range(len(faces)))
    for things, i in sorted(drawn, key=lambda d: exactness.get(d[0][d[1]], 0)):
        thing = next((thing for thing in left if things[i] in faces[thing]), None)
        if thing is None:
            raise ValueError(f"{things[i]!r} is not in the box, or is drawn more often than it is there")
        left.remove(thing)
        things[i] = thing
    return left


def recount(g: np.void, ruleset: Ruleset) -> dict[str, np.ndarray]:
    """The counts a record must have, from where its things lie and what the tables say they show."""
    tables, ports = ruleset.tables, ruleset.tables.ports_in_play(ruleset.players)
    names = ("hand_size", "hand_since", "stock", "laid", "lowest", "shown", "height", "order")
    counted = {name: np.zeros_like(g[name]) for name in names}
    counted["height"][:] = [sum(player >= 0 for player in ladder) for ladder in g["ladder"]]
    counted["hand_since"][:] = counted["lowest"][:] = -1
    for owner in range(SEATS):
        hand = np.flatnonzero(g["place"] == HAND + owner)
        counted["hand_size"][owner] = len(hand)
        counted["hand_since"][owner, : len(hand)] = sorted(g["since"][hand])
        for thing in np.flatnonzero(g["place"] == WAREHOUSE + owner):
            shows = tables.cargo[thing] if thing < CARDS else ports[thing - CARDS]
            size = shows.count - 1 if thing < CARDS else SIZES.index("port")
            counted["stock"][owner, STOCK_ROWS.index(shows.spice), size] += 1
    for place in range(OPEN_PORTS):
        laid = cargo_at(g, place)
        counted["laid"][place] = len(laid)
        taken = g["order"][laid] if place == g["sharing_port"] and all(g["order"][laid]) else range(1, len(laid) + 1)
        counted["order"][laid] = taken
        if laid and place != g["sharing_port"]:  # cards that are being shared out show nothing any more
            counted["lowest"][place] = laid[-1]
            top_rows = [flag for number in laid for flag in tables.cargo[number].flags[:3]]
            visible = [*top_rows, tables.cargo[laid[-1]].flags[3]]
            counted["shown"][place] = [visible.count(company) for company in COMPANIES]
    return counted


def cargo_at(g: np.void, place: int) -> list[int]:
    """The cargo cards at a port in the order they were played."""
    laid = np.flatnonzero(g["place"][:CARDS] == AT_PORT + place)
    return [int(number) for number in sorted(laid, key=lambda number: g["since"][number])]


# Playing it


class Position:
    """One game: what lies where, what may be done, and doing it."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.ruleset = batch.ruleset

    @property
    def record(self) -> np.void:
        """The GAME record itself."""
        return self.batch.games[0]

    @property
    def phase(self) -> str:
        return self.batch.phase_name()

    @property
    def player(self) -> int:
        """Who decides; -1 when the game is over."""
        return int(self.record["player"])

    @property
    def turn(self) -> int:
        return int(self.record["turn"])

    def legal(self, beginning: str = "") -> set[str]:
        """The legal moves whose text begins so."""
        return {move for move in self.batch.legal_moves() if move.startswith(beginning)}

    def play(self, *moves: str) -> None:
        """Play moves one after the other; each must be legal, and must leave the record's counts right."""
        for move in moves:
            if move not in self.legal():
                who = f"player {self.player} in phase {self.phase}"
                raise AssertionError(f"{move!r} is not legal for {who}; legal are: {', '.join(sorted(self.legal()))}")
            self.batch.step([self.batch.actions.action(move, self.phase)])
            for name, counted in recount(self.record, self.ruleset).items():
                assert np.array_equal(self.record[name], counted), f"after {move!r} the record miscounts {name}"

    def take_all(self) -> list[int]:
        """Let everyone take the first card offered until all are taken; returns who chose, in order."""
        choosers = []
        while self.phase == "take":
            choosers.append(self.player)
            self.play(min(self.legal()))
        return choosers

    def ladder(self, company: str) -> list[int]:
        """The players of a company's traders from rank 1 down."""
        slots = [int(player) for player in self.record["ladder"][COMPANIES.index(company)]]
        height = sum(player >= 0 for player in slots)
        assert all(player < 0 for player in slots[height:]), f"the {company} ladder has a gap: {slots}"
        return slots[:height]

    def hand(self, player: int) -> set[int]:
        return set(self._things(HAND + player))

    def warehouse(self, player: int) -> list[Drawn]:
        """Cargo cards by id and ports by name, in the order they arrived."""
        things = self._things(WAREHOUSE + player)
        return [self._name(thing) for thing in sorted(things, key=lambda thing: self.record["since"][thing])]

    def discards(self) -> set[int]:
        return set(self._things(DISCARD))

    def draw_pile(self) -> list[int]:
        """Cards from the top."""
        return [int(number) for number in self.record["draw"][: self.record["draw_left"]][::-1]]

    def port_pile(self) -> list[Drawn]:
        """Names from the top."""
        return [self._name(port) for port in self.record["port_pile"][: self.record["ports_left"]][::-1]]

    def port(self, place: int) -> Drawn | None:
        """The name of an open port; None where none lies."""
        port = self.record["open"][place]
        return self._name(port) if port >= 0 else None

    def cargo(self, place: int) -> list[int]:
        """The cards at an open port in the order they were played."""
        return cargo_at(self.record, place)

    def shown(self, place: int) -> dict[str, int]:
        """The visible flags at an open port by company, without those that show none."""
        return {c: int(n) for c, n in zip(COMPANIES, self.record["shown"][place], strict=True) if n}

    def supply(self) -> dict[str, int]:
        """How many contracts of each kind are left."""
        return {kind: int(n) for kind, n in zip(CONTRACT_KINDS, self.record["supply"], strict=True)}

    def fulfilled(self, player: int) -> list[str]:
        numbers = self.record["fulfilled"][player]
        return [kind for kind, number in zip(CONTRACT_KINDS, numbers, strict=True) for _ in range(number)]

    @property
    def pirates(self) -> int:
        """Who the pirate ship lies with, or -1."""
        return int(self.record["pirates"])

    def scores(self) -> list[int]:
        return [int(points) for points in self.batch.scores()[0]]

    def places(self) -> list[int]:
        return [int(place) for place in self.batch.places()[0]]

    def where(self, thing: Drawn) -> int:
        """The number of the place where a card (by id) or a port (by name) lies."""
        faces = faces_of(self.ruleset)
        return int(self.record["place"][next(n for n, face in enumerate(faces) if thing in face[:2])])

    def _things(self, place: int) -> list[int]:
        return [int(thing) for thing in np.flatnonzero(self.record["place"] == place)]

    def _name(self, thing: int) -> Drawn:
        return int(thing) if thing < CARDS else faces_of(self.ruleset)[thing][1]
