"""What agents think of the options in a recorded game: probabilities where they have some, else their choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.agent import Agent, Views, ask, find_agent
from borneo_env.engine.batch import Batch
from borneo_env.ruleset import Ruleset
from borneo_web.replay.recorded import RecordedDecision, RecordedGame

MERCHANT, POLICY = "merchant", "policy"
TOGETHER = 8  # decisions of one question, so that a progress bar moves
PER_MILLE = 1000

Track = Callable[[Sequence[Any], str], Iterable[Any]]


def untracked(things: Sequence[Any], words: str) -> Iterable[Any]:
    """Nobody watches the progress."""
    return things


def usual_agents(ruleset: Ruleset) -> list[str]:
    """Whose thoughts are shown if nobody says whose: a merchant's, and the policy's in games it was trained for."""
    try:
        find_agent(POLICY).check_ruleset(ruleset)  # type: ignore[attr-defined]
    except ValueError:
        return [MERCHANT]
    return [MERCHANT, POLICY]


def thoughts(
    game: RecordedGame, decisions: Sequence[RecordedDecision | None], agents: Sequence[str], seed: int, track: Track
) -> list[dict[str, Any]]:
    """For each agent its name and, by position, the number of its choice, or the probability of each option in ‰."""
    asked = [i for i, decision in enumerate(decisions) if decision and len(decision.actions) > 1]
    chunks = [np.array(asked[i : i + TOGETHER], np.intp) for i in range(0, len(asked), TOGETHER)]
    told = []
    for name in agents:
        agent, table, answers = find_agent(name), game.table(seed), dict[str, Any]()
        kind = "probabilities" if hasattr(agent, "probabilities") else "choices"
        answer = _probabilities if kind == "probabilities" else _choices
        for rows in track(chunks, f"{name} thinks"):
            try:
                answers |= zip(map(str, rows.tolist()), answer(agent, table, rows, decisions), strict=True)
            except Exception as error:
                error.add_note(f"{name} was asked for its thoughts; leave it out of them to have the page without")
                raise
        told.append({"agent": name, kind: answers})
    return told


def _choices(
    agent: Agent, table: Batch, rows: NDArray[np.intp], decisions: Sequence[RecordedDecision | None]
) -> Iterable[int]:
    actions = ask(table, rows, [agent], np.zeros((len(table), table.ruleset.players), np.int64))
    for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
        yield _actions(decisions[row]).index(action)


def _probabilities(
    agent: Any, table: Batch, rows: NDArray[np.intp], decisions: Sequence[RecordedDecision | None]
) -> Iterable[list[int]]:
    shares = agent.probabilities(Views(table.ruleset, *table.view(rows)))
    for row, share in zip(rows.tolist(), shares, strict=True):
        yield np.rint(PER_MILLE * share[_actions(decisions[row])]).astype(int).tolist()


def _actions(decision: RecordedDecision | None) -> list[int]:
    assert decision is not None  # nobody is asked where nothing is decided
    return decision.actions
