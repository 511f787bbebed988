"""BatchState: the arrays of a batch of games, read-only for others, and copied or pickled as one."""

from __future__ import annotations

from html import escape
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kontor.actions import ActionTable
from kontor.compile import attributes
from kontor.engine.arguments import checked_game, checked_number
from kontor.engine.games import results
from kontor.engine.records import copy_games
from kontor.engine.threads import available_cores
from kontor.game import Game
from kontor.ruleset import Ruleset
from kontor.templates import loops
from kontor.templates.loops import NO_ACTION, RUN

MOST_GAMES = 2**31


LAST_NUMBER = 2**62  # the first game of a batch has a lower number


def make_run(size: int, seed: int, finished: str, skip_forced: bool) -> NDArray[np.void]:
    """How a batch is run, checked, as an array of one RUN record."""
    if type(skip_forced) is not bool:
        raise ValueError(f"skip_forced is True or False, not {skip_forced!r}")
    if finished not in ("reset", "hold"):
        raise ValueError(f"finished games are 'reset' or 'hold', not {finished!r}")
    run = np.zeros(1, RUN)
    run["stride"] = checked_number(size, 1, MOST_GAMES, "a batch has at least 1 game")
    run["skip_forced"] = skip_forced
    run["hold"] = finished == "hold"
    run["seed"] = checked_seed(seed)
    return run


def size_of(run: NDArray[np.void]) -> int:
    """How many games a batch has: place i of N plays every N-th game."""
    return int(run["stride"][0])


def checked_seed(seed: int) -> int:
    return checked_number(seed, 0, 2**64 - 1, "a seed is a whole number from 0 to 2**64 - 1")


def checked_first(first: int) -> int:
    return checked_number(first, 0, LAST_NUMBER - 1, f"first is the number of a game, 0 to {LAST_NUMBER - 1}")


class BatchState:
    """What there is of some games of one ruleset: records, legal actions, results. `Batch` plays them."""

    def __init__(self, ruleset: Ruleset, run: NDArray[np.void], first: int, threads: int | None) -> None:
        self._size = size_of(run)
        self.ruleset = ruleset
        self.first = first
        self.threads = threads
        game = self.game
        self._box = game.box(ruleset)
        self._blank = game.blank_record(ruleset)
        self._run = run
        self._games: NDArray[np.void] = np.zeros(self._size, game.record)
        self._desk = np.zeros(self._size, game.desk)
        self._mask = np.zeros((self._size, len(self.actions)), np.bool_)
        self._every_row = np.arange(self._size)
        self._bind()

    def _bind(self) -> None:
        """Collect what the compiled loops work on (cards, blank game and settings, then what there is of each game),
        and what is shown of it, which nobody can write to."""
        self._loops = self.game.of(loops)
        arrays = (self._box, self._blank, self._run, self._games, self._desk, self._mask)
        self._arrays: Any = tuple(map(attributes, arrays))
        games, desk = _read_only(self._games), _read_only(self._desk)
        self._shown: dict[str, NDArray[Any]] = {"mask": _read_only(self._mask)}
        self._shown |= {name: games[name] for name in ("player", "phase")}
        self._shown |= {name: desk[name] for name in ("done", *self.game.result_names)}

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self.ruleset.game

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        going_on = int((self.player >= 0).sum())
        return f"<Batch of {len(self):,} games of {self.ruleset.name}, seed {self.seed}; {going_on:,} go on>"

    def _repr_html_(self) -> str:
        """What a notebook shows: in how many games each phase is decided."""
        games = np.bincount(self.phase, minlength=len(self.game.phase_names))
        counts = zip(self.game.phase_names, games, strict=True)
        cells = "".join(f"<tr><td>{name}</td><td>{count:,}</td></tr>" for name, count in counts)
        return f"<table><caption>{escape(repr(self))}</caption><tr><th>phase</th><th>games</th></tr>{cells}</table>"

    @property
    def games(self) -> NDArray[np.void]:
        """(games,): the GAME records. They can be written to; call `refresh` after it."""
        return self._games

    @property
    def actions(self) -> ActionTable:
        """The action table of the ruleset: ids, blocks and texts."""
        return self.game.action_table(self.ruleset)

    @property
    def threads(self) -> int:
        """How many threads are used at most."""
        return self._threads

    @threads.setter
    def threads(self, threads: int | None) -> None:
        if threads is not None:
            threads = checked_number(threads, 1, MOST_GAMES, "threads is a number from 1, or None for all cores")
        self._threads = threads or available_cores()

    @property
    def seed(self) -> int:
        return int(self._run["seed"][0])

    @property
    def mask(self) -> NDArray[np.bool_]:
        """(games, actions): which actions are legal. The same array at every step; copy it to keep it."""
        return self._shown["mask"]

    @property
    def player(self) -> NDArray[np.int8]:
        """(games,): who decides in each game, -1 where it is over."""
        return self._shown["player"]

    @property
    def phase(self) -> NDArray[np.int8]:
        """(games,): what is being decided, an index into the game's phases."""
        return self._shown["phase"]

    @property
    def done(self) -> NDArray[np.bool_]:
        """(games,): whether the last action in each place finished a game; its result is in `result`."""
        return self._shown["done"]

    @property
    def result(self) -> dict[str, NDArray[Any]]:
        """Scores, places and what else the game keeps, (games, seats) each, of the game finished last in each place."""
        return {name: self._shown[name] for name in self.game.result_names}

    def scores(self) -> NDArray[np.int32]:
        """(games, players): the points as they are now."""
        return results(self.ruleset, self.games).scores

    def places(self) -> NDArray[np.int8]:
        """(games, players): the places as they are now."""
        return results(self.ruleset, self.games).places

    def forced(self) -> NDArray[np.int16]:
        """(games,): the action where only one is legal, else NO_ACTION."""
        return np.where(self._desk["count"] == 1, self._desk["options"][:, 0], NO_ACTION)

    def legal_moves(self, game: int = 0) -> list[str]:
        """The legal moves of one game in words."""
        desk = self._desk[checked_game(game, self._size)]
        phase = self.phase_name(game)
        return [self.actions.text(int(action), phase) for action in desk["options"][: desk["count"]]]

    def phase_name(self, game: int = 0) -> str:
        """What is being decided in one game, in words."""
        return self.game.phase_names[int(self.phase[checked_game(game, self._size)])]

    def complaint(self, game: int, action: int, name: int | None = None) -> str:
        """What is wrong with an illegal action in a game; the game may go by another number elsewhere."""
        number = game if name is None else name
        phase = self.phase_name(game)
        if phase == "over":
            return f"game {number} is over; give it NO_ACTION ({NO_ACTION}), or reset it"
        move = self.actions.text(action, phase)
        legal_moves = ", ".join(self.legal_moves(game))
        player = self.games["player"][game]
        return f"game {number}, player {player}, phase {phase}: {move!r} is not legal; legal are: {legal_moves}"

    @classmethod
    def holding(
        cls,
        ruleset: Ruleset,
        run: NDArray[np.void],
        first: int,
        arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
        threads: int | None = None,
    ) -> Self:
        """A batch of games that another processor has played: records, desks and masks."""
        batch = object.__new__(cls)
        BatchState.__init__(batch, ruleset, run, first, threads)
        batch._games, batch._desk, batch._mask = arrays
        batch._bind()
        return batch

    def copy(self) -> Self:
        """A batch in the same state that shares nothing with this one."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._games = copy_games(self._games)
        for name in ("_run", "_desk", "_mask"):
            setattr(twin, name, getattr(self, name).copy())
        twin._bind()
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_arrays", "_shown", "_loops")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in ("_run", "_games", "_desk", "_mask"):  # which others may have kept in memory that is read-only
            setattr(self, name, np.require(getattr(self, name), requirements="W"))
        self._bind()


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be made writeable again."""
    content = array.view(np.uint8).data.toreadonly()
    return np.frombuffer(content, array.dtype).reshape(array.shape)
