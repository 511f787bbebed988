"""GpuSeats: learner seats in thousands of games on a CUDA card, the counterpart of `Seats`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from gymnasium.error import ResetNeeded

from kontor.engine.batch import Batch, fresh_seed, ruleset_of
from kontor.envs.seats import ALL_SEATS, INTERRUPTED, RANDOM_SEAT, check_like, check_seats
from kontor.game import Game
from kontor.gpu.batch import GpuBatch
from kontor.gpu.device import copy_into
from kontor.gpu.exchange import CardArray
from kontor.layout import length
from kontor.registry import RANDOM
from kontor.rewards import Named, find_reward
from kontor.ruleset import Ruleset

DTYPES = ("int8", "float16", "float32")

# Actions of opponents, for what the deciding players of all games know and may do. Only those where an opponent is
# asked are played; the mask of a game that is over is empty.
Opponents = Callable[[CardArray, CardArray], Any]


class GpuSeats:
    """One learner seat in each of many games, or all seats of them, on a CUDA card: arrays in, arrays out.

    `step(actions)` plays the learner's actions and everything up to its next decision. A game that ends is dealt anew
    at once: `observation` and `mask` then are those of the new game, and what the old one came to is in `final_*`
    where `done` is true. All arrays are the same memory at every step: make tensors of them once, and copy what is to
    be kept. The same seed and actions give what `Seats` gives.

    With `seat="all"` the learner decides for everybody: `seat` says who is asked, and `reward` has a number for each
    player.

    Arguments:
        opponents: "random", or a function of the observations and masks of all games that returns an action for each.
        seat: the learner's; "random" draws one for each game; "all".
        reward: a name of the table of rewards.
        dtype: of observations: "int8", "float16" or "float32".
        whole_table: observe the whole table, secrets included, which begins with the observation: for critics.
        stream: see `GpuBatch`.
    """

    plays: ClassVar[Game | None] = None  # a game's own class says which

    def __init__(
        self,
        size: int,
        ruleset: Ruleset | None = None,
        *,
        game: Game | str | None = None,
        opponents: str | Opponents = RANDOM,
        seat: int | str = RANDOM_SEAT,
        reward: str = "win",
        seed: int | None = None,
        dtype: str = "int8",
        first: int = 0,
        whole_table: bool = False,
        stream: Any = None,
        **fields: Any,
    ) -> None:
        ruleset = ruleset_of(game or self.plays, ruleset, fields)
        players = ruleset.players
        check_seats(seat, players, opponents)
        if opponents != RANDOM and not callable(opponents):
            raise ValueError(f"opponents on the card are {RANDOM!r} or a function, not {opponents!r}; Seats has others")
        if dtype not in DTYPES:
            raise ValueError(f"dtype {dtype!r} is not offered; use one of {', '.join(DTYPES)}")
        given = find_reward(ruleset.game, reward)
        if not isinstance(given, Named):
            raise ValueError("a reward on the card goes by its name; functions of your own are for Seats")
        self.ruleset, self.opponents, self.whole_table = ruleset, opponents, whole_table
        self._seat, self._reward = seat, given
        self._in_step = False  # a step or reset has begun and not come to its end
        seed = fresh_seed() if seed is None else seed
        self.batch = batch = GpuBatch(size, ruleset, seed=seed, first=first, finished="hold", stream=stream)
        played = ruleset.game
        shape = (size, length(played.state_layout(ruleset) if whole_table else played.layout(ruleset)))
        self._observation, self._final_observation = batch._new(shape, dtype), batch._new(shape, dtype)
        self._seats, self._final_seat = batch._new(size, np.int64), batch._new(size, np.int64)
        self._rewards = batch._new((size, players), np.float32)
        self._own_reward = batch._new(size, np.float32)
        self._done = batch._new(size, np.bool_)
        self._final_scores = batch._new((size, players), np.int32)
        self._final_places = batch._new((size, players), np.int8)
        self._before = batch._new(size, played.record)
        self.reset()

    def __len__(self) -> int:
        return len(self.batch)

    def reset(self, seed: int | None = None, where: Any = None) -> None:
        """Deal new games (all, or the next ones where `where` is true) and play up to the learner's decision."""
        chosen = self.batch._all if where is None else self.batch._chosen(where)
        if where is not None and self._in_step:
            raise ResetNeeded(INTERRUPTED)
        self.batch.reset(seed, None if where is None else self._shown(chosen))
        self._in_step = True
        self._note_before()
        self._take_seats(chosen)
        self._ask_opponents()
        copy_into(self._done, np.zeros(len(self), np.bool_), self.batch.stream)
        self._observe(self._observation)
        self._in_step = False

    def step(self, actions: Any, *, check: bool = True) -> None:
        """Play the learner's actions and everything up to its next decision; see `GpuBatch.step` for `check`.

        A step that breaks off, because a function for the opponents failed or somebody pressed Ctrl-C, leaves games
        with another player's decision: then only `reset` is possible, and ResetNeeded says so.
        """
        if self._in_step:
            raise ResetNeeded(INTERRUPTED)
        batch = self.batch
        batch._take_actions(actions, check, may_wait=False)
        self._in_step = True
        if not self._reward.at_the_end:
            self._note_before()
        batch._step(first=True)
        self._ask_opponents()
        self._end_games()
        batch.reset(where=self._shown(self._done))
        self._take_seats(self._done)
        self._ask_opponents()
        self._observe(self._observation)
        self._in_step = False

    def go_on(self, batch: Batch) -> None:
        """Go on with a saved batch of as many games of the same ruleset, held where the learner decides."""
        check_like(batch, self.batch)
        for own, given in zip(self.batch._own(), GpuBatch.of(batch)._own(), strict=True):
            copy_into(own, given, self.batch.stream)
        self._note_before()
        self._take_seats(self.batch._all)
        self._ask_opponents()
        copy_into(self._done, np.zeros(len(self), np.bool_), self.batch.stream)
        self._observe(self._observation)
        self._in_step = False

    def _end_games(self) -> None:
        """Give rewards, and keep what the games that have ended came to."""
        batch = self.batch
        finals = (self._final_seat, self._final_scores, self._final_places)
        batch._launch(batch._kernels.end_games, batch._games, batch._desk, self._seats, self._done, *finals)
        chosen = self._done if self._reward.at_the_end else batch._all
        games = (self._before, batch._games)
        batch._launch(batch._kernels.give_rewards, batch._shared[0], self._reward.number, *games, chosen, self._rewards)
        if self._seat != ALL_SEATS:
            batch._launch(batch._kernels.give_to_seats, self._rewards, self._seats, self._own_reward)
        self._observe(self._final_observation, self._done)

    def _ask_opponents(self) -> None:
        batch = self.batch
        if self._seat == ALL_SEATS:
            batch._launch(batch._kernels.deciders, batch._games, self._seats)
        elif self.opponents == RANDOM:
            batch._play_others(self._seats)
        else:
            while batch._counted(batch._kernels.count_others, batch._games, batch._desk, self._seats):
                given = batch._taken(self.opponents(batch.observe(), batch.mask), "iu", "one action")  # type: ignore[operator]
                games = (batch._games, batch._desk, batch._mask, self._seats)
                batch._check(given, batch._kernels.take_from_others, *games, given, batch._actions)
                batch._step(first=False)

    def _take_seats(self, chosen: Any) -> None:
        """Seat the learner in new games."""
        batch = self.batch
        if self._seat == RANDOM_SEAT:
            batch._launch(batch._kernels.draw_seats, *batch._shared[::2], batch._games, chosen, self._seats)
        elif self._seat != ALL_SEATS:
            copy_into(self._seats, np.full(len(self), self._seat, np.int64), batch.stream)

    def _note_before(self) -> None:
        """Keep the games as they are before a step. Rewards at the end need only know that they were not over."""
        copy_into(self._before, self.batch._games, self.batch.stream)

    def _observe(self, out: Any, chosen: Any = None) -> None:
        self.batch._written(self.whole_table, self._seats, self._shown(out), chosen)

    # ------------------------------------------------------------ what the learner gets

    @property
    def observation(self) -> CardArray:
        """(games, length): what the learner knows."""
        return self._shown(self._observation)

    @property
    def mask(self) -> CardArray:
        """(games, actions): what the learner may do."""
        return self.batch.mask

    @property
    def reward(self) -> CardArray:
        """(games,), or (games, players) with all seats: what came of the last step."""
        return self._shown(self._rewards if self._seat == ALL_SEATS else self._own_reward)

    @property
    def done(self) -> CardArray:
        """(games,): whether a game ended in the last step."""
        return self._shown(self._done)

    @property
    def seat(self) -> CardArray:
        """(games,): where the learner sits; with all seats, who decides."""
        return self._shown(self._seats)

    @property
    def final_observation(self) -> CardArray:
        """(games, length): what the learner knew at the end, where `done`; with all seats, what a spectator knew."""
        return self._shown(self._final_observation)

    @property
    def final_scores(self) -> CardArray:
        """(games, players): the points at the end, where `done`."""
        return self._shown(self._final_scores)

    @property
    def final_places(self) -> CardArray:
        """(games, players): the places at the end, where `done`."""
        return self._shown(self._final_places)

    @property
    def final_seat(self) -> CardArray:
        """(games,): where the learner sat, where `done`; with all seats, -1."""
        return self._shown(self._final_seat)

    def _shown(self, raw: Any) -> CardArray:
        return CardArray(raw, self.batch.stream)
