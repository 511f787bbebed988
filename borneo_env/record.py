"""Borneo's game records: those of `kontor.record`, with the deal in the header and a line for each shuffle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.agent import Agent, Random, ask, find_agent
from borneo_env.cards import CARGO_CARDS, CONTRACT_KINDS, Tables, read_tables
from borneo_env.engine.batch import Batch
from borneo_env.engine.game import BORNEO
from borneo_env.engine.state import CARDS, FIRST_HAND, HAND, PILE
from borneo_env.ruleset import Ruleset
from kontor import record
from kontor.engine import batch as kontor
from kontor.files import in_short
from kontor.record import (
    LARGEST_FILE,
    MOST_LINES,
    Deals,
    Line,
    Moment,
    RecordError,
    get,
    header,
    move_line,
    parse_record,
    read_record,
    result_line,
    step_and_record,
    write_record,
)
from kontor.templates.loops import NO_ACTION

__all__ = [
    "LARGEST_FILE",
    "MOST_LINES",
    "Line",
    "Moment",
    "RecordError",
    "header",
    "move_line",
    "parse_record",
    "read_record",
    "read_ruleset",
    "record_games",
    "replay",
    "result_line",
    "shuffled_pile",
    "step_and_record",
    "verify",
    "write_record",
]


def record_games(
    ruleset: Ruleset,
    games: int,
    *,
    seed: int,
    agents: Sequence[str],
    first: int = 0,
    legal: bool = False,
    names: Sequence[str] | None = None,
) -> list[list[Line]]:
    """Play games of a seed from number `first` on, and return their records; `names` stand there for the agents."""
    seated = np.arange(ruleset.players) * np.ones((games, 1), np.int64)
    found = [find_agent(agent) for agent in agents]
    decide = partial(_decide, agents=found, seated=seated)
    return record.record_games(
        ruleset, games, seed=seed, decide=decide, names=names or agents, first=first, legal=legal
    )


def _decide(batch: Any, agents: Sequence[Agent], seated: NDArray[np.int64]) -> NDArray[np.int64]:
    """An action for every game that is not over: forced moves are not asked for."""
    actions: NDArray[np.int64] = batch.sample().astype(np.int64)
    talks = np.array([not isinstance(agent, Random) for agent in agents])
    rows = np.flatnonzero((batch.player >= 0) & (batch.forced() == NO_ACTION) & talks[batch.player])
    actions[rows] = ask(batch, rows, agents, seated)
    return actions


def verify(lines: Sequence[Line]) -> Batch:
    """Replay a whole record through the engine; returns the finished game, or raises RecordError."""
    finished: Any = record.verify(lines, BORNEO)
    return finished  # type: ignore[no-any-return]


def replay(lines: Sequence[Line]) -> Iterator[Moment]:
    """Replay a record line by line, checking everything it says; raises RecordError where it is wrong."""
    return record.replay(lines, BORNEO)


def read_ruleset(line: Line) -> Ruleset:
    """The ruleset and the cards that the first line of a record names."""
    ruleset: Any = record.read_ruleset(line, BORNEO)
    return ruleset  # type: ignore[no-any-return]


def shuffled_pile(game: np.void) -> list[int]:
    """The draw pile as it was when it was last shuffled, top card first."""
    pile: list[int] = game["draw"][: game["draw_size"]][::-1].tolist()
    return pile


class DealtPiles(Deals):
    """The piles as they were dealt, in the header, and a line for each shuffle of the discards."""

    kind = "shuffle"
    needed = ("agents", "seed")

    def header(self, ruleset: Any, game: np.void) -> Line:
        ports = ruleset.tables.ports_in_play(ruleset.players)
        pile = game["port_pile"][: game["ports_left"]][::-1]
        return {
            "cargo": [asdict(card) | {"flags": list(card.flags)} for card in ruleset.tables.cargo],
            "ports": [{key: getattr(port, key) for key in ("name", "spice", "limit", "monopoly")} for port in ports],
            "contracts": dict(zip(CONTRACT_KINDS, ruleset.tables.supply_in_play(ruleset.players), strict=True)),
            "contract_points": {contract.kind: contract.points for contract in ruleset.tables.contracts},
            "deal": {
                "start": int(game["start"]),
                "hands": [np.flatnonzero(game["place"] == HAND + p).tolist() for p in range(ruleset.players)],
                "draw": game["draw"][: game["draw_left"]][::-1].tolist(),
                "ports": [int(port) - CARDS for port in (*game["open"], *pile)],
            },
        }

    def opening(self, batch: kontor.Batch, game: int) -> list[Line]:
        return []

    def step(self, batch: kontor.Batch, actions: NDArray[np.integer[Any]]) -> dict[int, list[Line]]:
        piles = batch.games["pile_since"].copy()
        batch.step(actions)
        shuffled = map(int, np.flatnonzero(batch.games["pile_since"] != piles))
        return {i: [{"shuffle": shuffled_pile(batch.games[i])}] for i in shuffled}

    def settings(self, line: Line) -> dict[str, Any]:
        return {"tables": _read_tables(line)}

    def begin(self, ruleset: Any, line: Line) -> Batch:
        deal = get(1, line, "deal", dict)
        hands = [_cards(1, hand, f"hand of player {i}") for i, hand in enumerate(get(1, deal, "hands", list))]
        if [len(hand) for hand in hands] != [FIRST_HAND] * ruleset.players:
            raise RecordError(1, f"deal: {ruleset.players} hands of {FIRST_HAND} cards are dealt (R1.1)")
        draw = _cards(1, get(1, deal, "draw", list), "draw pile")
        _check_all([*chain(*hands), *draw], range(CARGO_CARDS), "card")
        ports = get(1, deal, "ports", list)
        _check_all(ports, range(len(ruleset.tables.ports)), "port")
        start = get(1, deal, "start", int)
        if not 0 <= start < ruleset.players:
            raise RecordError(1, f"deal: start player {in_short(start)} does not exist")
        batch = Batch(1, ruleset, finished="hold", skip_forced=False)
        batch.deal_stacked(0, start, [*chain(*hands), *draw], ports)
        return batch

    def awaits(self, before: np.void, after: np.void) -> bool:
        return bool(before["pile_since"] != after["pile_since"])

    def play(self, batch: kontor.Batch, action: int) -> None:
        batch.step([action])

    def bring(self, number: int, line: Line, batch: kontor.Batch, moved_from: np.void) -> None:
        """Put the recorded pile in place of the engine's own shuffle; cards already drawn from it change with it."""
        if "shuffle" not in line:
            raise RecordError(number, "the discard pile was shuffled here (R8.1): a shuffle line is missing")
        pile = _cards(number, line["shuffle"], "shuffle")
        game = batch.games[0]
        shuffled = shuffled_pile(game)
        if sorted(pile) != sorted(shuffled):
            raise RecordError(number, f"shuffle: the pile should hold the discarded cards {sorted(shuffled)}")
        drawn = len(pile) - int(game["draw_left"])
        if not game["ended"]:  # a game that ended here shuffled one card only
            game["place"][shuffled] = PILE
            game["place"][pile[:drawn]] = HAND + moved_from["turn"]
            game["draw"][: len(pile)] = pile[::-1]
        batch.refresh(check=False)


def _read_tables(line: Line) -> Tables:
    supply, points = get(1, line, "contracts", dict), get(1, line, "contract_points", dict)
    if set(supply) != set(CONTRACT_KINDS) or set(points) != set(CONTRACT_KINDS):
        raise RecordError(1, f"contracts and contract_points: need the kinds {', '.join(CONTRACT_KINDS)}")
    contracts = [{"kind": kind, "supply": supply[kind], "points": points[kind]} for kind in CONTRACT_KINDS]
    tables = read_tables({"cargo": line.get("cargo"), "ports": line.get("ports"), "contracts": contracts}, "header")
    for i, port in enumerate(tables.ports):
        if port.mark:
            raise RecordError(1, f"header: ports row {i}: mark: a record lists the ports in play, without marks")
    return tables


def _cards(number: int, cards: Any, what: str) -> list[int]:
    if not isinstance(cards, list) or any(type(c) is not int or not 0 <= c < CARGO_CARDS for c in cards):
        raise RecordError(number, f"{what}: should be a list of cards 0 to {CARGO_CARDS - 1}")
    return cards


def _check_all(dealt: list[Any], things: range, what: str) -> None:
    """Every thing must be dealt to exactly one place."""
    for thing in dealt:
        if type(thing) is not int or thing not in things:
            raise RecordError(1, f"deal: there is no {what} {in_short(thing)}")
    for thing in sorted(things, key=dealt.count, reverse=True):  # what is there twice first
        if dealt.count(thing) != 1:
            raise RecordError(1, f"deal: {what} {thing} is in {'two places' if thing in dealt else 'no place'}")
