"""Rewards by name, against whole games worked out from their records."""

from functools import cache

import numpy as np
import pytest
from playing import SEVERAL_RULESETS, pick, play_seat_on, recorded, totals, totals_of

import borneo_env
from borneo_env.engine.observe import split
from borneo_env.record import record_games, replay
from borneo_env.rewards import AT_THE_END, REWARDS, UnknownReward, find_reward

AT_THE_END_BY_NAME = [name for name, reward in REWARDS.items() if reward in AT_THE_END]


@cache
def moves(ruleset):
    """Some games of a ruleset: for each its record, and the games before and after every move."""
    records = [recorded(ruleset, 8, number) for number in range(4)]
    records += record_games(ruleset, 4, seed=8, agents=["random"] * ruleset.players)
    played = []
    for record in records:
        pairs = [(moment.before, moment.after.copy()) for moment in replay(record) if moment.kind == "move"]
        played.append((record, *map(np.array, zip(*pairs, strict=True))))
    return played


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
@pytest.mark.parametrize("name", REWARDS)
def test_rewards_follow_from_the_records(name, ruleset):
    for record, before, after in moves(ruleset):
        rewards = REWARDS[name](ruleset, before, after)
        assert rewards.sum(0) == pytest.approx(totals_of(record)[name])
        if name in AT_THE_END_BY_NAME:
            assert not rewards[:-1].any()


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
@pytest.mark.parametrize("name", REWARDS)
def test_the_recorded_games_have_something_to_reward(name, ruleset):
    """The comparisons above would be empty if nobody ever fulfilled a contract or climbed."""
    assert all(totals(ruleset, 8, number)[name].any() for number in range(4))


@pytest.mark.parametrize("name", AT_THE_END_BY_NAME)
def test_rewards_at_the_end_are_given_once(name):
    """A game that was over before has nothing more to give."""
    batch = borneo_env.Batch(4, seed=1, finished="hold")
    before = batch.games.copy()
    batch.play_random()
    reward = REWARDS[name]
    assert reward(batch.ruleset, before, batch.games).any(axis=1).all()
    assert not reward(batch.ruleset, batch.games, batch.games).any()


def test_equal_winners_share():
    batch = borneo_env.Batch(3000, seed=2, players=3, finished="hold", tables="tiny")
    before = batch.games.copy()
    batch.play_random()
    places, values = batch.places(), {name: REWARDS[name](batch.ruleset, before, batch.games) for name in REWARDS}
    winners = (places == 1).sum(1)
    assert set(winners.tolist()) >= {1, 2}
    assert (values["win"] == np.where(places == 1, 1 / winners[:, None], 0)).all()
    assert np.allclose(values["win"].sum(1), 1) and np.allclose(values["place"].sum(1), 0)
    assert (values["place"][(winners == 2)[:, None] & (places == 1)] == 0.5).all()
    assert np.allclose(values["score"].sum(1), 0)


def test_a_reward_of_ones_own_is_a_function():
    def cards(ruleset, before, after):
        return after["hand_size"][:, : ruleset.players].astype(float)

    env = borneo_env.env(reward=cards)
    env.reset(seed=1)
    env.step(1)
    assert env.rewards == dict.fromkeys(env.possible_agents, 3.0)


def placed(ruleset, before, after):
    """A reward of one's own: how many traders anybody has placed."""
    gained = after["placed"].astype(float) - before["placed"]
    return np.repeat(gained[:, None], ruleset.players, axis=1)


def test_a_reward_of_ones_own_gets_each_step_once():
    """For one seat that is everything since its last decision, so that a game's sum misses nothing after its first."""
    env = borneo_env.env(players=3, reward=placed)
    env.reset(seed=1)
    for _ in range(3):
        env.step(pick(env.last()[0]["action_mask"]))
        assert env.rewards == dict.fromkeys(env.possible_agents, 1.0)

    seat = borneo_env.BorneoEnv(players=3, reward=placed, seat=1)
    dealt, _ = seat.reset(seed=1)
    assert sum(reward for _, reward, _, _ in play_seat_on(seat)) == 9 - split(dealt)["placed"]

    seats = borneo_env.Seats(2, borneo_env.Ruleset(players=3), reward=placed, seat=1, seed=1)
    left = 9 - split(seats.observation)["placed"]
    total = np.zeros(2)
    for _ in range(12):
        seats.step([pick(mask) for mask in seats.mask])
        total += seats.reward
    assert total.tolist() == left.tolist()


def test_an_unknown_reward_is_refused():
    with pytest.raises(UnknownReward, match="no reward 'glory'; use one of win, place, score, score-delta, contracts"):
        find_reward("glory")
