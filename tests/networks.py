"""Small networks with random weights, and what a card says of them."""

from itertools import pairwise

import numpy as np
from borneo_agents.model import Model, ModelCard

from borneo_env import Ruleset
from borneo_env.engine.actions import action_table
from borneo_env.engine.observe import length
from borneo_env.engine.state import slots_of


def card(edition="board", **changes):
    entries = {"edition": edition, "players": [3, 4, 5], "task": "win", "steps": 12_000, "seed": 3, "command": "train"}
    return ModelCard(**(entries | changes))


def network(edition="board", hidden=(16,), seed=1, liking=1.0):
    """A policy nobody has trained; the larger `liking`, the surer it is."""
    slots = slots_of(Ruleset(edition))
    rng = np.random.default_rng(seed)
    widths = [length(slots), *hidden, len(action_table(slots))]
    layers = [
        (rng.normal(0, before**-0.5, (after, before)), rng.normal(0, 0.1, after)) for before, after in pairwise(widths)
    ]
    layers[-1] = (layers[-1][0] * liking, layers[-1][1] * liking)
    return Model(card(edition), [(weights.astype(np.float32), biases.astype(np.float32)) for weights, biases in layers])
