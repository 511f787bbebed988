"""States a second in random playouts from Python: Borneo beside OpenSpiel's hearts, by turns."""

import time
from functools import partial
from random import Random

import pyspiel

import borneo_env.open_spiel  # registers the game

SECONDS = 2.0  # of processor time, for each game


def playout(game, random):
    """How many states a random game has."""
    state, states = game.new_initial_state(), 0
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(random.choice(state.chance_outcomes())[0])  # all are as likely, here and in hearts
        else:
            state.apply_action(random.choice(state.legal_actions()))
        states += 1
    return states


def rate(name):
    play = partial(playout, pyspiel.load_game(name), Random(1))
    play()
    states, begun = 0, time.process_time()
    while time.process_time() - begun < SECONDS:
        states += play()
    return states / (time.process_time() - begun)


if __name__ == "__main__":
    assert borneo_env.open_spiel
    for game in ("borneo(players=4)", "hearts", "borneo(players=4)", "hearts"):
        print(f"{game}: {rate(game):,.0f} states a second")
