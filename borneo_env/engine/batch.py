"""Batch: many games stepped together by the compiled loops, on all cores."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from borneo_env.cards import read_tables
from borneo_env.engine.actions import ActionTable, action_table
from borneo_env.engine.check import BrokenGame, check_games
from borneo_env.engine.jit import attributes
from borneo_env.engine.loops import (
    DESK,
    NO_ACTION,
    RUN,
    deal_games,
    deal_stacked_games,
    draw_seats,
    first_illegal,
    look_at_games,
    observe_game,
    observe_games,
    play_game,
    play_games,
    play_others,
    refresh_games,
    sample_games,
    score_games,
    state_of_games,
    step_games,
    view_games,
)
from borneo_env.engine.observe import length, state_length
from borneo_env.engine.state import CARDS, GAME, OVER, PHASES, copy_games, make_blank, make_box, slots_of
from borneo_env.ruleset import Ruleset

TO_THE_END = -1
LAST_NUMBER = 2**62  # games of a seed are numbered below it
GAMES_PER_THINKER = 32  # the same, where each game takes some thinking
GAMES_PER_THREAD = 256  # fewer games than this are not worth waking another thread for

FORMAT = "borneo-batch/1"
RESULT = ("done", "scores", "places", "contracts")


class BatchFileError(ValueError):
    """A file that does not hold a saved batch of this version."""


class IllegalMove(ValueError):
    """An action that is not legal where it was played; nothing has changed in any game."""


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="borneo")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.cache_clear)  # threads do not survive a fork


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Standing(NamedTuple):
    """How games stand, (games, players) each."""

    scores: NDArray[np.int32]
    places: NDArray[np.int8]
    contracts: NDArray[np.int8]


def standing(ruleset: Ruleset, games: NDArray[np.void]) -> Standing:
    """Points, places and numbers of contracts in games as they are now."""
    shape = (len(games), ruleset.players)
    values = Standing(np.zeros(shape, np.int32), np.zeros(shape, np.int8), np.zeros(shape, np.int8))
    score_games(attributes(make_box(ruleset)), attributes(games), *values)
    return values


def observe(
    ruleset: Ruleset, games: NDArray[np.void], seats: ArrayLike, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """(games, length): what a seat of each game knows; int8, or as `out` is."""
    chosen = np.broadcast_to(np.asarray(seats, np.int64), len(games)).copy()
    if out is None:
        out = np.empty((len(games), length(slots_of(ruleset))), np.int8)
    observe_games(attributes(make_box(ruleset)), attributes(games), chosen, out)
    return out


def state(ruleset: Ruleset, games: NDArray[np.void], seats: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """(games, length): the whole tables, secrets included, with seats counted from the given ones."""
    chosen = np.broadcast_to(np.asarray(seats, np.int64), len(games)).copy()
    if out is None:
        out = np.empty((len(games), state_length(slots_of(ruleset))), np.int8)
    state_of_games(attributes(make_box(ruleset)), attributes(games), chosen, out)
    return out


def fresh_seed() -> int:
    """A seed nobody has chosen, from the operating system."""
    return secrets.randbits(64)


class Batch:
    """Many games of one ruleset, stepped together.

    Game k of a seed is the same game in every batch: place i of a batch of N plays the games first + i,
    first + i + N, first + i + 2N, ... of the seed.

    Arguments:
        size: how many games are played side by side.
        ruleset: the ruleset; or give its fields (`players=3, edition="card"`) as keywords.
        seed: 0 to 2**64 - 1.
        first: number of the first game.
        finished: "reset" deals the next game as soon as one ends; "hold" leaves it on the table.
        skip_forced: play decisions with a single legal option without asking.
        threads: how many threads at most; all cores by default. The games do not depend on it.
    """

    def __init__(
        self,
        size: int,
        ruleset: Ruleset | None = None,
        *,
        seed: int = 0,
        first: int = 0,
        finished: str = "reset",
        skip_forced: bool = True,
        threads: int | None = None,
        **fields: Any,
    ) -> None:
        if not isinstance(size, int | np.integer) or size < 1:
            raise ValueError(f"a batch has at least 1 game, not {size!r}")
        if type(first) is not int or not 0 <= first < LAST_NUMBER:
            raise ValueError(f"first is the number of a game, 0 to {LAST_NUMBER - 1}, not {first!r}")
        if type(skip_forced) is not bool:
            raise ValueError(f"skip_forced is True or False, not {skip_forced!r}")
        if finished not in ("reset", "hold"):
            raise ValueError(f"finished games are 'reset' or 'hold', not {finished!r}")
        self.ruleset = Ruleset.given(ruleset, fields)
        self.threads = threads
        self.first = first
        self._box = make_box(self.ruleset)
        self._blank = make_blank(self.ruleset)
        self._run = np.zeros(1, RUN)
        self._run["stride"] = size
        self._run["skip_forced"] = skip_forced
        self._run["hold"] = finished == "hold"
        self.games: NDArray[np.void] = np.zeros(size, GAME)
        self._desk = np.zeros(size, DESK)
        self._mask = np.zeros((size, len(self.actions)), np.bool_)
        self._every_row = np.arange(size)
        self._bind()
        self.reset(seed)

    def _bind(self) -> None:
        """Collect what the compiled loops work on: cards, blank game and settings, then what there is of each game."""
        arrays = (self._box, self._blank, self._run, self.games, self._desk, self._mask)
        self._arrays: Any = tuple(map(attributes, arrays))
        self._shown_mask = _read_only(self._mask)

    def __len__(self) -> int:
        return len(self.games)

    @property
    def actions(self) -> ActionTable:
        """The action table of the ruleset: ids, blocks and texts."""
        return action_table(slots_of(self.ruleset))

    @property
    def threads(self) -> int:
        """How many threads are used at most."""
        return self._threads

    @threads.setter
    def threads(self, threads: int | None) -> None:
        if threads is not None and (type(threads) is not int or threads < 1):
            raise ValueError(f"threads is a number from 1, or None for all cores, not {threads!r}")
        self._threads = threads or available_cores()

    @property
    def seed(self) -> int:
        return int(self._run["seed"][0])

    @property
    def mask(self) -> NDArray[np.bool_]:
        """(games, actions): which actions are legal. The same array at every step; copy it to keep it."""
        return self._shown_mask

    @property
    def player(self) -> NDArray[np.int8]:
        """(games,): who decides in each game, -1 where it is over."""
        return _read_only(self.games["player"])

    @property
    def phase(self) -> NDArray[np.int8]:
        """(games,): what is being decided, an index into PHASES."""
        return _read_only(self.games["phase"])

    @property
    def done(self) -> NDArray[np.bool_]:
        """(games,): whether the last action in each place finished a game; its result is in `result`."""
        return _read_only(self._desk["done"])

    @property
    def result(self) -> dict[str, NDArray[Any]]:
        """Scores, places and numbers of contracts, (games, 5) each, of the game finished last in each place."""
        return {name: _read_only(self._desk[name]) for name in RESULT[1:]}

    def scores(self) -> NDArray[np.int32]:
        """(games, players): the points as they are now."""
        return standing(self.ruleset, self.games).scores

    def places(self) -> NDArray[np.int8]:
        """(games, players): the places as they are now."""
        return standing(self.ruleset, self.games).places

    def contracts(self) -> NDArray[np.int8]:
        """(games, players): how many contracts each player has fulfilled."""
        return standing(self.ruleset, self.games).contracts

    def reset(self, seed: int | None = None, where: ArrayLike | None = None) -> None:
        """Deal new games: all from `first` on (with a new seed, if given), or the next ones where `where` is true."""
        if seed is not None:
            self._run["seed"] = _checked_seed(seed)
        numbers = self.first + np.arange(len(self), dtype=np.uint64)
        chosen = np.ones(len(self), np.bool_)
        if where is not None:
            chosen = np.broadcast_to(np.asarray(where, np.bool_), len(self)).copy()
            numbers = self.games["number"].astype(np.uint64) + self._run["stride"]
        self._on_games(deal_games, chosen, numbers)

    def deal_stacked(self, game: int, start: int, draw: ArrayLike, ports: ArrayLike) -> None:
        """Deal one game from piles stacked by hand, top first: three cards to player 0, three to player 1, ..."""
        self.games[game] = self._blank[0]
        self.games["start"][game] = start
        self.games["draw"][game] = np.asarray(draw)[::-1]
        self.games["port_pile"][game, : self._box["ports"][0]] = CARDS + np.asarray(ports)[::-1]
        deal_stacked_games(attributes(self._box), attributes(self.games[game : game + 1]))
        self.refresh()

    def refresh(self) -> None:
        """Work out options and masks anew; call it after writing into `games`."""
        self._on_games(refresh_games)

    def step(self, actions: ArrayLike, rows: NDArray[np.intp] | None = None) -> None:
        """Play one action in every game, or in those of `rows`; NO_ACTION (-1) leaves a game as it is.

        If any action is illegal nothing changes in any game, and IllegalMove names the game and the legal moves.
        """
        rows = self._every_row if rows is None else self._checked_rows(rows)
        chosen = self._checked_actions(actions, rows)
        self._parallel(step_games, self._arrays, (rows, chosen))

    def check(self, actions: ArrayLike) -> None:
        """Raise what `step` would raise for these actions, and play nothing: for those who step several batches."""
        self._checked_actions(actions, self._every_row)

    def step_game(self, game: int, action: int) -> None:
        """Play one action in one game: what `step` does, without the arrays."""
        if not 0 <= action < self._mask.shape[1] or not self._mask[game, action]:
            raise IllegalMove(self._complaint(game, action))
        boxes, blank, runs, games, desks, masks = self._arrays
        play_game(boxes, blank, runs, games, desks, masks, game, action)

    def observe_game(self, game: int, seat: int, out: NDArray[Any]) -> None:
        """Write what a seat of one game knows into `out`: what `observe` does, without the arrays."""
        observe_game(self._arrays[0], self._arrays[3], game, seat, out)

    def observe(self, seats: ArrayLike | None = None, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """(games, length): what each game's deciding player knows, or the seats given; int8, or as `out` is."""
        chosen = self.games["player"] if seats is None else np.asarray(seats)
        chosen = np.broadcast_to(chosen, len(self)).astype(np.int64)
        if out is None:
            out = np.empty((len(self), length(slots_of(self.ruleset))), np.int8)
        self._parallel(observe_games, (self._box,), (self.games, chosen, out))
        return out

    def state(self, seats: ArrayLike = 0, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """(games, length): the whole table, secrets included, with seats counted from the given ones."""
        chosen = np.broadcast_to(np.asarray(seats, np.int64), len(self)).copy()
        if out is None:
            out = np.empty((len(self), state_length(slots_of(self.ruleset))), np.int8)
        self._parallel(state_of_games, (self._box,), (self.games, chosen, out))
        return out

    def view(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.void], NDArray[np.bool_], NDArray[np.uint64]]:
        """Some games as their deciding players see them, with their masks and random bits for each decision."""
        rows = self._checked_rows(rows)
        views = np.empty(len(rows), GAME)
        masks = np.empty((len(rows), self._mask.shape[1]), np.bool_)
        dice = np.empty(len(rows), np.uint64)
        self._parallel(view_games, (self.games, self._mask), (rows, views, masks, dice))
        return views, masks, dice

    def look(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.uint64]]:
        """What `view` shows, as observations instead of records: for agents that are networks."""
        rows = self._checked_rows(rows)
        observations = np.empty((len(rows), length(slots_of(self.ruleset))), np.int8)
        masks = np.empty((len(rows), self._mask.shape[1]), np.bool_)
        dice = np.empty(len(rows), np.uint64)
        self._parallel(look_at_games, (self._box, self.games, self._mask), (rows, observations, masks, dice))
        return observations, masks, dice

    def draw_seats(self) -> NDArray[np.int64]:
        """(games,): a seat at random for each game, the same for the same game everywhere."""
        seats = np.empty(len(self), np.int64)
        draw_seats(attributes(self._run), self.games["number"].astype(np.uint64), self.ruleset.players, seats)
        return seats

    def sample(self) -> NDArray[np.int16]:
        """(games,): a random legal action for every game, NO_ACTION where it is over."""
        actions = np.empty(len(self), np.int16)
        self._parallel(sample_games, (), (self.games, self._desk, actions))
        return actions

    def play_random(self, steps: int | None = None) -> int:
        """Play `steps` random decisions in every game (None: to the end, for held games); returns the decisions."""
        if steps is not None and (not isinstance(steps, int | np.integer) or steps < 0):
            raise ValueError(f"steps is a number from 0, or None to play to the end, not {steps!r}")
        if steps is None and not self._run["hold"][0]:
            raise ValueError("games that are reset never end; give a number of steps, or finished='hold'")
        return sum(self._on_games(play_games, TO_THE_END if steps is None else steps))

    def play_others(self, seats: ArrayLike) -> None:
        """In every held game, play random decisions until the given seat decides or the game is over."""
        self._on_games(play_others, np.broadcast_to(np.asarray(seats, np.int64), len(self)).copy())

    def play(
        self,
        loop: Callable[..., Any],
        rows: NDArray[np.intp],
        shared: tuple[Any, ...],
        own: tuple[Any, ...],
        scratch: tuple[Any, ...],
    ) -> None:
        """Run a compiled loop like `step_games` on some games: for players whose thinking is compiled.

        The loop gets what `step_games` gets up to the masks, then `shared`, the rows, and `own` arrays, which have an
        entry for each row and are sliced with them, and `scratch` arrays with an entry for each thread.
        """
        shared = (*self._arrays, *shared)
        in_parallel(self._threads, loop, shared, (rows, *own), GAMES_PER_THINKER, scratch)

    def forced(self) -> NDArray[np.int16]:
        """(games,): the action where only one is legal, else NO_ACTION."""
        return np.where(self._desk["count"] == 1, self._desk["options"][:, 0], NO_ACTION)

    def legal_moves(self, game: int = 0) -> list[str]:
        """The legal moves of one game in words."""
        desk = self._desk[game]
        phase = self.phase_name(game)
        return [self.actions.text(int(action), phase) for action in desk["options"][: desk["count"]]]

    def picture(self, game: int = 0, seat: int | None = None) -> Any:
        """One game as a `Picture` for a seat's eyes (None: the whole table); it shows itself in a notebook."""
        from borneo_env.render import Picture  # pictures are a layer above, for those who ask for one

        return Picture(self.ruleset, self.games[game], seat)

    def phase_name(self, game: int = 0) -> str:
        return PHASES[self.games["phase"][game]]

    def copy(self) -> Batch:
        """A batch in the same state that shares nothing with this one."""
        twin = object.__new__(Batch)
        twin.__dict__.update(self.__dict__)
        twin.games = copy_games(self.games)
        for name in ("_run", "_desk", "_mask"):
            setattr(twin, name, getattr(self, name).copy())
        twin._bind()
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Batch:
        return self.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()  # pickle has made arrays of their own of those in `_arrays`

    def save(self, path: str | Path) -> None:
        """Write the running batch to a plain `.npz` file (no pickle); `Batch.load` plays on identically."""
        about = {
            "format": FORMAT,
            "ruleset": {name: getattr(self.ruleset, name) for name in ("edition", "players", "traders", "blackbeard")},
            "tables": asdict(self.ruleset.tables),
            "seed": self.seed,
            "first": self.first,
            "skip_forced": bool(self._run["skip_forced"][0]),
            "finished": "hold" if self._run["hold"][0] else "reset",
        }
        with open(path, "wb") as file:  # np.savez given a name would add an ending of its own
            arrays: dict[str, Any] = {name: self._desk[name] for name in RESULT}
            np.savez(file, about=np.array(json.dumps(about)), games=self.games, **arrays)

    @classmethod
    def load(cls, path: str | Path, threads: int | None = None) -> Batch:
        """The batch saved in a file; a file that is not one, or holds impossible games, is a BatchFileError."""
        try:
            batch = cls._from_file(path, threads)
        except Exception as error:  # a damaged archive can raise nearly anything
            raise BatchFileError(f"{path}: is not a saved batch: {error}") from None
        return batch

    @classmethod
    def _from_file(cls, path: str | Path, threads: int | None) -> Batch:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            games, result = file["games"], {name: file[name] for name in RESULT}
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']!r}, not {FORMAT!r}")
        ruleset = Ruleset(**about["ruleset"], tables=read_tables(about["tables"], "tables"))
        check_games(ruleset, games)
        keys = ("seed", "first", "skip_forced", "finished")
        batch = cls(len(games), ruleset, threads=threads, **{key: about[key] for key in keys})
        batch.games[:] = games
        batch.refresh()
        if np.any((batch._desk["count"] == 0) & (batch.games["phase"] != OVER)):
            raise BrokenGame("a game without a legal move is not over")
        for name, values in result.items():
            if (values.dtype, values.shape) != (batch._desk[name].dtype, batch._desk[name].shape):
                raise ValueError(f"{name} has another type or shape than it should")
            batch._desk[name] = values
        return batch

    def _checked_actions(self, actions: ArrayLike, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        chosen = np.asarray(actions)
        if chosen.dtype.kind not in "iu":
            raise TypeError(f"actions are whole numbers, not {chosen.dtype}")
        if chosen.shape != rows.shape:
            raise ValueError(f"one action for each of the {len(rows)} games is needed, not an array of {chosen.shape}")
        if chosen.dtype == np.uint64:
            chosen = np.minimum(chosen, self._mask.shape[1])  # or the largest would become NO_ACTION
        chosen = chosen.astype(np.int64)
        illegal = first_illegal(self._mask, rows, chosen)
        if illegal >= 0:
            raise IllegalMove(self._complaint(int(rows[illegal]), int(chosen[illegal])))
        return chosen

    def _checked_rows(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        if len(rows) and (rows[0] < 0 or rows[-1] >= len(self) or (rows[1:] <= rows[:-1]).any()):
            raise ValueError(f"rows are different places of the batch, 0 to {len(self) - 1}, in ascending order")
        return rows

    def _complaint(self, game: int, action: int) -> str:
        phase = self.phase_name(game)
        if phase == "over":
            return f"game {game} is over; give it NO_ACTION ({NO_ACTION}), or reset it"
        move = self.actions.text(action, phase)
        legal_moves = ", ".join(self.legal_moves(game))
        player = self.games["player"][game]
        return f"game {game}, player {player}, phase {phase}: {move!r} is not legal; legal are: {legal_moves}"

    def _on_games(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return self._parallel(function, self._arrays[:3], (*self._arrays[3:], *arguments))

    def _parallel(self, function: Callable[..., Any], shared: tuple[Any, ...], own: tuple[Any, ...]) -> list[Any]:
        return in_parallel(self._threads, function, shared, own, GAMES_PER_THREAD)


def in_parallel(
    threads: int,
    function: Callable[..., Any],
    shared: tuple[Any, ...],
    own: tuple[Any, ...],
    least: int,
    scratch: tuple[Any, ...] = (),
) -> list[Any]:
    """Call a compiled loop on slices of games of `least` or more, one per thread.

    Arrays in `own` are sliced; those in `scratch`, which come last, have an entry for each thread to work with.
    """
    shared, own, scratch = (tuple(map(attributes, arrays)) for arrays in (shared, own, scratch))
    size = len(own[0])
    parts = max(1, min(threads, size // least, *map(len, scratch)))
    if parts == 1:
        return [function(*shared, *own, *scratch)]
    bounds = [size * part // parts for part in range(parts + 1)]
    slices = [[a[low:high] if isinstance(a, np.ndarray) else a for a in own] for low, high in pairwise(bounds)]
    papers = [[a[part : part + 1] for a in scratch] for part in range(parts)]
    others = [_workers().submit(function, *shared, *slices[i], *papers[i]) for i in range(1, parts)]
    return [function(*shared, *slices[0], *papers[0]), *(other.result() for other in others)]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _checked_seed(seed: int) -> int:
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**64:
        raise ValueError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}")
    return int(seed)
