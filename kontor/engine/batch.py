"""Batch: many games stepped together by the compiled loops, on all cores."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kontor.compile import attributes
from kontor.engine.arguments import (
    check_room,
    checked_game,
    checked_number,
    checked_rows,
    checked_seat,
    checked_seats,
    room_for,
    whole_numbers,
)
from kontor.engine.batch_file import BatchFileError, read_batch_file, write_batch_file
from kontor.engine.batch_state import BatchState, checked_first, checked_seed, make_run
from kontor.engine.check import check_games
from kontor.engine.threads import in_parallel
from kontor.fields import CHANCE, SPECTATOR
from kontor.game import Game, find_game
from kontor.layout import length
from kontor.ruleset import Ruleset
from kontor.templates.loops import NUMBERS

TO_THE_END = -1
GAMES_PER_THREAD = 256  # fewer games than this are not worth waking another thread for
GAMES_PER_THINKER = 32  # the same, where each game takes some thinking


class IllegalMove(ValueError):
    """An action that is not legal where it was played; nothing has changed in any game."""


def game_of(game: Game | str | None) -> Game:
    """A game itself, or the one of a name."""
    if game is None:
        raise TypeError("which game? Give a ruleset, or game='kuhn', say")
    return find_game(game) if isinstance(game, str) else game


def ruleset_of(game: Game | str | None, ruleset: Ruleset | Game | str | None, fields: dict[str, Any]) -> Ruleset:
    """The ruleset that somebody means who gives one; or its fields and the game, itself or by its name, in its place
    or as the field `game`."""
    if game is None and isinstance(ruleset, Game | str):
        game, ruleset = ruleset, None
    if game is None and "game" in fields:
        game, fields = fields["game"], {name: value for name, value in fields.items() if name != "game"}
    own = type(ruleset) if game is None and isinstance(ruleset, Ruleset) else game_of(game).Ruleset
    return own.given(ruleset, fields)  # type: ignore[arg-type]  # which refuses what is no ruleset of its game


def fresh_seed() -> int:
    """A seed nobody has chosen, from the operating system."""
    return secrets.randbits(64)


class Batch(BatchState):
    """Many games of one ruleset, stepped together.

    Game k of a seed is the same game in every batch: place i of a batch of N plays the games first + i,
    first + i + N, first + i + 2N, ... of the seed.

    Arguments:
        size: how many games are played side by side.
        ruleset: the ruleset; or give the `game`, by its name or itself, and the ruleset's fields as keywords.
        seed: 0 to 2**64 - 1.
        first: number of the first game.
        finished: "reset" deals the next game as soon as one ends; "hold" leaves it on the table.
        skip_forced: play decisions with a single legal option without asking.
        threads: how many threads at most; all cores by default. The games do not depend on it.
    """

    plays: ClassVar[Game | None] = None  # a game's own class of batches says which

    def __init__(
        self,
        size: int,
        ruleset: Ruleset | Game | str | None = None,
        *,
        game: Game | str | None = None,
        seed: int = 0,
        first: int = 0,
        finished: str = "reset",
        skip_forced: bool = True,
        threads: int | None = None,
        **fields: Any,
    ) -> None:
        run = make_run(size, seed, finished, skip_forced)
        super().__init__(ruleset_of(game or self.plays, ruleset, fields), run, checked_first(first), threads)
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
        self._on_games(self._loops.deal_games, chosen, numbers)

    def refresh(self, *, check: bool = True) -> None:
        """Work out options and masks anew; call it after writing into `games`.

        Games that cannot be are a BrokenGame (a ValueError). `check=False` is for those who know what they wrote: the
        compiled rules trust their records, and nonsense can end the process. The check takes some time.
        """
        if check:
            check_games(self.ruleset, self._games)
        self._on_games(self._loops.refresh_games)

    def lay(self, games: NDArray[np.void]) -> None:
        """Put complete games in place, as they are: where chance decides, nothing is drawn, and nothing is legal."""
        self._games[:] = games
        self.refresh(check=False)
        waits = games["player"] == CHANCE
        if waits.any():
            self._games[waits] = games[waits]
            self._desk["count"][waits], self._mask[waits] = 0, False

    def step(self, actions: ArrayLike, rows: NDArray[np.intp] | None = None) -> None:
        """Play one action in every game, or in those of `rows`; NO_ACTION (-1) leaves a game as it is.

        If any action is illegal nothing changes in any game, and IllegalMove names the game and the legal moves.
        """
        rows = self._every_row if rows is None else checked_rows(rows, self._size)
        chosen = self._checked_actions(actions, rows)
        self._parallel(self._loops.step_games, self._arrays, (rows, chosen))

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
        self.game.play_game(*self._arrays, game, int(action))

    def observe_game(self, game: int, seat: int, out: NDArray[Any]) -> None:
        """Write what a seat of one game knows into `out`: what `observe` does, without the arrays."""
        game, seat = checked_game(game, self._size), checked_seat(seat, self.ruleset.players)
        check_room(out, length(self.game.layout(self.ruleset)))
        self._loops.observe_game(self._arrays[0], self._arrays[3], game, seat, out)

    def observe(self, seats: ArrayLike | None = None, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """(games, length): what each game's deciding player knows, or the seats given; int8, or as `out` is."""
        chosen = self._games["player"].astype(np.int64) if seats is None else self._checked_seats(seats)
        out = room_for(out, self._size, length(self.game.layout(self.ruleset)))
        self._parallel(self._loops.observe_games, (self._box,), (self._games, chosen, out))
        return out

    def state(self, seats: ArrayLike = 0, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """(games, length): the whole table, secrets included, with seats counted from the given ones."""
        chosen = self._checked_seats(seats)
        out = room_for(out, self._size, length(self.game.state_layout(self.ruleset)))
        self._parallel(self._loops.state_of_games, (self._box,), (self._games, chosen, out))
        return out

    def view(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.void], NDArray[np.bool_], NDArray[np.uint64]]:
        """Some games as their deciding players see them, with their masks and random bits for each decision."""
        rows = checked_rows(rows, self._size)
        views = np.empty(len(rows), self.game.record)
        masks = np.empty((len(rows), self._mask.shape[1]), np.bool_)
        dice = np.empty(len(rows), np.uint64)
        self._parallel(self._loops.view_games, (self._box, self.games, self._mask), (rows, views, masks, dice))
        return views, masks, dice

    def look(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.uint64]]:
        """What `view` shows, as observations instead of records: for agents that are networks."""
        rows = checked_rows(rows, self._size)
        observations = np.empty((len(rows), length(self.game.layout(self.ruleset))), np.int8)
        masks = np.empty((len(rows), self._mask.shape[1]), np.bool_)
        dice = np.empty(len(rows), np.uint64)
        self._parallel(
            self._loops.look_at_games, (self._box, self.games, self._mask), (rows, observations, masks, dice)
        )
        return observations, masks, dice

    def draw_seats(self) -> NDArray[np.int64]:
        """(games,): a seat at random for each game, the same for the same game everywhere."""
        seats = np.empty(len(self), np.int64)
        self._loops.draw_seats(
            attributes(self._run), self.games["number"].astype(np.uint64), self.ruleset.players, seats
        )
        return seats

    def sample(self) -> NDArray[np.int16]:
        """(games,): a random legal action for every game, NO_ACTION where it is over."""
        actions = np.empty(len(self), np.int16)
        self._parallel(self._loops.sample_games, (), (self.games, self._desk, actions))
        return actions

    def play_random(self, steps: int | None = None) -> int:
        """Play `steps` random decisions in every game (None: to the end, for held games); returns the decisions."""
        if steps is not None:
            steps = checked_number(steps, 0, 2**63 - 1, "steps is a number from 0, or None to play to the end")
        if steps is None and not self._run["hold"][0]:
            raise ValueError("games that are reset never end; give a number of steps, or finished='hold'")
        return sum(self._on_games(self._loops.play_games, TO_THE_END if steps is None else steps))

    def play_others(self, seats: ArrayLike) -> None:
        """In every held game, play random decisions until the given seat decides or the game is over."""
        chosen = self._checked_seats(seats)
        if (chosen == SPECTATOR).any():
            raise ValueError("a spectator never decides; give the seat of a player")
        self._on_games(self._loops.play_others, chosen)

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
            **self.ruleset.saved(),
            "seed": self.seed,
            "first": self.first,
            "skip_forced": bool(self._run["skip_forced"][0]),
            "finished": "hold" if self._run["hold"][0] else "reset",
        }
        result = {name: self._desk[name] for name in ("done", *self.game.result_names)}
        write_batch_file(path, self.game, about, {"games": self.games, **result})

    @classmethod
    def load(cls, path: str | Path, threads: int | None = None, game: Game | str | None = None) -> Self:
        """The batch saved in a file; a file that is not one, or holds impossible games, is a BatchFileError."""
        try:
            batch = cls._from_file(path, threads, game_of(game or cls.plays))
        except Exception as error:  # a damaged archive can raise nearly anything
            raise BatchFileError(f"{path}: is not a saved batch: {error}") from None
        return batch

    @classmethod
    def _from_file(cls, path: str | Path, threads: int | None, game: Game) -> Self:
        about, arrays = read_batch_file(Path(path), game)
        ruleset = game.Ruleset.from_saved(about)
        keys = ("seed", "first", "skip_forced", "finished")
        games = arrays["games"]
        check_games(ruleset, games)
        batch = cls(len(games), ruleset, threads=threads, **{key: about[key] for key in keys})
        batch._games[:] = games
        batch.refresh(check=False)
        for name in ("done", *game.result_names):
            batch._desk[name] = arrays[name]
        return batch

    def _checked_actions(self, actions: ArrayLike, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        chosen = whole_numbers(actions)
        if chosen.dtype != np.int64:
            raise TypeError(f"actions are whole numbers, not {chosen.dtype}")
        if chosen.shape != rows.shape:
            raise ValueError(f"one action for each of the {len(rows)} games is needed, not an array of {chosen.shape}")
        illegal = self._loops.first_illegal(self._mask, rows, chosen)
        if illegal >= 0:
            raise IllegalMove(self.complaint(int(rows[illegal]), int(np.asarray(actions, object)[illegal])))
        return chosen

    def _checked_seats(self, seats: ArrayLike) -> NDArray[np.int64]:
        return checked_seats(seats, self.ruleset.players, self._size)

    def _on_games(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return self._parallel(function, self._arrays[:3], (*self._arrays[3:], *arguments))

    def _parallel(self, function: Callable[..., Any], shared: tuple[Any, ...], own: tuple[Any, ...]) -> list[Any]:
        return in_parallel(self._threads, function, shared, own, GAMES_PER_THREAD)
