"""Rollout: tries every option in the same imagined games, and takes the one with the best chances on average."""

from __future__ import annotations

from typing import Any

import numpy as np

from borneo_agents.search import IMAGINED, SEEN, Search, Study, begin, imagine, judge_playout, make_study, play
from borneo_env.engine.game import legal
from borneo_env.engine.jit import entry


class Rollout(Search):
    """Compares the options by playouts from the same imagined games."""

    def __init__(
        self, budget: int = 1000, milliseconds: float | None = None, turns: int = 2, policy: str = "merchant"
    ) -> None:
        super().__init__(budget, milliseconds, turns, policy)

    def _make_desk(self) -> Study:
        return make_study()

    def _begin(self, desk: Study, games: Any, i: int, dice: np.uint64) -> None:
        begin_comparison(dice, desk)

    def _search(self, desk: Study, box: Any, games: Any, i: int, playouts: int) -> int:
        return int(compare(box, games, i, desk, self._playouts, playouts))


@entry
def begin_comparison(dice, study):
    """Forget the last decision."""
    begin(study, dice)
    study.totals[:] = 0.0


@entry
def compare(boxes, views, i, study, playouts, budget):
    """Try every option in as many imagined games as the budget allows, at least one; returns the best action."""
    box = boxes[0]
    me = int(views[i].player)
    count = legal(box, views[i], study.tried)
    for _ in range(max(1, budget // count)):
        imagine(study, views[i])
        study.games[SEEN] = study.games[IMAGINED]
        for k in range(count):
            study.games[IMAGINED] = study.games[SEEN]
            begun = play(box, study.games[IMAGINED], study.tried[k])
            judge_playout(box, study, playouts.policy, playouts.turns - begun)
            study.totals[k] += study.chances[me]
    best = 0
    for k in range(1, count):
        if study.totals[k] > study.totals[best]:
            best = k
    return study.tried[best]
