"""Who is cast against the learner, and the league of earlier learners."""

import shutil

import numpy as np
import pytest
from borneo_agents.policy.model import CARD
from borneo_agents.scripted.dispatch import CLIMBER, CONTRACTOR, MERCHANT
from borneo_train.opponents import CASTS, CURRENT, EARLIER, LARGEST_LEAGUE, Cast, League

SHAPE = (4000, 3)


def draw(name, has_earlier=True, seed=1, shape=SHAPE):
    cast = Cast(name)
    cast.has_earlier = has_earlier
    return cast.draw(np.random.default_rng(seed), shape)


def shares(drawn):
    """How much of the seats everybody has."""
    who, seats = np.unique(drawn, return_counts=True)
    return dict(zip(who.tolist(), (seats / drawn.size).tolist(), strict=True))


# ---------------------------------------------------------------- casts


@pytest.mark.parametrize("name", CASTS)
def test_there_is_an_opponent_for_every_seat(name):
    for shape in ((5, 3), (1, 5), (0, 4)):
        drawn = draw(name, shape=shape)
        assert drawn.shape == shape and drawn.dtype == np.int64
        assert set(drawn.flat) <= {CLIMBER, CONTRACTOR, MERCHANT, CURRENT, EARLIER}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("merchant", {MERCHANT: 1}),
        ("self", {CURRENT: 1}),
        ("nobody", {CURRENT: 1}),
        ("league", {CURRENT: 1 / 2, EARLIER: 1 / 2}),
        ("mixed", {MERCHANT: 1 / 3, CLIMBER: 1 / 12, CONTRACTOR: 1 / 12, CURRENT: 1 / 4, EARLIER: 1 / 4}),
    ],
)
def test_opponents_come_as_often_as_they_should(name, expected):
    assert shares(draw(name)) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("name", ["league", "mixed"])
def test_nobody_is_drawn_from_an_empty_league(name):
    drawn = draw(name, has_earlier=False)
    assert EARLIER not in drawn and CURRENT in drawn
    full = draw(name)
    assert (drawn == np.where(full == EARLIER, CURRENT, full)).all()  # the others are the same


def test_seats_of_a_league_game_are_drawn_one_by_one():
    earlier = (draw("league") == EARLIER).sum(1)
    assert np.bincount(earlier) / len(earlier) == pytest.approx([1 / 8, 3 / 8, 3 / 8, 1 / 8], abs=0.03)


def test_a_mixed_table_has_bots_or_networks_and_seldom_only_one_kind_of_them():
    bots = np.isin(draw("mixed"), (MERCHANT, CLIMBER, CONTRACTOR))
    assert (bots.all(1) | ~bots.any(1)).all()
    assert bots.all(1).mean() == pytest.approx(1 / 2, abs=0.03)
    merchants = (draw("mixed")[bots.all(1)] == MERCHANT).all(1)
    assert merchants.mean() == pytest.approx((2 / 3) ** 3, abs=0.03)


@pytest.mark.parametrize("name", ["league", "mixed"])
def test_the_generator_alone_decides(name):
    assert (draw(name, seed=1) == draw(name, seed=1)).all()
    assert (draw(name, seed=1) != draw(name, seed=2)).any()


def test_unknown_opponents_get_a_clear_error():
    with pytest.raises(ValueError, match="no opponents 'genius'; use one of league, self, merchant, mixed"):
        Cast("genius")


# ---------------------------------------------------------------- the league


def league_of(folder, steps):
    league = League(folder / "league")
    for number in steps:
        join(league, number)
    return league


def join(league, steps):
    """Somebody joins; a card is enough to tell."""
    league.place_for(steps).mkdir(parents=True)
    (league.place_for(steps) / CARD).touch()


def names(members):
    return [int(member.name) for member in members]


def test_a_new_league_is_empty(tmp_path):
    league = league_of(tmp_path, [])
    assert league.members() == league.to_leave() == []
    assert league.draw(np.random.default_rng(1)) is None


def test_members_are_in_the_order_of_their_steps(tmp_path):
    """By number, not by the first digit."""
    league = league_of(tmp_path, [2_000_000, 300, 10_000_000_000, 0, 1000])
    assert names(league.members()) == [0, 300, 1000, 2_000_000, 10_000_000_000]
    assert league.place_for(300) == tmp_path / "league" / "000000000300"


def test_what_others_keep_in_the_folder_is_no_member(tmp_path):
    league = league_of(tmp_path, [5])
    for name in ("000 notes", "000000000001", "zzz"):
        (league.folder / name).mkdir()
    (league.folder / "000000000002").symlink_to(league.place_for(5))
    (league.folder / "readme").write_text("mine")
    assert names(league.members()) == [5]
    (tmp_path / "other").symlink_to(league.folder)
    assert League(tmp_path / "other").members() == []


def test_each_member_is_drawn_as_often(tmp_path):
    league, rng = league_of(tmp_path, range(4)), np.random.default_rng(1)
    drawn = names(league.draw(rng) for _ in range(2000))
    assert np.bincount(drawn) / 2000 == pytest.approx([1 / 4] * 4, abs=0.03)


def test_nobody_leaves_before_the_league_is_full(tmp_path):
    assert league_of(tmp_path, range(LARGEST_LEAGUE)).to_leave() == []


def test_every_other_one_of_the_older_half_but_never_the_first_leaves_a_full_league(tmp_path):
    league = league_of(tmp_path, range(LARGEST_LEAGUE + 1))
    assert names(league.to_leave()) == list(range(1, LARGEST_LEAGUE // 2, 2))
    assert names(league.members()) == list(range(LARGEST_LEAGUE + 1))  # it only says who


def test_a_league_that_is_thinned_has_the_newest_and_fewer_the_older_they_are(tmp_path):
    league = league_of(tmp_path, [])
    for steps in range(100):
        join(league, steps)
        for member in league.to_leave():
            shutil.rmtree(member)
        kept = names(league.members())
        assert len(kept) <= LARGEST_LEAGUE
        assert kept[0] == 0
        assert kept[-10:] == list(range(max(0, steps - 9), steps + 1))
        assert sorted(np.diff(kept), reverse=True) == np.diff(kept).tolist()
