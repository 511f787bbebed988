"""The reward by win probability: what it comes to in whole games, move by move and through the vector environment."""

import numpy as np
import pytest
from borneo_agents.scripted.agents import Merchant
from borneo_agents.search.win_probability import win_probability
from borneo_train.rewards import REWARDS, win_probability_gained
from borneo_train.vec_env import BorneoVecEnv

from borneo_env import Batch, Ruleset, rewards
from borneo_env.agent import Random, ask
from borneo_env.engine.state import copy_games
from borneo_env.ruleset import EDITIONS, PLAYER_COUNTS

GAMES = 8


def test_the_rewards_of_the_environments_are_there_too():
    assert rewards.REWARDS | {"win-probability": win_probability_gained} == REWARDS


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@pytest.mark.parametrize("edition", EDITIONS)
def test_chances_add_up_to_the_win_less_the_chance_at_first(edition, players):
    ruleset = Ruleset(edition, players)
    batch = Batch(GAMES, ruleset, seed=6, finished="hold")
    first, total = win_probability(ruleset, batch.games), np.zeros((GAMES, players))
    agents, seated = [Merchant(), Random()], np.arange(GAMES * players).reshape(GAMES, players) % 2
    while len(rows := np.flatnonzero(batch.player >= 0)):
        before = copy_games(batch.games)
        batch.step(ask(batch, rows, agents, seated), rows)
        change = win_probability_gained(ruleset, before, batch.games)
        assert np.abs(change.sum(1)).max() < 1e-9, "what one wins the others lose"
        total += change
    won = batch.places() == 1
    np.testing.assert_allclose(total, won / won.sum(1, keepdims=True) - first, atol=1e-9)
    assert total.min() < -0.1 and total.max() > 0.5


def test_learners_get_it_game_by_game():
    env = BorneoVecEnv(12, "merchant", players=(3, 5), reward=win_probability_gained, tables="tiny", seed=4)
    env.reset()
    total, ended = np.zeros(12), 0
    for _ in range(80):
        _, reward, dones, infos = env.step(env.action_masks().argmax(1))
        total += reward
        for i in np.flatnonzero(dones):
            won = infos[i]["places"] == 1
            lost = won[infos[i]["seat"]] / won.sum() - total[i]
            assert 0 < lost < 1, "the chance at first"
            assert lost == pytest.approx(1 / len(won), abs=0.25)
            ended += 1
        total[dones] = 0
    assert ended > 24
