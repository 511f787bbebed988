"""Whole random games of `borneo_env.env()` through Tianshou's PettingZoo wrapper and collector, all checked."""

import argparse
import logging

import numpy as np
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv

import borneo_env

TOGETHER = 3  # games that the collector plays side by side
LONGEST = 5000  # decisions; no game is as long as this


def play(players, games, seed):
    """Play random games to their ends; returns the number of decisions, and what each seat won."""
    np.random.seed(seed)  # noqa: NPY002  # Tianshou's random agent draws from the global generator
    envs = DummyVectorEnv([lambda: PettingZooEnv(borneo_env.env(players=players))] * TOGETHER)
    envs.seed(seed)
    space = envs.get_env_attr("action_space")[0]
    agents = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(space) for _ in range(players)]
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=agents, env=PettingZooEnv(borneo_env.env(players=players)))
    buffer = VectorReplayBuffer(games * LONGEST, TOGETHER)
    collector = Collector(algorithm, envs, buffer)
    collector.reset()
    collected = collector.collect(n_episode=games)
    played, _ = buffer.sample(0)  # everything, in the order of play
    assert len(played) == collected.n_collected_steps
    return len(played), check(played, games)


def check(played, games):
    """Assert that only legal actions were played, and that every end rewards all seats; the sum of the rewards."""
    mask = played.obs.mask
    assert not mask.all(axis=1).any(), "no decision of this game allows everything: the mask did not arrive"
    assert mask[np.arange(len(played)), played.act].all(), "an illegal action was played"
    ends = played.terminated
    assert ends.sum() == games, f"{ends.sum()} games have ended, not {games}"
    assert not played.rew[~ends].any() and (played.rew >= 0).all(), "nobody is rewarded before the end"
    assert np.allclose(played.rew[ends].sum(axis=1), 1), f"the seats share one win, not {played.rew[ends]}"
    return played.rew.sum(axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=6, help="games for each number of players")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    logging.getLogger("tianshou.data.stats").setLevel(logging.ERROR)  # it says that rewards are one for each seat
    for players in (3, 4, 5):
        decisions, wins = play(players, arguments.games, arguments.seed)
        told = ", ".join(f"{win:g}" for win in wins)
        print(f"tianshou: {players} players, {arguments.games} games, {decisions} decisions, wins per seat: {told}")


if __name__ == "__main__":
    main()
