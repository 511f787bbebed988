"""Batch: many games stepped together by the compiled loops, on all cores."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from borneo_env.cards import read_tables
from borneo_env.compile import attributes, machine_code
from borneo_env.engine.arguments import (
    check_room,
    checked_game,
    checked_number,
    checked_pile,
    checked_rows,
    checked_seat,
    checked_seats,
    room_for,
    whole_numbers,
)
from borneo_env.engine.batch_file import BatchFileError, read_batch_file, write_batch_file
from borneo_env.engine.batch_state import BatchState, checked_first, checked_seed, make_run
from borneo_env.engine.check import check_games
from borneo_env.engine.loops import (
    DESK,
    NUMBERS,
    RESULT,
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
    state_of_games,
    step_games,
    view_games,
)
from borneo_env.engine.observe import length, state_length
from borneo_env.engine.state import BOX, CARDS, GAME, SPECTATOR, slots_of
from borneo_env.engine.threads import in_parallel
from borneo_env.ruleset import Ruleset

TO_THE_END = -1
GAMES_PER_THREAD = 256  # fewer games than this are not worth waking another thread for
GAMES_PER_THINKER = 32  # the same, where each game takes some thinking


class IllegalMove(ValueError):
    """An action that is not legal where it was played; nothing has changed in any game."""


@cache
def _play_game() -> Callable[..., None]:
    """The machine code of `play_game` for the arrays of a batch."""
    types = (BOX, GAME, RUN, GAME, DESK)
    return machine_code(play_game, *(np.zeros(1, dtype) for dtype in types), np.zeros((1, 1), np.bool_), 0, 0)  # type: ignore[no-any-return]


def fresh_seed() -> int:
    """A seed nobody has chosen, from the operating system."""
    return secrets.randbits(64)


class Batch(BatchState):
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
        run = make_run(size, seed, finished, skip_forced)
        super().__init__(Ruleset.given(ruleset, fields), run, checked_first(first), threads)
        self.reset()

    def reset(self, seed: int | None = None, where: ArrayLike | None = None) -> None:
        """Deal new games: all from `first` on (with a new seed, if given), or the next ones where `where` is true."""
        if seed is not None:
            self._run["seed"] = checked_seed(seed)
        numbers = self.first + np.arange(len(self), dtype=np.uint64)
        chosen = np.ones(len(self), np.bool_)
        if where is not None:
            chosen = np.broadcast_to(np.asarray(where, np.bool_), len(self)).copy()
            numbers = (self.games["number"].astype(np.uint64) + self._run["stride"]) & NUMBERS
        self._on_games(deal_games, chosen, numbers)

    def deal_stacked(self, game: int, start: int, draw: ArrayLike, ports: ArrayLike) -> None:
        """Deal one game from piles stacked by hand, top first: three cards to player 0, three to player 1, ..."""
        game, players = checked_game(game, self._size), self.ruleset.players
        start = checked_number(start, 0, players - 1, f"the start player is from 0 to {players - 1}")
        cards = checked_pile(draw, CARDS, "cargo cards")
        port_cards = checked_pile(ports, int(self._box["ports"][0]), "ports in play")
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
        rows = self._every_row if rows is None else checked_rows(rows, self._size)
        chosen = self._checked_actions(actions, rows)
        self._parallel(step_games, self._arrays, (rows, chosen))

    def check(self, actions: ArrayLike) -> None:
        """Raise what `step` would raise for these actions, and play nothing: for those who step several batches."""
        self._checked_actions(actions, self._every_row)

    def step_game(self, game: int, action: int) -> None:
        """Play one action in one game: what `step` does, without the arrays."""
        game = checked_game(game, self._size)
        if type(action) is not int and not isinstance(action, np.integer):
            raise TypeError(f"an action is a whole number, not {action!r}")
        if not 0 <= action < self._mask.shape[1] or not self._mask[game, action]:
            raise IllegalMove(self.complaint(game, int(action)))
        _play_game()(*self._arrays, game, int(action))

    def observe_game(self, game: int, seat: int, out: NDArray[Any]) -> None:
        """Write what a seat of one game knows into `out`: what `observe` does, without the arrays."""
        game, seat = checked_game(game, self._size), checked_seat(seat, self.ruleset.players)
        check_room(out, length(slots_of(self.ruleset)))
        observe_game(self._arrays[0], self._arrays[3], game, seat, out)

    def observe(self, seats: ArrayLike | None = None, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """(games, length): what each game's deciding player knows, or the seats given; int8, or as `out` is."""
        chosen = self._games["player"].astype(np.int64) if seats is None else self._checked_seats(seats)
        out = room_for(out, self._size, length(slots_of(self.ruleset)))
        self._parallel(observe_games, (self._box,), (self._games, chosen, out))
        return out

    def state(self, seats: ArrayLike = 0, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """(games, length): the whole table, secrets included, with seats counted from the given ones."""
        chosen = self._checked_seats(seats)
        out = room_for(out, self._size, state_length(slots_of(self.ruleset)))
        self._parallel(state_of_games, (self._box,), (self._games, chosen, out))
        return out

    def view(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.void], NDArray[np.bool_], NDArray[np.uint64]]:
        """Some games as their deciding players see them, with their masks and random bits for each decision."""
        rows = checked_rows(rows, self._size)
        views = np.empty(len(rows), GAME)
        masks = np.empty((len(rows), self._mask.shape[1]), np.bool_)
        dice = np.empty(len(rows), np.uint64)
        self._parallel(view_games, (self.games, self._mask), (rows, views, masks, dice))
        return views, masks, dice

    def look(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.uint64]]:
        """What `view` shows, as observations instead of records: for agents that are networks."""
        rows = checked_rows(rows, self._size)
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
            steps = checked_number(steps, 0, 2**63 - 1, "steps is a number from 0, or None to play to the end")
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
        rows = checked_rows(rows, self._size)
        shared = (*self._arrays, *shared)
        in_parallel(self._threads, loop, shared, (rows, *own), GAMES_PER_THINKER, scratch)

    def save(self, path: str | Path) -> None:
        """Write the running batch to a plain `.npz` file (no pickle); `Batch.load` plays on identically."""
        about = {
            "ruleset": {name: getattr(self.ruleset, name) for name in ("edition", "players", "traders", "blackbeard")},
            "tables": asdict(self.ruleset.tables),
            "seed": self.seed,
            "first": self.first,
            "skip_forced": bool(self._run["skip_forced"][0]),
            "finished": "hold" if self._run["hold"][0] else "reset",
        }
        write_batch_file(path, about, {"games": self.games, **{name: self._desk[name] for name in RESULT}})

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
        about, arrays = read_batch_file(Path(path))
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
        chosen = whole_numbers(actions)
        if chosen.dtype != np.int64:
            raise TypeError(f"actions are whole numbers, not {chosen.dtype}")
        if chosen.shape != rows.shape:
            raise ValueError(f"one action for each of the {len(rows)} games is needed, not an array of {chosen.shape}")
        illegal = first_illegal(self._mask, rows, chosen)
        if illegal >= 0:
            raise IllegalMove(self.complaint(int(rows[illegal]), int(np.asarray(actions, object)[illegal])))
        return chosen

    def _checked_seats(self, seats: ArrayLike) -> NDArray[np.int64]:
        return checked_seats(seats, self.ruleset.players, self._size)

    def _on_games(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return self._parallel(function, self._arrays[:3], (*self._arrays[3:], *arguments))

    def _parallel(self, function: Callable[..., Any], shared: tuple[Any, ...], own: tuple[Any, ...]) -> list[Any]:
        return in_parallel(self._threads, function, shared, own, GAMES_PER_THREAD)
