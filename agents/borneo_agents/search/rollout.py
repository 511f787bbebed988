"""Rollout: tries every option in the same determinizations, and takes the best by win probability."""

from __future__ import annotations

from typing import Any

import numpy as np

from borneo_agents.search.agent import Search
from borneo_agents.search.determinization import DETERMINIZED, TRIED
from borneo_agents.search.playouts import Scratch, begin, determinize_anew, evaluate_playout, make_search_scratch, play
from borneo_env.compile import entry
from borneo_env.engine.game import legal


class Rollout(Search):
    """Compares the options by playouts from the same determinizations."""

    def __init__(
        self, budget: int = 1000, milliseconds: float | None = None, turns: int = 2, policy: str = "merchant"
    ) -> None:
        super().__init__(budget, milliseconds, turns, policy)

    def _make_scratch(self) -> Scratch:
        return make_search_scratch()

    def _begin(self, scratch: Scratch, games: Any, i: int, dice: np.uint64) -> None:
        begin_comparison(dice, scratch)

    def _search(self, scratch: Scratch, box: Any, games: Any, i: int, playouts: int) -> int:
        return int(compare(box, games, i, scratch, self._playouts, playouts))


@entry
def begin_comparison(dice, scratch):
    """Forget the last decision."""
    begin(scratch, dice)
    scratch.totals[:] = 0.0


@entry
def compare(boxes, views, i, scratch, playouts, budget):
    """Try every option in as many determinizations as the budget allows, at least one; returns the best action."""
    box = boxes[0]
    me = int(views[i].player)
    count = legal(box, views[i], scratch.tried)
    for _ in range(max(1, budget // count)):
        determinize_anew(scratch, views[i])
        scratch.games[TRIED] = scratch.games[DETERMINIZED]
        for k in range(count):
            scratch.games[DETERMINIZED] = scratch.games[TRIED]
            begun = play(box, scratch.games[DETERMINIZED], scratch.tried[k])
            evaluate_playout(box, scratch, playouts.policy, playouts.turns - begun)
            scratch.totals[k] += scratch.probabilities[me]
    best = 0
    for k in range(1, count):
        if scratch.totals[k] > scratch.totals[best]:
            best = k
    return scratch.tried[best]
