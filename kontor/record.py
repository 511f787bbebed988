"""Game records: JSON Lines, one file a game, complete without any generator. Written, read and verified here.

The first line is the header (ruleset, agents, seed), then come the moves and what chance brought in their order, then
the result. A record from a stranger is only ever parsed and checked: nothing in it is run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kontor.actions import Move
from kontor.chance import begun, carry_out, compiled
from kontor.compile import attributes
from kontor.engine.batch import Batch
from kontor.engine.records import copy_games
from kontor.fields import CHANCE, OVER
from kontor.files import FileError, in_short, on_one_line, parse_json, read_text, write_file
from kontor.game import Game, UnknownGame, find_game
from kontor.ruleset import Ruleset
from kontor.templates.loops import NO_ACTION

LARGEST_FILE = 5_000_000  # bytes; a game with all its legal moves has about 200,000
MOST_LINES = 20_000  # a game has some hundreds
LONGEST_NAME = 1000  # characters of an agent's name, with all arguments

Line = dict[str, Any]
Decide = Callable[[Batch], NDArray[np.integer[Any]]]  # an action for each game; NO_ACTION where it is over


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
    decide: Decide = Batch.sample,
    names: Sequence[str] = (),
    first: int = 0,
    legal: bool = False,
) -> list[list[Line]]:
    """Play games of a seed from number `first` on, and return their records.

    `decide` plays, at random if nobody else does; `names` stand in the headers for who decides at each seat. Forced
    moves are recorded, and nobody is asked for them.
    """
    batch = Batch(games, ruleset, seed=seed, first=first, finished="hold", skip_forced=False)
    records = [opening(batch, i, names) for i in range(games)]
    while (batch.player >= 0).any():
        step_and_record(batch, decide(batch), records, legal=legal)
    for i, record in enumerate(records):
        record.append(result_line(batch, i))
    return records


def opening(batch: Batch, game: int = 0, names: Sequence[str] = ()) -> list[Line]:
    """The first lines of the record of a game that has just been dealt: the header, and what chance brought."""
    return [
        header(batch.ruleset, batch.games[game], names, batch.seed),
        *_deals(batch.game).opening(batch, game),
    ]


def header(ruleset: Ruleset, game: np.void, names: Sequence[str] = (), seed: int | None = None) -> Line:
    """The first line of the record of a game that has just been dealt."""
    line = {"format": _format(ruleset.game), "ruleset": ruleset.as_dict(), **_deals(ruleset.game).header(ruleset, game)}
    return line | ({"agents": list(names)} if names else {}) | ({} if seed is None else {"seed": seed})


def step_and_record(
    batch: Batch, actions: NDArray[np.integer[Any]], records: Sequence[list[Line]], *, legal: bool = False
) -> None:
    """Step a batch that asks for forced decisions, and append lines to the record of every game that moved."""
    for i in map(int, np.flatnonzero(actions != NO_ACTION)):
        records[i].append(move_line(batch, i, int(actions[i]), legal=legal))
    for i, lines in _deals(batch.game).step(batch, actions).items():
        records[i].extend(lines)


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


def result_line(batch: Batch, game: int = 0) -> Line:
    """The last line of the record of a game that is over."""
    players = batch.ruleset.players
    return {name: values[game, :players].tolist() for name, values in batch.result.items()}


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

    kind: str  # "move", "result", or what lines about chance are called
    line_number: int
    line: Line
    before: np.void
    batch: Any  # a Batch, of the class that the game's records begin with

    @property
    def after(self) -> np.void:
        game: np.void = self.batch.games[0]
        return game

    @cached_property
    def move(self) -> Move:
        """What was done, if it was a move."""
        actions, phase = self.batch.actions, self.batch.game.phase_names[self.before["phase"]]
        move: Move = actions.move(actions.action(self.line["move"], phase), phase)
        return move


def verify(lines: Sequence[Line], game: Game | None = None) -> Batch:
    """Replay a whole record through the engine; returns the finished game, or raises RecordError."""
    finished: Batch
    for moment in replay(lines, game):
        finished = moment.batch
    return finished


def replay(lines: Sequence[Line], game: Game | None = None) -> Iterator[Moment]:
    """Replay a record line by line, checking everything it says; raises RecordError where it is wrong.

    Without a game the header names an installed one.
    """
    if not lines:
        raise RecordError(1, "the file is empty")
    batch = _dealt(lines[0], game)
    deals = _deals(batch.game)
    complete = False
    moved_from = batch.games[0].copy()  # the game before the last move
    awaited = deals.awaits(moved_from, batch.games[0])
    for number, line in enumerate(lines[1:], start=2):
        before = batch.games[0].copy()
        if awaited:
            kind = deals.kind
            deals.bring(number, line, batch, moved_from)
        elif batch.player[0] == OVER:
            kind = "result"
            if complete:
                raise RecordError(number, "stands behind the result; a record ends there")
            _check_result(number, line, batch)
            complete = True
        else:
            kind = "move"
            moved_from = before
            deals.play(batch, _checked_move(number, line, batch))
        awaited = kind != "result" and deals.awaits(before, batch.games[0])
        yield Moment(kind, number, line, before, batch.copy())
    if not complete:
        raise RecordError(len(lines) + 1, "the file ends before the game and its result do; was it cut off?")


def read_ruleset(line: Line, game: Game | None = None) -> Ruleset:
    """The ruleset that the first line of a record names; without a game it is of an installed one."""
    game = game or _named_game(line.get("format"))
    if line.get("format") != _format(game):
        raise RecordError(1, f"format: is {in_short(line.get('format'))}; this version reads {_format(game)!r}")
    fields = get(1, line, "ruleset", dict)
    needed = list(next(iter(game.Ruleset.every())).as_dict())
    if sorted(fields) != sorted(needed):
        raise RecordError(1, f"ruleset: has the fields {in_short(list(fields))}; it needs {', '.join(needed)}")
    try:
        return game.Ruleset(**fields, **_deals(game).settings(line))
    except RecordError:
        raise
    except (ValueError, TypeError) as error:
        raise RecordError(1, on_one_line(str(error))) from None


def _format(game: Game) -> str:
    return f"{game.name}-record/1"


def _named_game(form: Any) -> Game:
    """The installed game that a format names: the file of a stranger has nothing else imported."""
    name = form.removesuffix("-record/1") if isinstance(form, str) else ""
    try:
        if name.isidentifier():
            return find_game(name)
    except UnknownGame:
        pass
    raise RecordError(1, f"format: is {in_short(form)}, of no game that is installed here")


def _dealt(line: Line, game: Game | None) -> Batch:
    """A batch of one game that begins as the header says."""
    ruleset = read_ruleset(line, game)
    deals = _deals(ruleset.game)
    batch = deals.begin(ruleset, line)
    if "agents" in line or "agents" in deals.needed:
        agents = get(1, line, "agents", list)
        if len(agents) != ruleset.players or not all(map(_is_name, agents)):
            raise RecordError(1, f"agents: should be {ruleset.players} names, not {in_short(agents)}")
    if "seed" in line or "seed" in deals.needed:
        get(1, line, "seed", int)
    return batch


def _is_name(agent: Any) -> bool:
    return isinstance(agent, str) and agent.isprintable() and len(agent) <= LONGEST_NAME


def get(number: int, line: Line, key: str, kind: type) -> Any:
    """A value of a line, which must be of a kind."""
    if type(line.get(key)) is not kind:
        names = {dict: "an object", list: "a list", int: "a whole number", str: "a text"}
        raise RecordError(number, f"{key}: should be {names[kind]}, but is {in_short(line.get(key))}")
    return line[key]


def _checked_move(number: int, line: Line, batch: Batch) -> int:
    """The action of a line, if all that it says is true."""
    if "move" not in line:
        raise RecordError(number, f"a move of player {batch.player[0]} should stand here (phase {batch.phase_name()})")
    player, move = get(number, line, "player", int), get(number, line, "move", str)
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
    return batch.actions.action(move, batch.phase_name())


def _check_result(number: int, line: Line, batch: Batch) -> None:
    for name, value in result_line(batch).items():
        if json.dumps(line.get(name)) != json.dumps(value):  # so that true is not taken for 1
            raise RecordError(number, f"{name}: should be {value}, but the record says {in_short(line.get(name))}")


# ---------------------------------------------------------------- chance


class Deals:
    """How records tell of the chance of a game in which it is phases: a line for each outcome, {"chance": its text}.

    A game whose rules draw by themselves has a class of its own in place of this one (`Game.instead`).
    """

    kind = "chance"  # of the lines about chance
    needed: tuple[str, ...] = ()  # what no header is without, of agents and seed

    # ------------------------------------------------------------ writing

    def header(self, ruleset: Ruleset, game: np.void) -> Line:
        """What a header has beside ruleset, agents and seed."""
        return {}

    def opening(self, batch: Batch, game: int) -> list[Line]:
        """The lines about chance before the first move of a game that has just been dealt."""
        record = begun(batch.ruleset, batch.seed, int(batch.games["number"][game]))
        lines = _drawn(batch.ruleset, record)
        if record[0].tobytes() != batch.games[game].tobytes():
            raise ValueError(f"game {game} is not as it was dealt: a record begins with the deal")
        return lines

    def step(self, batch: Batch, actions: NDArray[np.integer[Any]]) -> dict[int, list[Line]]:
        """Step a batch; returns the lines about what chance brought in each game after its move."""
        batch.check(actions)
        lines: dict[int, list[Line]] = {}
        for i in map(int, np.flatnonzero(actions != NO_ACTION)):
            record = copy_games(batch.games[i : i + 1])
            carry_out(batch.ruleset, record, _room(batch.game), int(actions[i]))
            lines[i] = _drawn(batch.ruleset, record)
        batch.step(actions)
        return lines

    # ------------------------------------------------------------ reading

    def settings(self, line: Line) -> dict[str, Any]:
        """What a header says of the ruleset beside its options."""
        return {}

    def begin(self, ruleset: Ruleset, line: Line) -> Batch:
        """A batch of one game that begins as the header says."""
        batch = Batch(1, ruleset, finished="hold", skip_forced=False)
        batch.lay(begun(ruleset))
        return batch

    def awaits(self, before: np.void, after: np.void) -> bool:
        """Whether a line about chance follows, by the game before and after the last line."""
        return bool(after["player"] == CHANCE)

    def play(self, batch: Batch, action: int) -> None:
        """Make a move, up to the next decision or draw."""
        record = copy_games(batch.games)
        carry_out(batch.ruleset, record, _room(batch.game), action)
        batch.lay(record)

    def bring(self, number: int, line: Line, batch: Batch, moved_from: np.void) -> None:
        """Let chance bring what a line says; `moved_from` is the game before the last move."""
        phase = batch.phase_name()
        if "chance" not in line:
            raise RecordError(number, f"chance decides here (phase {phase}): a line with what it brought is missing")
        text = get(number, line, "chance", str)
        table, room, record = batch.game.outcome_table, _room(batch.game), copy_games(batch.games)
        box = attributes(batch.game.box(batch.ruleset))
        count = compiled(batch.game).list_moves(box, attributes(record), room)
        could = {table.text(outcome, phase): outcome for outcome in room[:count].tolist()}
        if text not in could:
            listed = on_one_line(", ".join(could))
            raise RecordError(number, f"chance cannot bring {in_short(text)} (phase {phase}); it can bring: {listed}")
        carry_out(batch.ruleset, record, room, could[text])
        batch.lay(record)


def _deals(game: Game) -> Deals:
    made: Deals = game.own_kind("deals", Deals)()
    return made


def _room(game: Game) -> NDArray[np.int16]:
    return np.zeros(game.most_options_of_all, np.int16)


def _drawn(ruleset: Ruleset, record: NDArray[np.void]) -> list[Line]:
    """What the game's own stream of chance brings up to the next decision, as lines; the record goes on to there."""
    game, lines = ruleset.game, []
    box, room = attributes(game.box(ruleset)), _room(game)
    while record["player"][0] == CHANCE:
        outcome = int(compiled(game).draw_next(box, attributes(record), room))
        phase = game.phase_names[int(record["phase"][0])]
        lines.append({"chance": game.outcome_table.text(outcome, phase)})
        carry_out(ruleset, record, room, outcome)
    return lines
