"""Gymnasium's VectorEnv over `Seats`: one learner seat in many games."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from kontor.agent import are_legal
from kontor.engine.arguments import whole_numbers
from kontor.engine.batch import ruleset_of
from kontor.envs.seats import NO_GAME, RANDOM_SEAT, Seats, check_seat
from kontor.envs.spaces import seat_spaces
from kontor.game import Game
from kontor.registry import RANDOM
from kontor.rewards import Reward
from kontor.ruleset import Ruleset

RAISE, END = "raise", "end"  # what an illegal action does


class SeatVectorEnv(VectorEnv):
    """Gymnasium's vector environment over `Seats`: what `gymnasium.make_vec` makes.

    Games that end are dealt anew in the same step (`AutoresetMode.SAME_STEP`): `infos["final_obs"]` and
    `infos["final_info"]` have what they came to. `infos["action_mask"]` and `action_masks()` say what is legal. With
    `illegal="end"` an illegal action ends its game with a reward of -1; `infos["final_info"]["illegal"]` tells where.
    """

    plays: ClassVar[Game | None] = None  # a game's own class says which
    autoreset_mode = AutoresetMode.SAME_STEP  # TorchRL looks for it here, as in Gymnasium's own vector environments
    metadata = {"autoreset_mode": autoreset_mode}  # noqa: RUF012  # Gymnasium wants a plain dict

    def __init__(
        self,
        num_envs: int = 1,
        ruleset: Ruleset | Game | str | None = None,
        *,
        opponents: Any = RANDOM,
        seat: int | str = RANDOM_SEAT,
        reward: str | Reward = "win",
        dtype: str = "int8",
        illegal: str = RAISE,
        threads: int | None = None,
        **fields: Any,
    ) -> None:
        ruleset = ruleset_of(self.plays, ruleset, fields)
        check_seat(seat, ruleset.players)
        self.seats = self._seats_of(
            num_envs, ruleset, opponents=opponents, seat=seat, reward=reward, dtype=dtype, threads=threads
        )
        self.num_envs = len(self.seats)
        self._dealt = False
        self._ends_if_illegal = ends_if_illegal(illegal)
        self.single_observation_space, self.single_action_space = seat_spaces(ruleset, dtype)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _seats_of(self, *arguments: Any, **settings: Any) -> Seats:
        """The learner's seats: a game may have a class of its own."""
        return Seats(*arguments, **settings)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        self.seats.reset(seed, True if seed is None else None)
        self._dealt = True
        return self.seats.observation.copy(), self._infos()

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        if not self._dealt:
            raise ResetNeeded(NO_GAME)
        seats, forfeited = self.seats, np.zeros(self.num_envs, np.bool_)
        if self._ends_if_illegal:
            actions = whole_numbers(actions)
            forfeited = self._illegal(actions)
            actions = np.where(forfeited, self.seats.mask.argmax(axis=1), actions)  # which then does not count
        last_seen = seats.observation[forfeited]
        seats.step(actions)
        seats.forfeit(forfeited, last_seen)
        infos = self._infos()
        if seats.done.any():
            done, scored = seats.done.copy(), seats.done & ~forfeited
            infos |= {"final_obs": seats.final_observation.copy(), "_final_obs": done, "_final_info": done}
            results = {"scores": seats.final_scores.copy(), "places": seats.final_places.copy()}
            results |= {"_scores": scored, "_places": scored}
            infos["final_info"] = results | ({"illegal": forfeited, "_illegal": done} if self._ends_if_illegal else {})
        return seats.observation.copy(), seats.reward.copy(), seats.done.copy(), np.zeros(len(seats), np.bool_), infos

    def _illegal(self, actions: NDArray[Any]) -> NDArray[np.bool_]:
        """Where a whole number is given that is no legal action; of anything else the batch says what is wrong."""
        mask = self.seats.mask
        if actions.shape != mask.shape[:1] or actions.dtype != np.int64:
            return np.zeros(len(mask), np.bool_)
        return ~are_legal(mask, actions)

    def _infos(self) -> dict[str, Any]:
        mask, phase = self.seats.mask.astype(np.int8), self.seats.batch.phase.copy()
        infos = {"action_mask": mask, "phase": phase, "seat": self.seats.seat.copy()}
        return infos | {"illegal": np.zeros(len(mask), np.bool_)} if self._ends_if_illegal else infos

    def action_masks(self) -> NDArray[np.bool_]:
        """(games, actions): which actions are legal."""
        return self.seats.mask.copy()


def ends_if_illegal(illegal: str) -> bool:
    """Whether an illegal action ends the game; raises ValueError if it is not said what it does."""
    if illegal not in (RAISE, END):
        raise ValueError(f"illegal is {RAISE!r} or {END!r}, what an illegal action does, not {illegal!r}")
    return illegal == END
