"""Tasks: what can be learnt, and how well an agent does it, measured in the arena."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from borneo_env.engine.state import CONTESTS_DEFENDED, CONTESTS_WON
from borneo_env.outcomes import points_by_source
from borneo_env.ruleset import Ruleset

LEARNER = "learner"


@dataclass(frozen=True)
class Measure:
    """A figure for each seat of each game."""

    name: str
    of_seats: Callable[[ArenaResult], Floats]  # (games, players)
    bounds: tuple[float, float] | None
    more_is_better: bool = True


@dataclass(frozen=True)
class Measurement:
    """What an agent came to against a table full of others, with its 95 % interval."""

    measure: str
    against: str
    players: int
    games: int
    seed: int
    value: float
    low: float | None
    high: float | None


def _contract_points(result: ArenaResult) -> Floats:
    points = points_by_source(result.tournament.ruleset, result.outcomes)
    of_contracts: Floats = points[..., : len(CONTRACT_KINDS)].sum(-1).astype(float)
    return of_contracts


def _contests_won(result: ArenaResult) -> Floats:
    tally: Floats = result.outcomes["tally"].astype(float)
    return tally[..., CONTESTS_WON] + tally[..., CONTESTS_DEFENDED]


WIN_SHARE = Measure("win share", lambda result: result.results.win_shares, (0.0, 1.0))
CONTRACT_POINTS = Measure("contract points", _contract_points, None)
MEAN_RANK = Measure("mean rank", lambda result: result.outcomes["rank"].astype(float), None, more_is_better=False)
CONTESTS = Measure("contests won", _contests_won, None)

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
) -> list[Measurement]:
    """Measure an agent, alone at tables full of another, on the same deals from every seat."""
    table, ruleset = {LEARNER: agent, against: against}, Ruleset(edition, players)
    result = play_arena(table, ruleset, lineups=CHALLENGE, games=games, seed=seed, jobs=jobs, chunk=CHUNK)
    if lines := fault_lines(result):
        raise ValueError(
            f"{lines[0]} at a table against {against}: such games measure nothing; `borneo arena` says why"
        )
    rng = np.random.default_rng(seed)
    measurements = []
    for measure in MEASURES[task]:
        sums, counts = seat_sums(result.results, measure.of_seats(result))
        estimate = mean_estimates(sums[:, :1], counts[:, :1], rng, measure.bounds)[0]
        played = int(counts[:, 0].sum())
        measurements.append(
            Measurement(measure.name, against, players, played, seed, estimate.value, estimate.low, estimate.high)
        )
    return measurements
