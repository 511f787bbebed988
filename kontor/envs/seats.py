"""One learner seat against opponents in thousands of games at once: plain arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import ArrayLike, NDArray

from kontor.agent import Random, ask
from kontor.engine.arguments import is_whole, whole_numbers
from kontor.engine.batch import Batch, IllegalMove, fresh_seed, ruleset_of
from kontor.engine.games import observe, state
from kontor.engine.records import copy_games
from kontor.envs.spaces import seat_spaces
from kontor.fields import OVER, SPECTATOR
from kontor.game import Game
from kontor.registry import RANDOM, agents_of
from kontor.rewards import Named, Reward, find_reward
from kontor.ruleset import Ruleset
from kontor.templates.loops import NO_ACTION

RANDOM_SEAT, ALL_SEATS = "random", "all"
FORFEIT = -1.0  # the reward of one that ends the game
NO_GAME = "No game yet: reset() deals one."
MOST_DEALS = 1000  # in a row that come to their end before the learner is asked
INTERRUPTED = "The environment was interrupted in the middle of a step: reset() deals a new game."


class NeverAsked(RuntimeError):
    """Games always end before the learner has a decision."""


class Seats:
    """One learner seat in each of many games, opponents played inside: arrays in, arrays out.

    `step(actions)` plays the learner's actions and everything up to its next decision. A game that ends is dealt anew
    at once: `observation` and `mask` then are those of the new game, and what the old one came to is in `final_*`
    where `done` is true. All arrays are overwritten by the next step; `mask` and `seat` are for reading only. With
    `whole_table` the learner is shown the whole table (`Batch.state`), which begins with its observation: for critics
    that know more than the player.

    With `seat="all"` the learner decides for everybody: `seat` says who is asked, `reward` has a number for each
    player, and there are no opponents.

    NO_ACTION is for games that are over, where they are held (`deals_anew=False`). A step that does not come to its
    end, because an opponent or a reward raised an error or somebody pressed Ctrl-C, leaves games with another player's
    decision: then only `reset` is possible, and ResetNeeded says so.
    """

    plays: ClassVar[Game | None] = None  # a game's own class says which

    def __init__(
        self,
        size: int,
        ruleset: Ruleset | Game | str | None = None,
        *,
        opponents: Any = RANDOM,
        seat: int | str = RANDOM_SEAT,
        reward: str | Reward = "win",
        seed: int | None = None,
        dtype: str = "int8",
        threads: int | None = None,
        deals_anew: bool = True,
        first: int = 0,
        whole_table: bool = False,
        **fields: Any,
    ) -> None:
        self.ruleset = ruleset = ruleset_of(self.plays, ruleset, fields)
        check_seats(seat, ruleset.players, opponents)
        self.in_step = False  # a step or reset has begun and not come to its end
        self.opponents = agents_of(ruleset.game.name).opponents(opponents, ruleset.players)
        self.reward_function = find_reward(ruleset.game, reward)
        self._rewards_at_the_end = isinstance(self.reward_function, Named) and self.reward_function.at_the_end
        self.batch = self._batch_of(
            size,
            ruleset,
            seed=fresh_seed() if seed is None else seed,
            first=first,
            finished="hold",
            threads=threads,
        )
        self.deals_anew = deals_anew
        self.whole_table = whole_table
        self._seat = seat
        self.seat: NDArray[np.int64] = np.zeros(size, np.int64)
        self._seated = np.zeros((size, ruleset.players), np.int64)  # the opponent in each seat; -1 is the learner
        observation, _ = seat_spaces(ruleset, dtype, whole_table)
        shape = (size, *observation.shape)
        self.observation = np.zeros(shape, dtype)
        self.final_observation = np.zeros(shape, dtype)
        self.reward = np.zeros((size, ruleset.players) if seat == ALL_SEATS else size, np.float32)
        self.done = np.zeros(size, np.bool_)
        self.final_scores = np.zeros((size, ruleset.players), np.int32)
        self.final_places = np.zeros((size, ruleset.players), np.int8)
        self.final_seat = np.zeros(size, np.int64)
        self.reset()

    def _batch_of(self, *arguments: Any, **settings: Any) -> Batch:
        """The games: a game may have batches of its own."""
        return Batch(*arguments, **settings)

    def __len__(self) -> int:
        return len(self.batch)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """(games, actions): what the learner may do; all False where the game is over."""
        self._check_whole()
        return self.batch.mask

    def reset(self, seed: int | None = None, where: ArrayLike | None = None) -> None:
        """Deal new games (all, or the next ones where `where` is true) and play up to the learner's decision."""
        chosen = np.broadcast_to(np.asarray(True if where is None else where, np.bool_), len(self))
        if not chosen.all():
            self._check_whole()
        interrupted, self.in_step = self.in_step, True
        try:
            self.batch.reset(seed, where)
        except ValueError:  # the seed is none, and nothing has been dealt
            self.in_step = interrupted
            raise
        self._take_seats(chosen)
        self._before = copy_games(self.batch.games)
        self.done[:] = True  # a game that ends before the learner is asked is none that it has played
        self._play_on(np.arange(len(self)), chosen)
        self.done[:] = False
        self._observe(self.observation)
        self.in_step = False

    def step(self, actions: ArrayLike) -> None:
        """Play the learner's actions and everything up to its next decision; the arrays have the outcome."""
        self._check_whole()
        self._check_idle(whole_numbers(actions))
        if not self._rewards_at_the_end or not self.deals_anew:  # else: none of them was over
            self._before = copy_games(self.batch.games)
        self.in_step = True
        try:
            self.batch.step(actions)
        except (TypeError, ValueError):  # an action that cannot be: nothing has been played
            self.in_step = False
            raise
        self.reward[:] = 0
        self.done[:] = False
        self._play_on(np.arange(len(self)), np.full(len(self), self.deals_anew))
        if not self._rewards_at_the_end:
            self._give_rewards(np.flatnonzero(~self.done))
        self._observe(self.observation)
        self.in_step = False

    def go_on(self, batch: Batch) -> None:
        """Go on with a saved batch of as many games of the same ruleset, held where the learner decides."""
        check_like(batch, self.batch)
        self.batch.games[:] = batch.games
        self.batch.refresh(check=False)  # a batch that was loaded is checked
        self._take_seats(np.ones(len(self), np.bool_))
        self.done[:] = False
        self._observe(self.observation)
        self.in_step = False

    def forfeit(self, rows: NDArray[np.bool_], last_seen: NDArray[Any]) -> None:
        """After a step: have the learner lose some of the games, as they were last seen, and deal them anew."""
        if not rows.any():
            return
        done, reward = self.done | rows, np.where(rows, FORFEIT, self.reward)
        self.reset(where=rows & ~self.done)
        self.final_observation[rows] = last_seen
        self.done[:], self.reward[:] = done, reward

    def _play_on(self, moved: NDArray[np.intp], dealt: NDArray[np.bool_]) -> None:
        """After moves in some games: play for the opponents until the learner decides everywhere. Games that end are
        dealt anew where `dealt` says so."""
        deals = 0
        while len(moved):
            if len(rows := self._with_opponents(moved)):
                self.batch.step(ask(self.batch, rows, self.opponents, self._seated), rows)
                moved = rows
            else:
                moved = self._end_games(dealt)
                deals += 1
                if deals > MOST_DEALS:
                    raise NeverAsked(
                        f"the learner is not asked in {MOST_DEALS:,} games of {self.ruleset.name} in a row"
                    )

    def _with_opponents(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Those of some games where an opponent must be asked."""
        if self._seat == ALL_SEATS:
            return rows[:0]
        if len(rows):
            self._play_compiled(rows)
        player = self.batch.games["player"][rows]
        others: NDArray[np.bool_] = (player >= 0) & (player != self.seat[rows])
        return rows[others]

    def _play_compiled(self, rows: NDArray[np.intp]) -> None:
        """Play for the opponents that can be played without asking them."""
        if all(isinstance(opponent, Random) for opponent in self.opponents):
            self.batch.play_others(self.seat)

    def _end_games(self, dealt: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Keep what the games that have ended came to, and deal them anew where `dealt`; returns those."""
        over = self.batch.player == OVER
        self._keep_results(np.flatnonzero(over & ~self.done))
        again = over & dealt
        if again.any():
            self.batch.reset(where=again)
            self._take_seats(again)
        return np.flatnonzero(again)

    def _keep_results(self, rows: NDArray[np.intp]) -> None:
        """Note what came of games that the learner has played to their end."""
        if not len(rows):
            return
        self.done[rows] = True
        self._give_rewards(rows)
        games, seats = copy_games(self.batch.games, rows), self.seat[rows]
        if self._seat == ALL_SEATS:
            seats[:] = SPECTATOR
        self.final_observation[rows] = (state if self.whole_table else observe)(self.ruleset, games, seats, check=False)
        self.final_seat[rows] = seats
        self.final_scores[rows] = self.batch.result["scores"][rows, : self.ruleset.players]
        self.final_places[rows] = self.batch.result["places"][rows, : self.ruleset.players]

    def _take_seats(self, chosen: NDArray[np.bool_]) -> None:
        """Seat the learner in new games, at a fixed seat or one drawn from the seed and the game's number."""
        if self._seat == ALL_SEATS:
            return
        seats = self.batch.draw_seats() if self._seat == RANDOM_SEAT else self._seat
        self.seat[chosen] = np.broadcast_to(seats, len(self))[chosen]
        from_learner = np.arange(self.ruleset.players) - self.seat[chosen, None]
        self._seated[chosen] = from_learner % self.ruleset.players - 1

    def _give_rewards(self, rows: NDArray[np.intp]) -> None:
        if not len(rows):
            return
        before, after = copy_games(self._before, rows), copy_games(self.batch.games, rows)
        values = self.reward_function(self.ruleset, before, after)
        self.reward[rows] = values if self._seat == ALL_SEATS else values[np.arange(len(rows)), self.seat[rows]]

    def _observe(self, out: NDArray[Any]) -> None:
        if self._seat == ALL_SEATS:
            self.seat[:] = self.batch.player
        (self.batch.state if self.whole_table else self.batch.observe)(self.seat, out=out)

    def _check_idle(self, actions: NDArray[Any]) -> None:
        """Raise IllegalMove if no action is given for a game that is not over."""
        if actions.shape != self.seat.shape or actions.dtype != np.int64:
            return  # the batch says what is wrong
        idle = (actions == NO_ACTION) & (self.batch.player != OVER)
        if idle.any():
            game = np.argmax(idle)
            raise IllegalMove(f"game {game} is not over: the learner must play a legal action, not {NO_ACTION}")

    def _check_whole(self) -> None:
        if self.in_step:
            raise ResetNeeded(INTERRUPTED)


def check_seat(seat: int | str, players: int, names: tuple[str, ...] = (RANDOM_SEAT,)) -> None:
    """Raise ValueError if a learner cannot sit there; seats may go by names too."""
    if seat not in names and not (is_whole(seat) and 0 <= int(seat) < players):
        told = " or ".join(map(repr, names))
        raise ValueError(f"seat {seat!r} does not exist; use 0 to {players - 1}, or {told}")


def check_seats(seat: int | str, players: int, opponents: Any) -> None:
    """The same where a learner may have all seats; then there are no opponents."""
    check_seat(seat, players, (RANDOM_SEAT, ALL_SEATS))
    if opponents != RANDOM and seat == ALL_SEATS:
        raise ValueError("with all seats there are no opponents; leave one of the two arguments out")


def check_like(given: Any, own: Any) -> None:
    """Raise ValueError if games cannot take the place of others."""
    if (len(given), given.ruleset, given.seed) != (len(own), own.ruleset, own.seed):
        told = [f"{len(games)} games of {games.ruleset.name}, seed {games.seed}" for games in (given, own)]
        raise ValueError(f"{told[0]} cannot take the place of {told[1]}")
