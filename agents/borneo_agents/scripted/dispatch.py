"""The scripted bots behind one compiled door: `choose` for one game, `act_games` and `Bots` for many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.scripted.climber import climber
from borneo_agents.scripted.contractor import contractor
from borneo_agents.scripted.merchant import merchant
from borneo_agents.scripted.scratch import SCRATCH
from borneo_env.engine.batch import Batch
from borneo_env.engine.game import MAX_OPTIONS, legal
from borneo_env.engine.loops import play
from borneo_env.engine.state import CHOICES
from kontor.compile import entry, rule
from kontor.templates.dice import HALF, LOW, roll

BOTS = {"random": 0, "contractor": 1, "climber": 2, "merchant": 3}  # by which number `choose` knows each
RANDOM, CONTRACTOR, CLIMBER, MERCHANT = BOTS.values()
NO_BOT = -1  # for a seat that somebody else decides for


@entry
def choose(kind, box, g, options, count, dice, scratch):
    """The action of a kind of bot among the legal ones, on a view or on a complete game alike."""
    if count == 1:
        return options[0]
    if kind == MERCHANT:
        return merchant(box, g, options, count, scratch)
    if kind == CONTRACTOR:
        return contractor(box, g, options, count, scratch)
    if kind == CLIMBER:
        return climber(box, g, options, count, scratch)
    return options[int(((dice & LOW) * np.uint64(count)) >> HALF)]


@entry
def act_games(kind, boxes, views, dice, actions, options, scratches):
    """An action for each view."""
    for i in range(len(views)):
        count = legal(boxes[0], views[i], options)
        actions[i] = choose(kind, boxes[0], views[i], options, count, dice[i], scratches[0])


class Bots:
    """Scripted bots that play on in the held games of a batch, without being asked one by one."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def play(self, kinds: NDArray[np.int8], rows: NDArray[np.intp]) -> None:
        """Play on in some games until somebody else decides, or to their ends: what the bots would play if asked.

        `kinds` (games of the batch, players) says which bot sits where, or NO_BOT.
        """
        self._batch.play(bots_play_games, rows, (kinds,), (), self._scratch())

    def choose(self, kinds: NDArray[np.int8], rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """What bots would play in some games where they decide; nothing is touched, not even the dice."""
        actions = np.empty(len(rows), np.int64)
        self._batch.play(bots_choose, rows, (kinds,), (actions,), self._scratch())
        return actions

    def _scratch(self) -> tuple[Any, ...]:
        threads = self._batch.threads
        return np.empty((threads, MAX_OPTIONS), np.int64), np.zeros((threads, len(BOTS)), SCRATCH)


@rule
def bots_choice(box, g, desk, kinds, options, scratches):
    """What the bot that decides in a game would play."""
    count = list_options(desk, options)
    kind = int(kinds[g.player])
    return choose(kind, box, g, options, count, roll(g), scratches[kind])


@rule
def list_options(desk, options):
    """Copy the legal actions from a desk; returns how many they are."""
    count = int(desk.count)
    for n in range(count):
        options[n] = desk.options[n]
    return count


@entry
def bots_play_games(boxes, blank, runs, games, desks, masks, kinds, rows, options, scratches):
    """Let bots play on in some games."""
    for k in range(len(rows)):
        i = rows[k]
        while desks[i].count > 0 and kinds[i, games[i].player] != NO_BOT:
            action = bots_choice(boxes[0], games[i], desks[i], kinds[i], options[0], scratches[0])
            play(boxes[0], blank, runs[0], games, i, desks[i], masks[i], action)


@entry
def bots_choose(boxes, blank, runs, games, desks, masks, kinds, rows, actions, options, scratches):
    """Write what bots would play in some games."""
    for k in range(len(rows)):
        i = rows[k]
        stream = games[i].rng[CHOICES]
        actions[k] = bots_choice(boxes[0], games[i], desks[i], kinds[i], options[0], scratches[0])
        games[i].rng[CHOICES] = stream  # whoever only asks changes nothing
