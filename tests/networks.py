"""Small networks with random weights, and what a card says of them."""

import numpy as np
from borneo_agents.briefing import ADVICE, NOTES, PER_POINT
from borneo_agents.model import Judge, Layer, Model, ModelCard

from borneo_env import Ruleset
from borneo_env.engine.actions import action_table
from borneo_env.engine.observe import length
from borneo_env.engine.state import slots_of

JUDGES = 8  # numbers between the notes on an option and what comes of them


def card(edition="board", **changes):
    entries = {
        "edition": edition,
        "players": [3, 4, 5],
        "task": "win",
        "briefed": False,
        "steps": 12_000,
        "seed": 3,
        "command": "train",
    }
    return ModelCard(**(entries | changes))


def network(edition="board", width=16, depth=1, seed=1, liking=1.0, briefed=False, trust=0.0):
    """A policy nobody has trained, with `depth` normed layers; the larger `liking`, the surer it is.

    If it is briefed, each point that the merchant sees counts `trust` by itself.
    """
    slots = slots_of(Ruleset(edition))
    rng = np.random.default_rng(seed)

    def drawn(mean, spread, *shape):
        return rng.normal(mean, spread, shape).astype(np.float32)

    outputs = len(action_table(slots))
    layers = [
        Layer(drawn(0, size**-0.5, width, size), drawn(0, 0.1, width), drawn(1, 0.2, width), drawn(0, 0.2, width))
        for size in [length(slots), *[width] * (depth - 1)]
    ]
    last = Layer(drawn(0, liking * width**-0.5, outputs, width), drawn(0, liking * 0.1, outputs))
    if not briefed:
        return Model(card(edition), [*layers, last])
    judge = Judge(
        notes=drawn(0, 0.05, JUDGES, NOTES),
        context=drawn(0, width**-0.5, JUDGES, width),
        actions=drawn(0, 0.5, outputs, JUDGES),
        hidden=drawn(0, JUDGES**-0.5, JUDGES, JUDGES),
        biases=drawn(0, 0.1, JUDGES),
        last=drawn(0, liking * JUDGES**-0.5, JUDGES),
        direct=drawn(0, liking * 0.01, NOTES),
    )
    judge.direct[ADVICE] = trust / PER_POINT
    return Model(card(edition, briefed=True), [*layers, last], judge)
