"""A race of options: those that have fallen behind drop out, so that games are played only while something is in doubt.

Races are those of Maron and Moore (1993, NIPS 6), here with standard errors as bounds; successive rejects (Audibert,
Bubeck, Munos 2010, COLT) and sequential halving (Karnin, Koren, Somekh 2013, ICML) drop options at fixed times instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.game import MAX_OPTIONS
from kontor.compile import rule

MOST_DETERMINIZATIONS = 512  # that there is memory for
COMPARED_EVERY = 4  # determinizations, after which options may drop out
SAME = 1e-9  # values that differ less are the same

Numbers = NDArray[np.float64]

# The options of a decision, and how far their comparison has come.
RACE = np.dtype(
    [
        ("actions", "i8", (MAX_OPTIONS,)),
        ("log_probs", "f8", (MAX_OPTIONS,)),  # what the actor thinks of them
        ("values", "f8", (MAX_OPTIONS, MOST_DETERMINIZATIONS)),  # in each determinization
        ("racing", "i1", (MAX_OPTIONS,)),  # whether an option is still in the race
        ("behind", "f8", (MAX_OPTIONS,)),  # how much less than the best option's its logit is
        ("count", "i8"),  # of options
        ("left", "i8"),  # of them, in the race
        ("played", "i8"),  # determinizations in which all of these were played
        ("next", "i8"),  # the option from which the next one is looked for
        ("evaluations", "i8"),  # of networks
    ],
    align=True,
)


def line_up(race: Any, log_probs: Numbers) -> None:
    """Begin with all options that take part."""
    actions = np.flatnonzero(log_probs > -np.inf)
    race["actions"][: len(actions)] = actions
    race["log_probs"][: len(actions)] = log_probs[actions]
    race["behind"][: len(actions)] = log_probs.max(initial=-np.inf) - log_probs[actions]
    race["racing"][: len(actions)] = 1
    race["count"] = race["left"] = len(actions)
    race["played"] = race["next"] = race["evaluations"] = 0


@rule
def next_racing(race, option):
    """The first option from this place on that is in the race, or the number of options if there is none."""
    while option < race.count and not race.racing[option]:
        option += 1
    return option


@rule
def in_doubt(race):
    return race.left > 1 and race.played < MOST_DETERMINIZATIONS


@rule
def end_round(race, value_weight, drop_after):
    """Compare the options after each was played in a determinization."""
    race.next = 0
    race.played += 1
    best = compare(race, value_weight)
    if race.played % COMPARED_EVERY == 0:
        drop_out(race, best, value_weight, drop_after)


@rule
def compare(race, value_weight):
    """Find out how far options are behind by now; returns the best."""
    best = -1
    highest = -np.inf
    for option in range(race.count):
        if race.racing[option]:
            race.behind[option] = -race.log_probs[option]
            for number in range(race.played):
                race.behind[option] -= value_weight * race.values[option, number] / race.played
            if -race.behind[option] > highest:
                best, highest = option, -race.behind[option]
    for option in range(race.count):
        if race.racing[option]:
            race.behind[option] += highest
    return best


@rule
def drop_out(race, best, value_weight, drop_after):
    """Drop options that are too many standard errors behind the best."""
    for option in range(race.count):
        if race.racing[option] and option != best:
            error = value_weight * standard_error(race, option, best)
            if race.behind[option] + SAME >= drop_after * error:
                race.racing[option] = 0
                race.left -= 1


@rule
def standard_error(race, option, best):
    """The standard error of the mean difference of two options' values, which met the same luck."""
    mean = 0.0
    for number in range(race.played):
        mean += (race.values[best, number] - race.values[option, number]) / race.played
    squares = 0.0
    for number in range(race.played):
        squares += (race.values[best, number] - race.values[option, number] - mean) ** 2
    return np.sqrt(squares / (race.played - 1) / race.played)
