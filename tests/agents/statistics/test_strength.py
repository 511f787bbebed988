"""Plackett-Luce strengths, beside choix and beside strengths that are known."""

import json
from dataclasses import asdict
from itertools import permutations

import numpy as np
import pytest
from arena_games import by_hand, made_up
from borneo_agents.statistics.intervals import BOOTSTRAP, NONE
from borneo_agents.statistics.results import finished_games
from borneo_agents.statistics.strength import POINTS, PRIOR_WINS, strengths


def rows(games, anchor=None, resamples=100):
    return {row.agent: row for row in strengths(games, np.random.default_rng(0), anchor, resamples).strengths}


def values(games, anchor=None):
    found = rows(games, anchor, 2)
    return np.array([found[agent].points.value for agent in games.agents])


def by_choix(games):
    import choix  # loads much of scipy

    rankings = np.take_along_axis(games.seats, games.places.argsort(1), 1).tolist()
    agents = len(games.agents)
    return POINTS * choix.ilsr_rankings(agents, rankings, alpha=PRIOR_WINS / agents)


@pytest.mark.parametrize("players", [3, 4, 5])
def test_the_fit_is_that_of_choix(players):
    games = made_up(np.random.default_rng(players), [1, 0.5, 0, -0.2, -0.4, -0.9], players, 30)
    assert values(games) == pytest.approx(by_choix(games), abs=1e-3)


def test_copies_are_several_seats_of_one_strength_as_in_choix():
    rng = np.random.default_rng(0)
    seats = rng.integers(3, size=(200, 4))
    drawn = np.array([1, 0, -1])[seats] + rng.gumbel(size=seats.shape)
    games = finished_games("abc", seats, (-drawn).argsort(1).argsort(1) + 1, drawn, np.arange(200))
    assert values(games) == pytest.approx(by_choix(games), abs=1e-3)
    assert values(games) == pytest.approx([POINTS, 0, -POINTS], abs=60)


def test_three_copies_that_win_three_times_in_four_are_no_better():
    games = by_hand("ab", *[("aaab", places, 0) for places in ("1234", "1243", "1324", "4321")])
    even = by_hand("ab", *[("aaab", "".join(map(str, places)), 0) for places in permutations((1, 2, 3, 4))])
    assert values(even) == pytest.approx([0, 0], abs=1e-3)
    assert values(games)[0] > 20


def test_a_tie_counts_as_every_order_alike():
    tied = [("abcd", "1222", 0), ("dcba", "1134", 1), ("cabd", "1111", 2)]
    split = [("abcd", order, 0) for order in ("1234", "1243", "1324", "1342", "1423", "1432") * 4]
    split += [("dcba", order, 1) for order in ("1234", "2134") * 12]
    split += [("cabd", "".join(map(str, order)), 2) for order in permutations((1, 2, 3, 4))]
    assert values(by_hand("abcd", *tied * 24)) == pytest.approx(values(by_hand("abcd", *split)), abs=1e-3)


def test_a_tie_of_copies_says_as_little_as_their_order():
    tied, ordered = (by_hand("ab", *[("aab", places, 0), ("aab", "231", 1)] * 9) for places in ("113", "123"))
    assert values(tied) == pytest.approx(values(ordered), abs=1e-3)


def test_ties_of_all_are_no_strength():
    assert values(by_hand("abc", ("abc", "111", 0), ("bca", "111", 1))) == pytest.approx([0, 0, 0], abs=1e-4)


def test_two_agents_have_the_odds_of_their_wins():
    games = by_hand("ab", *[("ab", "12", deal) for deal in range(30)], *[("ab", "21", deal) for deal in range(10)])
    expected = POINTS * np.log((30 + PRIOR_WINS) / (10 + PRIOR_WINS))
    assert values(games) == pytest.approx([expected / 2, -expected / 2], abs=1e-3)
    assert values(games, "b") == pytest.approx([expected, 0], abs=1e-3)


def test_ten_times_the_strength_is_400_points():
    games = made_up(np.random.default_rng(2), [np.log(10), 0, 0], 3, 4000)
    assert values(games, "agent-1") == pytest.approx([400, 0, 0], abs=25)


def test_strongest_first_and_plain_json():
    found = strengths(made_up(np.random.default_rng(0), [-1, 0, 1], 3, 40), np.random.default_rng(0), "agent-1", 50)
    assert found.anchor == "agent-1"
    assert [row.agent for row in found.strengths] == ["agent-2", "agent-1", "agent-0"]
    assert json.loads(json.dumps(asdict(found), allow_nan=False))["strengths"][1]["points"]["value"] == 0


def test_an_agent_that_always_won_has_no_upper_end():
    games = by_hand("abc", *[("abc", "123" if deal % 2 else "132", deal) for deal in range(40)])
    row = rows(games)
    assert (row["a"].points.high, row["a"].points.method) == (None, BOOTSTRAP)
    assert row["a"].points.low > row["b"].points.value
    assert 300 < row["a"].points.value < 2000
    assert row["b"].points.low is None


def test_an_agent_that_always_lost_has_no_lower_end_and_others_keep_theirs_by_anchor():
    games = by_hand("abc", *[("abc", "123" if deal % 2 else "213", deal) for deal in range(40)])
    row = rows(games, "a")
    assert row["c"].points.low is None and row["c"].points.high < 0
    assert row["b"].points.low < 0 < row["b"].points.high


def test_being_ahead_by_way_of_others_is_enough():
    """a beats b beats c beats a: all have both ends, though b never beat a."""
    games = by_hand("abc", *[(seats, "12", deal) for deal in range(30) for seats in ("ab", "bc", "ca")])
    assert all(None not in (row.points.low, row.points.high) for row in rows(games).values())


def test_groups_that_never_met_are_said_to_be_unconnected():
    games = by_hand("abcd", *[(seats, "12", deal) for deal in range(30) for seats in ("ab", "ba", "cd", "dc")])
    assert all(row.points.method == NONE for row in rows(games).values())


def test_one_single_game_gives_figures_without_intervals():
    row = rows(by_hand("abc", ("abc", "213", 0)))
    assert row["b"].points.value > row["a"].points.value > row["c"].points.value
    assert all((each.points.low, each.points.high) == (None, None) for each in row.values())


def test_few_deals_give_no_interval():
    games = made_up(np.random.default_rng(0), [0.2, 0, -0.2], 3, 9)
    assert all(row.points.method == NONE for row in rows(games).values())


def test_games_of_one_deal_count_as_one():
    games = made_up(np.random.default_rng(3), [0.5, 0, -0.5], 3, 50)
    arrays = (np.repeat(array, 4, 0) for array in (games.seats, games.places, games.scores, games.deal))
    once, often = rows(games), rows(finished_games(games.agents, *arrays))
    for agent in games.agents:
        width, same = (points.high - points.low for points in (once[agent].points, often[agent].points))
        assert same == pytest.approx(width, rel=0.05)


@pytest.mark.parametrize("players", [3, 4, 5])
def test_known_strengths_are_recovered(players):
    truth = np.array([1.2, 0.4, 0, -0.4, -1.2])
    for seed in range(3):
        games = made_up(np.random.default_rng(seed), truth, players, 300)
        for agent, row in rows(games).items():
            expected = POINTS * truth[int(agent[-1])]
            assert row.points.low - 25 < expected < row.points.high + 25
            assert row.points.high - row.points.low < 120


@pytest.mark.parametrize(("arenas", "most"), [(40, 1), pytest.param(200, 0.995, marks=pytest.mark.soak)])
@pytest.mark.parametrize("players", [3, 4])
def test_intervals_cover_the_truth_nineteen_times_in_twenty(players, arenas, most):
    """Measured over arenas with four agents each, and the anchored difference of two of them."""
    truth = np.array([0.8, 0.2, -0.3, -0.7])
    covered, anchored = [], []
    for seed in range(arenas):
        games = made_up(np.random.default_rng(seed), truth, players, 50)
        for agent, row in rows(games, resamples=200).items():
            covered.append(row.points.low <= POINTS * truth[int(agent[-1])] <= row.points.high)
        points = rows(games, "agent-3", 200)["agent-0"].points
        anchored.append(points.low <= POINTS * 1.5 <= points.high)
    print(f"coverage {np.mean(covered):.3f}, anchored {np.mean(anchored):.3f}")
    assert 0.90 <= np.mean(covered) <= 0.985
    assert 0.88 <= np.mean(anchored) <= most
