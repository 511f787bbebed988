"""Advice: what the merchant thinks of every action, for policies that are told.

A number for each action: ADVISED for the one the merchant would play, less for the others by the points they are worth
less, down to 1, and 0 for those that are not legal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from borneo_agents.bot import MERCHANT
from borneo_agents.room import ROOM, make_room
from borneo_agents.scripted import choose, list_options
from borneo_env.agent import Views
from borneo_env.engine.batch import Batch
from borneo_env.engine.game import MAX_OPTIONS, legal
from borneo_env.engine.jit import attributes, entry, rule
from borneo_env.engine.state import make_box

ADVISED = 127
AS_GOOD = 120  # for another action that is worth as much
PER_POINT = 20.0


@rule
def advise(box, g, options, count, room, advice):
    """Write the advice for one decision."""
    action = choose(MERCHANT, box, g, options, count, np.uint64(0), room)
    advice[:] = 0
    if count > 1:
        most = room.worth[:count].max()
        for i in range(count):
            advice[options[i]] = max(1.0, np.rint(AS_GOOD - PER_POINT * (most - room.worth[i])))
    advice[action] = ADVISED


@entry
def advise_views(boxes, views, options, rooms, advice):
    """Write the advice for each view."""
    for i in range(len(views)):
        count = legal(boxes[0], views[i], options)
        advise(boxes[0], views[i], options, count, rooms[0], advice[i])


@entry
def advise_games(boxes, blank, runs, games, desks, masks, rows, options, rooms, advice):
    """Write the advice for some games."""
    for k in range(len(rows)):
        count = list_options(desks[rows[k]], options[0])
        advise(boxes[0], games[rows[k]], options[0], count, rooms[0], advice[k])


def advice_on(views: Views) -> NDArray[np.int8]:
    """(views, actions): the advice for each view."""
    advice = np.empty(views.mask.shape, np.int8)
    box, games = attributes(make_box(views.ruleset)), attributes(np.ascontiguousarray(views.games))
    advise_views(box, games, np.empty(MAX_OPTIONS, np.int64), attributes(make_room()), advice)
    return advice


class Adviser:
    """Gives advice in the games of a batch; nothing in them is touched."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._rooms = np.zeros(len(batch), ROOM)  # each thread works in the first of its slice
        self._options = np.empty((len(batch), MAX_OPTIONS), np.int64)

    def advice(self, rows: NDArray[np.intp]) -> NDArray[np.int8]:
        """(rows, actions): the advice for some games that are not over."""
        advice = np.empty((len(rows), self._batch.mask.shape[1]), np.int8)
        self._batch.play(advise_games, rows, (), (self._options[: len(rows)], self._rooms[: len(rows)], advice))
        return advice
