"""Small networks with random weights, and what a card says of them."""

from dataclasses import replace

import numpy as np
from borneo_agents.policy.model import Model, ModelCard, critic_length
from borneo_agents.policy.network import Layer

from borneo_env import Ruleset
from borneo_env.engine.actions import action_table
from borneo_env.engine.observe import length
from borneo_env.engine.state import SEATS, slots_of


def card(edition="board", **changes):
    entries = {
        "edition": edition,
        "players": [3, 4, 5],
        "task": "win",
        "steps": 12_000,
        "seed": 3,
        "command": "train",
        "settings": {"margin_coef": 3.0},  # an unusual one
    }
    return ModelCard(**(entries | changes))


def shown_to_critic(batch, seats):
    """The tables of games as a critic is shown them in a search: no seat is an opponent's."""
    return np.concatenate([batch.state(np.broadcast_to(seats, len(batch))), np.zeros((len(batch), SEATS), np.int8)], 1)


def layers_of(rng, inputs, outputs, width, depth, liking):
    """Normed layers and a last one, with random weights."""

    def drawn(mean, spread, *shape):
        return rng.normal(mean, spread, shape).astype(np.float32)

    layers = [
        Layer(drawn(0, size**-0.5, width, size), drawn(0, 0.1, width), drawn(1, 0.2, width), drawn(0, 0.2, width))
        for size in [inputs, *[width] * (depth - 1)]
    ]
    return [*layers, Layer(drawn(0, liking * width**-0.5, outputs, width), drawn(0, liking * 0.1, outputs))]


def in_eight_bits(layers):
    """Layers as a search has them, where units' sums are small: weights between layers are at most 127 steps."""

    def rounded(weights):
        steps = np.abs(weights).max(1, keepdims=True) / 127
        return (np.rint(weights / steps) * steps).astype(np.float32)

    first, *deeper, last = layers
    return [first, *(layer._replace(weights=rounded(layer.weights)) for layer in deeper), last]


def searcher(edition="board", width=16, depth=1, seed=1, liking=1.0, rollout=False):
    """A policy with a critic, and a rollout network if wanted; nobody has trained any of them."""
    model = network(edition, width, depth, seed, liking)
    rng = np.random.default_rng(seed + 1)
    critic = layers_of(rng, critic_length(edition), SEATS, width + 1, depth + 1, 0.3)
    plays_on = network(edition, width + 3, depth, seed + 3, liking).layers if rollout else None
    return replace(model, critic=critic, rollout=plays_on)


# Which networks a policy has for its search beside a critic, for tests of what that plays.
PARTS = {"with the actor": {}, "with a rollout network": {"rollout": True}}


def network(edition="board", width=16, depth=1, seed=1, liking=1.0):
    """A policy nobody has trained, with `depth` normed layers; the larger `liking`, the surer it is."""
    slots, rng = slots_of(Ruleset(edition)), np.random.default_rng(seed)
    return Model(card(edition), layers_of(rng, length(slots), len(action_table(slots)), width, depth, liking))
