"""A game between people and agents, with its record so far: it can be saved and continued.

Nothing here is about what shows it: `terminal` is one front end.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from borneo_env.agent import UnknownAgent, Views, check_agents, check_registered, find_agent
from borneo_env.engine.batch import Batch
from borneo_env.engine.loops import NO_ACTION
from borneo_env.engine.state import CARDS, CONTRACT, HAND, NOBODY, TELLTALE
from borneo_env.record import (
    LARGEST_FILE,
    Line,
    Moment,
    header,
    read_ruleset,
    result_line,
    step_and_record,
)
from borneo_env.ruleset import Ruleset
from borneo_env.story import Narrator, Told, agent_names, drawn
from kontor.files import FileError, in_short, on_one_line, parse_json, read_text, write_file

HUMAN = "human"
FORMAT = "borneo-play/1"
FIRST = np.array([0])


class SaveError(ValueError):
    """A file that holds no saved game, or one that cannot have been."""


class AgentFailed(ValueError):
    """An agent at the table did not play as it should."""


class Past(NamedTuple):
    """The game before a person's choice."""

    batch: Batch
    lines: int
    told: int
    narrator: Narrator


class Game:
    """A game between people and agents, with its record so far."""

    def __init__(self, ruleset: Ruleset, seats: Sequence[str], seed: int) -> None:
        if len(seats) != ruleset.players:
            raise UnknownAgent(f"{len(seats)} seats are named; a game of {ruleset.players} has {ruleset.players}")
        self.seats = list(seats)
        self.names = agent_names(seats)
        self.agents = {seat: find_agent(name) for seat, name in enumerate(seats) if name != HUMAN}
        check_agents({seats[seat]: agent for seat, agent in self.agents.items()}, ruleset)
        self.batch = Batch(1, ruleset, seed=seed, finished="hold", skip_forced=False, threads=1)
        self.lines: list[Line] = [header(ruleset, self.batch.games[0], seats, seed)]
        self.told: list[Told] = []
        self._narrator = Narrator(brief=True)
        self._past: list[Past] = []  # what the person who decides may go back to
        self._tell_drawn(None)

    @property
    def player(self) -> int:
        """Who decides, -1 when the game is over."""
        return int(self.batch.player[0])

    @property
    def over(self) -> bool:
        return self.player == NOBODY

    @property
    def humans(self) -> list[int]:
        return [seat for seat, name in enumerate(self.seats) if name == HUMAN]

    def advance(self) -> None:
        """Play what needs no person, up to a person's decision or the end."""
        while (action := self.next_action()) is not None:
            self.play(action)

    def next_action(self) -> int | None:
        """What is played next without a person: an agent may think about it. None if a person is asked, or nobody."""
        return None if self.over or self.asks_a_person() else self._choice_without_person()

    def play_turn(self) -> None:
        """Let agents alone play up to the next turn, or to the end."""
        self.play(self._choice_without_person())
        while not self.over and self.batch.phase[0] != CONTRACT:
            self.play(self._choice_without_person())

    def _choice_without_person(self) -> int:
        forced = int(self.batch.forced()[0])
        return self._agents_choice() if forced == NO_ACTION else forced

    def asks_a_person(self) -> bool:
        """A person with a single option is asked too where the others would learn from it that there was no choice."""
        if self.player in self.agents:
            return False
        return bool(self.batch.forced()[0] == NO_ACTION or (len(self.humans) > 1 and self.batch.phase[0] in TELLTALE))

    def play(self, action: int) -> None:
        """Make a legal move, and write and tell it."""
        before, written = self.batch.games[0].copy(), len(self.lines)
        places = before["place"][:CARDS]
        step_and_record(self.batch, np.array([action]), [self.lines])
        if self.over:
            self.lines.append(result_line(self.batch))
        for number, line in enumerate(self.lines[written:], start=written + 1):
            kind = next((kind for kind in ("move", "shuffle") if kind in line), "result")
            moment = Moment(kind, number, line, before, self.batch)
            self.told += self._narrator.tell(moment)
            before = self.batch.games[0].copy()
        self._tell_drawn(places)

    def _tell_drawn(self, before: NDArray[Any] | None) -> None:
        """Tell people which cards they have drawn, and nobody else."""
        places = self.batch.games["place"][0, :CARDS]
        for seat in self.humans:
            held = places == HAND + seat
            new = held if before is None else held & (before != HAND + seat)
            self.told += drawn(self.batch.ruleset, seat, np.flatnonzero(new).tolist(), dealt=before is None)

    def news(self, seat: int, since: int = 0) -> list[Told]:
        """What has happened since a line of the story, as far as a person (or a spectator) is told."""
        return [told for told in self.told[since:] if told.seat in (None, seat)]

    # ---------------------------------------------------------------- a person's choice

    def choose(self, actions: Sequence[int]) -> None:
        """Make the moves of a person's choice; `undo` takes them back while nobody has learnt of them."""
        if not self.can_undo:
            self._past = []
        self._past.append(Past(self.batch.copy(), len(self.lines), len(self.told), copy.copy(self._narrator)))
        for action in actions:
            self.play(action)

    def is_final(self, actions: Sequence[int]) -> bool:
        """Whether a choice could not be taken back any more."""
        batch = self.batch.copy()
        for action in actions:
            batch.step([action])
        while batch.player[0] == self.player and batch.forced()[0] != NO_ACTION:
            batch.step(batch.forced())
        return _reveals(self.batch.games[0], batch.games[0])

    @property
    def can_undo(self) -> bool:
        """Whether the last choice of the person who decides can be taken back."""
        if not self._past:
            return False
        past = self._past[-1]
        own = all(line.get("player") == self.player for line in self.lines[past.lines :])
        return own and not _reveals(past.batch.games[0], self.batch.games[0])

    def undo(self) -> None:
        """Take the last choice back."""
        past = self._past.pop()
        self.batch, self._narrator = past.batch, past.narrator
        del self.lines[past.lines :], self.told[past.told :]

    def _views(self) -> Views:
        return Views(self.batch.ruleset, *self.batch.view(FIRST))

    def _agents_choice(self) -> int:
        name = self.names[self.player]
        try:
            action = int(np.asarray(self.agents[self.player].act(self._views()))[0])
        except Exception as error:
            raise AgentFailed(f"{name} failed: {on_one_line(f'{type(error).__name__}: {error}')}") from None
        if not (0 <= action < self.batch.mask.shape[1] and self.batch.mask[0, action]):
            raise AgentFailed(f"{name} wanted to play action {action}, which is not legal")
        return action

    def save(self, path: Path) -> None:
        """Write the game so far; if that fails, what was saved before stays as it is."""
        write_file(path, json.dumps({"format": FORMAT, "record": self.lines}))

    @classmethod
    def load(cls, path: Path, *, trusted: bool = False) -> Self:
        """The game saved in a file. The file is only parsed: every move is checked and made again.

        Only if it is `trusted` may its seats name other agents than registered ones, whose code is then run.
        """
        lines = _saved_lines(path)
        try:
            return cls.of_lines(lines, trusted=trusted)
        except ValueError as error:
            raise SaveError(f"{on_one_line(str(path))}: {on_one_line(str(error))}") from None

    @classmethod
    def of_lines(cls, lines: Sequence[Line], *, trusted: bool = False) -> Self:
        """The game whose record so far this is: every move is checked and made again; raises ValueError."""
        ruleset = read_ruleset(lines[0])
        seats, seed = lines[0].get("agents"), lines[0].get("seed")
        if not isinstance(seats, list) or not all(isinstance(name, str) for name in seats):
            raise SaveError("agents: should be a list of names")
        if type(seed) is not int:
            raise SaveError(f"seed: should be a whole number, not {in_short(seed)}")
        if not trusted:
            _check_seats(seats)
        game = cls(ruleset, seats, seed)
        game._compare(lines[:1])
        for number, line in enumerate(lines[1:], start=2):
            if "move" in line:
                game._repeat(number, line)
        game._compare(lines)
        return game

    def _repeat(self, number: int, line: Line) -> None:
        if self.over or line.get("player") != self.player or not isinstance(line["move"], str):
            raise SaveError(f"line {number}: {in_short(line)} cannot come next")
        if self.player in self.agents and self.batch.forced()[0] == NO_ACTION:
            self._views()  # the dice that the agent had
        phase = self.batch.phase_name()
        try:
            action = self.batch.actions.action(line["move"], phase)
        except ValueError:
            raise SaveError(f"line {number}: {in_short(line['move'])} is not a move of the phase {phase}") from None
        if self.asks_a_person():
            self.choose([action])
        else:
            self.play(action)

    def _compare(self, lines: Sequence[Line]) -> None:
        """The same seed and the same moves must have given the same game."""
        for number, (saved, made) in enumerate(zip(lines, self.lines, strict=False), start=1):
            if json.dumps(saved) != json.dumps(made):
                raise SaveError(f"line {number}: is not what this version of the game makes of the moves before it")
        if len(lines) > len(self.lines):
            raise SaveError(f"line {len(self.lines) + 1}: is too much")


def _reveals(before: np.void, after: np.void) -> bool:
    """Whether what has happened tells somebody something: another player decides, a card is drawn, a port turned up."""
    hand = HAND + before["player"]
    drawn = (after["place"][:CARDS] == hand) & (before["place"][:CARDS] != hand)
    ports = (after["open"] != before["open"]) & (after["open"] >= 0)
    return bool(after["player"] != before["player"] or after["ended"] != before["ended"] or drawn.any() or ports.any())


def _saved_lines(path: Path) -> list[Line]:
    where = on_one_line(str(path))
    try:
        saved = parse_json(read_text(path, LARGEST_FILE))
    except FileError as error:
        raise SaveError(f"{error}; a saved game is what `borneo play` has written") from None
    except ValueError as error:
        raise SaveError(f"{where}: is not JSON: {on_one_line(str(error))}") from None
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        raise SaveError(f"{where}: is no saved game ({FORMAT})")
    lines = saved.get("record")
    if not isinstance(lines, list) or not lines or not all(isinstance(line, dict) for line in lines):
        raise SaveError(f"{where}: holds no record")
    return lines


def _check_seats(seats: Sequence[str]) -> None:
    try:
        for name in seats:
            if name != HUMAN:
                check_registered(name)
    except UnknownAgent as error:
        raise SaveError(f"{error}; if you trust the file, continue it with --trust") from None
