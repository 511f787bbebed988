"""Weighing: options that a policy cannot decide between, compared by what comes of them in a round.

They are played in the same imagined games, merchants play on until everybody has had a turn, and the chance to win is
judged. An option that has fallen behind is given up, so that games are imagined only while something is in doubt.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from borneo_agents.bot import MERCHANT
from borneo_agents.briefing import IMAGINED, ROUNDS, TRIED, WORLDS, imagine
from borneo_agents.chances import FACTS
from borneo_agents.room import ROOM
from borneo_agents.search import expect
from borneo_env.agent import Views
from borneo_env.engine.batch import GAMES_PER_THINKER, in_parallel
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.jit import entry, rule
from borneo_env.engine.state import GAME, SEATS, THINGS, make_box

AT_ONCE = 8  # imagined games after which those who have fallen behind are given up
BEHIND = 2.0  # how far behind the best that is: in standard errors, since luck alone makes options differ

SAME = 1e-6  # chances that differ less are the same

# Scratch paper: each option's action, its chance in the present imagined game, the totals of chances and of what they
# are above the mean of all options in the same game, and of the squares of that; whether it is still weighed, or else
# how far it was behind; and what trying takes.
SCALES = np.dtype(
    [
        ("action", "i8", (MAX_OPTIONS,)),
        ("chance", "f8", (MAX_OPTIONS,)),
        ("total", "f8", (MAX_OPTIONS,)),
        ("above", "f8", (MAX_OPTIONS,)),
        ("squares", "f8", (MAX_OPTIONS,)),
        ("weighed", "i1", (MAX_OPTIONS,)),
        ("lag", "f8", (MAX_OPTIONS,)),
        ("options", "i8", (MAX_OPTIONS,)),
        ("facts", "f8", (SEATS, FACTS)),
        ("odds", "f8", (SEATS,)),
        ("unseen", "i1", (THINGS,)),
    ],
    align=True,
)


@rule
def weigh(box, g, dice, worlds, doubtful, room, twins, scales, worth):
    """Write the chance to win after each doubtful action, by so many imagined games at most."""
    count = lay_out(doubtful, scales)
    left = count
    world = 0
    while world < worlds and left > 1:
        imagine(g, dice, WORLDS + world, twins, scales.unseen)
        try_all(box, g.player, count, room, twins, scales)
        add_up(count, left, scales)
        world += 1
        if world % AT_ONCE == 0:
            left = give_up(count, world, scales)
    most = scales.total[best_of(count, scales)] / max(1, world)
    for i in range(count):
        lag = scales.lag[i] if scales.weighed[i] == 0 else most - scales.total[i] / max(1, world)
        worth[scales.action[i]] = most - lag


@rule
def lay_out(doubtful, scales):
    """Begin with all doubtful actions; returns how many they are."""
    count = 0
    for action in range(len(doubtful)):
        if doubtful[action]:
            scales.action[count] = action
            count += 1
    scales.weighed[:count] = 1
    scales.total[:count] = 0.0
    scales.above[:count] = 0.0
    scales.squares[:count] = 0.0
    return count


@rule
def try_all(box, me, count, room, twins, scales):
    """Play each option that is weighed in the imagined game, and a round with it."""
    for i in range(count):
        if scales.weighed[i]:
            twins[TRIED] = twins[IMAGINED]
            g, action, turns = twins[TRIED], scales.action[i], ROUNDS * box.players
            scales.chance[i] = expect(
                box, g, me, action, MERCHANT, turns, scales.options, room, scales.facts, scales.odds
            )


@rule
def add_up(count, left, scales):
    mean = 0.0
    for i in range(count):
        if scales.weighed[i]:
            mean += scales.chance[i] / left
    for i in range(count):
        if scales.weighed[i]:
            above = scales.chance[i] - mean
            scales.total[i] += scales.chance[i]
            scales.above[i] += above
            scales.squares[i] += above * above


@rule
def best_of(count, scales):
    """The best of those that are weighed, the first of equals."""
    best = -1
    for i in range(count):
        if scales.weighed[i] and (best < 0 or scales.total[i] > scales.total[best]):
            best = i
    return best


@rule
def give_up(count, games, scales):
    """Weigh those no longer that are too far behind the best; returns how many are left."""
    best = best_of(count, scales)
    left = 0
    for i in range(count):
        if scales.weighed[i]:
            lag = (scales.total[best] - scales.total[i]) / games
            luck = np.sqrt((spread(scales, i, games) + spread(scales, best, games)) / games)
            if i != best and lag + SAME >= BEHIND * luck:
                scales.weighed[i] = 0
                scales.lag[i] = lag
            left += scales.weighed[i]
    return left


@rule
def spread(scales, i, games):
    """How much luck there is in an option: the variance of its chance beside the mean of all in the same game."""
    mean = scales.above[i] / games
    return max(0.0, scales.squares[i] / games - mean * mean)


@entry
def weigh_views(boxes, worlds, views, dice, doubtful, worth, rooms, twins, scales):
    """Weigh what is doubtful in each view."""
    for i in range(len(views)):
        weigh(boxes[0], views[i], dice[i], worlds, doubtful[i], rooms[0], twins[0], scales[0], worth[i])


def weigh_options(views: Views, doubtful: NDArray[np.bool_], worlds: int, threads: int = 1) -> NDArray[np.float64]:
    """(n, actions): the chance to win after each doubtful action, by `worlds` imagined games at most; 0 for others.

    Options that were given up earlier are as far behind the best one as they were then.
    """
    size = len(views)
    worth = np.zeros(doubtful.shape)
    # Each thread works in the first of its slice; pages that nobody writes on cost nothing.
    scratch = np.zeros(size, ROOM), np.zeros((size, 2), GAME), np.zeros(size, SCALES)
    own = (np.ascontiguousarray(views.games), views.dice, doubtful, worth, *scratch)
    in_parallel(threads, weigh_views, (make_box(views.ruleset), worlds), own, GAMES_PER_THINKER)
    return worth
