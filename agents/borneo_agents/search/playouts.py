"""Playouts: a scripted bot plays on for all, and win probabilities are estimated where it is cut off."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from borneo_agents.scripted.dispatch import choose
from borneo_agents.scripted.scratch import make_scratch
from borneo_agents.scripted.valuation.win_probability import FEATURES, win_probabilities
from borneo_agents.search.determinization import DETERMINIZED, determinize, stream_of
from borneo_env.engine.game import MAX_OPTIONS, apply, legal
from borneo_env.engine.state import GAME, OVER, SEATS, THINGS
from kontor.compile import attributes, rule
from kontor.templates.dice import roll

# What a search works with: a determinization and a second game (and the same as words), scratch memory of the scripted
# bots, options at hand, one estimate, and the random stream of the determinizations.
PlayoutScratch = namedtuple("PlayoutScratch", "games words bots options features probabilities unseen stream")


def make_playout_scratch() -> PlayoutScratch:
    games = np.zeros(2, GAME)
    return PlayoutScratch(
        games=attributes(games),
        words=games.view(np.uint64).reshape(2, -1),
        bots=attributes(make_scratch()),
        options=np.zeros(MAX_OPTIONS, np.int64),
        features=np.zeros((SEATS, FEATURES)),
        probabilities=np.zeros(SEATS),
        unseen=np.zeros(THINGS, np.int8),
        stream=np.zeros(1, np.uint64),
    )


@rule
def begin(scratch, dice):
    """Start the random stream of a search, and forget what the last one was about."""
    scratch.bots[0].cache_key[:] = 0
    scratch.stream[0] = stream_of(dice, 0)


@rule
def determinize_anew(box, scratch, view):
    """Make the scratch memory's determinization another one of a view."""
    scratch.stream[0] = determinize(box, scratch.games, view, scratch.stream[0], scratch.unseen)


@rule
def play(box, g, action):
    """Play an action; returns whether it ended a turn."""
    turn = g.turn
    apply(box, g, action)
    return g.turn != turn


@rule
def play_out(box, g, policy, turns, options, scratch):
    """Let the scripted bot play on for all until so many turns have begun or the game is over."""
    while turns > 0 and g.phase != OVER:
        count = legal(box, g, options)
        turns -= play(box, g, choose(policy, box, g, options, count, roll(g), scratch))


@rule
def evaluate_playout(box, scratch, policy, turns):
    """Play the determinization on, and estimate every player's win probability."""
    g = scratch.games[DETERMINIZED]
    play_out(box, g, policy, turns, scratch.options, scratch.bots[0])
    win_probabilities(box, g, scratch.features, scratch.probabilities)
