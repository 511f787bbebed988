"""The Gymnasium environment: one learner seat against opponents."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from kontor.engine.arguments import is_whole
from kontor.engine.batch import IllegalMove, ruleset_of
from kontor.envs.screen import Screen
from kontor.envs.seats import FORFEIT, INTERRUPTED, NO_GAME, RANDOM_SEAT, Seats, check_seat
from kontor.envs.spaces import explained, seat_spaces, with_mask
from kontor.envs.vector import RAISE, ends_if_illegal
from kontor.game import Game
from kontor.registry import RANDOM
from kontor.rewards import Reward
from kontor.ruleset import Ruleset


class SeatEnv(gymnasium.Env[Any, Any]):
    """One seat of a game; the opponents play inside `step`.

    The reward is what happened since the seat's last decision. `action_masks()` and `info["action_mask"]` say what is
    legal; an illegal action raises IllegalMove and changes nothing. A step before `reset`, after the end, or after one
    that was interrupted raises Gymnasium's ResetNeeded.

    `illegal="end"` is for learners that know no masks: an illegal action ends the game with a reward of -1, and
    `info["illegal"]` is true. `mask_in_observation=True` is for those that look for masks in observations. Infos have
    numbers and arrays, so that libraries can make tensors of them: the game's `phase_names` name `info["phase"]`.
    """

    plays: ClassVar[Game | None] = None  # a game's own class says which
    screen: ClassVar[type[Screen]] = Screen
    metadata = {"render_modes": Screen.modes, "render_fps": 2}  # noqa: RUF012  # Gymnasium wants a plain dict

    def __init__(
        self,
        ruleset: Ruleset | Game | str | None = None,
        *,
        opponents: Any = RANDOM,
        seat: int | str = RANDOM_SEAT,
        reward: str | Reward = "win",
        dtype: str = "int8",
        illegal: str = RAISE,
        mask_in_observation: bool = False,
        render_mode: str | None = None,
        **fields: Any,
    ) -> None:
        self.ruleset = ruleset_of(self.plays, ruleset, fields)
        self.render_mode = render_mode
        self._screen = self.screen(render_mode)
        self._ends_if_illegal = ends_if_illegal(illegal)
        self._dealt = False
        self._forfeited = False  # the game was ended by an illegal action
        check_seat(seat, self.ruleset.players)
        self._seats = self._seats_of(
            1, self.ruleset, opponents=opponents, seat=seat, reward=reward, dtype=dtype, threads=1, deals_anew=False
        )
        self.observation_space: spaces.Space[Any]
        self.observation_space, self.action_space = seat_spaces(self.ruleset, dtype)
        self._mask_in_observation = mask_in_observation
        if mask_in_observation:
            self.observation_space = with_mask(self.observation_space, self.action_space)

    def _seats_of(self, *arguments: Any, **settings: Any) -> Seats:
        """The learner's seat: a game may have a class of its own."""
        return Seats(*arguments, **settings)

    def __repr__(self) -> str:
        name = f"{type(self).__name__} of {self.ruleset.name}"
        return f"<{name}: {self._obstacle or f'the learner sits at {self.seat}'}>"

    @property
    def seat(self) -> int:
        """The learner's seat in the present game."""
        return int(self._seats.seat[0])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal a new game, the first of a seed or the next one, and play up to the learner's first decision."""
        super().reset(seed=seed)
        self._seats.reset(seed, True if seed is None else None)
        self._dealt, self._forfeited = True, False
        if self.render_mode == "human":
            self.render()
        info = self._info()
        return self._observation(info), info

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play the learner's action, then the opponents', up to the learner's next decision or the end."""
        if not is_whole(action):
            raise TypeError(f"an action is a whole number, not {action!r}")
        self._check_game()
        if self._seats.done[0] or self._forfeited:
            raise ResetNeeded("the game is over: reset() deals the next one")
        try:
            self._seats.step([int(action)])
        except IllegalMove:
            if not self._ends_if_illegal:
                raise
            self._forfeited = True
            info = self._info()
            return self._observation(info), FORFEIT, True, False, info
        info = self._info()
        if self._seats.done[0]:
            info |= {"scores": self._seats.final_scores[0].tolist(), "places": self._seats.final_places[0].tolist()}
        if self.render_mode == "human":
            self.render()
        return self._observation(info), float(self._seats.reward[0]), bool(self._seats.done[0]), False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions are legal: what sb3-contrib's masked algorithms ask for."""
        self._check_game()
        mask: NDArray[np.bool_] = self._seats.mask[0].copy()
        return mask

    def _info(self) -> dict[str, Any]:
        seats = self._seats
        info = {"action_mask": seats.mask[0].astype(np.int8), "phase": seats.batch.phase[0], "seat": seats.seat[0]}
        return info | {"illegal": np.bool_(self._forfeited)} if self._ends_if_illegal else info

    def _observation(self, info: dict[str, Any]) -> Any:
        seen = self._seats.observation[0].copy()
        return {"observation": seen, "action_mask": info["action_mask"].copy()} if self._mask_in_observation else seen

    def explain(self, observation: NDArray[Any]) -> str:
        """An observation in words."""
        return explained(self.ruleset, observation)

    def render(self) -> Any:
        """The position as the learner sees it, in the way of the render mode."""
        self._check_game()
        return self._screen.show(self.ruleset, self._seats.batch.games[0], self.seat, "")

    @property
    def _obstacle(self) -> str:
        """Why nothing can be done before `reset`; empty if there is a game."""
        if not self._dealt:
            return NO_GAME
        return INTERRUPTED if self._seats.in_step else ""

    def _check_game(self) -> None:
        if self._obstacle:
            raise ResetNeeded(self._obstacle)

    def close(self) -> None:
        self._screen.close()
