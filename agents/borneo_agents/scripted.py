"""The scripted bots behind one compiled door: `choose` for one game, `act_games` for many."""

from __future__ import annotations

import numpy as np

from borneo_agents.bot import CLIMBER, CONTRACTOR, MERCHANT
from borneo_agents.climber import climber
from borneo_agents.contractor import contractor
from borneo_agents.merchant import merchant
from borneo_env.engine.dice import HALF, LOW
from borneo_env.engine.game import legal
from borneo_env.engine.jit import entry, rule


@rule
def choose(kind, box, g, options, count, dice, room):
    """The action of a kind of bot among the legal ones, on a view or on a complete game alike."""
    if count == 1:
        return options[0]
    if kind == MERCHANT:
        return merchant(box, g, options, count, room)
    if kind == CONTRACTOR:
        return contractor(box, g, options, count, room)
    if kind == CLIMBER:
        return climber(box, g, options, count, room)
    return options[int(((dice & LOW) * np.uint64(count)) >> HALF)]


@entry
def act_games(kind, boxes, views, dice, actions, options, rooms):
    """An action for each view."""
    for i in range(len(views)):
        count = legal(boxes[0], views[i], options)
        actions[i] = choose(kind, boxes[0], views[i], options, count, dice[i], rooms[0])
