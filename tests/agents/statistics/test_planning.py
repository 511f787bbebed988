"""Numbers of games, checked by playing them."""

import numpy as np
import pytest
from arena_games import by_hand, made_up
from borneo_agents.statistics.intervals import quantile
from borneo_agents.statistics.planning import Spread, difference_told, games_needed, measured_spread
from borneo_agents.statistics.results import BadResults, blocks


def independent_spread(par):
    """What is known before any game: each game has a deal of its own and is won or lost."""
    return Spread(par * (1 - par), 1.0)


def test_a_textbook_sample_size():
    plan = games_needed(0.05, independent_spread(0.5))
    assert plan.games == plan.blocks == 785  # (1.95996 + 0.84162)^2 * 0.25 / 0.05^2 = 784.9
    assert games_needed(-0.05, independent_spread(0.5)).games == 785
    assert games_needed(0.05, independent_spread(0.25)).games == 589


@pytest.mark.parametrize("alpha, power", [(0.05, 0.8), (0.01, 0.9)])
def test_the_difference_told_needs_as_many_games(alpha, power):
    spread = independent_spread(1 / 3)
    told = difference_told(1000, spread, alpha, power)
    assert games_needed(told.difference, spread, alpha, power).games == pytest.approx(1000, abs=1)


def test_blocks_of_several_games_are_counted_as_games():
    games = by_hand(
        "abc", *[(seats, "123", deal) for deal in range(2) for seats in ("abc", "bca", "acb", "cba")[deal:]]
    )
    spread = measured_spread(games, "a")
    assert spread.games_per_block == 3.5
    assert spread.variance == pytest.approx((0.5 - 1 / 3) ** 2 / 2)
    plan = games_needed(0.1, spread)
    assert plan.blocks == 11 and plan.games == 39
    assert difference_told(38, spread).blocks == 10


def test_only_games_of_the_pair_count_for_the_pair():
    games = by_hand("abcd", *[(seats, "123", deal) for deal, seats in enumerate(("abc", "bac", "acd", "bcd"))])
    assert measured_spread(games, "a", "b").games_per_block == 1
    assert measured_spread(games, "a", "b").variance == 0.5


@pytest.mark.parametrize("effect, par", [(0.07, 0.25), (0.1, 0.5)])
def test_as_many_games_as_planned_find_the_difference_as_often_as_promised(effect, par):
    rng = np.random.default_rng(0)
    count = games_needed(effect, independent_spread(par)).games
    critical = par + np.array([-1, 1]) * quantile(0.975) * np.sqrt(par * (1 - par) / count)
    for mean, expected in ((par + effect, 0.8), (par, 0.05)):
        shares = rng.binomial(count, mean, 40_000) / count
        assert ((shares < critical[0]) | (shares > critical[1])).mean() == pytest.approx(expected, abs=0.025)


def test_a_measured_spread_makes_the_promise_hold_for_dependent_games():
    """The games of a deal depend on each other, so that the formula for independent games would promise too much."""
    strong = [0.35, 0, -0.35]
    pilot = made_up(np.random.default_rng(1), strong, 3, 4000, luck=2)
    spread = measured_spread(pilot, "agent-0")
    effect = blocks(pilot, "agent-0").mean() - 1 / 3
    plan = games_needed(effect, spread)
    found = []
    for seed in range(600):
        shares = blocks(made_up(np.random.default_rng(100 + seed), strong, 3, plan.blocks, luck=2), "agent-0")
        found.append(abs(shares.mean() - 1 / 3) / (shares.std(ddof=1) / np.sqrt(len(shares))) > quantile(0.975))
    assert np.mean(found) == pytest.approx(0.8, abs=0.06)
    assert plan.games > 1.2 * games_needed(effect, independent_spread(1 / 3)).games


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(ValueError, match="difference of 0"):
        games_needed(0, independent_spread(0.5))
    with pytest.raises(ValueError, match="less than one block"):
        difference_told(0, independent_spread(0.5))
    with pytest.raises(BadResults, match="show no spread"):
        measured_spread(by_hand("abc", ("abc", "123", 0)), "a")
    with pytest.raises(BadResults, match="show no spread"):
        measured_spread(by_hand("abc", ("abc", "123", 0), ("abc", "132", 1)), "a")
