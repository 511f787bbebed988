"""What the search bots share as agents."""

from __future__ import annotations

import time
from collections import namedtuple
from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.scripted.dispatch import BOTS
from borneo_env.agent import UnknownAgent, Views
from borneo_env.engine.threads import available_cores, in_parallel
from borneo_env.files import in_short

SLICE = 32  # playouts between two looks at the clock
MOST_PLAYOUTS, MOST_MILLISECONDS, MOST_TURNS = 1_000_000, 3_600_000, 1000  # no game has so many turns

# How a search is made: the scripted bot that plays for all, and the turns that begin before a playout is cut off.
Playouts = namedtuple("Playouts", "policy turns")


def is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))


class Search:
    """A bot that tries its options in determinizations.

    It keeps nothing from one call to the next, so that several threads may ask the same one.

    Arguments:
        budget: playouts for each decision.
        milliseconds: time for each decision instead; such a bot is not repeatable.
        turns: how many turns begin before a playout is cut off.
        policy: the scripted bot that plays for all in the playouts: random, contractor, climber or merchant.
    """

    memoryless = True

    def __init__(self, budget: int, milliseconds: float | None, turns: int, policy: str) -> None:
        if type(budget) is not int or not 1 <= budget <= MOST_PLAYOUTS:
            raise UnknownAgent(f"a budget is a number of playouts from 1 to {MOST_PLAYOUTS}, not {in_short(budget)}")
        if milliseconds is not None and not (is_number(milliseconds) and 0 < milliseconds <= MOST_MILLISECONDS):
            raise UnknownAgent(
                f"milliseconds are a number above 0, up to {MOST_MILLISECONDS}, not {in_short(milliseconds)}"
            )
        if type(turns) is not int or not 0 <= turns <= MOST_TURNS:
            raise UnknownAgent(f"turns are a number from 0 to {MOST_TURNS}, not {in_short(turns)}")
        if policy not in tuple(BOTS):
            raise UnknownAgent(f"there is no policy {in_short(policy)} for playouts; use one of {', '.join(BOTS)}")
        self._budget = budget
        self._milliseconds = milliseconds
        self._playouts = Playouts(BOTS[policy], turns)

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        chosen = np.zeros(len(views), np.int64)
        self._in_threads(views, self._choose, chosen)
        return chosen

    def _in_threads(self, views: Views, write: Callable[..., None], found: NDArray[Any]) -> None:
        """Let all cores write what is found of the views. Times are those of one core for itself."""
        box, games, dice = views.arrays()
        threads = available_cores() if self._milliseconds is None else 1
        in_parallel(threads, write, (box,), (games, dice, found), 1)

    def _choose(self, box: Any, games: Any, dice: NDArray[np.uint64], chosen: NDArray[np.int64]) -> None:
        scratch = self._make_scratch()
        for i in range(len(dice)):
            chosen[i] = self._decide(scratch, box, games, i, dice[i])

    def _decide(self, scratch: Any, box: Any, games: Any, i: int, dice: np.uint64) -> int:
        self._begin(scratch, games, i, dice)
        if self._milliseconds is None:
            return self._search(scratch, box, games, i, self._budget)
        end = time.perf_counter() + self._milliseconds / 1000
        action = self._search(scratch, box, games, i, SLICE)
        while time.perf_counter() < end:
            action = self._search(scratch, box, games, i, SLICE)
        return action

    def _make_scratch(self) -> Any:
        """What the search works with."""
        raise NotImplementedError

    def _begin(self, scratch: Any, games: Any, i: int, dice: np.uint64) -> None:
        """Forget the last decision."""
        raise NotImplementedError

    def _search(self, scratch: Any, box: Any, games: Any, i: int, playouts: int) -> int:
        """Play more playouts of game i; returns the best action so far."""
        raise NotImplementedError
