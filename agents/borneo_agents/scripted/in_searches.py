"""What the scripted bots lend to searches: how they play on, and who is likely to win."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from borneo_agents.scripted.dispatch import BOTS, RANDOM, choose
from borneo_agents.scripted.scratch import SCRATCH
from borneo_agents.scripted.valuation.win_probability import FEATURES, win_probabilities
from borneo_env.engine.state import SEATS
from kontor.bots import SearchBots
from kontor.compile import rule

# The memory of the bots, and what win probabilities are made of.
SEARCH_SCRATCH = np.dtype([("bots", SCRATCH), ("features", "f8", (SEATS, FEATURES))], align=True)


def playing_as(kind: int) -> Callable[..., Any]:
    """The rule of one of the bots."""

    @rule
    def play_as(box, g, options, count, dice, scratch):
        return choose(kind, box, g, options, count, dice, scratch.bots)

    return play_as


@rule
def forget(scratch):
    """Empty the cache: it may be of another ruleset."""
    scratch.bots.cache_key[:] = 0


@rule
def expect(box, g, scratch, out):
    win_probabilities(box, g, scratch.features, out)


BOTS_IN_SEARCHES = SearchBots(
    rules={name: playing_as(kind) for name, kind in BOTS.items() if kind != RANDOM},
    usual="merchant",
    scratch=SEARCH_SCRATCH,
    begin=forget,
    estimate=expect,
)
