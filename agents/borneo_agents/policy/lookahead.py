"""Lookahead features: what a policy is told about each of its options.

The merchant's opinion, and where the option leads if merchants play on for two rounds: how every player's features have
changed when the turn is over, and the win probability whenever a turn begins (see `win_probability`). This is found out
in some determinizations. Options come in the order of their actions; what is missing is 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from borneo_agents.scripted.dispatch import MERCHANT, choose
from borneo_agents.scripted.scratch import SCRATCH
from borneo_agents.search.determinization import DETERMINIZED, TRIED, determinize, stream_of
from borneo_agents.search.playouts import play, play_out
from borneo_agents.search.win_probability import FEATURES, gather_features, win_probabilities
from borneo_env.agent import Views
from borneo_env.engine.batch import Batch
from borneo_env.engine.game import MAX_OPTIONS, legal
from borneo_env.engine.jit import entry, rule
from borneo_env.engine.state import CHOICES, GAME, OVER, SEATS, THINGS
from borneo_env.engine.threads import in_parallel

DETERMINIZATIONS = 2  # for each decision
ROUNDS = 2  # how long they are played on
VIEWS_PER_THREAD = 2  # at least: each takes a millisecond and more
SPANS = 3  # over which the mean win probability is told: the turn, a round, and all rounds

# What is told of an option: the merchant's opinion; whether it ends the turn; the change of the own win probability
# over each span; the changes of the own features, and of the others' mean, when the turn is over.
ADVICE, ENDS_TURN, GAIN = range(3)
IN_TIME = GAIN + SPANS - 1  # over all rounds
OWN = GAIN + SPANS
OTHERS = OWN + FEATURES
OPTION_FEATURES = OTHERS + FEATURES

ADVISED = 127  # the merchant's opinion of what it would play itself
AS_GOOD = 120  # and of another option that is worth as much
PER_POINT = 20.0  # how much less for each point that an option is worth less
PER_PROBABILITY, PER_FEATURE = 500.0, 8.0
MOST = 127

BEFORE, AFTER = range(2)

# Scratch memory: features and win probabilities before and after, and what the features of options add up to.
LOOKAHEAD = np.dtype(
    [
        ("features", "f8", (2, SEATS, FEATURES)),
        ("probabilities", "f8", (2, SEATS)),
        ("sums", "f8", (MAX_OPTIONS, OPTION_FEATURES)),
        ("options", "i8", (MAX_OPTIONS,)),
        ("unseen", "i1", (THINGS,)),
    ],
    align=True,
)


@rule
def look_ahead(box, g, dice, options, count, scratch, games, work, told):
    """Write the features of all options of a decision."""
    told[:] = 0
    write_advice(box, g, options, count, scratch, told)
    work.sums[:count] = 0.0
    for number in range(DETERMINIZATIONS):
        determinize(games, g, stream_of(dice, number), work.unseen)
        win_probabilities(box, games[DETERMINIZED], work.features[BEFORE], work.probabilities[BEFORE])
        for i in range(count):
            follow(box, g.player, options[i], scratch, games, work, work.sums[i])
    for i in range(count):
        for feature in range(ENDS_TURN, OPTION_FEATURES):
            told[i, feature] = cut(work.sums[i, feature] / DETERMINIZATIONS)


@rule
def follow(box, me, option, scratch, games, work, sums):
    """Play an option in the determinization, let merchants play on, and add up what it changes."""
    games[TRIED] = games[DETERMINIZED]
    g = games[TRIED]
    begun = 1 if play(box, g, option) else 0  # how many turns have begun since
    sums[ENDS_TURN] += begun
    for turn in range(1, ROUNDS * box.players + 1):
        play_out(box, g, MERCHANT, turn - begun, work.options, scratch)
        begun = turn
        win_probabilities(box, g, work.features[AFTER], work.probabilities[AFTER])
        change = PER_PROBABILITY * (work.probabilities[AFTER, me] - work.probabilities[BEFORE, me])
        if turn == 1:
            sums[GAIN] += change
            if g.phase == OVER:  # when win probabilities take no features
                gather_features(box, g, work.features[AFTER])
            add_changes(box, work.features, me, sums)
        if turn <= box.players:
            sums[GAIN + 1] += change / box.players
        sums[IN_TIME] += change / (ROUNDS * box.players)


@rule
def write_advice(box, g, options, count, scratch, told):
    """Write what the merchant thinks of every option."""
    action = choose(MERCHANT, box, g, options, count, np.uint64(0), scratch)
    most = scratch.worth[0]
    for i in range(count):
        most = max(most, scratch.worth[i])
    for i in range(count):
        if options[i] == action:
            told[i, ADVICE] = ADVISED
        else:
            told[i, ADVICE] = max(1, cut(AS_GOOD - PER_POINT * (most - scratch.worth[i])))


@rule
def add_changes(box, features, me, sums):
    """Add up how the features of the decider have changed, and those of the others on average."""
    for feature in range(FEATURES):
        sums[OWN + feature] += PER_FEATURE * (features[AFTER, me, feature] - features[BEFORE, me, feature])
        others = 0.0
        for player in range(box.players):
            if player != me:
                others += features[AFTER, player, feature] - features[BEFORE, player, feature]
        sums[OTHERS + feature] += PER_FEATURE * others / (box.players - 1)


@rule
def cut(value):
    """The nearest whole number that a feature can hold."""
    return int(np.rint(min(float(MOST), max(-float(MOST), value))))


@entry
def look_ahead_in_views(boxes, views, dice, told, options, scratches, games, works):
    """Write the features of the options in each view."""
    for i in range(len(views)):
        count = legal(boxes[0], views[i], options[0])
        look_ahead(boxes[0], views[i], dice[i], options[0], count, scratches[0], games[0], works[0], told[i])


def lookahead_features(views: Views, threads: int = 1) -> NDArray[np.int8]:
    """(views, MAX_OPTIONS * OPTION_FEATURES): the features of the options in each view."""
    size = len(views)
    told = np.empty((size, MAX_OPTIONS, OPTION_FEATURES), np.int8)
    boxes, games, dice = views.arrays()
    options = np.empty((threads, MAX_OPTIONS), np.int64)
    scratch = (options, np.zeros(threads, SCRATCH), np.zeros((threads, 2), GAME), np.zeros(threads, LOOKAHEAD))
    in_parallel(threads, look_ahead_in_views, (boxes,), (games, dice, told), VIEWS_PER_THREAD, scratch)
    return told.reshape(size, MAX_OPTIONS * OPTION_FEATURES)


def lookahead_in_batch(batch: Batch, rows: NDArray[np.intp]) -> NDArray[np.int8]:
    """(rows, MAX_OPTIONS * OPTION_FEATURES): the same for some games that are not over, whose dice stay as they are."""
    dice = batch.games["rng"][rows, CHOICES]
    try:
        views = Views(batch.ruleset, *batch.view(rows))
    finally:
        batch.games["rng"][rows, CHOICES] = dice
    return lookahead_features(views, batch.threads)
