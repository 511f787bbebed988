"""Racing: options that a policy cannot decide between, compared by where they lead in some rounds.

They are played in the same determinizations, merchants play on, and the win probability is estimated whenever a turn
begins. An option that has fallen behind drops out, so that games are played only while something is in doubt.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from borneo_agents.policy.lookahead import DETERMINIZATIONS, ROUNDS, VIEWS_PER_THREAD
from borneo_agents.scripted.dispatch import MERCHANT
from borneo_agents.scripted.scratch import SCRATCH
from borneo_agents.search.determinization import DETERMINIZED, TRIED, determinize, stream_of
from borneo_agents.search.playouts import value_of
from borneo_agents.search.win_probability import FEATURES
from borneo_env.agent import Views
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.jit import entry, rule
from borneo_env.engine.state import GAME, SEATS, THINGS
from borneo_env.engine.threads import in_parallel

FIRST = DETERMINIZATIONS  # the number of the first determinization that has not been looked into before
MOST_DETERMINIZATIONS = 64  # that scratch memory has room for
AT_ONCE = 4  # determinizations after which those who have fallen behind drop out
BEHIND = 2.0  # how far behind the best that is: in standard errors, since luck alone makes options differ

SAME = 1e-6  # probabilities that differ less are the same

# Scratch memory: each option's action, its lead before the race, its win probability in each determinization, its value
# by now, whether it is still in the race, and how far it is behind the best; and what playing on takes.
RACE = np.dtype(
    [
        ("action", "i8", (MAX_OPTIONS,)),
        ("lead", "f8", (MAX_OPTIONS,)),
        ("probability", "f8", (MAX_OPTIONS, MOST_DETERMINIZATIONS)),
        ("value", "f8", (MAX_OPTIONS,)),
        ("racing", "i1", (MAX_OPTIONS,)),
        ("behind", "f8", (MAX_OPTIONS,)),
        ("options", "i8", (MAX_OPTIONS,)),
        ("features", "f8", (SEATS, FEATURES)),
        ("probabilities", "f8", (SEATS,)),
        ("unseen", "i1", (THINGS,)),
    ],
    align=True,
)


@rule
def run_race(box, g, dice, most, doubtful, lead, scratch, games, race, behind):
    """Write how far each doubtful action is behind the best of them, by so many determinizations at most."""
    count = line_up(doubtful, lead, race)
    left = count
    played = 0
    while played < most and left > 1:
        determinize(games, g, stream_of(dice, FIRST + played), race.unseen)
        try_all(box, g.player, played, count, scratch, games, race)
        played += 1
        if played % AT_ONCE == 0 or played == most:
            left = compare(count, played, race)
    for i in range(count):
        behind[race.action[i]] = race.behind[i]


@rule
def line_up(doubtful, lead, race):
    """Begin with all doubtful actions; returns how many they are."""
    count = 0
    for action in range(len(doubtful)):
        if doubtful[action]:
            race.action[count] = action
            race.lead[count] = lead[action]
            count += 1
    race.racing[:count] = 1
    race.behind[:count] = 0.0
    return count


@rule
def try_all(box, me, number, count, scratch, games, race):
    """Play each option that is in the race in the determinization, and some rounds with it."""
    for i in range(count):
        if race.racing[i]:
            games[TRIED] = games[DETERMINIZED]
            g, action, turns = games[TRIED], race.action[i], ROUNDS * box.players
            race.probability[i, number] = value_of(box, g, me, action, MERCHANT, turns, scratch, race)


@rule
def compare(count, played, race):
    """Find out how far options are behind by now, and drop those that are too far; returns how many are left."""
    for i in range(count):
        if race.racing[i]:
            race.value[i] = race.lead[i] + np.mean(race.probability[i, :played])
    best = best_of(count, race)
    left = 0
    for i in range(count):
        if race.racing[i]:
            race.behind[i] = race.value[best] - race.value[i]
            if i != best and race.behind[i] + SAME >= BEHIND * standard_error(race, i, best, played):
                race.racing[i] = 0
            left += race.racing[i]
    return left


@rule
def best_of(count, race):
    """The best of those in the race, the first of equals."""
    best = -1
    for i in range(count):
        if race.racing[i] and (best < 0 or race.value[i] > race.value[best]):
            best = i
    return best


@rule
def standard_error(race, i, best, played):
    """The standard error of how far an option is behind the best, who met the same luck."""
    mean = 0.0
    for number in range(played):
        mean += (race.probability[best, number] - race.probability[i, number]) / played
    squares = 0.0
    for number in range(played):
        squares += (race.probability[best, number] - race.probability[i, number] - mean) ** 2
    return np.sqrt(squares / max(1, played - 1) / played)


@entry
def race_in_views(boxes, most, views, dice, doubtful, lead, behind, scratches, games, races):
    """Run a race between what is doubtful in each view."""
    for i in range(len(views)):
        run_race(boxes[0], views[i], dice[i], most, doubtful[i], lead[i], scratches[0], games[0], races[0], behind[i])


def race_options(
    views: Views, doubtful: NDArray[np.bool_], lead: NDArray[np.float64], determinizations: int, threads: int = 1
) -> NDArray[np.float64]:
    """(n, actions): by how much win probability each doubtful action is behind the best of them; 0 for others.

    `lead` (n, actions) is what speaks for each action from the start, as so much more win probability. There are
    MOST_DETERMINIZATIONS or fewer. Options that dropped out are as far behind as they were then.
    """
    if not 0 <= determinizations <= MOST_DETERMINIZATIONS:
        raise ValueError(f"determinizations are a number from 0 to {MOST_DETERMINIZATIONS}, not {determinizations!r}")
    if (doubtful.sum(1) > MAX_OPTIONS).any():
        raise ValueError(f"no decision has more than {MAX_OPTIONS} options")
    behind = np.zeros(doubtful.shape)
    boxes, games, dice = views.arrays()
    own = (games, dice, doubtful, lead, behind)
    scratch = np.zeros(threads, SCRATCH), np.zeros((threads, 2), GAME), np.zeros(threads, RACE)
    in_parallel(threads, race_in_views, (boxes, determinizations), own, VIEWS_PER_THREAD, scratch)
    return behind
