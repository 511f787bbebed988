"""The networks: an actor that sees what a seat knows, and a critic that sees the whole table and values all seats.

Both are towers: layers of one width, each normed and rectified and, but for the first, added to what came before it,
then one plain layer. Most numbers of an observation are about one of 60 cards, and most actions too. What cards have in
common (flags, spice, size) is told to the first and the last layer: a weight is its own part plus what the facts of its
card come to. That costs nothing when playing, because the sum is a plain layer again.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from borneo_env.engine.observe import state_layout
from borneo_env.engine.state import CARDS, SEATS, slots_of
from borneo_env.ruleset import Ruleset
from borneo_train.facts import action_facts, card_facts
from borneo_train.roles import Thing, action_things, table_things
from borneo_train.tied import Dense, Tied, Width, apply

Floats = NDArray[np.float32]

# How large the numbers of a block get, about, where that is more than 1.
LARGEST = {
    "hand_ages": 3, "hand_size": 6, "draw_left": 40, "ports_left": 9, "port_cards": 3, "port_flags": 5, "port_laid": 4,
    "port_limit": 5, "port_monopoly": 7, "warehouse": 2, "supply": 3, "fulfilled": 2, "scores": 20, "placed": 15,
    "owed": 4, "ranks": 4, "strength": 6, "bonus": 2, "traders": 3, "draw_order": 20, "port_order": 3,
}  # fmt: skip


@cache
def scale_of(edition: str) -> Floats:
    """What each number of a table is multiplied with, so that most are about one at most."""
    blocks = state_layout(slots_of(Ruleset(edition)))
    scale = np.ones(blocks[-1].slice.stop, np.float32)
    for block in blocks:
        scale[block.slice] = 1 / LARGEST.get(block.name, 1)
    return scale


@cache
def table_facts(edition: str) -> Floats:
    """(numbers of a table, facts): the facts of the card that a number is about, apart for each thing told of cards."""
    blocks = state_layout(slots_of(Ruleset(edition)))
    facts = card_facts(edition)
    starts = [start for block in blocks if _about_cards(block) for start in range(block.start, block.slice.stop, CARDS)]
    told = np.zeros((blocks[-1].slice.stop, len(starts), facts.shape[1]), np.float32)
    for place, start in enumerate(starts):
        told[start : start + CARDS, place] = facts
    return told.reshape(len(told), -1)


def _about_cards(block: object) -> bool:
    axes = block.axes  # type: ignore[attr-defined]
    return bool(axes) and axes[-1].name == "card"


class Told(nn.Module):
    """The weights of a plain layer whose inputs, or outputs, have facts in common."""

    facts: Tensor
    scale: Tensor

    def __init__(self, inputs: int, outputs: int, facts: Floats, scale: Floats | None = None, gain: float = 1.0) -> None:
        """`facts` have a row for each input if there is a `scale` for them, else for each output."""
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(self.own.weight, gain)
        nn.init.zeros_(self.own.bias)
        self.of_inputs = scale is not None
        self.register_buffer("facts", torch.tensor(facts), persistent=False)
        self.register_buffer("scale", torch.tensor(np.ones(1, np.float32) if scale is None else scale), persistent=False)
        self.common = nn.Parameter(torch.zeros(facts.shape[1], outputs if self.of_inputs else inputs))

    def weight(self) -> Tensor:
        """(outputs, inputs): of the plain layer it comes to."""
        if not self.facts.shape[1]:
            return self.own.weight * self.scale
        common = self.facts @ self.common
        return (self.own.weight + common.T) * self.scale if self.of_inputs else self.own.weight + common

    @property
    def bias(self) -> Tensor:
        return self.own.bias


class Tower(nn.Module):
    """Layers of one width, and a plain one."""

    norm = True

    def __init__(self, first: Told, width: int, depth: int, last: Told) -> None:
        super().__init__()
        self.first, self.last = first, last
        self.hidden = nn.ModuleList([nn.Linear(width, width) for _ in range(depth - 1)])
        for layer in self.hidden:
            nn.init.orthogonal_(layer.weight, 2**0.5)
            nn.init.zeros_(layer.bias)
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(depth)])

    def layers(self) -> list[Dense]:
        """The plain network it comes to."""
        weights = [(self.first.weight(), self.first.bias), *((layer.weight, layer.bias) for layer in self.hidden)]
        made = [Dense(*parts, norm.weight, norm.bias) for parts, norm in zip(weights, self.norms, strict=True)]
        if not self.norm:
            made = [Dense(*parts) for parts in weights]
        return [*made, Dense(self.last.weight(), self.last.bias)]

    def forward(self, inputs: Tensor) -> Tensor:
        return apply(self.layers(), inputs)


NOTHING = np.zeros((0, 0), np.float32)


def actor_of(kind: str, edition: str, known: int, actions: int, width: int, depth: int) -> nn.Module:
    """From what a seat knows to a logit for each action."""
    scale = scale_of(edition)[:known]
    if kind == "tied":
        return Tied(table_things(edition)[:known], scale, Width.of(width), depth, action_things(edition), 0.01)
    facts = (table_facts(edition)[:known], action_facts(edition)) if kind == "told" else (NOTHING, NOTHING)
    return Tower(Told(known, width, facts[0], scale, gain=2**0.5), width, depth, Told(width, actions, facts[1], gain=0.01))


def critic_of(kind: str, edition: str, width: int, depth: int) -> nn.Module:
    """From the whole table to a value for each seat, counted from the deciding one."""
    scale = scale_of(edition)
    if kind == "tied":
        seats = [Thing(("seat", seat), {}, ()) for seat in range(SEATS)]
        return Tied(table_things(edition), scale, Width.of(width), depth, seats, 1.0)
    facts = table_facts(edition) if kind == "told" else NOTHING
    return Tower(Told(len(scale), width, facts, scale, gain=2**0.5), width, depth, Told(width, SEATS, NOTHING, gain=1.0))


def masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Logits as full numbers, illegal ones out of reach."""
    return logits.float().masked_fill(~mask, -1e9)
