"""The table of an arena: win share, place and points of each agent, and who was placed before whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from borneo_agents.statistics.intervals import RESAMPLES, Estimate, mean_estimates
from borneo_agents.statistics.results import FinishedGames, pair_sums, seat_sums, sums_by_cell


@dataclass(frozen=True)
class Standing:
    """One agent's row. All figures are per seat, so that several copies in a game do not count as one."""

    agent: str
    seats: int
    deals: int
    win_share: Estimate
    place: Estimate
    points: Estimate
    highest: float  # the highest win share it can have: where copies of it meet, one wins at most


@dataclass(frozen=True)
class Meeting:
    """How often `agent` was placed before `other`, ties half. Each pair of their seats in a game is a meeting."""

    agent: str
    other: str
    meetings: int
    before: Estimate


@dataclass(frozen=True)
class LoneSeat:
    """How often `agent` has won when all other seats were taken by copies of `other`."""

    agent: str
    other: str
    games: int
    win_share: Estimate


def standings(games: FinishedGames, rng: np.random.Generator, resamples: int = RESAMPLES) -> tuple[Standing, ...]:
    """A row for each agent, the highest win share first."""
    wins, seats = seat_sums(games, games.win_shares)
    places, _ = seat_sums(games, games.mean_places)
    points, _ = seat_sums(games, games.scores)
    highest = [float((games.seats == i).any(1).sum() / (games.seats == i).sum()) for i in range(len(games.agents))]
    columns = zip(
        games.agents,
        seats.sum(0),
        (seats > 0).sum(0),
        mean_estimates(wins, seats, rng, [(0.0, most) for most in highest], resamples),
        mean_estimates(places, seats, rng, (1.0, float(games.players)), resamples),
        mean_estimates(points, seats, rng, None, resamples),
        highest,
        strict=True,
    )
    rows = [Standing(agent, int(count), int(deals), *figures) for agent, count, deals, *figures in columns]
    return tuple(sorted(rows, key=lambda row: -row.win_share.value))


def cross_table(games: FinishedGames, rng: np.random.Generator, resamples: int = RESAMPLES) -> tuple[Meeting, ...]:
    """Both directions of every pair of agents that met."""
    a, b = np.nonzero(~np.eye(len(games.agents), dtype=bool))
    sums, counts = pair_sums(games, a, b)
    met = counts.any(0)
    a, b, sums, counts = a[met], b[met], sums[:, met], counts[:, met]
    estimates = mean_estimates(sums, counts, rng, (0.0, 1.0), resamples)
    return tuple(
        Meeting(games.agents[i], games.agents[j], int(meetings), before)
        for i, j, meetings, before in zip(a, b, counts.sum(0), estimates, strict=True)
    )


def lone_seats(games: FinishedGames, rng: np.random.Generator, resamples: int = RESAMPLES) -> tuple[LoneSeat, ...]:
    """A row for each agent against each table full of another, if such games were played."""
    n = len(games.agents)
    seats = (games.seats[:, :, None] == np.arange(n)).sum(1)  # (games, agents)
    lone = seats.max(1) == games.players - 1
    if not lone.any():
        return ()
    agent, other = (seats[lone] == 1).argmax(1), seats[lone].argmax(1)
    won = games.win_shares[lone][games.seats[lone] == agent[:, None]]
    sums, counts = sums_by_cell(games.deal[lone] * n * n + agent * n + other, won, games.deals, n * n)
    met = np.flatnonzero(counts.any(0))
    estimates = mean_estimates(sums[:, met], counts[:, met], rng, (0.0, 1.0), resamples)
    return tuple(
        LoneSeat(games.agents[pair // n], games.agents[pair % n], int(counts[:, pair].sum()), share)
        for pair, share in zip(met.tolist(), estimates, strict=True)
    )
