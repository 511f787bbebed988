"""Layers as they are applied: linear, norm, ReLU and a residual sum, as in a policy's file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from borneo_agents.policy.network import Layer, Layers
from torch import Tensor
from torch.nn import functional

ALIGNED = 8  # inputs of a state are a multiple of it, zeros at the end: matrix units of cards want it so


class Dense(NamedTuple):
    """A layer; the last one of a network has no norm."""

    weight: Tensor
    bias: Tensor
    gain: Tensor | None = None
    shift: Tensor | None = None

    def each(self, change: Callable[[Tensor], Any]) -> Dense:
        """The same with each part changed."""
        parts = (None if part is None else change(part) for part in self)
        return Dense(*parts)  # type: ignore[arg-type]  # what is there stays there


def aligned(numbers: int) -> int:
    """How long a row of so many numbers is, with the zeros behind them."""
    return -(-numbers // ALIGNED) * ALIGNED


def hidden(layers: Sequence[Dense], state: Tensor) -> Tensor:
    """What all layers but the last make of states; they look at as many numbers as they have weights for."""
    values = state[:, : layers[0].weight.shape[1]].to(layers[0].weight.dtype)
    for number, layer in enumerate(layers[:-1]):
        summed = functional.linear(values, layer.weight, layer.bias)
        assert layer.gain is not None, "all layers but the last have a norm"
        found = functional.relu(functional.layer_norm(summed, layer.gain.shape, layer.gain, layer.shift))
        values = values + found if number else found
    return values


def apply(layers: Sequence[Dense], state: Tensor) -> Tensor:
    """What a network makes of states."""
    return functional.linear(hidden(layers, state), layers[-1].weight, layers[-1].bias)


def prepared(layers: Sequence[Dense], device: torch.device) -> list[Dense]:
    """Layers as a device wants them: a card wants bfloat16, and inputs that are aligned."""
    if device.type != "cuda":
        return list(layers)
    inputs = layers[0].weight.shape[1]
    first = layers[0]._replace(weight=functional.pad(layers[0].weight, (0, aligned(inputs) - inputs)))
    return [layer.each(lambda part: part.to(torch.bfloat16)) for layer in (first, *layers[1:])]


def from_model(layers: Layers, device: torch.device) -> list[Dense]:
    """The layers of a policy."""
    return [Dense(*(None if part is None else torch.from_numpy(part).to(device) for part in layer)) for layer in layers]  # type: ignore[arg-type]


@torch.no_grad()
def to_model(layers: Iterable[Dense]) -> Layers:
    """Layers as a policy has them."""
    return [Layer(*(None if part is None else part.float().cpu().numpy() for part in layer)) for layer in layers]  # type: ignore[arg-type]
