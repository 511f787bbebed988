"""States of OpenSpiel for the tests: random play, and states in every phase."""

from collections.abc import Iterator

import numpy as np
import pyspiel

import borneo_env.open_spiel  # registers the game
from borneo_env import Ruleset

assert borneo_env.open_spiel


def game_of(ruleset: Ruleset, **more: str) -> pyspiel.Game:
    names = ("players", "edition", "traders", "blackbeard")
    return pyspiel.load_game("borneo", {name: getattr(ruleset, name) for name in names} | more)


def step(state: pyspiel.State, rng: np.random.Generator) -> None:
    options = [one for one, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
    state.apply_action(int(rng.choice(options)))


def walk(game: pyspiel.Game, seed: int) -> Iterator[pyspiel.State]:
    """The states of a random game, always the same object; the last is terminal."""
    state, rng = game.new_initial_state(), np.random.default_rng(seed)
    while not state.is_terminal():
        yield state
        step(state, rng)
    yield state


def phase_of(state: pyspiel.State) -> str:
    return "chance" if state.is_chance_node() else state.table.phase


def in_every_phase(game: pyspiel.Game) -> dict[str, pyspiel.State]:
    """A state in each phase, chance and end included, from the middle of games where there are several."""
    found: dict[str, pyspiel.State] = {}
    for seed in range(6):
        for state in walk(game, seed):
            if phase_of(state) not in found or (state.move_number() % 61 == 0 and not state.is_terminal()):
                found[phase_of(state)] = state.clone()
    return found
