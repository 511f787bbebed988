"""The coach: what a trained policy would do in the place of a person who asks, how sure it is, and what it fears."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from borneo_agents.policy.fears import Fear

from borneo_env.agent import Views, find_agent
from borneo_env.engine.actions import PASS
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import COMMIT, DEFEND

COACH, SUBSTITUTE = "policy", "merchant"  # the second where the first was not trained for the game
MOST, WITH_FEARS = 4, 2  # answers that are named, and those of which it says what it fears
LEAST = 0.005  # probability of an answer that is named
FIRST = np.array([0])


class Answer(NamedTuple):
    """What a person could choose."""

    actions: list[int]
    sure: float | None  # how probable it is that the coach would do this; None where that is not known
    fear: Fear | None = None


class Advice(NamedTuple):
    """Answers, the best first."""

    coach: str
    answers: list[Answer]


def advise(batch: Batch) -> Advice:
    """What the coach would do in the first game of a batch, for the player who decides there. The batch is used up."""
    try:
        return _advice(COACH, batch.copy())
    except ValueError:  # a policy for another edition
        return _advice(SUBSTITUTE, batch)


def _advice(name: str, batch: Batch) -> Advice:
    agent, views = _agent(name), _views(batch)
    answers = [_cards(agent, batch)] if batch.phase[0] in (COMMIT, DEFEND) else _answers(agent, views)
    if hasattr(agent, "fear"):
        for number, answer in enumerate(answers[:WITH_FEARS]):
            answers[number] = answer._replace(fear=agent.fear(views, answer.actions))
    return Advice(name, answers)


def _views(batch: Batch) -> Views:
    """What the player who decides may know. The dice are always the same: those of the game come from its secrets."""
    games, mask, dice = batch.view(FIRST)
    return Views(batch.ruleset, games, mask, np.zeros_like(dice))


def _answers(agent: Any, views: Views) -> list[Answer]:
    if not hasattr(agent, "probabilities"):
        return [Answer([int(agent.act(views)[0])], None)]
    probabilities = agent.probabilities(views)[0]
    best = np.argsort(-probabilities, kind="stable")[:MOST].tolist()
    return [Answer([action], float(probabilities[action])) for action in best if probabilities[action] >= LEAST]


def _cards(agent: Any, batch: Batch) -> Answer:
    """The cards it would play in a contest, one after the other, and how probable they are together."""
    actions: list[int] = []
    sure: float | None = 1.0
    while not actions or actions[-1] != PASS:
        views = _views(batch)
        if hasattr(agent, "probabilities"):
            probabilities = agent.probabilities(views)[0]
            action = int(probabilities.argmax())
            sure = (sure or 0.0) * float(probabilities[action])
        else:
            action, sure = int(agent.act(views)[0]), None
        actions.append(action)
        if action != PASS:
            batch.step([action])
    return Answer(actions, sure)


@cache
def _agent(name: str) -> Any:
    return find_agent(name, trusted=False)
