"""Determinization: a complete game at random behind what a player sees.

It is one that the deciding player cannot tell from the real one. Searches and policies look ahead in such games only,
as GIB did in bridge (Ginsberg 2001, JAIR 14).
"""

from __future__ import annotations

import numpy as np

from borneo_env.engine.hiding import resample_game
from kontor.compile import rule
from kontor.templates.dice import scramble

DETERMINIZED, TRIED = range(2)  # a determinization, and a copy to try something in


@rule
def determinize(box, games, view, stream, unseen):
    """Write a determinization of a view into the first of two games; returns the random stream after it."""
    games[DETERMINIZED] = view
    return resample_game(box, games[DETERMINIZED], int(view.player), stream, unseen)


@rule
def stream_of(dice, number):
    """The random stream for a decision's determinization of this number, from the decision's dice."""
    return scramble(dice, np.uint64(number)) | np.uint64(1)
