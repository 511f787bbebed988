"""ArenaTables: what came of an arena."""

from __future__ import annotations

import csv
import io
import platform
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.play.outcomes import Forfeit, Trace
from borneo_agents.arena.report.profile import Profile, profiles
from borneo_agents.statistics.planning import Plan, difference_told, games_needed, measured_spread
from borneo_agents.statistics.results import BadResults, FinishedGames, finished_games
from borneo_agents.statistics.sequential import Verdict
from borneo_agents.statistics.standings import LoneSeat, Meeting, Standing, cross_table, lone_seats, standings
from borneo_agents.statistics.strength import Strengths, strengths

DIFFERENCES = (0.01, 0.02, 0.05, 0.1)  # of "placed before the other", for which the games needed are reckoned
SOFTWARE = ("borneo-env", "numpy", "numba")


@dataclass
class Progress:
    """Where a run stands."""

    tournament: Tournament
    kept: int  # games that were there from an earlier run
    finished: int  # games, those of unfinished chunks included
    outcomes: NDArray[np.void]  # of the finished chunks


@dataclass(frozen=True)
class Comparison:
    """Is `agent` placed before `other` more often than not, by at least so much?"""

    agent: str
    other: str
    effect: float
    alpha: float
    beta: float


@dataclass(frozen=True)
class GamesNeeded:
    """How many games of this tournament tell whether `agent` is better than `other`."""

    agent: str
    other: str
    told: float | None  # the smallest difference that the games played can tell
    needed: dict[str, int]  # for each difference, the games


@dataclass(frozen=True, repr=False)
class ArenaTables:
    """The games of an arena, and what they say. Tables are computed when they are asked for."""

    tournament: Tournament
    outcomes: NDArray[np.void]  # one row per game, see play.outcomes
    faults: tuple[Forfeit, ...]
    seconds: NDArray[np.float64]  # how long each agent has thought
    complete: bool  # False if the run was stopped before it was asked to
    question: Comparison | None = None
    verdict: Verdict | None = None
    traces: tuple[Trace, ...] = ()  # the traceback of each agent's first fault of a kind

    @cached_property
    def results(self) -> FinishedGames:
        """The games as the statistics take them."""
        games = self.outcomes
        return finished_games(self.tournament.agents, games["seats"], games["places"], games["scores"], games["deal"])

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        return standings(self.results, self._rng())

    @cached_property
    def cross_table(self) -> tuple[Meeting, ...]:
        return cross_table(self.results, self._rng())

    @cached_property
    def lone_seats(self) -> tuple[LoneSeat, ...]:
        return lone_seats(self.results, self._rng())

    @cached_property
    def strengths(self) -> Strengths:
        return strengths(self.results, self._rng())

    @cached_property
    def profiles(self) -> tuple[Profile, ...]:
        return profiles(self.tournament.agents, self.tournament.ruleset, self.outcomes, self._rng())

    @cached_property
    def games_needed(self) -> tuple[GamesNeeded, ...]:
        """For each pair of neighbours in the standings."""
        order = [row.agent for row in self.standings]
        pairs = pairwise(order)
        return tuple(self._needed(agent, other) for agent, other in pairs)

    def _needed(self, agent: str, other: str) -> GamesNeeded:
        try:
            spread = measured_spread(self.results, agent, other)
        except BadResults:
            return GamesNeeded(agent, other, None, {})
        # `games_needed` counts the games in which both sit; here all games of the blocks count.
        needed = {f"{d:g}": games_needed(d, spread).blocks * self.tournament.block for d in DIFFERENCES}
        met = int(spread.games_per_block * self.results.deals)
        told: Plan = difference_told(met, spread)
        return GamesNeeded(agent, other, told.difference, needed)

    def _rng(self) -> np.random.Generator:
        """For the bootstrap: the same games give the same intervals."""
        return np.random.default_rng(self.tournament.seed)

    def as_dict(self, command: str | None = None) -> dict[str, Any]:
        """Everything that comes out again: the same on every machine, and without a time of day."""
        rules, names = self.tournament.ruleset, self.tournament.agents
        return {
            "format": "borneo-arena/1",
            "command": command,
            "versions": versions_used(),
            "settings": {
                "agents": list(names),
                "ruleset": rules.name,
                **rules.choices,
                "seed": self.tournament.seed,
                "lineups": self.tournament.lineups,
                "time_limit": self.tournament.time_limit,
                "isolate": self.tournament.isolate,
            },
            "games": len(self.outcomes),
            "deals": self.results.deals,
            "games_per_deal": self.tournament.block,
            "complete": self.complete,
            "standings": [asdict(row) for row in self.standings],
            "cross_table": [asdict(row) for row in self.cross_table],
            "lone_seats": [asdict(row) for row in self.lone_seats],
            "strengths": asdict(self.strengths),
            "profiles": [row.as_dict() for row in self.profiles],
            "games_needed": [asdict(row) for row in self.games_needed],
            "question": asdict(self.question) if self.question else None,
            "verdict": asdict(self.verdict) if self.verdict else None,
            "faults": dict(Counter(f"{names[f.agent]}: {f.kind}" for f in self.faults)),
            "tracebacks": [trace._asdict() | {"agent": names[trace.agent]} for trace in self.traces],
        }

    def games_csv(self) -> str:
        """One row per game."""
        players, names = self.tournament.ruleset.players, self.tournament.agents
        lineups = self.tournament.lineup_names()
        faults = {fault.game: fault for fault in self.faults}
        heads = [f"{what} {seat}" for what in ("agent", "score", "place") for seat in range(players)]
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["game", "deal", "line-up", "start", *heads, "turns", "decisions", "lost by", "fault", "reason"])
        for row in self.outcomes:
            fault = faults.get(int(row["game"]))
            table.writerow(
                [
                    row["game"],
                    row["deal"],
                    lineups[row["game"] % self.tournament.block],
                    row["start"],
                    *(names[agent] for agent in row["seats"]),
                    *row["scores"],
                    *row["places"],
                    row["turns"],
                    row["decisions"].sum(),
                    *((fault.seat, fault.kind, fault.reason) if fault else ("", "", "")),
                ]
            )
        return text.getvalue()


def versions_used() -> dict[str, str]:
    """The software that the games were played with."""
    return {"python": platform.python_version(), **{name: version(name) for name in SOFTWARE}}
