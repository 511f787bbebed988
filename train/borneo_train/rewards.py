"""Rewards of a training by name: those of the environments, and one that knows the bots' judgement."""

from __future__ import annotations

import numpy as np
from borneo_agents.chances import win_chances
from numpy.typing import NDArray

from borneo_env import rewards
from borneo_env.rewards import Games, Reward
from borneo_env.ruleset import Ruleset


def chances(ruleset: Ruleset, before: Games, after: Games) -> NDArray[np.float64]:
    """How much the chance to win has changed, as the search bots judge it: sums to `win` less the chance at first."""
    return win_chances(ruleset, after) - win_chances(ruleset, before)


REWARDS: dict[str, Reward] = rewards.REWARDS | {"chances": chances}
