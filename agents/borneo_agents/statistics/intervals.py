"""Figures with 95 % intervals, from sums per deal.

The bootstrap draws deals, not games, because games of one deal are not independent. It cannot see what has not happened
yet: an agent that never won would get an interval of no width. Where there is too little to draw from, a figure with
known bounds gets a Wilson interval that counts each deal as one game. That is wider than needed, since a mean of games
varies less than a single win or loss, but never too sure. A figure without bounds gets no interval then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from borneo_agents.statistics.results import Floats

CONFIDENCE = 0.95
RESAMPLES = 1000
FEW_DEALS = 10  # with fewer deals the bootstrap is too narrow
FEW_CONTRARY = 5  # deals that must differ from "always lost", and from "always won"
LOPSIDED = 0.3  # part of half an interval by which the figure may be beside its middle
CELLS_AT_ONCE = 2_000_000  # of the table resamples x deals, to bound the memory

BOOTSTRAP, WILSON, NONE = "bootstrap", "wilson", "none"


@dataclass(frozen=True)
class Estimate:
    """A figure and its 95 % interval. An end that the data cannot give is None."""

    value: float
    low: float | None
    high: float | None
    method: str  # BOOTSTRAP, WILSON or NONE

    def words(self, spec: str, unit: float = 1) -> str:
        """The figure and half the width of its interval; both ends if it is lopsided, or the one end that is known."""
        value, low, high = self.value / unit, self.low, self.high
        if low is not None and high is not None:
            ends = f"{low / unit:{spec}}", f"{high / unit:{spec}}"
            lopsided = self.method == WILSON or abs(low + high - 2 * self.value) > LOPSIDED * (high - low)
            if lopsided and ends[0] != ends[1]:
                return f"{value:{spec}} ({ends[0]} to {ends[1]})"  # ± could mean less than nothing
            return f"{value:{spec}} ±{(high - low) / 2 / unit:{spec.replace('+', '')}}"
        if low is not None:
            return f"{value:{spec}} (above {low / unit:{spec}})"
        if high is not None:
            return f"{value:{spec}} (below {high / unit:{spec}})"
        return f"{value:{spec}}"


def draw_deals(deals: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each deal is drawn, in each of `resamples` samples of as many deals: tables (some samples, deals)."""
    at_once = max(1, CELLS_AT_ONCE // deals)
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        cell = rng.integers(deals, size=(rows, deals)) + np.arange(rows)[:, None] * deals
        yield np.bincount(cell.ravel(), minlength=rows * deals).reshape(rows, deals).astype(float)


def mean_estimates(
    sums: Floats,
    counts: Floats,
    rng: np.random.Generator,
    bounds: tuple[float, float] | list[tuple[float, float]] | None,
    resamples: int = RESAMPLES,
) -> list[Estimate]:
    """For each column of sums and counts (deals, columns): the mean, with its interval. Every column has a count.

    `bounds` are those of all means, or of each.
    """
    draws = []
    for weights in draw_deals(len(sums), resamples, rng):
        drawn = weights @ counts
        draws.append(np.divide(weights @ sums, drawn, out=np.full_like(drawn, np.nan), where=drawn > 0))
    low, high = bootstrap_ends(np.concatenate(draws))
    each = bounds if isinstance(bounds, list) else [bounds] * sums.shape[1]
    return [
        _estimate(sums[:, column], counts[:, column], float(low[column]), float(high[column]), each[column])
        for column in range(sums.shape[1])
    ]


def bootstrap_ends(draws: Floats) -> tuple[Floats, Floats]:
    """The ends of the 95 % interval for each column of draws (resamples, columns)."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.nanquantile(draws, [tail, 1 - tail], axis=0)
    return low, high


def _estimate(sums: Floats, counts: Floats, low: float, high: float, bounds: tuple[float, float] | None) -> Estimate:
    met = counts > 0
    deals = int(met.sum())
    value = float(sums.sum() / counts.sum())
    too_little = deals < FEW_DEALS or low == high
    if bounds is None:
        return Estimate(value, None, None, NONE) if too_little else Estimate(value, low, high, BOOTSTRAP)
    worst, best = bounds
    contrary = min(int((sums > worst * counts)[met].sum()), int((sums < best * counts)[met].sum()))
    if too_little or contrary < FEW_CONTRARY:
        low, high = wilson((value - worst) / (best - worst), deals)
        return Estimate(value, worst + low * (best - worst), worst + high * (best - worst), WILSON)
    return Estimate(value, low, high, BOOTSTRAP)


def wilson(share: float, trials: int) -> tuple[float, float]:
    """The Wilson interval of a share in so many independent trials."""
    z = quantile((1 + CONFIDENCE) / 2)
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * np.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    low, high = min(share, float(middle - half)), max(share, float(middle + half))
    return max(0.0, low), min(1.0, high)  # whatever is lost in rounding


def quantile(probability: float) -> float:
    """The quantile of the standard normal distribution."""
    return NormalDist().inv_cdf(probability)
