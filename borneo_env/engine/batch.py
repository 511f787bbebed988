"""Batch: many games stepped together by the compiled loops, on all cores."""

from __future__ import annotations

import json
import math
import secrets
import stat
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from borneo_env.cards import read_tables
from borneo_env.engine.actions import ActionTable, action_table
from borneo_env.engine.check import check_games, check_readable, check_type
from borneo_env.engine.hidden import SPECTATOR, checked_seats
from borneo_env.engine.jit import attributes, machine_code
from borneo_env.engine.loops import (
    DESK,
    NO_ACTION,
    NUMBERS,
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
from borneo_env.engine.state import BOX, CARDS, GAME, PHASES, copy_games, make_blank, make_box, slots_of
from borneo_env.engine.threads import available_cores, in_parallel
from borneo_env.ruleset import Ruleset

TO_THE_END = -1
LAST_NUMBER = 2**62  # the first game of a batch has a lower number
MOST_GAMES = 2**31
GAMES_PER_THREAD = 256  # fewer games than this are not worth waking another thread for
GAMES_PER_THINKER = 32  # the same, where each game takes some thinking
WRITTEN = tuple(map(np.dtype, ("int8", "int16", "int32", "int64", "float32", "float64")))  # what observations can be

FORMAT = "borneo-batch/1"
RESULT = ("done", "scores", "places", "contracts")
MOST_SAVED = 2_000_000  # games in a file
LONGEST_ABOUT = 4_000_000  # bytes; with the shipped tables it has 50,000


class BatchFileError(ValueError):
    """A file that does not hold a saved batch of this version."""


class IllegalMove(ValueError):
    """An action that is not legal where it was played; nothing has changed in any game."""


class Standing(NamedTuple):
    """How games stand, (games, players) each."""

    scores: NDArray[np.int32]
    places: NDArray[np.int8]
    contracts: NDArray[np.int8]


def standing(ruleset: Ruleset, games: NDArray[np.void]) -> Standing:
    """Points, places and numbers of contracts in games as they are now."""
    check_type(games)
    shape = (len(games), ruleset.players)
    values = Standing(np.zeros(shape, np.int32), np.zeros(shape, np.int8), np.zeros(shape, np.int8))
    score_games(attributes(make_box(ruleset)), attributes(games), *values)
    return values


def observe(
    ruleset: Ruleset, games: NDArray[np.void], seats: ArrayLike, out: NDArray[Any] | None = None, *, check: bool = True
) -> NDArray[Any]:
    """(games, length): what a seat of each game knows; int8, or as `out` is. `check=False` as for `Batch.refresh`."""
    if check:
        check_readable(ruleset, games)
    chosen = checked_seats(seats, ruleset.players, len(games))
    out = _room_for(out, len(games), length(slots_of(ruleset)))
    observe_games(attributes(make_box(ruleset)), attributes(games), chosen, out)
    return out


def state(
    ruleset: Ruleset, games: NDArray[np.void], seats: ArrayLike, out: NDArray[Any] | None = None, *, check: bool = True
) -> NDArray[Any]:
    """(games, length): the whole tables, secrets included, seats counted from the given ones. `check` as above."""
    if check:
        check_readable(ruleset, games)
    chosen = checked_seats(seats, ruleset.players, len(games))
    out = _room_for(out, len(games), state_length(slots_of(ruleset)))
    state_of_games(attributes(make_box(ruleset)), attributes(games), chosen, out)
    return out


def _room_for(out: NDArray[Any] | None, *shape: int) -> NDArray[Any]:
    """The array to write numbers into: the one given, or a new one."""
    if out is None:
        return np.empty(shape, np.int8)
    _check_room(out, *shape)
    return out


def _check_room(out: Any, *shape: int) -> None:
    """Raise ValueError unless numbers can be written into an array of this shape: compiled loops do not look."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype not in WRITTEN or not out.flags.writeable:
        is_one = f"a {out.dtype} array of {out.shape}" if isinstance(out, np.ndarray) else repr(out)
        numbers = ", ".join(map(str, WRITTEN))
        raise ValueError(f"out is an array of {shape} that can be written to, of {numbers}; not {is_one}")


@cache
def _play_game() -> Callable[..., None]:
    """The machine code of `play_game` for the arrays of a batch."""
    types = (BOX, GAME, RUN, GAME, DESK)
    return machine_code(play_game, *(np.zeros(1, dtype) for dtype in types), np.zeros((1, 1), np.bool_), 0, 0)  # type: ignore[no-any-return]


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
        self._size = _checked_number(size, 1, MOST_GAMES, "a batch has at least 1 game")
        numbered = f"first is the number of a game, 0 to {LAST_NUMBER - 1}"
        self.first = _checked_number(first, 0, LAST_NUMBER - 1, numbered)
        if type(skip_forced) is not bool:
            raise ValueError(f"skip_forced is True or False, not {skip_forced!r}")
        if finished not in ("reset", "hold"):
            raise ValueError(f"finished games are 'reset' or 'hold', not {finished!r}")
        self.ruleset = Ruleset.given(ruleset, fields)
        self.threads = threads
        self._box = make_box(self.ruleset)
        self._blank = make_blank(self.ruleset)
        self._run = np.zeros(1, RUN)
        self._run["stride"] = self._size
        self._run["skip_forced"] = skip_forced
        self._run["hold"] = finished == "hold"
        self._games: NDArray[np.void] = np.zeros(self._size, GAME)
        self._desk = np.zeros(self._size, DESK)
        self._mask = np.zeros((self._size, len(self.actions)), np.bool_)
        self._every_row = np.arange(self._size)
        self._bind()
        self.reset(seed)

    def _bind(self) -> None:
        """Collect what the compiled loops work on (cards, blank game and settings, then what there is of each game),
        and what is shown of it, which nobody can write to."""
        arrays = (self._box, self._blank, self._run, self._games, self._desk, self._mask)
        self._arrays: Any = tuple(map(attributes, arrays))
        games, desk = _read_only(self._games), _read_only(self._desk)
        self._shown: dict[str, NDArray[Any]] = {"mask": _read_only(self._mask)}
        self._shown |= {name: games[name] for name in ("player", "phase")}
        self._shown |= {name: desk[name] for name in RESULT}

    def __len__(self) -> int:
        return self._size

    @property
    def games(self) -> NDArray[np.void]:
        """(games,): the GAME records. They can be written to; call `refresh` after it."""
        return self._games

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
        if threads is not None:
            threads = _checked_number(threads, 1, MOST_GAMES, "threads is a number from 1, or None for all cores")
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
        """(games,): what is being decided, an index into PHASES."""
        return self._shown["phase"]

    @property
    def done(self) -> NDArray[np.bool_]:
        """(games,): whether the last action in each place finished a game; its result is in `result`."""
        return self._shown["done"]

    @property
    def result(self) -> dict[str, NDArray[Any]]:
        """Scores, places and numbers of contracts, (games, 5) each, of the game finished last in each place."""
        return {name: self._shown[name] for name in RESULT[1:]}

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
            self._run["seed"] = _checked_number(seed, 0, 2**64 - 1, "a seed is a whole number from 0 to 2**64 - 1")
        numbers = self.first + np.arange(len(self), dtype=np.uint64)
        chosen = np.ones(len(self), np.bool_)
        if where is not None:
            chosen = np.broadcast_to(np.asarray(where, np.bool_), len(self)).copy()
            numbers = (self.games["number"].astype(np.uint64) + self._run["stride"]) & NUMBERS
        self._on_games(deal_games, chosen, numbers)

    def deal_stacked(self, game: int, start: int, draw: ArrayLike, ports: ArrayLike) -> None:
        """Deal one game from piles stacked by hand, top first: three cards to player 0, three to player 1, ..."""
        game, players = self._checked_game(game), self.ruleset.players
        start = _checked_number(start, 0, players - 1, f"the start player is from 0 to {players - 1}")
        cards = _checked_pile(draw, CARDS, "cargo cards")
        port_cards = _checked_pile(ports, int(self._box["ports"][0]), "ports in play")
        record = self._games[game : game + 1]
        streams, number = record["rng"].copy(), record["number"].copy()
        record[:] = self._blank
        record["rng"], record["number"], record["start"] = streams, number, start
        record["draw"] = cards[::-1]
        record["port_pile"][0, : len(port_cards)] = CARDS + port_cards[::-1]
        deal_stacked_games(attributes(self._box), attributes(record))
        refresh_games(*self._arrays[:3], *(array[game : game + 1] for array in self._arrays[3:]))

    def refresh(self, *, check: bool = True) -> None:
        """Work out options and masks anew; call it after writing into `games`.

        Games that cannot be are a BrokenGame (a ValueError). `check=False` is for those who know what they wrote: the
        compiled rules trust their records, and nonsense can end the process. The check takes about
        2 milliseconds, and 30 microseconds for each game.
        """
        if check:
            check_games(self.ruleset, self._games)
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
        game = self._checked_game(game)
        if type(action) is not int and not isinstance(action, np.integer):
            raise TypeError(f"an action is a whole number, not {action!r}")
        if not 0 <= action < self._mask.shape[1] or not self._mask[game, action]:
            raise IllegalMove(self._complaint(game, int(action)))
        _play_game()(*self._arrays, game, int(action))

    def observe_game(self, game: int, seat: int, out: NDArray[Any]) -> None:
        """Write what a seat of one game knows into `out`: what `observe` does, without the arrays."""
        game, seat = self._checked_game(game), self._checked_seat(seat)
        _check_room(out, length(slots_of(self.ruleset)))
        observe_game(self._arrays[0], self._arrays[3], game, seat, out)

    def observe(self, seats: ArrayLike | None = None, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """(games, length): what each game's deciding player knows, or the seats given; int8, or as `out` is."""
        chosen = self._games["player"].astype(np.int64) if seats is None else self._checked_seats(seats)
        out = _room_for(out, self._size, length(slots_of(self.ruleset)))
        self._parallel(observe_games, (self._box,), (self._games, chosen, out))
        return out

    def state(self, seats: ArrayLike = 0, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """(games, length): the whole table, secrets included, with seats counted from the given ones."""
        chosen = self._checked_seats(seats)
        out = _room_for(out, self._size, state_length(slots_of(self.ruleset)))
        self._parallel(state_of_games, (self._box,), (self._games, chosen, out))
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
        if steps is not None:
            steps = _checked_number(steps, 0, 2**63 - 1, "steps is a number from 0, or None to play to the end")
        if steps is None and not self._run["hold"][0]:
            raise ValueError("games that are reset never end; give a number of steps, or finished='hold'")
        return sum(self._on_games(play_games, TO_THE_END if steps is None else steps))

    def play_others(self, seats: ArrayLike) -> None:
        """In every held game, play random decisions until the given seat decides or the game is over."""
        chosen = self._checked_seats(seats)
        if (chosen == SPECTATOR).any():
            raise ValueError("a spectator never decides; give the seat of a player")
        self._on_games(play_others, chosen)

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
        rows = self._checked_rows(rows)
        shared = (*self._arrays, *shared)
        in_parallel(self._threads, loop, shared, (rows, *own), GAMES_PER_THINKER, scratch)

    def forced(self) -> NDArray[np.int16]:
        """(games,): the action where only one is legal, else NO_ACTION."""
        return np.where(self._desk["count"] == 1, self._desk["options"][:, 0], NO_ACTION)

    def legal_moves(self, game: int = 0) -> list[str]:
        """The legal moves of one game in words."""
        desk = self._desk[self._checked_game(game)]
        phase = self.phase_name(game)
        return [self.actions.text(int(action), phase) for action in desk["options"][: desk["count"]]]

    def picture(self, game: int = 0, seat: int | None = None) -> Any:
        """One game as a `Picture` for a seat's eyes (None: the whole table); it shows itself in a notebook."""
        from borneo_env.render import Picture  # pictures are a layer above, for those who ask for one

        seat = None if seat is None else self._checked_seat(seat)
        return Picture(self.ruleset, self._games[self._checked_game(game)], seat)

    def phase_name(self, game: int = 0) -> str:
        """What is being decided in one game, in words."""
        return PHASES[self.phase[self._checked_game(game)]]

    def copy(self) -> Batch:
        """A batch in the same state that shares nothing with this one."""
        twin = object.__new__(Batch)
        twin.__dict__.update(self.__dict__)
        twin._games = copy_games(self._games)
        for name in ("_run", "_desk", "_mask"):
            setattr(twin, name, getattr(self, name).copy())
        twin._bind()
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Batch:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_arrays", "_shown")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def save(self, path: str | Path) -> None:
        """Write the running batch to a plain `.npz` file (no pickle); `Batch.load` plays on identically."""
        if len(self) > MOST_SAVED:
            raise ValueError(f"a file holds at most {MOST_SAVED:,} games, not {len(self):,}; save smaller batches")
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
        about, arrays = _read_file(Path(path))
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']!r}, not {FORMAT!r}")
        ruleset = Ruleset(**about["ruleset"], tables=read_tables(about["tables"], "tables"))
        keys = ("seed", "first", "skip_forced", "finished")
        games = arrays["games"]
        check_games(ruleset, games)
        batch = cls(len(games), ruleset, threads=threads, **{key: about[key] for key in keys})
        batch._games[:] = games
        batch.refresh(check=False)
        for name in RESULT:
            batch._desk[name] = arrays[name]
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

    def _checked_rows(self, rows: ArrayLike) -> NDArray[np.intp]:
        rows = np.asarray(rows)
        numbers = rows.ndim == 1 and (rows.dtype.kind in "iu" or rows.size == 0)
        if not numbers or (len(rows) and (rows[0] < 0 or rows[-1] >= self._size or (rows[1:] <= rows[:-1]).any())):
            raise ValueError(f"rows are different places of the batch, 0 to {self._size - 1}, in ascending order")
        return rows.astype(np.intp, copy=False)

    def _checked_game(self, game: int) -> int:
        if type(game) is int and 0 <= game < self._size:
            return game
        if not isinstance(game, np.integer) or not 0 <= game < self._size:
            raise ValueError(f"there is no game {game!r}; the batch has the games 0 to {self._size - 1}")
        return int(game)

    def _checked_seat(self, seat: int) -> int:
        numbered = "a seat is the number of a player, or -1 for a spectator"
        return _checked_number(seat, SPECTATOR, self.ruleset.players - 1, numbered)

    def _checked_seats(self, seats: ArrayLike) -> NDArray[np.int64]:
        return checked_seats(seats, self.ruleset.players, self._size)

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


def _read_file(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The description and the arrays of a saved batch.

    Nothing is read before its type and size are known to be right: `save` does not compress, so a file holds no more
    than it is long.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("not a plain file")
    with zipfile.ZipFile(path) as archive:
        about = _read_array(archive, "about", None, LONGEST_ABOUT)
        games = _read_array(archive, "games", GAME, MOST_SAVED * GAME.itemsize)
        result = {name: _read_array(archive, name, DESK[name].base, games.nbytes) for name in RESULT}
    for name, values in result.items():
        if values.shape != (len(games), *DESK[name].shape):
            raise ValueError(f"{name} has another shape than it should")
    if (result["done"].view(np.int8) > 1).any():
        raise ValueError("done is neither true nor false")
    return json.loads(str(about)), {"games": games, **result}


def _read_array(archive: zipfile.ZipFile, name: str, dtype: np.dtype[Any] | None, most: int) -> NDArray[Any]:
    """One array of an archive, of this type (None: a text) and of so many bytes at most."""
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name} is compressed; save the batch again with Batch.save")
    with archive.open(member) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{name} is an array of another format")
        shape, turned, found = np.lib.format.read_array_header_1_0(file)
        right = found == dtype if dtype is not None else found.kind == "U" and not shape
        if not right or turned:
            raise ValueError(f"{name} has another type than it should")
        size = found.itemsize * math.prod(shape)
        if not 0 < size <= most:
            raise ValueError(f"{name} has {size:,} bytes; from 1 to {most:,} are allowed")
        content = file.read(size + 1)
    if len(content) != size:
        raise ValueError(f"{name} has another length than it says")
    return np.frombuffer(content, found).reshape(shape)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be made writeable again."""
    content = array.view(np.uint8).data.toreadonly()
    return np.frombuffer(content, array.dtype).reshape(array.shape)


def _checked_pile(things: ArrayLike, number: int, name: str) -> NDArray[np.int64]:
    """A pile in which each of so many things lies once."""
    pile = np.asarray(things)
    if pile.dtype.kind not in "iu" or pile.shape != (number,) or (np.sort(pile) != np.arange(number)).any():
        raise ValueError(f"a pile of the {number} {name} has each number from 0 to {number - 1} once")
    return pile.astype(np.int64)


def _checked_number(value: Any, low: int, high: int, meaning: str) -> int:
    """A whole number in its range, as Python's own; `meaning` says what it should be."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{meaning}, not {value!r}")
    return int(value)
