"""SingleGame: one game stepped move by move and draw by draw from outside: for trees, records and other libraries.

It is for any game whose chance is phases. A game whose rules draw by themselves says what stands in its place
(`Game.instead`), with the same surface.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kontor.compile import attributes, machine_code
from kontor.engine.batch import IllegalMove
from kontor.engine.games import redact, resample
from kontor.engine.records import copy_games
from kontor.fields import CHANCE, HIDDEN, NONE, OVER, SEAT, Axis, Field
from kontor.game import Game
from kontor.ruleset import Ruleset
from kontor.templates import loops, stepping


class DrawsInRules(TypeError):
    """A game that cannot be stepped from outside, since its rules draw where no phase of chance is."""


class Step(NamedTuple):
    """A move, or what chance has brought."""

    player: int  # who decided, or CHANCE
    code: int  # the action, or the outcome
    text: str
    after: NDArray[np.void]  # the record after it, as an array of one


class Memory(NamedTuple):
    """What a seat has seen, as far as somebody has asked."""

    steps: int  # how many of all
    view: NDArray[np.void]  # the record after them, as the seat sees it
    told: list[str]


class SingleGame:
    """One game of a ruleset with the moves made and the outcomes brought so far.

    `SingleGame(ruleset)` stands at the beginning. `SingleGame.at(ruleset, game)` stands in the middle of a game, with
    a complete record and nothing known of what came before.

    Attributes:
        player: who decides; CHANCE if chance does, OVER at the end.
        phase: what is decided.
        options: the legal actions; none while chance is next.
    """

    has_codes: ClassVar[bool] = False  # whether what a seat has seen can be told in numbers, too

    def __init__(self, ruleset: Ruleset) -> None:
        self._set_up(ruleset, begun(ruleset), None)

    @classmethod
    def at(cls, ruleset: Ruleset, game: np.void) -> Self:
        """A game that goes on from a complete record."""
        stepped = object.__new__(cls)
        games = np.array([game])
        stepped._set_up(ruleset, games, games)
        return stepped

    def _set_up(self, ruleset: Ruleset, games: NDArray[np.void], begun_at: NDArray[np.void] | None) -> None:
        self.ruleset = ruleset
        self.begun_at = begun_at  # the position with which the steps begin, if not with the beginning
        self.steps: list[Step] = []
        self._first = games
        self._memories: dict[int, Memory] = {}
        self._games = copy_games(games)
        self._room = np.zeros(self.ruleset.game.most_options_of_all, np.int16)
        self._list_moves()

    def copy(self) -> Self:
        """A game that shares nothing which changes."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._games, twin._room = copy_games(self._games), self._room.copy()
        twin.steps = self.steps.copy()
        twin._memories = {seat: memory._replace(told=memory.told.copy()) for seat, memory in self._memories.items()}
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    @property
    def game(self) -> Game:
        return self.ruleset.game

    @property
    def games(self) -> NDArray[np.void]:
        """The game as an array of one record."""
        return self._games

    @property
    def is_over(self) -> bool:
        return self.player == OVER and not self.is_chance

    @property
    def is_chance(self) -> bool:
        """Whether chance is next."""
        return self.player == CHANCE

    def text(self, action: int) -> str:
        """A move in words."""
        return self.game.action_table(self.ruleset).text(action, self.phase)

    def _list_moves(self) -> None:
        self._ask(compiled(self.game).list_moves(*self._arrays(), self._room))

    def _ask(self, count: int) -> None:
        """Note who decides what, and which of the actions or outcomes written down there are."""
        self.player = int(self._games["player"][0])
        self.phase = self.game.phase_names[int(self._games["phase"][0])]
        listed: list[int] = self._room[:count].tolist()
        self.options, self._outcomes = ([], listed) if self.is_chance else (listed, [])

    def _arrays(self) -> tuple[Any, Any]:
        return attributes(self.game.box(self.ruleset)), attributes(self._games)

    # ------------------------------------------------------------ moves and chance

    def play(self, action: int) -> None:
        """Make a legal move."""
        self.check_move(action)
        self._step(action, self.text(action))

    def check_move(self, action: int) -> None:
        if action not in self.options:
            moves = ", ".join(map(self.text, self.options)) or "none, since chance is next or the game is over"
            raise IllegalMove(f"phase {self.phase}: {self.text(action)!r} is not legal; legal are: {moves}")

    def outcomes(self) -> list[int]:
        """What chance can bring next; nothing while somebody decides."""
        return self._outcomes.copy()

    def probabilities(self) -> list[float]:
        """How likely each of the outcomes is."""
        weights = np.zeros(len(self._outcomes), np.int64)
        compiled(self.game).weigh(*self._arrays(), self._room, len(weights), weights)
        return (weights / weights.sum()).tolist() if len(weights) else []

    def choose(self, outcome: int) -> None:
        """Let chance bring one of the outcomes."""
        if outcome not in self._outcomes:
            raise IllegalMove(f"chance cannot bring {outcome} here")
        self._step(outcome, self.outcome_text(outcome))

    def outcome_text(self, outcome: int) -> str:
        """What chance can bring next, in words."""
        return self.game.outcome_table.text(outcome, self.phase)

    def outcome(self, text: str) -> int:
        """What chance can bring next, by its words; ValueError if it cannot bring that."""
        found = [outcome for outcome in self.outcomes() if self.outcome_text(outcome) == text]
        if not found:
            raise ValueError(f"chance cannot bring {text!r} here")
        return found[0]

    def _step(self, code: int, text: str) -> None:
        player = self.player
        self._ask(carry_out(self.ruleset, self._games, self._room, code))
        self.steps.append(Step(player, code, text, copy_games(self._games)))

    # ------------------------------------------------------------ what seats know

    def position(self) -> NDArray[np.void]:
        """The game as an array of one record, with nothing in it that chance has yet to bring."""
        return self._games

    def observe(self, seat: int, out: NDArray[np.float32]) -> None:
        """Write what a seat knows."""
        compiled(self.game).observe_game(
            attributes(self.game.box(self.ruleset)), attributes(self.position()), 0, seat, out
        )

    def told(self, seat: int) -> list[str]:
        """What a seat has seen since the beginning, a text for each step that it noticed: its own moves, and what has
        changed in the record as it sees it. So games that it cannot tell apart are told alike."""
        memory = self._memories.get(seat) or self._begun_memory(seat)
        for step in self.steps[memory.steps :]:
            view = redact(self.ruleset, step.after, seat)
            own = [step.text] if step.player == seat else []
            changed = list(changes(self.game, memory.view[0], view[0]))
            if own or changed:
                memory.told.append(", ".join(own + changed))
            memory = Memory(memory.steps + 1, view, memory.told)
        self._memories[seat] = memory
        return memory.told.copy()

    def codes(self, seat: int) -> list[int]:
        """What a seat has seen since the beginning, a number for each event, for games that have such numbers."""
        return []

    def history(self) -> list[str]:
        """All that has happened, secrets too."""
        return [step.text if step.player < 0 else f"{step.player} {step.text}" for step in self.steps]

    @classmethod
    def number_of_outcomes(cls, ruleset: Ruleset) -> int:
        """Outcomes are the numbers below this one."""
        return len(ruleset.game.outcome_table)

    def _begun_memory(self, seat: int) -> Memory:
        view = redact(self.ruleset, self._first, seat)
        return Memory(0, view, [] if self.begun_at is None else [view.tobytes().hex()])

    def resampled(self, seat: int, rng: np.random.Generator) -> Self:
        """A random game among those that the seat cannot tell from this one: it remembers the same, the others only
        how the game stands."""
        self.told(seat)
        twin = self.at(self.ruleset, resample(self.ruleset, self._games, seat, rng)[0])
        memory = self._memories[seat]
        twin._memories[seat] = Memory(0, redact(self.ruleset, twin.games, seat), memory.told.copy())
        return twin


def single_game(ruleset: Ruleset) -> SingleGame:
    """A game at its beginning, to be stepped from outside."""
    made: SingleGame = kind_of(ruleset.game)(ruleset)
    return made


def kind_of(game: Game) -> type[SingleGame]:
    """The class of a game's stepped games."""
    kind: type[SingleGame] = game.own_kind("single_game", SingleGame)
    return kind


def begun(ruleset: Ruleset, seed: int = 0, number: int = 0) -> NDArray[np.void]:
    """A game of a seed at its first decision or draw, as an array of one record."""
    game = ruleset.game
    games, seeded = np.zeros((2, 1), game.record)
    box, blank = attributes(game.box(ruleset)), attributes(game.blank_record(ruleset))
    records = attributes(games), attributes(seeded)
    game.of(stepping).begin_game(box, blank, *records, np.uint64(seed), np.uint64(number))
    _check_streams(game, games, seeded["rng"])
    return games


def carry_out(ruleset: Ruleset, games: NDArray[np.void], room: NDArray[np.int16], code: int) -> int:
    """Make a legal move, or bring an outcome, in an array of one record; returns how many options are written into
    `room`: actions or outcomes."""
    streams = games["rng"].copy()
    box = attributes(ruleset.game.box(ruleset))
    count: int = compiled(ruleset.game).play_move(box, attributes(games), room, code)
    _check_streams(ruleset.game, games, streams)
    return count


def _check_streams(game: Game, games: NDArray[np.void], streams: NDArray[np.uint64]) -> None:
    if (games["rng"] != streams).any():
        raise DrawsInRules(
            f"{game.title} draws in its rules (phase {game.phase_names[int(games['phase'][0])]}): "
            "who plays it from outside cannot say what comes; make each draw a phase of chance"
        )


def changes(game: Game, before: np.void, after: np.void) -> Iterator[str]:
    """What differs between two records, in words: "card 0 jack"."""
    for field in game.all_fields:
        was, now = np.asarray(before[field.name]), np.asarray(after[field.name])
        for index in np.argwhere(was != now).tolist() if was.shape else [()] if was != now else []:
            place = " ".join(map(str, (field.name, *index)))
            yield f"{place} {_in_words(game, field, int(now[tuple(index)]))}"


def _in_words(game: Game, field: Field, value: int) -> str:
    """A value of a field, as people read it."""
    if field.name == "phase":
        return game.phase_names[value]
    if not isinstance(field.of, Axis) or value < 0:
        return {NONE: "none", HIDDEN: "hidden"}.get(value, str(value)) if isinstance(field.of, Axis) else str(value)
    return str(value) if field.of is SEAT else field.of.labels[value]


class CompiledSteps:
    """What is done with one game, compiled for the arrays of a stepped game when it is first asked for."""

    def __init__(self, game: Game) -> None:
        any_ruleset = next(iter(game.Ruleset.every()))
        self._arrays = (np.zeros(1, game.box(any_ruleset).dtype), np.zeros(1, game.record))
        self._room = np.zeros(1, np.int16)
        self._bound, self._loops = game.of(stepping), game.of(loops)

    @cached_property
    def list_moves(self) -> Any:
        return machine_code(self._bound.list_moves, *self._arrays, self._room)

    @cached_property
    def play_move(self) -> Any:
        return machine_code(self._bound.play_move, *self._arrays, self._room, 0)

    @cached_property
    def draw_next(self) -> Any:
        return machine_code(self._bound.draw_next, *self._arrays, self._room)

    @cached_property
    def weigh(self) -> Any:
        return machine_code(self._bound.weigh, *self._arrays, self._room, 0, np.zeros(1, np.int64))

    @cached_property
    def observe_game(self) -> Any:
        return machine_code(self._loops.observe_game, *self._arrays, 0, 0, np.zeros(1, np.float32))


compiled = cache(CompiledSteps)
