"""GpuBatch: many games on a CUDA card, with the verbs of `Batch`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kontor.actions import ActionTable
from kontor.compile import attributes
from kontor.engine.arguments import WRITTEN, checked_number, checked_rows, checked_seats
from kontor.engine.batch import Batch, IllegalMove, ruleset_of
from kontor.engine.batch_state import MOST_GAMES, checked_first, checked_seed, make_run, size_of
from kontor.engine.games import Results
from kontor.fields import SPECTATOR
from kontor.game import Game
from kontor.gpu import kernels
from kontor.gpu.device import address_of, callers_stream, check_card, configured, copy_into, new_array
from kontor.gpu.exchange import CardArray, field, is_on_card, on_host, taken
from kontor.layout import length
from kontor.ruleset import Ruleset


class GpuBatch:
    """Many games of one ruleset on a CUDA card, stepped together: game k of a seed is the same game as in a `Batch`.

    Arrays stay on the card; see `CardArray` for how torch and CuPy use them. Actions and seats may be arrays of
    theirs, or NumPy's, which are copied to the card. Work is done on the stream that torch works on at the moment, or
    on the stream given. `mask`, `player`, `phase`, `done` and `result` are the same memory at every step: make tensors
    of them once.

    Arguments: those of `Batch`, without threads, and
        stream: a stream of torch or CuPy, or its address; by default torch's current one. With a stream given, let
            torch work on that stream too: tensors that were made once do not wait.
    """

    plays: ClassVar[Game | None] = None  # a game's own class of batches says which

    def __init__(
        self,
        size: int,
        ruleset: Ruleset | None = None,
        *,
        game: Game | str | None = None,
        seed: int = 0,
        first: int = 0,
        finished: str = "reset",
        skip_forced: bool = True,
        stream: Any = None,
        **fields: Any,
    ) -> None:
        check_card()
        run = make_run(size, seed, finished, skip_forced)
        self._set_up(ruleset_of(game or self.plays, ruleset, fields), run, checked_first(first), stream)
        self.reset()

    def _set_up(self, ruleset: Ruleset, run: NDArray[np.void], first: int, stream: Any) -> None:
        self.ruleset, self.first = ruleset, first
        self._run, self._kernels = run, ruleset.game.of(kernels)
        self._stream = None if stream is None else address_of(stream)
        self._size = size = size_of(run)
        self._shared = [
            self._to_card(array) for array in (ruleset.game.box(ruleset), ruleset.game.blank_record(ruleset), run)
        ]
        self._games, self._desk = self._new(size, ruleset.game.record), self._new(size, ruleset.game.desk)
        self._mask = self._new((size, len(self.actions)), np.bool_)
        self._actions, self._drawn = self._new(size, np.int64), self._new(size, np.int64)
        self._seats = self._new(size, np.int64)
        self._all = self._to_card(np.ones(size, np.bool_))
        self._first_found = self._to_card(np.array([size]))  # the first game where a kernel found something wrong
        self._count = self._to_card(np.zeros(1, np.int64))

    @classmethod
    def of(cls, batch: Batch, stream: Any = None) -> Self:
        """The games of a batch, copied to the card."""
        check_card()
        made = object.__new__(cls)
        made._set_up(batch.ruleset, batch._run.copy(), batch.first, stream)
        for to, array in zip(made._own(), batch._arrays[3:], strict=True):
            copy_into(to, array, made.stream)
        return made

    def to_cpu(self, threads: int | None = None) -> Batch:
        """The games as a batch of the CPU, which plays on identically."""
        games, desk, mask = (on_host(array, self.stream) for array in self._own())
        return Batch.holding(self.ruleset, self._run.copy(), self.first, (games, desk, mask), threads)

    def copy(self) -> Self:
        """A batch in the same state that shares nothing with this one."""
        twin = object.__new__(type(self))
        twin._set_up(self.ruleset, self._run.copy(), self.first, self._stream)
        for to, array in zip(twin._own(), self._own(), strict=True):
            copy_into(to, array, self.stream)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def take(self, rows: ArrayLike) -> Self:
        """A batch of some of these games, in the order of `rows`; a game may be there many times."""
        chosen = np.asarray(rows)
        if chosen.ndim != 1:
            raise ValueError(f"rows are places of the batch, one after the other, not an array of {chosen.shape}")
        checked_rows(np.unique(chosen), len(self))
        run = self._run.copy()
        run["stride"] = checked_number(chosen.size, 1, MOST_GAMES, "give the row of a game at least")
        some = object.__new__(type(self))
        some._set_up(self.ruleset, run, self.first, self._stream)
        some._launch(some._kernels.take_games, self._to_card(chosen.astype(np.int64)), *self._own(), *some._own())
        return some

    def save(self, path: str | Path) -> None:
        """Write the running batch to a file that `Batch.load` reads too."""
        self.to_cpu().save(path)

    @classmethod
    def load(cls, path: str | Path, stream: Any = None, game: Game | str | None = None) -> Self:
        """The batch saved in a file, on the card; a file that is none is a BatchFileError."""
        return cls.of(Batch.load(path, game=game or cls.plays), stream)

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<GpuBatch of {len(self):,} games of {self.ruleset.name}, seed {self.seed}>"

    # ------------------------------------------------------------ what there is

    @property
    def actions(self) -> ActionTable:
        """The action table of the ruleset: ids, blocks and texts."""
        return self.game.action_table(self.ruleset)

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self.ruleset.game

    @property
    def seed(self) -> int:
        return int(self._run["seed"][0])

    @property
    def stream(self) -> int:
        """The address of the stream that work is done on."""
        return callers_stream() if self._stream is None else self._stream

    @stream.setter
    def stream(self, stream: Any) -> None:
        self._stream = None if stream is None else address_of(stream)

    @property
    def games(self) -> CardArray:
        """(games,): the records."""
        return CardArray(self._games, self.stream)

    @property
    def mask(self) -> CardArray:
        """(games, actions): which actions are legal."""
        return CardArray(self._mask, self.stream)

    @property
    def player(self) -> CardArray:
        """(games,): who decides in each game, -1 where it is over."""
        return field(self._games, "player", self.stream)

    @property
    def phase(self) -> CardArray:
        """(games,): what is being decided, an index into the game's phases."""
        return field(self._games, "phase", self.stream)

    @property
    def done(self) -> CardArray:
        """(games,): whether the last action in each place finished a game; its result is in `result`."""
        return field(self._desk, "done", self.stream)

    @property
    def result(self) -> dict[str, CardArray]:
        """Scores, places and what else the game keeps, (games, seats) each, of the game finished last in each place."""
        return {name: field(self._desk, name, self.stream) for name in self.game.result_names}

    def results(self) -> Results:
        """(games, players) each: points and places as they are now."""
        shape = (len(self), self.ruleset.players)
        arrays = [self._new(shape, dtype) for dtype in (np.int32, np.int8)]
        self._launch(self._kernels.score, self._shared[0], self._games, *arrays)
        return Results(*(CardArray(array, self.stream) for array in arrays))  # type: ignore[arg-type]

    # ------------------------------------------------------------ playing

    def reset(self, seed: int | None = None, where: Any = None) -> None:
        """Deal new games: all from `first` on (with a new seed, if given), or the next ones where `where` is true."""
        if seed is not None:
            self._run["seed"] = checked_seed(seed)
            copy_into(self._shared[2], attributes(self._run), self.stream)
        chosen = self._all if where is None else self._chosen(where)
        self._launch(self._kernels.deal, *self._arrays(), chosen, self.first if where is None else -1, self._actions)
        self._step(first=False)

    def _chosen(self, where: Any) -> Any:
        """(games,): truth values on the card."""
        if not is_on_card(where):
            where = np.broadcast_to(np.asarray(where, np.bool_), len(self))
        return self._taken(where, "biu", "one truth value")

    def step(self, actions: Any, *, check: bool = True) -> None:
        """Play one action in every game; NO_ACTION (-1) leaves a game as it is.

        If any action is illegal nothing changes in any game, and IllegalMove names the game and the legal moves. To
        know that, Python waits for the card. `check=False` is for those who choose by the mask: nobody waits, and an
        illegal action leaves its game as it is.
        """
        self._take_actions(actions, check)
        self._step(first=True)

    def _take_actions(self, actions: Any, check: bool, may_wait: bool = True) -> None:
        """Take over the actions to be played; `may_wait` says whether NO_ACTION is one."""
        given = self._taken(actions, "iu", "one action")
        if check:
            self._check(given, self._kernels.take_actions, self._mask, given, self._actions, may_wait)
        else:
            self._launch(self._kernels.take_actions, self._mask, given, self._actions, may_wait, self._first_found)

    def _check(self, given: Any, kernel: Any, *arguments: Any) -> None:
        """Raise IllegalMove where a kernel that takes over actions finds one that is not legal."""
        if (game := self._found(kernel, *arguments)) is not None:
            action = int(CardArray(given, self.stream).numpy()[game])
            raise IllegalMove(self.take([game]).to_cpu().complaint(0, action, game))

    def _step(self, first: bool) -> None:
        self._launch(self._kernels.step, *self._arrays(), self._actions, first, threads=kernels.SORTED)

    def sample(self) -> CardArray:
        """(games,): a random legal action for every game, NO_ACTION where it is over; overwritten by the next."""
        self._launch(self._kernels.sample, self._games, self._desk, self._drawn)
        return CardArray(self._drawn, self.stream)

    def play_random(self, steps: int | None = None) -> int:
        """Play `steps` random decisions in every game (None: to the end, for held games); returns the decisions."""
        hold = bool(self._run["hold"][0])
        if steps is not None:
            steps = checked_number(steps, 0, 2**63 - 1, "steps is a number from 0, or None to play to the end")
        elif not hold:
            raise ValueError("games that are reset never end; give a number of steps, or finished='hold'")
        self._launch(self._kernels.forget_done, self._desk)
        played = decisions = 0
        while played != steps and (running := self._running() if hold else len(self)):
            self._launch(self._kernels.sample, self._games, self._desk, self._actions)
            self._step(first=False)
            decisions += running
            played += 1
        return decisions

    def play_others(self, seats: Any) -> None:
        """In every held game, play random decisions until the given seat decides or the game is over."""
        self._play_others(self._checked_seats(seats, spectator=False))

    def _play_others(self, seats: Any) -> None:
        while self._counted(self._kernels.sample_others, self._games, self._desk, seats, self._actions):
            self._step(first=False)

    def refresh(self) -> None:
        """Work out options and masks anew, after writing into `games`; nothing is checked."""
        self._launch(self._kernels.ask_anew, self._desk, self._mask, self._actions)
        self._step(first=False)

    # ------------------------------------------------------------ what seats know

    def observe(self, seats: Any = None, out: Any = None) -> CardArray:
        """(games, length): what each game's deciding player knows, or the seats given; int8, or as `out` is."""
        return self._written(False, self._deciders() if seats is None else self._checked_seats(seats), out)

    def state(self, seats: Any = 0, out: Any = None) -> CardArray:
        """(games, length): the whole table, secrets included, with seats counted from the given ones."""
        return self._written(True, self._checked_seats(seats), out)

    def _written(self, whole: bool, seats: Any, out: Any = None, chosen: Any = None) -> CardArray:
        """Observations or whole tables, where they are chosen, into `out`."""
        width = length(self.game.state_layout(self.ruleset) if whole else self.game.layout(self.ruleset))
        if out is not None and not is_on_card(out):
            raise ValueError(f"out is an array on the card, not {type(out).__name__}; observe() makes one")
        room = self._new((len(self), width), np.int8) if out is None else taken(out, self.stream)
        if room.shape != (len(self), width) or room.dtype not in (*WRITTEN, np.dtype(np.float16)):
            numbers = ", ".join(map(str, (*WRITTEN, "float16")))
            raise ValueError(
                f"out is an array of ({len(self)}, {width}), of {numbers}; not {room.dtype} of {room.shape}"
            )
        kernel = kernels.observer(self.game, width, whole)
        chosen = self._all if chosen is None else chosen
        self._launch(kernel, self._shared[0], self._games, seats, chosen, room, threads=kernels.rows_of(width))
        return CardArray(room, self.stream)

    def redact(self, seats: Any) -> CardArray:
        """(games,): copies of the records as the seats see them."""
        chosen = self._checked_seats(seats)
        views = self._new(len(self), self.game.record)
        copy_into(views, self._games, self.stream)
        self._launch(self._kernels.redact, self._shared[0], views, chosen)
        return CardArray(views, self.stream)

    def resample(self, seats: Any, rng: np.random.Generator) -> None:
        """Replace every game by a random one that looks the same to its seat, with random streams of its own.

        The games are those that `resample` gives with the same generator. Imagine many for one game with
        `batch.take(rows)`, rows being repeated.
        """
        chosen = self._checked_seats(seats)
        seeds = self._to_card(rng.integers(2**64, size=len(self), dtype=np.uint64))
        self._launch(self._kernels.resample, self._shared[0], self._games, chosen, seeds)
        self.refresh()

    def draw_seats(self) -> CardArray:
        """(games,): a seat at random for each game, the same for the same game everywhere."""
        seats = self._new(len(self), np.int64)
        self._launch(self._kernels.draw_seats, self._shared[0], self._shared[2], self._games, self._all, seats)
        return CardArray(seats, self.stream)

    # ------------------------------------------------------------ the card

    def _own(self) -> tuple[Any, Any, Any]:
        return self._games, self._desk, self._mask

    def _arrays(self) -> tuple[Any, ...]:
        return (*self._shared, *self._own())

    def _launch(self, kernel: Any, *arguments: Any, threads: int = kernels.THREADS) -> None:
        configured(kernel, -(-len(self) // threads), threads, self.stream)(*arguments)

    def _new(self, shape: Any, dtype: Any) -> Any:
        return new_array(shape, dtype, self.stream)

    def _to_card(self, array: NDArray[Any]) -> Any:
        return taken(array, self.stream)

    def _taken(self, given: Any, kinds: str, what: str) -> Any:
        """An array with a value for each game, on the card."""
        array = taken(given, self.stream)
        if array.dtype.kind not in kinds or array.dtype == np.uint64:
            raise TypeError(f"{what} for each game is needed, whole numbers, not an array of {array.dtype}")
        if array.shape != (len(self),):
            raise ValueError(f"{what} for each of the {len(self)} games is needed, not an array of {array.shape}")
        return array

    def _deciders(self) -> Any:
        self._launch(self._kernels.deciders, self._games, self._seats)
        return self._seats

    def _checked_seats(self, seats: Any, spectator: bool = True) -> Any:
        """(games,): seats on the card; one that does not exist is a ValueError."""
        players, lowest = self.ruleset.players, SPECTATOR if spectator else 0
        if is_on_card(seats):
            given = self._taken(seats, "iu", "a seat")
        else:
            given = self._to_card(checked_seats(np.asarray(seats), players, len(self)))
        game = self._found(self._kernels.take_seats, given, lowest, players, self._seats)
        if game is not None and not spectator:
            raise ValueError(f"game {game}: give the seat of a player, 0 to {players - 1}; a spectator never decides")
        if game is not None:
            raise ValueError(f"game {game}: a seat is a number from 0 to {players - 1}, or {SPECTATOR} for a spectator")
        return self._seats

    def _running(self) -> int:
        return self._counted(self._kernels.count_running, self._desk)

    def _counted(self, kernel: Any, *arguments: Any) -> int:
        """What a kernel counts."""
        copy_into(self._count, np.zeros(1, np.int64), self.stream)
        self._launch(kernel, *arguments, self._count)
        return int(on_host(self._count, self.stream)[0])

    def _found(self, kernel: Any, *arguments: Any) -> int | None:
        """The first game where a kernel finds something wrong, if any."""
        copy_into(self._first_found, np.array([len(self)]), self.stream)
        self._launch(kernel, *arguments, self._first_found)
        game = int(on_host(self._first_found, self.stream)[0])
        return None if game == len(self) else game
