"""A plain network whose weights are tied: what it learns of one company, spice or port it knows of all of them.

Units come in groups (see `roles`). The weight between a number and a unit belongs to the role that the number has to the
unit's group; the weight between two units belongs to what their groups are to each other. From these `layers` makes a
plain network, which is as fast as any other of its size. Free units have weights of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from borneo_train.facts import Floats
from borneo_train.roles import GROUPS, Thing, members, roles


class Dense(NamedTuple):
    """A layer as it is applied; the last one has no norm."""

    weight: Tensor
    bias: Tensor
    gain: Tensor | None = None
    shift: Tensor | None = None


class Width(NamedTuple):
    """How many units each group of a layer has: the free ones, those of a company, of a spice, of a company at a port."""

    free: int
    company: int
    spice: int
    port: int

    @classmethod
    def of(cls, units: int) -> Width:
        """So many units: a quarter free, 3/8 of companies, the others of spices and of companies at ports."""
        if units % 64:
            raise ValueError(f"a tied network has a multiple of 64 units in a layer, not {units}")
        return cls(units // 4, 3 * units // 32, 3 * units // 64, units // 64)

    @property
    def all(self) -> int:
        return sum(units * len(members(group)) for units, group in zip(self, GROUPS, strict=True))


def hidden(layers: Sequence[Dense], tables: Tensor) -> Tensor:
    """What all layers but the last make of tables; they look at as many numbers as they have weights for."""
    values = tables[:, : layers[0].weight.shape[1]].to(layers[0].weight.dtype)
    for number, layer in enumerate(layers[:-1]):
        summed = functional.linear(values, layer.weight, layer.bias)
        if layer.gain is not None:
            summed = functional.layer_norm(summed, layer.gain.shape, layer.gain, layer.shift)
        found = functional.relu(summed)
        values = values + found if number else found
    return values


def apply(layers: Sequence[Dense], tables: Tensor) -> Tensor:
    """What a network makes of tables."""
    return functional.linear(hidden(layers, tables), layers[-1].weight, layers[-1].bias)


def prepared(layers: Sequence[Dense], kind: torch.dtype, inputs: int) -> list[Dense]:
    """Layers of another type of numbers, for tables with more numbers than they look at."""
    first = layers[0]._replace(weight=functional.pad(layers[0].weight, (0, inputs - layers[0].weight.shape[1])))
    return [Dense(*(None if part is None else part.to(kind) for part in layer)) for layer in (first, *layers[1:])]


class ByRole(nn.Module):
    """Weights between things and the units of all groups: (units, things)."""

    def __init__(self, things: Sequence[Thing], width: Width, spread: float) -> None:
        super().__init__()
        self.weights = nn.ParameterList()
        for place, (group, units) in enumerate(zip(GROUPS, width, strict=True)):
            found, count = roles(things, group) if group else (np.arange(len(things))[:, None], len(things))
            self.weights.append(nn.Parameter(torch.randn(count, units) * spread))
            self.register_buffer(f"roles{place}", torch.tensor(found), persistent=False)
        self._chosen: dict[int, Tensor] = {}

    def forward(self) -> Tensor:
        parts = [self._spread(place, weights).flatten(1) for place, weights in enumerate(self.weights)]
        return torch.cat(parts, 1).T

    def _spread(self, place: int, weights: Tensor) -> Tensor:
        """(things, members, units): the weights of one kind of groups."""
        if place == 0:
            return weights
        found: Tensor = getattr(self, f"roles{place}")
        if not weights.is_cuda:
            return functional.embedding(found, weights)
        if place not in self._chosen:  # on a card a product is faster, and its gradient is the same every time
            self._chosen[place] = functional.one_hot(found, len(weights)).to(torch.bfloat16)
        return (self._chosen[place] @ weights.to(torch.bfloat16)).float()


class ByGroup(nn.Module):
    """Weights between the units of one layer and those of the next."""

    def __init__(self, width: Width, spread: float) -> None:
        super().__init__()
        self.weights = nn.ParameterDict()
        self.width = width
        for to, to_units in zip(GROUPS, width, strict=True):
            for of, of_units in zip(GROUPS, width, strict=True):
                patterns = _patterns(to, of)
                name = f"{_name(to)}_of_{_name(of)}"
                self.weights[name] = nn.Parameter(torch.randn(len(patterns), to_units, of_units) * spread)
                self.register_buffer(f"patterns_{name}", patterns, persistent=False)

    def forward(self) -> Tensor:
        rows = []
        for to, to_units in zip(GROUPS, self.width, strict=True):
            row = []
            for of, of_units in zip(GROUPS, self.width, strict=True):
                name = f"{_name(to)}_of_{_name(of)}"
                patterns, weights = getattr(self, f"patterns_{name}"), self.weights[name]
                made = torch.einsum("rts,rij->tisj", patterns, weights)
                row.append(made.reshape(len(members(to)) * to_units, len(members(of)) * of_units))
            rows.append(torch.cat(row, 1))
        return torch.cat(rows, 0)


def _name(group: tuple[str, ...]) -> str:
    return "_".join(group) or "free"


def _patterns(to: tuple[str, ...], of: tuple[str, ...]) -> Tensor:
    """(relations, members, members): which members of two kinds of groups are in each relation, 1 where they are."""
    shared = [kind for kind in to if kind in of]
    relation = [
        [tuple(a[to.index(kind)] == b[of.index(kind)] for kind in shared) for b in members(of)] for a in members(to)
    ]
    kinds = sorted({one for row in relation for one in row}, reverse=True)
    return torch.tensor([[[float(one == kind) for one in row] for row in relation] for kind in kinds])


class Repeated(nn.Module):
    """A number for each unit, the same in all groups of a kind."""

    def __init__(self, width: Width, value: float) -> None:
        super().__init__()
        self.parts = nn.ParameterList([nn.Parameter(torch.full((units,), value)) for units in width])

    def forward(self) -> Tensor:
        return torch.cat([part.repeat(len(members(group))) for part, group in zip(self.parts, GROUPS, strict=True)])


class Tied(nn.Module):
    """A network with tied weights, from some numbers of a table to actions, or to one output for each seat."""

    scale: Tensor
    norm = True

    def __init__(
        self, inputs: Sequence[Thing], scale: Floats, width: Width, depth: int, outputs: Sequence[Thing], gain: float
    ) -> None:
        super().__init__()
        self.register_buffer("scale", torch.tensor(scale), persistent=False)
        self.first = ByRole(inputs, width, (2 / len(inputs)) ** 0.5)
        self.hidden = nn.ModuleList([ByGroup(width, (2 / width.all) ** 0.5) for _ in range(depth - 1)])
        self.biases = nn.ModuleList([Repeated(width, 0.0) for _ in range(depth)])
        self.gains = nn.ModuleList([Repeated(width, 1.0) for _ in range(depth)])
        self.shifts = nn.ModuleList([Repeated(width, 0.0) for _ in range(depth)])
        self.last = ByRole(outputs, width, gain / width.all**0.5)
        self.last_bias = nn.Parameter(torch.zeros(len(outputs)))

    def layers(self) -> list[Dense]:
        """The plain network it comes to."""
        weights = [self.first() * self.scale, *(layer() for layer in self.hidden)]
        norms = zip(self.biases, self.gains, self.shifts, strict=True)
        if not self.norm:
            norms = zip(self.biases)
        made = [Dense(weight, *(part() for part in parts)) for weight, parts in zip(weights, norms, strict=True)]
        return [*made, Dense(self.last().T, self.last_bias)]

    def forward(self, inputs: Tensor) -> Tensor:
        return apply(self.layers(), inputs)
