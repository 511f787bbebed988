"""Widening: a network becomes one of twice the width that plays the same, and then has more to learn with.

Every unit is there twice, and looks at the same. What it says counts half for each of the two at first; then a part of
that is moved from one to the other, another part for every weight: or both would learn the same for ever.
"""

from __future__ import annotations

import numpy as np
import torch
from borneo_agents.policy.network import Layer, Layers
from numpy.typing import NDArray
from torch import Tensor

from borneo_train.network import Tied, Width, layers_of_model, unit_groups

MOVED = 0.25  # of the size of weights, about: what counts more for one of the two, and less for the other
Places = NDArray[np.intp]


def fitted(layers: Layers, network: Tied) -> Layers:
    """Layers for a network to take: those of one half as wide are widened."""
    half = len(layers) == network.depth + 1 and 2 * len(layers[0].weights) == network.width.all
    return widened(layers, network) if half else layers


@torch.no_grad()
def fitted_tensors(tensors: dict[str, Tensor], networks: dict[str, Tied], own: dict[str, Tensor]) -> dict[str, Tensor]:
    """Tensors of a training for the networks of another: in the place of those of half the width, `own` wider ones.

    `own` are those of the other training, and those of networks that are widened become so. What its optimisers
    remember of them stays as it is.
    """
    found = dict(tensors)
    for name, network in networks.items():
        if any(units % 2 for units in network.width):
            continue
        half = network.half_as_wide()
        state = {part: tensors.get(f"{name}.{part}") for part in half.state_dict()}
        if all(tensor is not None and tensor.shape == half.state_dict()[part].shape for part, tensor in state.items()):
            half.load_state_dict(state)
            network.take(widened(layers_of_model(half.layers()), network))
            found |= {part: tensor for part, tensor in own.items() if part.startswith(f"{name}.")}
    return found


def widened(layers: Layers, network: Tied) -> Layers:
    """Layers half as wide as a network, made as wide; its own weights, which are random, say what is moved."""
    once, again = twins(network.width)
    drawn = layers_of_model(layer.each(Tensor.detach) for layer in network.layers())
    wide = [*(_doubled(layer, once, again) for layer in layers[:-1]), layers[-1]]
    shared = [_shared(layer, chance, once, again) for layer, chance in zip(wide[1:], drawn[1:], strict=True)]
    return [wide[0], *shared]


def twins(width: Width) -> tuple[Places, Places]:
    """Where the units of a network half as wide are found in one of this width, once and again."""
    once: list[int] = []
    again: list[int] = []
    for _, _, units in unit_groups(width):
        first = len(once) + len(again)
        once += range(first, first + units // 2)
        again += range(first + units // 2, first + units)
    return np.array(once), np.array(again)


def _doubled(layer: Layer, once: Places, again: Places) -> Layer:
    """A layer with every unit twice."""
    order = np.argsort(np.concatenate([once, again]))
    return Layer(*(None if part is None else np.concatenate([part, part])[order] for part in layer))  # type: ignore[arg-type]


def _shared(layer: Layer, chance: Layer, once: Places, again: Places) -> Layer:
    """A layer that looks at every unit twice: half of each weight for both, and something moved between them."""
    drawn = chance.weights[:, once]
    moved = drawn * (MOVED * layer.weights.std() / drawn.std())
    weights = np.empty_like(chance.weights)
    weights[:, once], weights[:, again] = layer.weights / 2 + moved, layer.weights / 2 - moved
    return layer._replace(weights=weights)
