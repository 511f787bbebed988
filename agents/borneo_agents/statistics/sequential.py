"""A test of "is A better?" that may be looked at after every deal, and stops as soon as it knows.

Blocks are numbers in [0, 1], one per deal: `results.blocks`. Two gamblers bet on them. One bets against
"the mean is at most par", the other against "the mean is at least par + effect". Each starts with 1 and plays a game
that is fair, or worse, if the claim is true; so the chance that it ever has 1/alpha is at most alpha (Ville 1939; for
bounded means Waudby-Smith and Ramdas 2024). Nothing else is assumed: no normal distribution, no known variance, any
dependence of games within a block, any time of stopping. The bets are those that grow fastest if A is better by just
`effect`, with the variance seen so far; this makes the test about as fast as the SPRT that chess engines are
tested with, whose error rates hold only approximately.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from borneo_agents.statistics.results import Floats

UNDECIDED, BETTER, NOT_BETTER = "undecided", "better", "not better"
MOST_AT_STAKE = 0.75  # of a gambler's money in one block


@dataclass(frozen=True)
class Verdict:
    """Where a test stands. The decision is the first that was reached; blocks that came later do not change it."""

    state: str  # UNDECIDED, BETTER or NOT_BETTER (than par by `effect`)
    blocks: int
    decided_after: int | None
    mean: float | None


def sequential_test(blocks: Floats, par: float, effect: float, alpha: float = 0.05, beta: float = 0.05) -> Verdict:
    """Where the test stands after these blocks.

    Arguments:
        blocks: in an order that the results have no part in, such as that of the deals: short games that finish first
            may be won by others.
        par: the mean if A is no better: 1/players for a win share, 1/2 for "A before B".
        effect: the least advantage worth finding.
        alpha: the most a wrong "better" may occur if the mean is par or less.
        beta: the most a wrong "not better" may occur if the mean is par + effect or more.
    """
    count = len(blocks)
    better, not_better = (int(when) for when in decisions(blocks, par, effect, alpha, beta))
    mean = float(blocks.mean()) if count else None
    if min(better, not_better) > count:
        return Verdict(UNDECIDED, count, None, mean)
    state = BETTER if better < not_better else NOT_BETTER
    return Verdict(state, count, min(better, not_better), mean)


def decisions(blocks: Floats, par: float, effect: float, alpha: float, beta: float) -> tuple[Any, Any]:
    """After how many blocks each decision is reached, "better" and "not better"; one more than there are, if it is not.

    `blocks` is (blocks,), or (tests, blocks) for many tests at once; the results lack the last axis.
    """
    for_better = log_wealth(blocks, par, bets(blocks, par, effect))
    against = log_wealth(1 - blocks, 1 - par - effect, bets(1 - blocks, 1 - par - effect, effect))
    return _first(for_better >= -math.log(alpha)), _first(against >= -math.log(beta))


def bets(blocks: Floats, par: float, effect: float) -> Floats:
    """What to bet on each block per unit above the mean that is doubted, knowing only the blocks before it."""
    count = np.arange(2, blocks.shape[-1] + 2)  # with one imagined block: at par, with the most variance it can have
    mean = (par + blocks.cumsum(-1)) / count
    variance = (par * (1 - par) + ((blocks - mean) ** 2).cumsum(-1)) / count
    known = np.concatenate([np.full((*blocks.shape[:-1], 1), par * (1 - par)), variance[..., :-1]], -1)
    aimed: Floats = effect / (known[..., : blocks.shape[-1]] + effect**2)
    return aimed


def log_wealth(blocks: Floats, mean: float, bet: Floats) -> Floats:
    """The logarithm of the money after each block, of a gambler who doubts that the mean is so low."""
    affordable = np.minimum(bet, MOST_AT_STAKE / mean)
    money: Floats = np.log1p(affordable * (blocks - mean)).cumsum(-1)
    return money


def _first(reached: Any) -> Any:
    """The number of the first block where `reached` holds, counted from 1; one more than there are, if nowhere."""
    everywhere = np.concatenate([reached, np.ones((*reached.shape[:-1], 1), bool)], -1)
    return everywhere.argmax(-1) + 1
