"""One game stepped from outside, as an array of one record: moves, draws, what is likely. Templates, as the loops."""

from __future__ import annotations

from kontor.compile import entry
from kontor.templates.dice import seed_streams
from kontor.templates.loops import deal_game, draw_outcome
from kontor.templates.open_names import apply, legal, weight


@entry
def begin_game(boxes, blank, games, seeded, seed, number):
    """Deal game `number` of a seed up to its first decision or draw; its streams before it are written beside it."""
    deal_game(boxes[0], blank, games, 0, seed, number)
    seed_streams(seeded[0], seed, number)


@entry
def list_moves(boxes, games, options):
    """Write the legal actions, or the outcomes of a draw, into `options`; returns how many there are."""
    return legal(boxes[0], games[0], options)


@entry
def play_move(boxes, games, options, action):
    """Carry out a legal action, or bring an outcome; returns how many are there after it, written into `options`."""
    apply(boxes[0], games[0], action)
    return legal(boxes[0], games[0], options)


@entry
def draw_next(boxes, games, options):
    """The outcome that the game's own stream of chance draws next."""
    return draw_outcome(boxes[0], games[0], options, legal(boxes[0], games[0], options))


@entry
def weigh(boxes, games, options, count, weights):
    """Write how likely the outcomes are beside one another."""
    for k in range(count):
        weights[k] = weight(boxes[0], games[0], options[k])
