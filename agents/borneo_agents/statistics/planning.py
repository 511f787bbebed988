"""How many games a difference needs, and which difference so many games can tell.

Normal approximation for a two-sided test of a mean against its par: 1/players for a win share, 1/2 for "before".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from borneo_agents.statistics.intervals import quantile
from borneo_agents.statistics.results import BadResults, FinishedGames, blocks

ALPHA = 0.05
POWER = 0.8


@dataclass(frozen=True)
class Spread:
    """How much the blocks of one deal each vary, and how many games a block has."""

    variance: float
    games_per_block: float


@dataclass(frozen=True)
class Plan:
    """With so many games, a true difference of this size is found as often as was asked for."""

    difference: float
    games: int
    blocks: int


def measured_spread(games: FinishedGames, agent: str, other: str | None = None) -> Spread:
    """The spread of the agent's win share, or of "agent before other", as these games have it."""
    shares = blocks(games, agent, other)
    if len(shares) < 2 or shares.var() == 0:
        raise BadResults(f"{len(shares)} deals without a difference show no spread; play more deals")
    present = (games.seats == games.index(agent)).any(1)
    if other is not None:
        present &= (games.seats == games.index(other)).any(1)
    return Spread(float(shares.var(ddof=1)), int(present.sum()) / len(shares))


def games_needed(difference: float, spread: Spread, alpha: float = ALPHA, power: float = POWER) -> Plan:
    """The games needed to tell a mean that differs from its par by `difference`, whole blocks."""
    if difference == 0:
        raise ValueError("no number of games can tell a difference of 0")
    count = math.ceil(_deviations(alpha, power) ** 2 * spread.variance / difference**2)
    return Plan(abs(difference), math.ceil(count * spread.games_per_block), count)


def difference_told(games: int, spread: Spread, alpha: float = ALPHA, power: float = POWER) -> Plan:
    """The smallest difference from par that so many games can tell."""
    count = int(games / spread.games_per_block)
    if count < 1:
        raise ValueError(f"{games} games are less than one block of {spread.games_per_block:g}")
    difference = _deviations(alpha, power) * math.sqrt(spread.variance / count)
    return Plan(difference, games, count)


def _deviations(alpha: float, power: float) -> float:
    return quantile(1 - alpha / 2) + quantile(power)
