"""Determinization: a complete game at random behind what a player sees. Templates, bound to each game.

It is one that the deciding player cannot tell from the real one. Searches and policies look ahead in such games only,
as GIB did in bridge (Ginsberg 2001, JAIR 14).
"""

from __future__ import annotations

import numpy as np

from kontor.compile import rule
from kontor.templates.dice import CARRY_MULTIPLIER, HALF, LOW, scramble
from kontor.templates.hidden import resample_game
from kontor.templates.open_names import blank_secrets

DETERMINIZED, TRIED = range(2)  # a determinization, and a copy to try something in
ZERO = np.uint64(0)


@rule
def determinize(box, games, view, stream, unseen):
    """Write a determinization of a view into the first of two games; returns the random stream after it."""
    games[DETERMINIZED] = view
    after = resample_game(box, games[DETERMINIZED], int(view.player), stream, unseen)
    return after if after != stream else stream_of(stream, 1)  # where nothing is hidden, the luck is another one, too


@rule
def stream_of(dice, number):
    """The random stream for a decision's determinization of this number, from the decision's dice."""
    return scramble(dice, np.uint64(number)) | np.uint64(1)


@rule
def knowledge(box, scratch, me):
    """A number for what a player knows of the determinization."""
    scratch.games[TRIED] = scratch.games[DETERMINIZED]
    blank_secrets(box, scratch.games[TRIED], me)
    return number_of(scratch.words)


@rule
def all_of_it(scratch):
    """A number for the whole determinization, without its random streams."""
    scratch.games[TRIED] = scratch.games[DETERMINIZED]
    scratch.games[TRIED].rng[:] = ZERO
    scratch.games[TRIED].number = 0
    return number_of(scratch.words)


@rule
def number_of(words):
    key = np.uint64(1)
    for i in range(words.shape[1]):
        word = words[TRIED, i]
        key = ((key ^ word) & LOW) * CARRY_MULTIPLIER + (key >> HALF)
        key = ((key ^ (word >> HALF)) & LOW) * CARRY_MULTIPLIER + (key >> HALF)
    return key
