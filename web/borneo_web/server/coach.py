"""The coach: what a trained policy would do in the place of a person who asks, and how sure it is."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from borneo_env.agent import Views, find_agent
from borneo_env.engine.actions import PASS
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import COMMIT, DEFEND

COACH, SUBSTITUTE = "policy", "merchant"  # the second where the first was not trained for the game
MOST = 4  # options that are named
FIRST = np.array([0])


class Advice(NamedTuple):
    """Answers, the best first, each as its actions and how probable it is; None where that is not known."""

    coach: str
    answers: list[tuple[list[int], float | None]]


def advise(batch: Batch) -> Advice:
    """What the coach would do in the first game of a batch, for the player who decides there. The batch is used up."""
    try:
        return _advice(COACH, batch.copy())
    except ValueError:  # a policy for another edition
        return _advice(SUBSTITUTE, batch)


def _advice(name: str, batch: Batch) -> Advice:
    agent = _agent(name)
    if batch.phase[0] in (COMMIT, DEFEND):
        return Advice(name, [_cards(agent, batch)])
    views = Views(batch.ruleset, *batch.view(FIRST))
    if not hasattr(agent, "probabilities"):
        return Advice(name, [([int(agent.act(views)[0])], None)])
    probabilities = agent.probabilities(views)[0]
    best = np.argsort(-probabilities, kind="stable")[:MOST].tolist()
    return Advice(name, [([action], float(probabilities[action])) for action in best if probabilities[action] >= 0.005])


def _cards(agent: Any, batch: Batch) -> tuple[list[int], float | None]:
    """The cards it would play in a contest, one after the other, and how probable they are together."""
    actions: list[int] = []
    sure: float | None = 1.0
    while not actions or actions[-1] != PASS:
        views = Views(batch.ruleset, *batch.view(FIRST))
        if hasattr(agent, "probabilities"):
            probabilities = agent.probabilities(views)[0]
            action = int(probabilities.argmax())
            sure = (sure or 0.0) * float(probabilities[action])
        else:
            action, sure = int(agent.act(views)[0]), None
        actions.append(action)
        if action != PASS:
            batch.step([action])
    return actions, sure


@cache
def _agent(name: str) -> Any:
    return find_agent(name, trusted=False)
