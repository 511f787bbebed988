"""Advantages along the common time line, beside a slow and obvious computation on recorded games."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from borneo_train.advantages import advantages  # noqa: E402  # torch may be missing

from borneo_env.ruleset import Ruleset  # noqa: E402
from borneo_env.vector import Seats  # noqa: E402

GAMMA, LAMBDA = 0.97, 0.9
MOMENTS = 260  # longer than a game of random players, so that games end inside


def recorded(players):
    """Some games of random players: rewards, ends, and values that somebody may have thought."""
    rng = np.random.default_rng(players)
    seats = Seats(3, Ruleset(players=players), seat="all", reward="score-delta", seed=players)
    rewards, done = [], []
    for _ in range(MOMENTS):
        seats.step(seats.batch.sample())
        rewards.append(seats.reward.copy())
        done.append(seats.done.copy())
    values = rng.normal(size=(MOMENTS + 1, 3, players))
    return np.array(rewards, float), np.array(done), values


def obvious(rewards, done, values, game, seat, moment):
    """The sum of all later surprises of one seat in one game, each counting less the later it comes."""
    total, weight = 0.0, 1.0
    for later in range(moment, len(rewards)):
        after = 0.0 if done[later, game] else values[later + 1, game, seat]
        total += weight * (rewards[later, game, seat] + GAMMA * after - values[later, game, seat])
        if done[later, game]:
            break
        weight *= GAMMA * LAMBDA
    return total


@pytest.mark.parametrize("players", (3, 4, 5))
def test_advantages_are_those_of_an_obvious_computation(players):
    rewards, done, values = recorded(players)
    assert done[:-1].any(), "a game should end inside the horizon"
    found = advantages(*(torch.tensor(array) for array in (rewards, done, values)), GAMMA, LAMBDA).numpy()
    for moment in (*range(0, MOMENTS, 7), MOMENTS - 1):
        for game in range(3):
            for seat in range(players):
                assert found[moment, game, seat] == pytest.approx(obvious(rewards, done, values, game, seat, moment))


def test_with_a_perfect_critic_nothing_surprises():
    done = torch.tensor([[False], [True]])
    rewards = torch.tensor([[[0.0, 0.0]], [[1.0, -1.0]]])
    values = torch.tensor([[[0.5, -0.5]], [[1.0, -1.0]], [[9.0, 9.0]]])  # the last is of the next game
    assert torch.equal(advantages(rewards, done, values, 0.5, 0.9), torch.zeros(2, 1, 2))
