"""The rewards that every game has: what a player gets for what happened between two records of a game. Templates."""

from __future__ import annotations

from kontor.compile import entry, rule
from kontor.fields import OVER
from kontor.templates.open_names import place_of, reward_of, score, wins


@rule
def win(box, before, after, player):
    """1 for the winner at the end, shared among several; 0 for the others, and where nobody wins."""
    if not ends(before, after) or not wins(box, after, player):
        return 0.0
    winners = 0
    for other in range(box.players):
        winners += wins(box, after, other)
    return 1 / winners


@rule
def place(box, before, after, player):
    """From 1 for the first place to -1 for the last at the end, evenly spaced; equal players share their mean."""
    if not ends(before, after):
        return 0.0
    own, equal = place_of(box, after, player), 0
    for other in range(box.players):
        equal += place_of(box, after, other) == own
    mean_place = own + (equal - 1) / 2
    return 1 - 2 * (mean_place - 1) / (box.players - 1)


@rule
def score_at_the_end(box, before, after, player):
    """Own points minus the mean of the others' at the end."""
    return lead(box, after, player) if ends(before, after) else 0.0


@rule
def score_delta(box, before, after, player):
    """The same, spread over the game: how much the lead has changed. Sums to `score`."""
    return lead(box, after, player) - lead(box, before, player)


@rule
def ends(before, after):
    """Whether the game has ended in between."""
    return after.player == OVER and before.player != OVER


@rule
def lead(box, g, player):
    """A player's points minus the mean of the others'."""
    own, all_points = score(box, g, player), 0
    for other in range(box.players):
        all_points += score(box, g, other)
    return own - (all_points - own) / (box.players - 1)


@rule
def no_reward(number, box, before, after, player):
    return 0.0


@entry
def reward_games(boxes, number, before, after, out):
    for i in range(len(after)):
        for player in range(boxes[0].players):
            out[i, player] = reward_of(number, boxes[0], before[i], after[i], player)


GENERAL = {"win": win, "place": place, "score": score_at_the_end, "score-delta": score_delta}
AT_THE_END = ("win", "place", "score")  # nothing until then, so that nobody need ask before
