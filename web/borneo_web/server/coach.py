"""The coach: what a trained policy would do in the place of a person who asks, why, and what it fears."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from borneo_agents.policy.threats import Outlook, Threat
from numpy.typing import NDArray

from borneo_env.agent import Views, find_agent
from borneo_env.engine.actions import PASS
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import COMMIT, DEFEND

COACH, SUBSTITUTE = "policy", "merchant"  # the second where the first was not trained for the game
MOST, WITH_OUTLOOK = 4, 2  # answers that are named, and those of which it says where they lead
LEAST = 0.005  # probability of an answer that is named; the second best is always
CERTAIN = 3.0  # standard errors of a difference that is told
LEAST_GAIN, MOST_REASONS = 0.1, 3
CARDS_OF_A_CONTEST = (COMMIT, DEFEND)
FIRST = np.array([0])

Numbers = NDArray[np.float64]


class Answer(NamedTuple):
    """What a person could choose."""

    actions: list[int]
    sure: float | None  # how probable it is that the coach would do this; None where that is not known
    win: float | None = None  # how probable a win is afterwards, as far as the coach can say
    fear: Threat | None = None
    gains: tuple[tuple[str, float], ...] = ()  # what it brings more or less than the best, or the best than the second
    behind: float | None = None  # how much more probable a win is after the best; 0 where it cannot tell them apart


class Advice(NamedTuple):
    """Answers, the best first. What the person has chosen is among them, or is added at the end."""

    coach: str
    answers: list[Answer]
    chosen: int | None = None  # which of them the person has chosen
    options: int = 0  # among which the coach has chosen, if it tells how probable each is


def advise(batch: Batch, chosen: Sequence[int] = ()) -> Advice:
    """What the coach would do in the first game of a batch, for the player who decides there. The batch is used up.

    What the player has chosen, if anything yet, is compared with it.
    """
    try:
        return _advice(COACH, batch.copy(), list(chosen))
    except ValueError:  # a policy for another edition
        return _advice(SUBSTITUTE, batch, list(chosen))


def _advice(name: str, batch: Batch, chosen: list[int]) -> Advice:
    agent, views, legal = _agent(name), _views(batch), batch.mask[0]
    odds = agent.probabilities(views)[0] if hasattr(agent, "probabilities") else None
    answers = [_answer(agent, batch, odds, [])] if odds is None else _best(agent, batch, odds)
    own = next((number for number, answer in enumerate(answers) if answer.actions == chosen), None)
    if chosen and own is None:
        own = len(answers)
        answers.append(_answer(agent, batch, odds, chosen))
    if hasattr(agent, "outlook"):
        _look_ahead(agent, views, answers, {*range(WITH_OUTLOOK), own})
    return Advice(name, answers, own, 0 if odds is None else int(legal.sum()))


def _look_ahead(agent: Any, views: Views, answers: list[Answer], which: set[int | None]) -> None:
    """Say of some answers where they lead."""
    found: dict[int, Outlook] = {}
    for number, answer in enumerate(answers):
        outlook = agent.outlook(views, answer.actions) if number in which else None
        if outlook is not None:
            found[number] = outlook
            win = float(np.clip(outlook.values.mean() + 1 / views.ruleset.players, 0, 1))
            answers[number] = answer._replace(win=win, fear=outlook.threat)
    for number, outlook in found.items():
        other = found.get(0 if number else 1)
        if other is not None:
            behind = _difference(other.values, outlook.values) if number else None
            answers[number] = answers[number]._replace(gains=_gains(outlook, other), behind=behind)


def _gains(outlook: Outlook, other: Outlook) -> tuple[tuple[str, float], ...]:
    """What somebody has more or less after one choice than after another, on average: what chance does not explain."""
    told = ((what, _difference(numbers, other.had[what])) for what, numbers in outlook.had.items())
    return tuple((what, more) for what, more in told if abs(more) >= LEAST_GAIN)[:MOST_REASONS]


def _difference(one: Numbers, other: Numbers) -> float:
    """How much higher some numbers are than others of the same determinizations; 0 if that may be chance."""
    more = one - other
    error = more.std(ddof=1) / np.sqrt(len(more))
    return float(more.mean()) if abs(more.mean()) >= CERTAIN * error else 0.0


def _views(batch: Batch) -> Views:
    """What the player who decides may know. The dice are always the same: those of the game come from its secrets."""
    games, mask, dice = batch.view(FIRST)
    return Views(batch.ruleset, games, mask, np.zeros_like(dice))


def _best(agent: Any, batch: Batch, odds: Numbers) -> list[Answer]:
    """The most probable options; in a contest what follows the two most probable first cards."""
    best = np.argsort(np.where(batch.mask[0], -odds, 1), kind="stable")[: min(MOST, int(batch.mask[0].sum()))]
    several = batch.phase[0] in CARDS_OF_A_CONTEST
    named = [
        action
        for number, action in enumerate(best.tolist())
        if number < WITH_OUTLOOK or (odds[action] >= LEAST and not several)
    ]
    return [_answer(agent, batch, odds, [action]) for action in named]


def _answer(agent: Any, batch: Batch, odds: Numbers | None, begun: Sequence[int]) -> Answer:
    """An answer that begins with some actions and goes on as the agent would: a set of cards is played one by one."""
    actions: list[int] = []
    sure = None if odds is None else 1.0
    batch = batch.copy()
    while True:
        given = begun[len(actions)] if len(actions) < len(begun) else None
        if odds is None:
            action = int(agent.act(_views(batch))[0]) if given is None else given
        else:
            action = int(odds.argmax()) if given is None else given
            sure = (sure or 0.0) * float(odds[action])
        actions.append(action)
        if action == PASS or batch.phase[0] not in CARDS_OF_A_CONTEST:
            return Answer(actions, sure)
        batch.step([action])
        odds = None if odds is None else agent.probabilities(_views(batch))[0]


@cache
def _agent(name: str) -> Any:
    return find_agent(name, trusted=False)
