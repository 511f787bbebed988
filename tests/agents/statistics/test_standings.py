"""Win shares, places, points and cross tables, and how sure they are."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from arena_games import by_hand, made_up
from borneo_agents.statistics.intervals import BOOTSTRAP, NONE, WILSON, Estimate, draw_deals, mean_estimates, wilson
from borneo_agents.statistics.results import BadResults, blocks, finished_games
from borneo_agents.statistics.standings import cross_table, lone_seats, standings


def rows(games, seed=0):
    return {row.agent: row for row in standings(games, np.random.default_rng(seed))}


def table(games, seed=0):
    return {(row.agent, row.other): row for row in cross_table(games, np.random.default_rng(seed))}


def test_equal_winners_share_the_win_and_their_places():
    row = rows(by_hand("abcd", ("abcd", "1134", 0), ("abcd", "1222", 1)))
    assert [row[agent].win_share.value for agent in "abcd"] == [0.75, 0.25, 0, 0]
    assert [row[agent].place.value for agent in "abcd"] == [1.25, 2.25, 3, 3.5]


def test_copies_of_an_agent_are_counted_by_seat():
    row = rows(by_hand("ab", ("aab", "123", 0), ("baa", "123", 1)))
    assert (row["a"].seats, row["b"].seats, row["a"].deals) == (4, 2, 2)
    assert (row["a"].win_share.value, row["b"].win_share.value) == (0.25, 0.5)
    assert (row["a"].place.value, row["b"].place.value) == (2, 2)


def test_the_highest_win_share_comes_first():
    games = by_hand("abc", ("abc", "321", 0), ("abc", "321", 1), ("abc", "213", 2))
    assert [row.agent for row in standings(games, np.random.default_rng(0))] == ["c", "b", "a"]


def test_points_are_means():
    games = finished_games(["a", "b"], [[0, 1], [1, 0]], [[1, 2], [1, 2]], [[10, 4], [7, 3]], [0, 0])
    assert {agent: row.points.value for agent, row in rows(games).items()} == {"a": 6.5, "b": 5.5}


def test_cross_table_of_a_small_arena():
    cell = table(by_hand("abcd", ("abc", "123", 0), ("bca", "113", 0), ("abd", "112", 1)))
    assert (cell["a", "b"].meetings, cell["a", "b"].before.value) == (3, 0.5)  # before, behind, level
    assert (cell["a", "c"].meetings, cell["a", "c"].before.value) == (2, 0.5)
    assert (cell["b", "c"].meetings, cell["b", "c"].before.value) == (2, 0.75)
    assert (cell["d", "a"].meetings, cell["d", "a"].before.value) == (1, 0)
    assert ("c", "d") not in cell
    for (a, b), meeting in cell.items():
        assert meeting.before.value == pytest.approx(1 - cell[b, a].before.value)
        assert meeting.meetings == cell[b, a].meetings


def test_copies_meet_the_others_but_not_each_other():
    cell = table(by_hand("ab", ("aab", "132", 0)))
    assert set(cell) == {("a", "b"), ("b", "a")}
    assert (cell["a", "b"].meetings, cell["a", "b"].before.value) == (2, 0.5)


def test_blocks_are_one_number_per_deal_in_order():
    games = by_hand("abc", ("abc", "123", 9), ("bca", "123", 2), ("cab", "213", 9), ("abc", "123", 2))
    assert blocks(games, "a").tolist() == [1, 0.5]
    assert blocks(games, "b", "c").tolist() == [0.5, 1]


def test_blocks_leave_out_deals_without_the_pair():
    games = by_hand("abcd", ("abc", "123", 0), ("bcd", "123", 1))
    assert blocks(games, "a").tolist() == [1]
    with pytest.raises(BadResults, match="a and d never met"):
        blocks(games, "a", "d")


def test_an_agent_without_wins_gets_a_wilson_interval_over_deals():
    games = by_hand("abc", *[("abc", "123" if deal % 2 else "213", deal // 2) for deal in range(80)])
    row = rows(games)
    assert (row["c"].win_share.value, row["c"].win_share.low, row["c"].win_share.method) == (0, 0, WILSON)
    assert row["c"].win_share.high == pytest.approx(1.96**2 / (40 + 1.96**2), abs=1e-4)  # 40 deals, not 80 games
    assert (row["c"].place.value, row["c"].place.high, row["c"].place.method) == (3, 3, WILSON)
    assert 2.7 < row["c"].place.low < 3
    assert (row["c"].points.low, row["c"].points.high, row["c"].points.method) == (None, None, NONE)


def test_an_agent_that_won_all_is_not_sure_to_win():
    games = by_hand("abc", *[("abc", "123" if deal % 2 else "132", deal) for deal in range(40)])
    won = rows(games)["a"].win_share
    assert (won.value, won.high) == (1, 1)
    assert 0.9 < won.low < 0.95


@pytest.mark.parametrize("wins, method", [(4, WILSON), (5, BOOTSTRAP), (35, BOOTSTRAP), (36, WILSON)])
def test_bootstrap_needs_some_deals_of_either_kind(wins, method):
    games = by_hand("abc", *[("abc", "123" if deal < wins else "213", deal) for deal in range(40)])
    assert rows(games)["a"].win_share.method == method


@pytest.mark.parametrize("deals, method", [(10, NONE), (11, BOOTSTRAP)])
def test_few_deals_an_agent_played_are_counted_for_it_alone(deals, method):
    played = [("abc", "123" if deal % 2 else "321", deal) for deal in range(deals - 1)]
    games = by_hand("abcd", *played, *[("bcd", "123" if deal % 3 else "231", 100 + deal) for deal in range(30)])
    assert rows(games)["a"].points.method == method


def test_one_single_game():
    row = rows(by_hand("abc", ("abc", "123", 0)))
    assert row["a"].win_share.method == WILSON
    assert (row["a"].win_share.low, row["a"].win_share.high) == pytest.approx((0.2065, 1), abs=1e-3)
    assert row["a"].points.low is None
    json.dumps([asdict(each) for each in row.values()], allow_nan=False)


def test_wilson_interval_of_a_textbook():
    assert wilson(0.5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0.1, 50) == pytest.approx((0.0435, 0.2136), abs=1e-4)


def test_a_wilson_interval_stays_between_0_and_1():
    """Whatever is lost in rounding: with 24 trials it was less than 0."""
    for trials in range(1, 300):
        assert wilson(0.0, trials)[0] == 0 and wilson(1.0, trials)[1] == 1


def test_each_resample_draws_as_many_deals_as_there_are(monkeypatch):
    monkeypatch.setattr("borneo_agents.statistics.intervals.CELLS_AT_ONCE", 70)
    drawn = np.concatenate(list(draw_deals(10, 101, np.random.default_rng(0))))
    assert drawn.shape == (101, 10)
    assert (drawn.sum(1) == 10).all()
    assert len(np.unique(drawn, axis=0)) > 95
    assert drawn.std(0).min() > 0.6  # nearly Poisson


def test_same_seed_same_intervals():
    games = made_up(np.random.default_rng(5), [0.5, 0, -0.5], 3, 40)
    assert rows(games, 1) == rows(games, 1) != rows(games, 2)


def test_games_of_one_deal_count_as_one():
    """Playing every game four times over must not make anybody surer."""
    games = made_up(np.random.default_rng(5), [0.5, 0, -0.5], 3, 60)
    arrays = (np.repeat(array, 4, 0) for array in (games.seats, games.places, games.scores, games.deal))
    fourfold = finished_games(games.agents, *arrays)
    for once, often in zip(rows(games).values(), rows(fourfold).values(), strict=True):
        assert (often.win_share.low, often.win_share.high) == (once.win_share.low, once.win_share.high)


@pytest.mark.parametrize(
    ("arenas", "tolerance"), [(100, 0.045), pytest.param(400, 0.03, marks=pytest.mark.soak)], ids=["few", "many"]
)
@pytest.mark.parametrize("luck", [0, 2])
def test_intervals_cover_the_truth_nineteen_times_in_twenty(luck, arenas, tolerance):
    """With luck, the games of a deal depend on each other."""
    truth = blocks(made_up(np.random.default_rng(1), [0.6, 0, -0.6], 3, 150 * arenas, luck), "agent-0").mean()
    covered, before = [], []
    for seed in range(arenas):
        rng = np.random.default_rng(seed)
        games = made_up(rng, [0.6, 0, -0.6], 3, 40, luck)
        estimate = next(row for row in standings(games, rng, 200) if row.agent == "agent-0").win_share
        covered.append(estimate.low <= truth <= estimate.high)
        estimate = cross_table(games, rng, 200)[0].before
        before.append(estimate.low <= 1 / (1 + np.exp(-0.6)) <= estimate.high)
    print(f"luck {luck}: coverage of win shares {np.mean(covered):.3f}")
    assert abs(np.mean(covered) - 0.95) <= tolerance
    if not luck:  # only then is the truth of a pair known
        print(f"coverage of pairs {np.mean(before):.3f}")
        assert abs(np.mean(before) - 0.95) <= tolerance


def test_a_column_missing_from_a_resample_is_left_out_of_it():
    sums, counts = np.zeros((12, 1)), np.zeros((12, 1))
    counts[0], sums[0] = 1, 1
    (estimate,) = mean_estimates(sums, counts, np.random.default_rng(0), (0, 1))
    assert (estimate.value, estimate.method) == (1, WILSON)


def test_a_lone_seat_is_counted_against_a_table_full_of_another():
    """By hand: a wins one of two games alone against b, shares the other; b alone against a wins none; c is mixed."""
    seats = [[0, 1, 1], [1, 0, 1], [0, 0, 1], [0, 1, 2], [0, 0, 0]]
    places = [[1, 2, 3], [1, 1, 3], [1, 2, 3], [1, 2, 3], [1, 2, 3]]
    games = finished_games(["a", "b", "c"], seats, places, np.zeros((5, 3)), range(5))
    rows = lone_seats(games, np.random.default_rng(1))
    assert [(row.agent, row.other, row.games, row.win_share.value) for row in rows] == [
        ("a", "b", 2, 0.75),
        ("b", "a", 1, 0),
    ]


def test_without_a_lone_seat_there_are_no_rows():
    games = finished_games(["a", "b", "c"], [[0, 1, 2]], [[1, 2, 3]], np.zeros((1, 3)), [0])
    assert lone_seats(games, np.random.default_rng(1)) == ()


def test_a_lopsided_interval_is_told_by_its_ends():
    assert Estimate(0.0, 0.0, 0.008, "wilson").words(".1f", 0.01) == "0.0 (0.0 to 0.8)", "not ±: less than nothing"
    assert Estimate(0.5, 0.4, 0.61, "bootstrap").words(".1f", 0.01) == "50.0 ±10.5"
    assert Estimate(0.25, 0.04, 0.58, "wilson").words(".1f", 0.01) == "25.0 (4.0 to 58.0)"
    assert Estimate(1.67, 1.667, 1.67, "wilson").words(".2f") == "1.67 ±0.00"
