"""An equivariant network by weight sharing: what it learns of one company, spice or port holds for all of them.

Units come in groups (see `symmetry`). The weight between an input and a unit belongs to the orbit of the pair: what the
input is to the unit's group. The weight between two units belongs to what their groups are to each other. So a layer is
a list of weights, and a table that says which of them stands where (parameter sharing, Ravanbakhsh et al. 2017,
arXiv:1702.08389). `layers` makes a plain network of it, which is as fast as any other. Free units share nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from borneo_agents.policy.network import Layers
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from borneo_train.networks.mlp import Dense, from_model
from borneo_train.networks.symmetry import GROUPS, Feature, Group, members, orbits
from borneo_train.run.config import PLAIN

Floats = NDArray[np.float32]


class Width(NamedTuple):
    """How many units each group of a layer has: free ones, of a company, of a spice, of a company at a port."""

    free: int
    company: int
    spice: int
    port: int

    @classmethod
    def of(cls, kind: str, units: int) -> Width:
        """So many units. Of a tied network a quarter is free, 3/8 are of companies; of a plain one all are free."""
        if kind == PLAIN:
            return cls(units, 0, 0, 0)
        return cls(units // 4, 3 * units // 32, 3 * units // 64, units // 64)

    @property
    def all(self) -> int:
        return sum(units * len(members(group)) for units, group in zip(self, GROUPS, strict=True))


class Part(NamedTuple):
    """A matrix or a vector of a network: which of its weights stands where, and what they are at first."""

    places: NDArray[np.int64]
    first: Tensor


class TiedWeights(nn.Module):
    """The weights of all parts of a network in one list: each may stand in several places of its part."""

    places: Tensor
    by_weight: Tensor
    position: Tensor

    def __init__(self, parts: Sequence[Part]) -> None:
        super().__init__()
        begins = np.cumsum([0, *(len(part.first) for part in parts)])
        places = np.concatenate([begin + part.places.ravel() for begin, part in zip(begins, parts, strict=False)])
        tables, position = tables_of_places(places)
        self.weights = nn.Parameter(torch.cat([part.first for part in parts]))
        self.shapes = [part.places.shape for part in parts]
        self.tables = [table.shape for table in tables]
        by_weight = np.concatenate([table.ravel() for table in tables])
        for name, numbers in (("places", places), ("by_weight", by_weight), ("position", position)):
            self.register_buffer(name, torch.from_numpy(numbers), persistent=False)

    def forward(self) -> list[Tensor]:
        placed: Tensor = InPlaces.apply(self.weights, self)  # type: ignore[no-untyped-call]
        return cut(placed, self.shapes)


class InPlaces(torch.autograd.Function):
    """Weights put in their places. The gradient of each is the sum over its places, always in the same order.

    Autograd would add them up in any order on a card, where the same seed must give the same weights.
    """

    @staticmethod
    def forward(ctx: Any, weights: Tensor, shared: TiedWeights) -> Tensor:
        ctx.shared = shared
        return weights.index_select(0, shared.places)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        shared = ctx.shared
        sorted_by_weight = functional.pad(gradient, (0, 1)).index_select(0, shared.by_weight)
        sums = [table.sum(1) for table in cut(sorted_by_weight, shared.tables)]
        return torch.cat(sums).index_select(0, shared.position), None


def tables_of_places(places: NDArray[np.int64]) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Tables (weights, places) that say where each weight stands, and at which row of all of them each weight is.

    Rows of a table are equally long, a power of four; behind a weight's last place is one behind all places.
    """
    counts = np.bincount(places)
    first, order = np.cumsum(counts) - counts, np.append(np.argsort(places, kind="stable"), len(places))
    lengths = 4 ** np.ceil(np.log2(counts) / 2).astype(np.int64)
    tables, weights = [], []
    for length in np.unique(lengths):
        own, number = np.flatnonzero(lengths == length), np.arange(length)
        tables.append(order[np.where(number < counts[own, None], first[own, None] + number, -1)])
        weights.append(own)
    return tables, np.argsort(np.concatenate(weights))


def cut(values: Tensor, shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """Values in one row as tensors of these shapes, one after the other."""
    parts = torch.split(values, [int(np.prod(shape)) for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def unit_groups(width: Width) -> list[tuple[Group, tuple[int, ...], int]]:
    """The groups of a layer in their order: what they are about, which of them it is, and how many units it has."""
    kinds = zip(GROUPS, width, strict=True)
    return [(group, member, units) for group, units in kinds for member in members(group)]


def places_of_features(features: Sequence[Feature], width: Width) -> NDArray[np.int64]:
    """(units, features): which weight stands between each thing and each unit."""
    found, first = [], 0
    for group, units in zip(GROUPS, width, strict=True):
        if not units:
            continue  # a plain network has free units only
        orbit, count = orbits(features, group) if group else (np.arange(len(features))[:, None], len(features))
        own = orbit.T[:, None, :] * units + np.arange(units)[:, None]  # (members, units, features)
        found.append(first + own.reshape(-1, len(features)))
        first += count * units
    return np.concatenate(found)


def places_of_units(width: Width) -> NDArray[np.int64]:
    """(units, units): which weight stands between the units of one layer and those of the next."""
    groups = unit_groups(width)
    firsts: dict[tuple[object, ...], int] = {}
    count = 0
    rows = []
    for to, to_member, to_units in groups:
        row = []
        for of, of_member, of_units in groups:
            alike = tuple(to_member[to.index(kind)] == of_member[of.index(kind)] for kind in to if kind in of)
            key = (to, of, alike)
            if key not in firsts:
                firsts[key] = count
                count += to_units * of_units
            row.append(firsts[key] + np.arange(to_units * of_units).reshape(to_units, of_units))
        rows.append(np.concatenate(row, 1))
    return np.concatenate(rows)


def places_in_groups(width: Width) -> NDArray[np.int64]:
    """(units,): which number of a vector each unit has, the same in all groups of a kind."""
    first = {group: sum(width[:number]) for number, group in enumerate(GROUPS)}
    return np.concatenate([first[group] + np.arange(units) for group, _, units in unit_groups(width)])


def random_part(places: NDArray[np.int64], std: float) -> Part:
    return Part(places, torch.randn(int(places.max()) + 1) * std)


class TiedNetwork(nn.Module):
    """A network with tied weights, from some numbers of a table to actions, or to one output for each seat."""

    scale: Tensor

    def __init__(
        self, inputs: Sequence[Feature], scale: Floats, width: Width, depth: int, outputs: Sequence[Feature], std: float
    ) -> None:
        super().__init__()
        self.inputs, self.outputs, self.width, self.depth = inputs, outputs, width, depth
        self.register_buffer("scale", torch.tensor(scale), persistent=False)
        units, groups = places_of_units(width), places_in_groups(width)
        first = random_part(places_of_features(inputs, width), (2 / len(inputs)) ** 0.5)
        others = [random_part(units, (2 / width.all) ** 0.5) for _ in range(depth - 1)]
        zeros, ones = torch.zeros(sum(width)), torch.ones(sum(width))
        norm = [Part(groups, start) for start in (zeros, ones, zeros)]  # bias, gain and shift
        last = random_part(places_of_features(outputs, width), std / width.all**0.5)
        self.shared = TiedWeights([first, *others, *norm * depth, last])
        self.last_bias = nn.Parameter(torch.zeros(len(outputs)))

    def layers(self) -> list[Dense]:
        """The plain network it comes to."""
        first, *others, last = self.shared()
        weights, norms = [first * self.scale, *others[: self.depth - 1]], others[self.depth - 1 :]
        made = [Dense(weight, *norms[3 * number : 3 * number + 3]) for number, weight in enumerate(weights)]
        return [*made, Dense(last.T, self.last_bias)]

    @torch.no_grad()
    def load_layers(self, layers: Layers) -> None:
        """Become the network that a model has; one that these weights cannot come to is a ValueError.

        Inputs that the model does not look at get weights of 0.
        """
        own = self.layers()
        parts = from_model(layers, self.scale.device)
        inputs = own[0].weight.shape[1] - parts[0].weight.shape[1]
        parts[0] = parts[0]._replace(weight=functional.pad(parts[0].weight, (0, max(0, inputs))))
        shapes = [[part.shape for layer in network for part in layer if part is not None] for network in (parts, own)]
        if shapes[0] != shapes[1]:
            theirs, ours = (
                f"layers of {network[0].weight.shape[0]}x{len(network) - 1} for {network[0].weight.shape[1]} numbers"
                for network in (parts, own)
            )
            raise ValueError(f"it has {theirs}, and should have {ours}: train with layers of its size")
        *normed, last = parts
        weights = [normed[0].weight / self.scale, *(layer.weight for layer in normed[1:])]
        norms = [part for layer in normed for part in layer[1:]]
        flat = torch.cat([part.ravel() for part in (*weights, *norms, last.weight.T) if part is not None])
        self.shared.weights[self.shared.places] = flat
        self.last_bias.copy_(last.bias)
        if not torch.allclose(self.shared.weights[self.shared.places], flat, atol=1e-6):
            raise ValueError("its weights are not tied: train with --network plain")
