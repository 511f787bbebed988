"""Playouts: a bot of the game plays on for all, and what each player may expect is told at the end or the cut-off.

Templates, bound to each game. Where a strategy of the others is known, they play by it instead.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from borneo_agents.search.determinization import DETERMINIZED, determinize, stream_of
from borneo_agents.search.known_strategy import is_known, is_likely, known_move
from kontor.compile import attributes, rule
from kontor.fields import CHANCE, OVER
from kontor.game import Game
from kontor.templates.dice import roll
from kontor.templates.loops import draw_outcome
from kontor.templates.open_names import apply, begin_bots, choose, estimate, has_chance, legal, reward_of

MOST_TRIES = 1000  # of determinizations, until the others are taken to have played what they never play

# What a search works with: a determinization and a second game (and the same as words), scratch memory of the game's
# bots, options at hand, the values of one playout, the lowest and the highest so far, room for unseen things, and the
# random stream of the determinizations.
PlayoutScratch = namedtuple("PlayoutScratch", "games words bots options values bounds unseen stream")


def make_playout_scratch(game: Game) -> PlayoutScratch:
    games = np.zeros(2, game.record)
    return PlayoutScratch(
        games=attributes(games),
        words=games.view(np.uint64).reshape(2, -1),
        bots=attributes(np.zeros(1, game.own_bots.scratch)),
        options=np.zeros(game.most_options_of_all, np.int64),
        values=np.zeros(game.seats),
        bounds=np.zeros(2),
        unseen=np.zeros(game.room, np.int16),
        stream=np.zeros(1, np.uint64),
    )


@rule
def begin(scratch, dice):
    """Start the random stream of a search, and forget what the last one was about."""
    begin_bots(scratch.bots[0])
    scratch.stream[0] = stream_of(dice, 0)
    scratch.bounds[0], scratch.bounds[1] = 0.0, 1.0


@rule
def determinize_anew(box, scratch, view, known):
    """Make the scratch memory's determinization another one of a view.

    Where the others' strategy is known, one is taken the more often the likelier it makes what they have played so far.
    """
    scratch.stream[0] = determinize(box, scratch.games, view, scratch.stream[0], scratch.unseen)
    if is_known(known):
        tries = 1
        while tries < MOST_TRIES and not is_likely(scratch, known):
            scratch.stream[0] = determinize(box, scratch.games, view, scratch.stream[0], scratch.unseen)
            tries += 1


@rule
def play(box, g, action):
    """Play an action, or bring an outcome; returns whether it ended a turn."""
    turns = g.turns
    apply(box, g, action)
    return g.turns > turns > 0


@rule
def evaluate_playout(box, scratch, known, view, config, turns):
    """Play the determinization on until so many turns have ended or the game is over; writes what each player gets."""
    play_out(box, scratch, known, int(view.player), config.policy, turns)
    g, values = scratch.games[DETERMINIZED], scratch.values
    if g.player != OVER:
        estimate(box, g, scratch.bots[0], values)
    for player in range(box.players):
        if g.player == OVER:
            values[player] = reward_of(config.value, box, view, g, player)
        scratch.bounds[0] = min(scratch.bounds[0], values[player])
        scratch.bounds[1] = max(scratch.bounds[1], values[player])


@rule
def play_out(box, scratch, known, me, policy, turns):
    """Let the bot play on for all; what is asked in each move is taken out before, as Numba counts who has an array."""
    g, options, bots, knows = scratch.games[DETERMINIZED], scratch.options, scratch.bots[0], is_known(known)
    while turns > 0 and g.player != OVER:
        count = legal(box, g, options)
        if has_chance and g.player == CHANCE:
            action = draw_outcome(box, g, options, count)
        elif knows and g.player != me:
            action = known_move(box, scratch, known, count)
        else:
            action = choose(policy, box, g, options, count, roll(g), bots)
        turns -= play(box, g, action)
