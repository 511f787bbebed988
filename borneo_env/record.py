"""Game records: JSON Lines, one file a game, complete without any generator. Written, read and verified here.

The first line is the header (ruleset, cards, deal), then come the moves and shuffles in their order, then the result.
A record from a stranger is only ever parsed and checked: nothing in it is run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.agent import LONGEST_NAME, Agent, Random, ask, find_agent
from borneo_env.cards import CARGO_CARDS, CONTRACT_KINDS, TableError, Tables, read_tables
from borneo_env.engine.actions import Move
from borneo_env.engine.batch import Batch
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import CARDS, FIRST_HAND, HAND, PHASES, PILE
from borneo_env.ruleset import CHOICES, Ruleset, RulesetError
from kontor.files import FileError, in_short, on_one_line, parse_json, read_text, write_file

FORMAT = "borneo-record/1"
LARGEST_FILE = 5_000_000  # bytes; a game with all its legal moves has about 200,000
MOST_LINES = 20_000  # a game has about 250

Line = dict[str, Any]


class RecordError(ValueError):
    """A record that is wrong; the message says in which line and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


# ---------------------------------------------------------------- writing


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
    batch = Batch(games, ruleset, seed=seed, first=first, finished="hold", skip_forced=False)
    records = [[header(ruleset, game, names or agents, seed)] for game in batch.games]
    while (batch.player >= 0).any():
        step_and_record(batch, _decide(batch, found, seated), records, legal=legal)
    for i, record in enumerate(records):
        record.append(result_line(batch, i))
    return records


def _decide(batch: Batch, agents: Sequence[Agent], seated: NDArray[np.int64]) -> NDArray[np.int64]:
    """An action for every game that is not over: forced moves are not asked for."""
    actions = batch.sample().astype(np.int64)
    talks = np.array([not isinstance(agent, Random) for agent in agents])
    rows = np.flatnonzero((batch.player >= 0) & (batch.forced() == NO_ACTION) & talks[batch.player])
    actions[rows] = ask(batch, rows, agents, seated)
    return actions


def step_and_record(batch: Batch, actions: np.ndarray, records: Sequence[list[Line]], *, legal: bool = False) -> None:
    """Step a batch that asks for forced decisions, and append a line to the record of every game that moved."""
    piles = batch.games["pile_since"].copy()
    for i in np.flatnonzero(actions != NO_ACTION):
        records[int(i)].append(move_line(batch, int(i), int(actions[i]), legal=legal))
    batch.step(actions)
    for i in np.flatnonzero(batch.games["pile_since"] != piles):
        records[int(i)].append({"shuffle": shuffled_pile(batch.games[i])})


def header(ruleset: Ruleset, game: np.void, agents: Sequence[str], seed: int) -> Line:
    """The first line of a record, from a game that has just been dealt."""
    ports = ruleset.tables.ports_in_play(ruleset.players)
    pile = game["port_pile"][: game["ports_left"]][::-1]
    return {
        "format": FORMAT,
        "ruleset": ruleset.choices,
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
        "agents": list(agents),
        "seed": seed,
    }


def move_line(batch: Batch, game: int, action: int, *, legal: bool = False) -> Line:
    """A move about to be made, with the mark of a forced one and, if asked for, all legal ones."""
    options = batch.legal_moves(game)
    line: Line = {
        "player": int(batch.games["player"][game]),
        "move": batch.actions.text(action, batch.phase_name(game)),
    }
    if len(options) == 1:
        line["forced"] = True
    if legal:
        line["legal"] = options
    return line


def shuffled_pile(game: np.void) -> list[int]:
    """The draw pile as it was when it was last shuffled, top card first."""
    pile: list[int] = game["draw"][: game["draw_size"]][::-1].tolist()
    return pile


def result_line(batch: Batch, game: int = 0) -> Line:
    """The last line of a record."""
    return {
        "scores": batch.scores()[game].tolist(),
        "places": batch.places()[game].tolist(),
        "contracts": batch.contracts()[game].tolist(),
    }


def write_record(path: str | Path, record: Sequence[Line]) -> None:
    """Write a record as JSON Lines, whole or not at all."""
    write_file(path, "".join(json.dumps(line) + "\n" for line in record), sync=False)


# ---------------------------------------------------------------- reading


def read_record(path: str | Path) -> list[Line]:
    """The parsed lines of a record file; raises RecordError where a line is not a JSON object."""
    try:
        return parse_record(read_text(path, LARGEST_FILE))
    except FileError as error:
        raise RecordError(1, f"the file {error.reason}") from None


def parse_record(text: str) -> list[Line]:
    """The parsed lines of a record as text; raises RecordError where a line is not a JSON object."""
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        raise RecordError(MOST_LINES + 1, f"a record has one game, which never has more than {MOST_LINES:,} lines")
    return [_parse_line(i, line) for i, line in enumerate(lines, start=1)]


def _parse_line(number: int, text: str) -> Line:
    try:
        line = parse_json(text)
    except ValueError as error:
        raise RecordError(number, f"is not JSON ({error}); was the file cut off?") from None
    if not isinstance(line, dict):
        raise RecordError(number, f"is not a JSON object but {type(line).__name__}")
    return line


@dataclass
class Moment:
    """One line of a record that has been replayed: the game before it, and its own batch of one game after it."""

    kind: str  # "move", "shuffle" or "result"
    line_number: int
    line: Line
    before: np.void
    batch: Batch

    @property
    def after(self) -> np.void:
        game: np.void = self.batch.games[0]
        return game

    @cached_property
    def move(self) -> Move:
        """What was done, if it was a move."""
        actions, phase = self.batch.actions, PHASES[self.before["phase"]]
        return actions.move(actions.action(self.line["move"], phase), phase)


def verify(lines: Sequence[Line]) -> Batch:
    """Replay a whole record through the engine; returns the finished game, or raises RecordError."""
    for moment in replay(lines):
        finished = moment.batch
    return finished


def replay(lines: Sequence[Line]) -> Iterator[Moment]:
    """Replay a record line by line, checking everything it says; raises RecordError where it is wrong."""
    if not lines:
        raise RecordError(1, "the file is empty")
    batch = _deal(lines[0])
    complete = False
    drawer: int | None = None  # who drew from a pile the engine has just shuffled
    for number, line in enumerate(lines[1:], start=2):
        before = batch.games[0].copy()
        if drawer is not None:
            kind = "shuffle"
            _lay_recorded_pile(number, line, batch, drawer)
            drawer = None
        elif batch.phase_name() == "over":
            kind = "result"
            if complete:
                raise RecordError(number, "stands behind the result; a record ends there")
            _check_result(number, line, batch)
            complete = True
        else:
            kind = "move"
            _make_move(number, line, batch)
            if before["pile_since"] != batch.games["pile_since"][0]:
                drawer = int(before["turn"])
        yield Moment(kind, number, line, before, batch.copy())
    if not complete:
        raise RecordError(len(lines) + 1, "the file ends before the game and its result do; was it cut off?")


def _deal(line: Line) -> Batch:
    """A batch of one game, dealt as the header says."""
    ruleset = read_ruleset(line)
    deal = _get(1, line, "deal", dict)
    hands = [_cards(1, hand, f"hand of player {i}") for i, hand in enumerate(_get(1, deal, "hands", list))]
    if [len(hand) for hand in hands] != [FIRST_HAND] * ruleset.players:
        raise RecordError(1, f"deal: {ruleset.players} hands of {FIRST_HAND} cards are dealt (R1.1)")
    draw = _cards(1, _get(1, deal, "draw", list), "draw pile")
    _check_all([*chain(*hands), *draw], range(CARGO_CARDS), "card")
    ports = _get(1, deal, "ports", list)
    _check_all(ports, range(len(ruleset.tables.ports)), "port")
    agents = _get(1, line, "agents", list)
    if len(agents) != ruleset.players or not all(_is_name(agent) for agent in agents):
        raise RecordError(1, f"agents: should be {ruleset.players} names, not {in_short(agents)}")
    _get(1, line, "seed", int)
    start = _get(1, deal, "start", int)
    if not 0 <= start < ruleset.players:
        raise RecordError(1, f"deal: start player {in_short(start)} does not exist")
    batch = Batch(1, ruleset, finished="hold", skip_forced=False)
    batch.deal_stacked(0, start, [*chain(*hands), *draw], ports)
    return batch


def read_ruleset(line: Line) -> Ruleset:
    """The ruleset and the cards that the first line of a record names."""
    if line.get("format") != FORMAT:
        raise RecordError(1, f"format: is {in_short(line.get('format'))}; this version reads {FORMAT!r}")
    fields = _get(1, line, "ruleset", dict)
    needed = [one.name for one in CHOICES]
    if sorted(fields) != sorted(needed):
        raise RecordError(1, f"ruleset: has the fields {in_short(list(fields))}; it needs {', '.join(needed)}")
    try:
        return Ruleset(**fields, tables=_read_tables(line))
    except (RulesetError, TableError, TypeError) as error:
        raise RecordError(1, on_one_line(str(error))) from None


def _read_tables(line: Line) -> Tables:
    supply, points = _get(1, line, "contracts", dict), _get(1, line, "contract_points", dict)
    if set(supply) != set(CONTRACT_KINDS) or set(points) != set(CONTRACT_KINDS):
        raise RecordError(1, f"contracts and contract_points: need the kinds {', '.join(CONTRACT_KINDS)}")
    contracts = [{"kind": kind, "supply": supply[kind], "points": points[kind]} for kind in CONTRACT_KINDS]
    tables = read_tables({"cargo": line.get("cargo"), "ports": line.get("ports"), "contracts": contracts}, "header")
    for i, port in enumerate(tables.ports):
        if port.mark:
            raise RecordError(1, f"header: ports row {i}: mark: a record lists the ports in play, without marks")
    return tables


def _get(number: int, line: Line, key: str, kind: type) -> Any:
    if type(line.get(key)) is not kind:
        names = {dict: "an object", list: "a list", int: "a whole number", str: "a text"}
        raise RecordError(number, f"{key}: should be {names[kind]}, but is {in_short(line.get(key))}")
    return line[key]


def _is_name(agent: Any) -> bool:
    return isinstance(agent, str) and agent.isprintable() and len(agent) <= LONGEST_NAME


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


def _make_move(number: int, line: Line, batch: Batch) -> None:
    if "move" not in line:
        raise RecordError(number, f"a move of player {batch.player[0]} should stand here (phase {batch.phase_name()})")
    player, move = _get(number, line, "player", int), _get(number, line, "move", str)
    if player != batch.player[0]:
        raise RecordError(
            number, f"player {batch.player[0]} decides (phase {batch.phase_name()}), not player {in_short(player)}"
        )
    options = batch.legal_moves()
    if move not in options:
        raise RecordError(number, f"{in_short(move)} is not legal for player {player}; legal are: {', '.join(options)}")
    if "legal" in line and (not isinstance(line["legal"], list) or sorted(map(str, line["legal"])) != sorted(options)):
        raise RecordError(number, f"legal: the legal moves are: {', '.join(options)}")
    if line.get("forced", False) is not (len(options) == 1):
        raise RecordError(number, f"forced: {len(options)} moves were legal, so it should be {len(options) == 1}")
    batch.step([batch.actions.action(move, batch.phase_name())])


def _lay_recorded_pile(number: int, line: Line, batch: Batch, drawer: int) -> None:
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
        game["place"][pile[:drawn]] = HAND + drawer
        game["draw"][: len(pile)] = pile[::-1]
    batch.refresh(check=False)


def _check_result(number: int, line: Line, batch: Batch) -> None:
    for name, value in result_line(batch).items():
        if json.dumps(line.get(name)) != json.dumps(value):  # so that true is not taken for 1
            raise RecordError(number, f"{name}: should be {value}, but the record says {in_short(line.get(name))}")
