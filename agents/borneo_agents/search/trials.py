"""Trials: what an option leads to, found out by playing it in the game as it stands, secrets and all.

Merchants play on for everybody, and the win probability is estimated whenever a turn begins. One trial is only a
sample, but all options of a decision meet the same luck, so that even single trials tell them apart. Whoever plays
must not be told: trials are for those who learn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from borneo_agents.scripted.dispatch import MERCHANT
from borneo_agents.scripted.scratch import SCRATCH
from borneo_agents.search.playouts import PLAYOUT, value_of
from borneo_env.engine.batch import Batch
from borneo_env.engine.jit import entry
from borneo_env.engine.state import GAME


@entry
def try_options(boxes, blank, runs, games, desks, masks, turns, rows, wanted, values, copies, scratches, playouts):
    """Write the win probability after each action that is wanted, in some games."""
    for k in range(len(rows)):
        g = games[rows[k]]
        for action in range(wanted.shape[1]):
            if wanted[k, action]:
                copies[0] = g
                values[k, action] = value_of(
                    boxes[0], copies[0], g.player, action, MERCHANT, turns, scratches[0], playouts[0]
                )


class Trials:
    """Tries options in the games of a batch, which it leaves as they are."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def worth(self, wanted: NDArray[np.bool_], turns: int) -> NDArray[np.float32]:
        """(games, actions): the decider's win probability after each action that is wanted; 0 for the others."""
        if type(turns) is not int or turns < 1:
            raise ValueError(f"turns are a number from 1, not {turns!r}")
        if wanted.shape != self._batch.mask.shape or (wanted & ~self._batch.mask).any():
            raise ValueError("only legal actions can be tried")
        worth = np.zeros(wanted.shape, np.float32)
        rows = np.arange(len(self._batch))
        threads = self._batch.threads
        scratch = np.zeros(threads, GAME), np.zeros(threads, SCRATCH), np.zeros(threads, PLAYOUT)
        self._batch.play(try_options, rows, (turns,), (wanted, worth), scratch)
        return worth
