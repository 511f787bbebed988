"""One learner seat against opponents in many games of Borneo at once: plain arrays, and Gymnasium's VectorEnv."""

from __future__ import annotations

from typing import Any

from borneo_env.engine.batch import Batch
from borneo_env.engine.game import BORNEO
from borneo_env.ruleset import Ruleset
from kontor.envs import seats, vector
from kontor.envs.seats import ALL_SEATS, RANDOM_SEAT
from kontor.envs.spaces import seat_spaces

__all__ = ["ALL_SEATS", "RANDOM_SEAT", "BorneoVectorEnv", "Seats", "seat_spaces"]


class Seats(seats.Seats):
    __doc__ = seats.Seats.__doc__
    plays = BORNEO
    ruleset: Ruleset
    batch: Batch

    def _batch_of(self, *arguments: Any, **settings: Any) -> Batch:
        return Batch(*arguments, **settings)


class BorneoVectorEnv(vector.SeatVectorEnv):
    __doc__ = vector.SeatVectorEnv.__doc__
    plays = BORNEO

    def _seats_of(self, *arguments: Any, **settings: Any) -> Seats:
        return Seats(*arguments, **settings)
