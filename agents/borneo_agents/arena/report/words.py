"""Findings of an arena in words, the same in the terminal, in a notebook and in the report."""

from __future__ import annotations

from collections import Counter

from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.play.calls import CRASH, ENDED, ILLEGAL, TIME_OUT
from borneo_agents.arena.play.isolated import is_program
from borneo_agents.arena.play.outcomes import Trace
from borneo_agents.arena.report.tables import ArenaTables
from borneo_agents.statistics.sequential import BETTER, UNDECIDED
from borneo_agents.statistics.standings import Standing
from kontor.files import counted

BY = {
    CRASH: "by a crash",
    ILLEGAL: "by an illegal move",
    TIME_OUT: "by a time-out",
    ENDED: "by ending the process",
}
MOSTLY = 0.5  # part of an agent's games from which on its faults are the news


def title(result: ArenaTables) -> str:
    """What was played."""
    plan = result.tournament
    stopped = "" if result.complete else "stopped after "
    games, deals = counted(len(result.outcomes), "game"), counted(result.results.deals, "deal")
    each = f"{counted(plan.block, 'game')} each ({plan.lineups})"
    return f"{stopped}{games} of {plan.ruleset.name}: {deals}, {each}, seed {plan.seed}"


def isolation_words(plan: Tournament) -> str:
    """Which agents had processes of their own, if any."""
    alone = plan.agents if plan.isolate else [name for name in plan.agents if is_program(name)]
    if not alone:
        return ""
    who = "Every agent was isolated" if len(alone) == len(plan.agents) else f"Isolated: {', '.join(alone)}"
    return f"{who}: a process of its own, which was sent what its seat may know and nothing else"


def headline(result: ArenaTables) -> str:
    """The news: who is first, or who could not play at all."""
    for part, line in _fault_lines(result)[:1]:
        if part > MOSTLY:
            return line
    best = result.standings[0]
    if len(result.standings) > 1 and result.standings[1].win_share.value == best.win_share.value:
        return f"Nobody is ahead: {share(best)}"
    return f"{best.agent} wins {share(best)}"


def share(row: Standing) -> str:
    """An agent's win share in words: where copies of it met, not all seats can win."""
    wins = f"{100 * row.win_share.value:.1f} %"
    if row.highest == 1:
        return f"{wins} of its games"
    return f"{wins} of its seats, where {_percent(row.highest)} are possible"


def par_words(result: ArenaTables) -> str:
    """What a win share is measured by."""
    return f"{_percent(1 / result.tournament.ruleset.players)} is par, for agents that are equal"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def ahead_words(result: ArenaTables) -> str:
    """How often the first agent of the standings was placed before the second: all that is to say of two."""
    first, second = (row.agent for row in result.standings[:2])
    met = next(row for row in result.cross_table if (row.agent, row.other) == (first, second))
    share = met.before.words(".1f", unit=0.01)
    return f"{first} was placed before {second} in {share} % of their meetings, ties half."


def fault_lines(result: ArenaTables) -> list[str]:
    """A line for each agent that has lost games by faults, the worst first."""
    return [line for _, line in _fault_lines(result)]


def _fault_lines(result: ArenaTables) -> list[tuple[float, str]]:
    """Such lines, each with the part of the agent's games that it has lost so."""
    lines = []
    for number, agent in enumerate(result.tournament.agents):
        kinds = Counter(fault.kind for fault in result.faults if fault.agent == number)
        if kinds:
            games = int((result.outcomes["seats"] == number).any(1).sum())
            lost = f"{agent} lost {kinds.total():,} of {counted(games, 'game')} {_by(kinds)}"
            lines.append((kinds.total() / games, lost))
    return sorted(lines, reverse=True)


def _by(kinds: Counter[str]) -> str:
    if len(kinds) == 1:
        return BY[next(iter(kinds))]
    return "by faults: " + ", ".join(f"{games:,} {BY[kind]}" for kind, games in kinds.most_common())


def trace_words(plan: Tournament, trace: Trace) -> str:
    """Which fault a traceback is of."""
    return f"{plan.agents[trace.agent]}, {trace.kind}, first in game {trace.game}"


def verdict_words(result: ArenaTables) -> str:
    """Whether the question that was asked is decided; empty if none was."""
    if not (result.question and result.verdict):
        return ""
    question, verdict = result.question, result.verdict
    asked = (
        f"Is {question.agent} placed before {question.other} more often than not, at least {0.5 + question.effect:.1%}?"
    )
    rates = f"(chance of a wrong yes {question.alpha:g}, of a wrong no {question.beta:g})"
    if verdict.decided_after is None or verdict.state == UNDECIDED:
        return f"{asked} Undecided after {counted(verdict.blocks, 'deal')} {rates}."
    answer = "Yes" if verdict.state == BETTER else "No"
    return f"{asked} {answer}, decided after {counted(verdict.decided_after, 'deal')} {rates}."
