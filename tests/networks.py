"""Small networks with random weights, and what a card says of them."""

from dataclasses import replace

import numpy as np
from borneo_agents.policy.model import Model, ModelCard
from borneo_agents.policy.network import Layer

from borneo_env import Ruleset
from borneo_env.engine.actions import action_table
from borneo_env.engine.observe import length, state_length
from borneo_env.engine.state import SEATS, slots_of


def card(edition="board", **changes):
    entries = {
        "edition": edition,
        "players": [3, 4, 5],
        "task": "win",
        "steps": 12_000,
        "seed": 3,
        "command": "train",
    }
    return ModelCard(**(entries | changes))


def layers_of(rng, inputs, outputs, width, depth, liking):
    """Normed layers and a last one, with random weights."""

    def drawn(mean, spread, *shape):
        return rng.normal(mean, spread, shape).astype(np.float32)

    layers = [
        Layer(drawn(0, size**-0.5, width, size), drawn(0, 0.1, width), drawn(1, 0.2, width), drawn(0, 0.2, width))
        for size in [inputs, *[width] * (depth - 1)]
    ]
    return [*layers, Layer(drawn(0, liking * width**-0.5, outputs, width), drawn(0, liking * 0.1, outputs))]


def searcher(edition="board", width=16, depth=1, seed=1, liking=1.0, others=False):
    """A policy with a critic, and a model of the others if wanted; nobody has trained any of them."""
    model, slots = network(edition, width, depth, seed, liking), slots_of(Ruleset(edition))
    rng = np.random.default_rng(seed + 1)
    critic = layers_of(rng, state_length(slots), SEATS, width + 1, depth + 1, 0.3)
    theirs = network(edition, width + 2, depth, seed + 2, liking).layers if others else None
    return replace(model, critic=critic, others=theirs)


def network(edition="board", width=16, depth=1, seed=1, liking=1.0):
    """A policy nobody has trained, with `depth` normed layers; the larger `liking`, the surer it is."""
    slots, rng = slots_of(Ruleset(edition)), np.random.default_rng(seed)
    return Model(card(edition), layers_of(rng, length(slots), len(action_table(slots)), width, depth, liking))
