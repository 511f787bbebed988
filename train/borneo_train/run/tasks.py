"""Tasks: what can be learnt, and how well an agent does it, measured in the arena."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from borneo_agents.arena import ArenaResult, play_arena
from borneo_agents.arena.design.lineups import CHALLENGE
from borneo_agents.arena.design.tournament import CHUNK
from borneo_agents.arena.report.words import fault_lines
from borneo_agents.statistics.intervals import mean_estimates
from borneo_agents.statistics.results import Floats, seat_sums

from borneo_env.agent import Agent
from borneo_env.cards import CONTRACT_KINDS
from borneo_env.outcomes import measures
from borneo_env.ruleset import Ruleset


@dataclass(frozen=True)
class Measure:
    """A figure for each seat of each game: the sum of those that outcomes have by name, or the share of the win."""

    name: str
    group: str = ""
    parts: tuple[str, ...] = ()
    more_is_better: bool = True

    def of_seats(self, result: ArenaResult) -> Floats:
        """(games, players)"""
        if not self.parts:
            return result.results.win_shares
        found = measures(result.tournament.ruleset, result.outcomes)[self.group]
        total: Floats = np.sum([found[part] for part in self.parts], 0, dtype=float)
        return total


@dataclass(frozen=True)
class Evaluation:
    """What an agent came to against a table full of others, with its 95 % interval."""

    measure: str
    against: str
    players: int
    games: int
    seed: int
    value: float
    low: float | None
    high: float | None

    @property
    def words(self) -> str:
        scale, unit, digits = (100, " %", 1) if self.measure == WIN_SHARE.name else (1, "", 2)
        value = f"{self.value * scale:.{digits}f}{unit}"
        if self.low is None or self.high is None:
            return value
        return f"{value} ({self.low * scale:.{digits}f} to {self.high * scale:.{digits}f})"


WIN_SHARE = Measure("win share")
CONTRACT_POINTS = Measure("contract points", "points", CONTRACT_KINDS)
MEAN_RANK = Measure("mean rank", "doings", ("mean rank at the end",), more_is_better=False)
CONTESTS = Measure("contests won", "doings", ("contests won", "contests defended"))

# What shows how well a task was learnt; the first measure decides. There is a reward of the same name for each task.
MEASURES = {
    "win": (WIN_SHARE,),
    "contracts": (CONTRACT_POINTS, WIN_SHARE),
    "ranks": (MEAN_RANK, CONTESTS, WIN_SHARE),
}


def score(task: str, strength: Sequence[dict[str, Any]]) -> float:
    """What decides which model is the best: the mean of the task's first measure over all tables of an evaluation."""
    first = MEASURES[task][0]
    values = [one["value"] for one in strength if one["measure"] == first.name]
    mean: float = sum(values) / len(values)
    return mean if first.more_is_better else -mean


def evaluate(
    agent: str | Agent,
    task: str,
    against: str,
    *,
    players: int,
    games: int,
    seed: int,
    edition: str = "board",
    jobs: int | None = None,
) -> list[Evaluation]:
    """Measure an agent, alone at tables full of another, on the same deals from every seat."""
    table, ruleset = {"learner": agent, against: against}, Ruleset(edition, players)
    result = play_arena(table, ruleset, lineups=CHALLENGE, games=games, seed=seed, jobs=jobs, chunk=CHUNK)
    if lines := fault_lines(result):
        raise ValueError(
            f"{lines[0]} at a table against {against}: such games measure nothing; `borneo arena` says why"
        )
    rng, found = np.random.default_rng(seed), []
    for measure in MEASURES[task]:
        sums, counts = seat_sums(result.results, measure.of_seats(result))
        bounds = (0.0, 1.0) if measure is WIN_SHARE else None
        estimate = mean_estimates(sums[:, :1], counts[:, :1], rng, bounds)[0]
        about = measure.name, against, players, int(counts[:, 0].sum()), seed
        found.append(Evaluation(*about, estimate.value, estimate.low, estimate.high))
    return found
