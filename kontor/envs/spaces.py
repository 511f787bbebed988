"""The spaces of observations and actions, and observations in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from kontor.layout import LARGEST, SMALLEST, explain, length
from kontor.ruleset import Ruleset

DTYPES = ("int8", "float32")


def seat_spaces(ruleset: Ruleset, dtype: str, whole_table: bool = False) -> tuple[spaces.Box, spaces.Discrete]:
    """The spaces of one seat's observation (or of the whole table) and action."""
    if dtype not in DTYPES:
        raise ValueError(f"dtype {dtype!r} is not offered; use one of {', '.join(DTYPES)}")
    game, numbers = ruleset.game, np.dtype(dtype).type
    layout = game.state_layout(ruleset) if whole_table else game.layout(ruleset)
    actions = len(game.action_table(ruleset))
    return spaces.Box(SMALLEST, LARGEST, (length(layout),), numbers), spaces.Discrete(actions)


def explained(ruleset: Ruleset, numbers: NDArray[Any]) -> str:
    """An observation in words, or a whole table."""
    game = ruleset.game
    for layout in (game.layout(ruleset), game.state_layout(ruleset)):
        if numbers.shape[-1:] == (length(layout),):
            return explain(layout, numbers)
    raise ValueError(f"no observation or state of {ruleset.name} has {numbers.shape[-1]} numbers")


def with_mask(observation: spaces.Space[Any], action: spaces.Discrete) -> spaces.Dict:
    """The space of observations that come with their action masks."""
    return spaces.Dict({"observation": observation, "action_mask": spaces.Box(0, 1, (int(action.n),), np.int8)})
