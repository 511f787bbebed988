"""The sequential test keeps its promises."""

import numpy as np
import pytest
from borneo_agents.statistics.sequential import BETTER, NOT_BETTER, UNDECIDED, Verdict, bets, decisions, sequential_test

TESTS = 750
FOUR_ERRORS = 4 * np.sqrt(0.05 * 0.95 / TESTS)  # four standard errors of a measured rate: 0.032


def coins(rng, mean, games, alike, count):
    """Blocks (TESTS, count) of so many coins each; in a share `alike` of the blocks all coins fall the same way."""
    same = rng.random((TESTS, count, 1)) < alike
    return np.where(same, rng.random((TESTS, count, 1)) < mean, rng.random((TESTS, count, games)) < mean).mean(2)


def decided(blocks, par, effect, alpha=0.05, beta=0.05):
    """The shares of "better" and of "not better", and the mean number of blocks."""
    better, not_better = decisions(blocks, par, effect, alpha, beta)
    return (better < not_better).mean(), (not_better < better).mean(), np.minimum(better, not_better).mean()


SETTINGS = [  # par, effect, games in a block, share of blocks that fall alike, enough blocks to decide nearly always
    (0.25, 0.1, 4, 0.0, 250),
    (0.25, 0.1, 4, 0.5, 600),
    (1 / 3, 0.1, 3, 0.3, 500),
    (0.2, 0.06, 5, 0.2, 600),
    (0.5, 0.1, 4, 0.5, 600),
    (0.5, 0.2, 1, 0.0, 300),
]


@pytest.mark.parametrize("par, effect, games, alike, count", SETTINGS)
def test_errors_are_as_rare_as_stated(par, effect, games, alike, count):
    rng = np.random.default_rng(7)
    wrong_better, right, length_equal = decided(coins(rng, par, games, alike, count), par, effect)
    right_better, wrong, length_better = decided(coins(rng, par + effect, games, alike, count), par, effect)
    print(f"wrongly better {wrong_better:.3f} in {length_equal:.0f}, missed {wrong:.3f} in {length_better:.0f} blocks")
    assert wrong_better <= 0.05 + FOUR_ERRORS
    assert wrong <= 0.05 + FOUR_ERRORS
    assert min(right, right_better) > 0.92 - FOUR_ERRORS  # it does decide


def test_other_error_rates_are_kept_too():
    rng = np.random.default_rng(3)
    wrong_better, *_ = decided(coins(rng, 0.25, 4, 0.3, 800), 0.25, 0.1, alpha=0.01, beta=0.2)
    _, wrong, _ = decided(coins(rng, 0.35, 4, 0.3, 800), 0.25, 0.1, alpha=0.01, beta=0.2)
    assert wrong_better <= 0.01 + 4 * np.sqrt(0.01 * 0.99 / TESTS)
    assert 0.08 <= wrong <= 0.2 + 4 * np.sqrt(0.2 * 0.8 / TESTS)


def test_a_worse_agent_is_hardly_ever_called_better():
    wrong, right, _ = decided(coins(np.random.default_rng(0), 0.2, 4, 0.3, 400), 0.25, 0.1)
    assert wrong < 0.02 and right > 0.95


def test_a_test_takes_about_as_long_as_walds_would():
    """Wald's test with known variance v takes some 2 v log(1/alpha) / effect^2 blocks if the effect is there."""
    _, _, length = decided(coins(np.random.default_rng(0), 0.55, 4, 0, 1000), 0.5, 0.05)
    assert 0.7 < length / (2 * 0.0625 * np.log(20) / 0.05**2) < 1.15


def test_a_larger_advantage_is_found_sooner():
    rng = np.random.default_rng(0)
    lengths = [decided(coins(rng, mean, 4, 0.2, 600), 0.25, 0.05)[2] for mean in (0.3, 0.4, 0.6)]
    assert lengths[0] > 2 * lengths[1] > 3 * lengths[2]


def test_bets_know_only_the_past():
    blocks = np.random.default_rng(0).random(30)
    for position in (0, 7, 29):
        other = blocks.copy()
        other[position:] = 1 - other[position:]
        assert (bets(other, 0.3, 0.1)[: position + 1] == bets(blocks, 0.3, 0.1)[: position + 1]).all()
    assert bets(blocks, 0.3, 0.1)[0] == pytest.approx(0.1 / (0.3 * 0.7 + 0.01))


def test_nothing_is_known_before_the_first_block():
    assert sequential_test(np.array([]), 0.25, 0.1) == Verdict(UNDECIDED, 0, None, None)


def test_the_first_decision_stays():
    first = sequential_test(np.ones(30), 0.25, 0.1)
    assert first.state == BETTER and first.decided_after < 10
    later = sequential_test(np.r_[np.ones(30), np.zeros(300)], 0.25, 0.1)
    assert (later.state, later.decided_after, later.blocks) == (BETTER, first.decided_after, 330)
    losses = sequential_test(np.zeros(60), 0.25, 0.1)
    assert losses.state == NOT_BETTER and 1 < losses.decided_after < 40


def test_equal_agents_that_always_draw_are_soon_not_better():
    verdict = sequential_test(np.full(60, 0.5), 0.5, 0.05)
    assert (verdict.state, verdict.mean) == (NOT_BETTER, 0.5)
