"""The compiled loops over games, and what they do in each of them. `batch.py` calls them on slices of its games.

They are templates, bound to each game. What is done in one game is a rule, and the kernels of `kontor.gpu` call the
same rules.
"""

from __future__ import annotations

import numpy as np

from kontor.compile import entry, rule
from kontor.fields import CHANCE, OVER
from kontor.templates.dice import CHOICES, HALF, LOW, LUCK, below, roll, scramble, seed_streams
from kontor.templates.open_names import (
    apply,
    blank_secrets,
    deal,
    has_chance,
    has_weights,
    legal,
    note_results,
    observe,
    place_of,
    score,
    weight,
    write_state,
)

NO_ACTION = -1  # leaves a game as it is
NUMBERS = np.uint64(2**63 - 1)  # games are numbered up to it, then from 0 again
SEAT_KEY = np.uint64(0x5EA7)  # keeps the draw of seats apart from the streams of the games

# How a batch is run.
RUN = np.dtype([("seed", "u8"), ("stride", "u8"), ("skip_forced", "?"), ("hold", "?")], align=True)


@rule
def settle(box, blank, run, games, i, desk):
    """Bring game i to its next decision: play forced moves, let chance draw, note a result, deal the next game."""
    while True:
        desk.count = legal(box, games[i], desk.options)
        if games[i].player == OVER:
            desk.done = True
            score_game(box, games[i], desk.scores, desk.places)
            note_results(box, games[i], desk)
            if run.hold:
                return
            deal_game(box, blank, games, i, run.seed, next_number(run, games[i]))
        elif has_chance and games[i].player == CHANCE:
            apply(box, games[i], draw_outcome(box, games[i], desk.options, desk.count))
        elif run.skip_forced and desk.count == 1:
            apply(box, games[i], desk.options[0])
        else:
            return


@rule
def draw_outcome(box, g, outcomes, count):
    """One of the outcomes of a draw, by their weights."""
    if not has_weights:
        return int(outcomes[below(g, LUCK, count)])
    total = 0
    for k in range(count):
        total += weight(box, g, outcomes[k])
    left = below(g, LUCK, total)
    k = 0
    while left >= weight(box, g, outcomes[k]):
        left -= weight(box, g, outcomes[k])
        k += 1
    return int(outcomes[k])


@rule
def next_number(run, g):
    """The number of the game that is dealt to the place of a game after it."""
    return (np.uint64(g.number) + run.stride) & NUMBERS


@rule
def deal_game(box, blank, games, i, seed, number):
    """Deal game `number` of a seed into a place."""
    games[i] = blank[0]
    seed_streams(games[i], seed, number)
    games[i].number = number
    deal(box, games[i])


@rule
def mark(mask, desk, value):
    for k in range(desk.count):
        mask[desk.options[k]] = value


@rule
def copy_mask(mask, to):
    """Action by action: copies of whole arrays take seconds to compile."""
    for action in range(len(mask)):
        to[action] = mask[action]


@rule
def play(box, blank, run, games, i, desk, mask, action):
    """Play a legal action in game i and bring it, its options and its mask to the next decision."""
    mark(mask, desk, False)
    apply(box, games[i], action)
    settle(box, blank, run, games, i, desk)
    mark(mask, desk, True)


@rule
def clear(desk, mask):
    """Take the options of a game away, before it is dealt or worked out anew."""
    desk.done = False
    for action in range(len(mask)):
        mask[action] = False


@rule
def is_illegal(masks, i, action):
    return action != NO_ACTION and (action < 0 or action >= masks.shape[1] or not masks[i, action])


@rule
def draw_option(g, desk):
    """A random legal action, of which there is one at least, from the game's own stream of choices."""
    return int(desk.options[below(g, CHOICES, desk.count)])


@rule
def draw_action(g, desk):
    """The same, or NO_ACTION where the game is over."""
    return draw_option(g, desk) if desk.count > 0 else NO_ACTION


@rule
def others_decide(g, desk, seat):
    """Whether somebody else than the seat is asked."""
    return desk.count > 0 and g.player != seat


@rule
def score_game(box, g, scores, places):
    """Write points and places as they are now."""
    for player in range(box.players):
        scores[player] = score(box, g, player)
        places[player] = place_of(box, g, player)


@rule
def draw_seat(players, seed, number):
    """A seat at random for the game of a number."""
    drawn = scramble(number, (seed ^ SEAT_KEY) & LOW)
    return int(((drawn & LOW) * np.uint64(players)) >> HALF)


@entry
def deal_games(boxes, blank, runs, games, desks, masks, chosen, numbers):
    """Deal a new game into every chosen place."""
    for i in range(len(games)):
        if chosen[i]:
            desks[i].done = False
            mark(masks[i], desks[i], False)
            deal_game(boxes[0], blank, games, i, runs[0].seed, numbers[i])
            settle(boxes[0], blank, runs[0], games, i, desks[i])
            mark(masks[i], desks[i], True)


@entry
def refresh_games(boxes, blank, runs, games, desks, masks):
    """Work out the options of every game anew from its record."""
    for i in range(len(games)):
        clear(desks[i], masks[i])
        settle(boxes[0], blank, runs[0], games, i, desks[i])
        mark(masks[i], desks[i], True)
        desks[i].done = False  # that a held game is over is no news


@entry
def first_stuck(boxes, games, options):
    """The first of some games that is not over and has no legal move, or -1; `options` is room to work in."""
    for i in range(len(games)):
        if games[i].player != OVER and legal(boxes[0], games[i], options) == 0:
            return i
    return -1


@entry
def first_illegal(masks, rows, actions):
    """The first of the actions that is not legal in its game, or -1."""
    for k in range(len(rows)):
        if is_illegal(masks, rows[k], actions[k]):
            return k
    return -1


@entry
def step_games(boxes, blank, runs, games, desks, masks, rows, actions):
    """Play one legal action in each of the chosen games."""
    for k in range(len(rows)):
        i = rows[k]
        desks[i].done = False
        if actions[k] != NO_ACTION:
            play(boxes[0], blank, runs[0], games, i, desks[i], masks[i], actions[k])


@entry
def view_games(boxes, games, masks, rows, views, view_masks, dice):
    """Copy some games as their deciding players see them, each with random bits of its own."""
    for k in range(len(rows)):
        dice[k] = roll(games[rows[k]])
        views[k] = games[rows[k]]
        blank_secrets(boxes[0], views[k], int(views[k].player))
        copy_mask(masks[rows[k]], view_masks[k])


@entry
def look_at_games(boxes, games, masks, rows, observations, view_masks, dice):
    """Write what the deciding players of some games know and may do, with random bits for each decision."""
    for k in range(len(rows)):
        g = games[rows[k]]
        dice[k] = roll(g)
        observe(boxes[0], g, int(g.player), observations[k])
        copy_mask(masks[rows[k]], view_masks[k])


@entry
def sample_games(games, desks, actions):
    """Draw a random legal action for every game."""
    for i in range(len(games)):
        actions[i] = draw_action(games[i], desks[i])


@entry
def play_games(boxes, blank, runs, games, desks, masks, steps):
    """Play random decisions in every game, `steps` of them or to its end; returns how many were played."""
    decisions = 0
    for i in range(len(games)):
        desks[i].done = False
        left = steps
        while left != 0 and desks[i].count > 0:
            play(boxes[0], blank, runs[0], games, i, desks[i], masks[i], draw_option(games[i], desks[i]))
            decisions += 1
            left -= 1
    return decisions


@entry
def play_others(boxes, blank, runs, games, desks, masks, seats):
    """Play random decisions in every held game until its seat decides, or to its end."""
    for i in range(len(games)):
        while others_decide(games[i], desks[i], seats[i]):
            play(boxes[0], blank, runs[0], games, i, desks[i], masks[i], draw_option(games[i], desks[i]))


@entry
def play_game(boxes, blank, runs, games, desks, masks, i, action):
    """Play one legal action in one game."""
    desks[i].done = False
    play(boxes[0], blank, runs[0], games, i, desks[i], masks[i], action)


@entry
def observe_game(boxes, games, i, seat, out):
    """Write what a seat of one game knows."""
    observe(boxes[0], games[i], seat, out)


@entry
def observe_games(boxes, games, seats, out):
    """Write what a seat of every game knows."""
    for i in range(len(games)):
        observe(boxes[0], games[i], seats[i], out[i])


@entry
def state_of_games(boxes, games, seats, out):
    """Write the whole table of every game, secrets included."""
    for i in range(len(games)):
        write_state(boxes[0], games[i], seats[i], out[i])


@entry
def draw_seats(runs, numbers, players, seats):
    """Draw a seat for each game from the seed and the game's number."""
    for i in range(len(numbers)):
        seats[i] = draw_seat(players, runs[0].seed, numbers[i])


@entry
def score_games(boxes, games, scores, places):
    """Points and places as they are now."""
    for i in range(len(games)):
        score_game(boxes[0], games[i], scores[i], places[i])
