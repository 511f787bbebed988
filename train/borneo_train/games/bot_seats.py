"""One learner seat in each of many games on the CPU, where scripted bots play compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from borneo_agents.scripted.agents import COMPILED
from borneo_agents.scripted.dispatch import NO_BOT, RANDOM, Bots
from numpy.typing import NDArray

from borneo_env.engine.batch import IllegalMove
from borneo_env.vector import Seats


class BotSeats(Seats):
    """The games of one player count: `Seats` where scripted bots play without being asked one by one."""

    def check(self, actions: NDArray[np.integer[Any]]) -> None:
        """Raise what `step` would raise for these actions, and play nothing."""
        self._check_whole()
        try:
            self.batch.check(actions)
            self._check_idle(actions)
        except IllegalMove as error:
            error.add_note(f"it is counted among the {len(self)} games of {self.ruleset.players} players")
            raise

    def _take_seats(self, chosen: NDArray[np.bool_]) -> None:
        """Seat an agent that is one object in several seats as one, so that it is asked for all of them together."""
        super()._take_seats(chosen)
        first = {id(agent): number for number, agent in reversed([*enumerate(self.opponents)])}
        numbers = np.array([*(first[id(agent)] for agent in self.opponents), -1])  # the last is the learner's own
        self._seated[chosen] = numbers[self._seated[chosen]]

    def _play_compiled(self, rows: NDArray[np.intp]) -> None:
        kinds = [COMPILED.get(type(agent), NO_BOT) for agent in self.opponents]
        if max(kinds) > RANDOM:  # else the bots need not even be compiled
            seated = np.array([*kinds, NO_BOT], np.int8)[self._seated]  # the last is for the learner
            Bots(self.batch).play(seated, rows)
        else:
            super()._play_compiled(rows)
