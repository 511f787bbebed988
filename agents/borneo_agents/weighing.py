"""Weighing: options that a policy cannot decide between, compared by what comes of them in some rounds.

They are played in the same imagined games, merchants play on, and the chance to win is judged whenever a turn begins.
An option that has fallen behind is given up, so that games are imagined only while something is in doubt.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from borneo_agents.bot import MERCHANT, as_arrays
from borneo_agents.briefing import IMAGINED, ROUNDS, TRIED, VIEWS_PER_THREAD, WORLDS, imagine
from borneo_agents.chances import FACTS
from borneo_agents.room import ROOM
from borneo_agents.search import expect
from borneo_env.agent import Views
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.jit import entry, rule
from borneo_env.engine.state import GAME, SEATS, THINGS
from borneo_env.engine.threads import in_parallel

MOST_WORLDS = 64  # imagined games that scratch paper has room for
AT_ONCE = 4  # imagined games after which those who have fallen behind are given up
BEHIND = 2.0  # how far behind the best that is: in standard errors, since luck alone makes options differ

SAME = 1e-6  # chances that differ less are the same

# Scratch paper: each option's action, how far it was ahead before, its chances in all imagined games, what it is worth
# by now, whether it is still weighed, and how far it is behind the best; and what trying takes.
SCALES = np.dtype(
    [
        ("action", "i8", (MAX_OPTIONS,)),
        ("ahead", "f8", (MAX_OPTIONS,)),
        ("chance", "f8", (MAX_OPTIONS, MOST_WORLDS)),
        ("worth", "f8", (MAX_OPTIONS,)),
        ("weighed", "i1", (MAX_OPTIONS,)),
        ("behind", "f8", (MAX_OPTIONS,)),
        ("options", "i8", (MAX_OPTIONS,)),
        ("facts", "f8", (SEATS, FACTS)),
        ("odds", "f8", (SEATS,)),
        ("unseen", "i1", (THINGS,)),
    ],
    align=True,
)


@rule
def weigh(box, g, dice, worlds, doubtful, ahead, room, twins, scales, behind):
    """Write how far each doubtful action is behind the best of them, by so many imagined games at most."""
    count = lay_out(doubtful, ahead, scales)
    left = count
    world = 0
    while world < worlds and left > 1:
        imagine(g, dice, WORLDS + world, twins, scales.unseen)
        try_all(box, g.player, world, count, room, twins, scales)
        world += 1
        if world % AT_ONCE == 0 or world == worlds:
            left = compare(count, world, scales)
    for i in range(count):
        behind[scales.action[i]] = scales.behind[i]


@rule
def lay_out(doubtful, ahead, scales):
    """Begin with all doubtful actions; returns how many they are."""
    count = 0
    for action in range(len(doubtful)):
        if doubtful[action]:
            scales.action[count] = action
            scales.ahead[count] = ahead[action]
            count += 1
    scales.weighed[:count] = 1
    scales.behind[:count] = 0.0
    return count


@rule
def try_all(box, me, world, count, room, twins, scales):
    """Play each option that is weighed in the imagined game, and some rounds with it."""
    for i in range(count):
        if scales.weighed[i]:
            twins[TRIED] = twins[IMAGINED]
            g, action, turns = twins[TRIED], scales.action[i], ROUNDS * box.players
            scales.chance[i, world] = expect(
                box, g, me, action, MERCHANT, turns, scales.options, room, scales.facts, scales.odds
            )


@rule
def compare(count, worlds, scales):
    """Find out how far options are behind by now, and give up those that are too far; returns how many are left."""
    for i in range(count):
        if scales.weighed[i]:
            scales.worth[i] = scales.ahead[i] + np.mean(scales.chance[i, :worlds])
    best = best_of(count, scales)
    left = 0
    for i in range(count):
        if scales.weighed[i]:
            scales.behind[i] = scales.worth[best] - scales.worth[i]
            if i != best and scales.behind[i] + SAME >= BEHIND * luck(scales, i, best, worlds):
                scales.weighed[i] = 0
            left += scales.weighed[i]
    return left


@rule
def best_of(count, scales):
    """The best of those that are weighed, the first of equals."""
    best = -1
    for i in range(count):
        if scales.weighed[i] and (best < 0 or scales.worth[i] > scales.worth[best]):
            best = i
    return best


@rule
def luck(scales, i, best, worlds):
    """The standard error of how far an option is behind the best, who met the same luck."""
    mean = 0.0
    for world in range(worlds):
        mean += (scales.chance[best, world] - scales.chance[i, world]) / worlds
    squares = 0.0
    for world in range(worlds):
        squares += (scales.chance[best, world] - scales.chance[i, world] - mean) ** 2
    return np.sqrt(squares / max(1, worlds - 1) / worlds)


@entry
def weigh_views(boxes, worlds, views, dice, doubtful, ahead, behind, rooms, twins, scales):
    """Weigh what is doubtful in each view."""
    for i in range(len(views)):
        weigh(boxes[0], views[i], dice[i], worlds, doubtful[i], ahead[i], rooms[0], twins[0], scales[0], behind[i])


def weigh_options(
    views: Views, doubtful: NDArray[np.bool_], ahead: NDArray[np.float64], worlds: int, threads: int = 1
) -> NDArray[np.float64]:
    """(n, actions): by how much of a chance each doubtful action is behind the best of them; 0 for others.

    `ahead` (n, actions) is what speaks for each action from the start, as so much of a chance more. There are `worlds`
    imagined games at most, MOST_WORLDS or fewer. Options that were given up are as far behind as they were then.
    """
    if not 0 <= worlds <= MOST_WORLDS:
        raise ValueError(f"worlds are a number of imagined games from 0 to {MOST_WORLDS}, not {worlds!r}")
    if (doubtful.sum(1) > MAX_OPTIONS).any():
        raise ValueError(f"no decision has more than {MAX_OPTIONS} options")
    behind = np.zeros(doubtful.shape)
    boxes, games, dice = as_arrays(views)
    own = (games, dice, doubtful, ahead, behind)
    scratch = np.zeros(threads, ROOM), np.zeros((threads, 2), GAME), np.zeros(threads, SCALES)
    in_parallel(threads, weigh_views, (boxes, worlds), own, VIEWS_PER_THREAD, scratch)
    return behind
