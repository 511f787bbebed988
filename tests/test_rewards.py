"""Rewards by name, against whole games worked out from their records."""

import pickle
from functools import cache

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from playing import SEVERAL_RULESETS, pick, play_seat_on, recorded, totals_of

import borneo_env
from borneo_env.engine.observe import split
from borneo_env.record import record_games, replay
from borneo_env.rewards import AT_THE_END, REWARDS, UnknownReward, WrongReward, find_reward

AT_THE_END_BY_NAME = [name for name, reward in REWARDS.items() if reward in AT_THE_END]


@cache
def moves(ruleset):
    """Some games of a ruleset: for each what its record says of rewards, and the games before and after every move."""
    records = [recorded(ruleset, 8, number) for number in range(2)]
    records += record_games(ruleset, 1, seed=8, agents=["random"] * ruleset.players)
    played = []
    for record in records:
        pairs = [(moment.before, moment.after.copy()) for moment in replay(record) if moment.kind == "move"]
        played.append((totals_of(record), *map(np.array, zip(*pairs, strict=True))))
    return played


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
@pytest.mark.parametrize("name", REWARDS)
def test_rewards_follow_from_the_records(name, ruleset):
    for expected, before, after in moves(ruleset):
        rewards = REWARDS[name](ruleset, before, after)
        assert rewards.sum(0) == pytest.approx(expected[name])
        if name in AT_THE_END_BY_NAME:
            assert not rewards[:-1].any()


@pytest.mark.parametrize("name", REWARDS)
def test_the_recorded_games_have_something_to_reward(name):
    """The comparisons above would be empty otherwise. A reward may be for what only one edition has."""
    given = [expected[name].any() for ruleset in SEVERAL_RULESETS for expected, *_ in moves(*ruleset.values)]
    assert any(given), "record more games in `moves`: none of these comes to anything"


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


@pytest.mark.parametrize("name", REWARDS)
def test_a_reward_by_name_is_the_same_in_other_processes(name):
    """Compiled rules do not travel: a reward goes by its name and its game."""
    again = pickle.loads(pickle.dumps(REWARDS[name]))
    assert again == REWARDS[name] and again.game is REWARDS[name].game


def test_an_unknown_reward_is_refused():
    with pytest.raises(UnknownReward, match="no reward 'glory'; use one of win, place, score, score-delta, contracts"):
        find_reward("glory")
    with pytest.raises(UnknownReward, match="no reward"):
        find_reward(["win"])


# ---------------------------------------------------------------- rewards of one's own that are wrong


def too_many(ruleset, before, after):
    return np.zeros((len(after), 5))


def one_each(ruleset, before, after):
    return np.zeros(len(after))


def unknown(ruleset, before, after):
    return np.full((len(after), ruleset.players), np.nan)


def in_words(ruleset, before, after):
    return "much"


def nothing(ruleset, before, after):
    return None


def fails(ruleset, before, after):
    raise ZeroDivisionError("nothing to divide by")


@pytest.mark.parametrize("make", [borneo_env.env, borneo_env.raw_env, borneo_env.BorneoEnv, borneo_env.BorneoVectorEnv])
@pytest.mark.parametrize(
    ("reward", "error", "reason"),
    [
        (too_many, WrongReward, r"the reward too_many returned an array of \(1, 5\); \(games, players\) are \(1, 3\)"),
        (one_each, WrongReward, r"the reward one_each returned an array of \(1,\)"),
        (unknown, WrongReward, r"the reward unknown returned numbers that are not finite: nan"),
        (in_words, WrongReward, r"the reward in_words returned 'much'; it must be an array of numbers"),
        (nothing, WrongReward, r"the reward nothing returned"),
        (fails, ZeroDivisionError, "nothing to divide by"),
    ],
)
def test_a_wrong_reward_of_ones_own_is_named_and_ends_the_game(make, reward, error, reason):
    env = make(players=3, reward=reward)
    step = (lambda: env.step([1])) if make is borneo_env.BorneoVectorEnv else (lambda: env.step(1))
    env.reset(seed=1)
    for _ in range(2):
        with pytest.raises(error, match=reason):
            step()
        with pytest.raises(ResetNeeded, match="interrupted in the middle of a step"):
            step()
        env.reset()


def scribbling(ruleset, before, after):
    for games in (before, after):
        games.view(np.uint8)[:] = 77
    return np.zeros((len(after), ruleset.players))


def test_a_reward_of_ones_own_cannot_harm_the_games():
    games = []
    for reward in (scribbling, placed):
        env = borneo_env.env(players=3, reward=reward)
        seats = borneo_env.Seats(2, env.ruleset, reward=reward, seed=1)
        env.reset(seed=1)
        for _ in range(80):
            env.step(pick(env.last()[0]["action_mask"]))
            seats.step([pick(mask) for mask in seats.mask])
        seen = [env.observe(agent)["observation"].tobytes() for agent in env.agents]
        games.append((env.table.tobytes(), seen, seats.batch.games.tobytes()))
    assert games[0] == games[1]


def test_a_reward_of_ones_own_is_asked_about_games_only():
    """A step in which all games end has nothing left to reward."""

    def counting(ruleset, before, after):
        assert len(after)
        return np.zeros((len(after), ruleset.players))

    seats = borneo_env.Seats(1, borneo_env.Ruleset(players=3, tables="tiny"), reward=counting, seed=1)
    ends = 0
    for _ in range(60):
        seats.step([pick(mask) for mask in seats.mask])
        ends += seats.done[0]
    assert ends
