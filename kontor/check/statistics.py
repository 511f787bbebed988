"""The chi-square test, in a few lines: nothing else here needs more of statistics."""

from __future__ import annotations

from math import exp, lgamma, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

ONCE_IN_A_MILLION = 1e-6  # how often a right game may be called wrong, over the seeds
LEAST = 5.0  # what has to be expected of a cell that is counted on its own
STEPS = 10_000


def unlikely(counts: ArrayLike, chances: ArrayLike, level: float) -> bool:
    """Whether counts differ from what their chances let one expect, more than happens with probability `level`."""
    seen, expected = np.asarray(counts, float), np.asarray(chances, float) * np.sum(counts)
    if (seen[expected == 0] > 0).any():
        return True
    return p_value(*pooled(seen, expected)) < level


def differ(first: ArrayLike, second: ArrayLike, level: float) -> bool:
    """Whether two rows of counts are hardly of one distribution."""
    table = np.array([first, second], float)
    table = table[:, table.sum(0) > 0]
    expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
    common = expected.min(0) >= LEAST
    cells = np.concatenate([table[:, common], table[:, ~common].sum(1, keepdims=True)], axis=1)
    expected = np.concatenate([expected[:, common], expected[:, ~common].sum(1, keepdims=True)], axis=1)
    filled = expected.min(0) > 0
    squares = (cells[:, filled] - expected[:, filled]) ** 2 / expected[:, filled]
    return survival(float(squares.sum()), int(filled.sum()) - 1) < level


def pooled(seen: NDArray[np.float64], expected: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cells that are rare, put together: the test is about many."""
    rare = expected < LEAST
    if rare.sum() < 2:
        return seen, expected
    return np.append(seen[~rare], seen[rare].sum()), np.append(expected[~rare], expected[rare].sum())


def p_value(seen: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    """How often counts differ from what is expected as much as these, by chance."""
    there = expected > 0
    squares = (seen[there] - expected[there]) ** 2 / expected[there]
    return survival(float(squares.sum()), int(there.sum()) - 1)


def survival(chi_square: float, freedom: int) -> float:
    """How often a chi-square of so many degrees of freedom is at least so large: the upper incomplete gamma."""
    if freedom < 1 or chi_square <= 0:
        return 1.0
    a, x = freedom / 2, chi_square / 2
    front = exp(a * log(x) - x - lgamma(a))
    if x < a + 1:  # the series of the lower one
        term = total = 1 / a
        for k in range(1, STEPS):
            term *= x / (a + k)
            total += term
            if term < total * 1e-15:
                break
        return max(0.0, 1 - front * total)
    return front * _fraction(a, x)


def _fraction(a: float, x: float) -> float:
    """The continued fraction of the upper incomplete gamma, by Lentz."""
    b = x + 1 - a
    c, d = 1e300, 1 / b
    value = d
    for k in range(1, STEPS):
        numerator = -k * (k - a)
        b += 2
        d = 1 / (numerator * d + b)
        c = b + numerator / c
        value *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return value
