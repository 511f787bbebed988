"""Figures and findings of an arena in words, the same in the terminal and in the report."""

from __future__ import annotations

from typing import NamedTuple

from borneo_agents.arena.result import ArenaResult
from borneo_agents.statistics.sequential import BETTER, UNDECIDED


class FaultRow(NamedTuple):
    agent: str
    kind: str
    games: int
    example: str


def fault_rows(result: ArenaResult) -> list[FaultRow]:
    """The faults of each agent by kind, with the first of them."""
    first = {(fault.agent, fault.kind): fault for fault in reversed(result.faults)}
    rows = []
    for (agent, kind), fault in sorted(first.items()):
        games = sum((other.agent, other.kind) == (agent, kind) for other in result.faults)
        rows.append(FaultRow(result.tournament.agents[agent], kind, games, f"game {fault.game}: {fault.reason}"))
    return rows


def verdict_words(result: ArenaResult) -> str:
    """Whether the question that was asked is decided; empty if none was."""
    if not (result.question and result.verdict):
        return ""
    question, verdict = result.question, result.verdict
    asked = (
        f"Is {question.agent} placed before {question.other} more often than not, at least {0.5 + question.effect:.1%}?"
    )
    rates = f"(chance of a wrong yes {question.alpha:g}, of a wrong no {question.beta:g})"
    if verdict.decided_after is None or verdict.state == UNDECIDED:
        return f"{asked} Undecided after {verdict.blocks:,} deals {rates}."
    return (
        f"{asked} {'Yes' if verdict.state == BETTER else 'No'}, decided after {verdict.decided_after:,} deals {rates}."
    )
