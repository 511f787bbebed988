"""Trials: what an option leads to, found out by playing it in the game as it stands, secrets and all.

Merchants play on for everybody, and the chance to win is judged whenever a turn begins. One trial is no more than a
sample, but all options of a decision meet the same luck, so that even single trials tell them apart. Whoever plays
must not be told: trials are for those who learn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from borneo_agents.bot import MERCHANT
from borneo_agents.chances import FACTS
from borneo_agents.room import ROOM
from borneo_agents.search import expect
from borneo_env.engine.batch import Batch
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.jit import entry
from borneo_env.engine.state import GAME, SEATS


@entry
def try_options(
    boxes, blank, runs, games, desks, masks, turns, rows, wanted, worth, twins, rooms, options, facts, odds
):
    """Write the chance to win after each action that is wanted, in some games."""
    box, twin = boxes[0], twins[0]
    for k in range(len(rows)):
        g = games[rows[k]]
        for action in range(wanted.shape[1]):
            if wanted[k, action]:
                twins[0] = g
                worth[k, action] = expect(
                    box, twin, g.player, action, MERCHANT, turns, options[0], rooms[0], facts[0], odds[0]
                )


class Trials:
    """Tries options in the games of a batch, which it leaves as they are."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def worth(self, wanted: NDArray[np.bool_], turns: int) -> NDArray[np.float32]:
        """(games, actions): the decider's chance to win after each action that is wanted; 0 for the others."""
        if type(turns) is not int or turns < 1:
            raise ValueError(f"turns are a number from 1, not {turns!r}")
        if wanted.shape != self._batch.mask.shape or (wanted & ~self._batch.mask).any():
            raise ValueError("only legal actions can be tried")
        worth = np.zeros(wanted.shape, np.float32)
        rows = np.arange(len(self._batch))
        threads = self._batch.threads
        scratch = (
            np.zeros(threads, GAME),
            np.zeros(threads, ROOM),
            np.empty((threads, MAX_OPTIONS), np.int64),
            np.zeros((threads, SEATS, FACTS)),
            np.zeros((threads, SEATS)),
        )
        self._batch.play(try_options, rows, (turns,), (wanted, worth), scratch)
        return worth
