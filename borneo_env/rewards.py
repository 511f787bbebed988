"""Rewards by name; see `kontor.rewards`."""

from __future__ import annotations

from borneo_env.engine.game import BORNEO
from kontor.rewards import Named, Reward, UnknownReward, WrongReward
from kontor.rewards import find_reward as find_reward_of

__all__ = ["AT_THE_END", "REWARDS", "Named", "Reward", "UnknownReward", "WrongReward", "find_reward"]

REWARDS: dict[str, Named] = {name: Named(BORNEO, name) for name in BORNEO.all_rewards}
AT_THE_END = tuple(reward for reward in REWARDS.values() if reward.at_the_end)


def find_reward(reward: str | Reward) -> Reward:
    """A reward by its name; what a function of one's own returns is checked."""
    return find_reward_of(BORNEO, reward)
