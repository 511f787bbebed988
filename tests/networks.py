"""Small networks with random weights, and what a card says of them."""

import numpy as np
from borneo_agents.model import Layer, Model, ModelCard

from borneo_env import Ruleset
from borneo_env.engine.actions import action_table
from borneo_env.engine.observe import length
from borneo_env.engine.state import slots_of


def card(edition="board", **changes):
    entries = {
        "edition": edition,
        "players": [3, 4, 5],
        "task": "win",
        "advisor": "",
        "steps": 12_000,
        "seed": 3,
        "command": "train",
    }
    return ModelCard(**(entries | changes))


def network(edition="board", width=16, depth=1, seed=1, liking=1.0, advisor="", trust=0.0):
    """A policy nobody has trained, with `depth` normed layers; the larger `liking`, the surer it is."""
    slots = slots_of(Ruleset(edition))
    rng = np.random.default_rng(seed)

    def drawn(mean, spread, *shape):
        return rng.normal(mean, spread, shape).astype(np.float32)

    outputs = len(action_table(slots))
    inputs = length(slots) + (outputs if advisor else 0)
    layers = [
        Layer(drawn(0, size**-0.5, width, size), drawn(0, 0.1, width), drawn(1, 0.2, width), drawn(0, 0.2, width))
        for size in [inputs, *[width] * (depth - 1)]
    ]
    last = Layer(drawn(0, liking * width**-0.5, outputs, width), drawn(0, liking * 0.1, outputs))
    return Model(card(edition, advisor=advisor), [*layers, last], trust)
