"""Rewards of a training by name: those of the environments, and one by the win probability of the search bots."""

from __future__ import annotations

import numpy as np
from borneo_agents.search.win_probability import win_probability
from numpy.typing import NDArray

from borneo_env import rewards
from borneo_env.rewards import Games, Reward
from borneo_env.ruleset import Ruleset


def win_probability_gained(ruleset: Ruleset, before: Games, after: Games) -> NDArray[np.float64]:
    """How much the win probability has changed, as search bots estimate it: sums to `win` less the one at first."""
    return win_probability(ruleset, after) - win_probability(ruleset, before)


REWARDS: dict[str, Reward] = rewards.REWARDS | {"win-probability": win_probability_gained}
