"""What a seat may know: `redact` blanks the rest of a game, `resample` fills it in at random. Templates, as the loops.

What a game blanks is the definition of its secrets for the whole project: views of agents are made from what is left.
"""

from __future__ import annotations

import numpy as np

from kontor.compile import entry, rule
from kontor.templates.dice import LUCK, scramble
from kontor.templates.open_names import blank_secrets, can_be_filled, fill_secrets, is_possible

ONE = np.uint64(1)


@rule
def resample_game(box, g, seat, stream, room):
    """Replace a game by a random one its seat cannot tell apart; `room` is scratch. Returns the stream."""
    searching = True
    while searching:
        blank_secrets(box, g, seat)
        g.rng[LUCK] = stream
        fill_secrets(box, g, seat, room)
        stream = g.rng[LUCK]
        searching = not is_possible(box, g, seat)
    for own in range(len(g.rng)):
        g.rng[own] = scramble(stream, np.uint64(1 + own)) | ONE
    return stream


@entry
def redact_games(boxes, games, seats):
    for i in range(len(games)):
        blank_secrets(boxes[0], games[i], seats[i])


@entry
def resample_games(boxes, games, seats, seeds, room):
    for i in range(len(games)):
        resample_game(boxes[0], games[i], seats[i], scramble(seeds[i], np.uint64(0)) | ONE, room)


@entry
def first_impossible(boxes, games, seats, room):
    """The first of some games that cannot be resampled, or -1; blanks what their seats do not know."""
    for i in range(len(games)):
        blank_secrets(boxes[0], games[i], seats[i])
        if not can_be_filled(boxes[0], games[i], seats[i], room):
            return i
    return -1
