"""The Gymnasium environment: one learner seat of Borneo against opponents."""

from __future__ import annotations

from typing import Any

from borneo_env.engine.game import BORNEO
from borneo_env.ruleset import Ruleset
from borneo_env.screen import Screen
from borneo_env.vector import Seats
from kontor.envs import seat


class BorneoEnv(seat.SeatEnv):
    __doc__ = seat.SeatEnv.__doc__
    plays = BORNEO
    ruleset: Ruleset
    screen = Screen
    metadata = {"render_modes": Screen.modes, "render_fps": 2}  # noqa: RUF012  # Gymnasium wants a plain dict

    def _seats_of(self, *arguments: Any, **settings: Any) -> Seats:
        return Seats(*arguments, **settings)

    def _repr_svg_(self) -> str:
        """What a notebook shows: the position as the learner sees it, or that there is none yet."""
        from borneo_env.render import Picture, notice

        if self._obstacle:
            return notice(self._obstacle)
        return Picture(self.ruleset, self._seats.batch.games[0], self.seat).svg()
