"""What the numbers of a table and the actions have to do with companies, spices and ports.

All companies play the same part in the game, and so do all spices and all ports. A unit of a network that is about one
company should look at it as its twin looks at another. So units come in groups, one for each company, for each spice,
and for each company at each port, and what a number or an action is to a group is its *orbit*: "flags at this port of
this company", "a hand card with three flags of another company". Weights belong to orbits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_env.cards import COMPANIES, SPICES
from borneo_env.engine.actions import OPEN_PORTS, Move, action_table
from borneo_env.engine.observe import state_layout
from borneo_env.engine.rules.cargo import TOP_ROW
from borneo_env.engine.state import DOUBLE, make_box, slots_of
from borneo_env.ruleset import Ruleset
from kontor.layout import Block

OTHER = "other"
COMPANY, SPICE, PORT = KINDS = ("company", "spice", "port")
NAMES: dict[str, Sequence[object]] = {COMPANY: COMPANIES, SPICE: SPICES, PORT: range(OPEN_PORTS)}
FREE, OF_COMPANY, OF_SPICE, AT_PORT = GROUPS = ((), (COMPANY,), (SPICE,), (COMPANY, PORT))  # what units are about


Group = tuple[str, ...]


class Feature(NamedTuple):
    """A number of a table, or an action: what it says beside indices, and what it is to a company, a spice or a port.

    `indices` tell apart the features that are alike to those groups that do not know what the indices stand for.
    """

    label: tuple[object, ...]
    relations: dict[str, dict[int, str]]
    indices: tuple[object, ...]


def members(group: Group) -> list[tuple[int, ...]]:
    """The indices of the units' groups of one kind: all companies, say."""
    return list(product(*(range(len(NAMES[kind])) for kind in group)))


def orbit(feature: Feature, group: Group, member: tuple[int, ...]) -> tuple[object, ...]:
    """What a feature is to one group of units."""
    parts: list[object] = [feature.label]
    for kind in KINDS:
        relation = feature.relations.get(kind)
        if relation is None:
            continue
        if kind in group:
            parts.append(relation.get(member[group.index(kind)], OTHER))
        else:
            parts.append(feature.indices if feature.indices else OTHER)
    return tuple(parts)


def orbits(features: Sequence[Feature], group: Group) -> tuple[NDArray[np.int64], int]:
    """(features, members): the number of each feature's orbit to each group of a kind; and how many there are."""
    numbers: dict[tuple[object, ...], int] = {}
    found = [
        [numbers.setdefault(orbit(feature, group, member), len(numbers)) for member in members(group)]
        for feature in features
    ]
    return np.array(found), len(numbers)


@cache
def state_features(edition: str) -> list[Feature]:
    """The numbers of a table."""
    features = []
    for block in state_layout(slots_of(Ruleset(edition))):
        for index in np.ndindex(*block.shape):
            features.append(_number(block, index, edition))
    return features


def _number(block: Block, index: tuple[int, ...], edition: str) -> Feature:
    label: list[object] = [block.name]
    relations: dict[str, dict[int, str]] = {}
    indices: list[object] = []
    for axis, place in zip(block.axes, index, strict=True):
        if axis.name == "card":
            relations |= card_relations(edition)[place]
        elif axis.name in (COMPANY, PORT):
            relations[axis.name] = {place: "same"}
            indices.append((axis.name, place))
        elif axis.labels[place] in SPICES:
            relations[SPICE] = {place: "same"}
            indices.append((SPICE, place))
        else:
            label.append(axis.labels[place])
    return Feature(tuple(label), relations, tuple(indices))


@cache
def card_relations(edition: str) -> list[dict[str, dict[int, str]]]:
    """For each card what it is to the companies with flags on it, and to its spice."""
    box = make_box(Ruleset(edition))[0]
    found = []
    for flags, strength, spice, size in zip(
        box["flags_of"], box["strength"], box["spice_of"], box["size_of"], strict=False
    ):
        bottom = int(flags[TOP_ROW])
        companies = {
            int(company): f"{strength[company]} flags, {'one' if company == bottom else 'none'} at the bottom"
            for company in np.flatnonzero(strength)
        }
        found.append({COMPANY: companies, SPICE: {int(spice): "two" if size == DOUBLE else "one"}})
    return found


@cache
def action_features(edition: str) -> list[Feature]:
    """The actions."""
    table = action_table(slots_of(Ruleset(edition)))
    return [_action(table.block_of(action).name, table.moves(action)[0], edition) for action in range(len(table))]


def _action(block: str, move: Move, edition: str) -> Feature:
    label: list[object] = [block]
    relations: dict[str, dict[int, str]] = {}
    indices: list[object] = []
    for name, kind in move.kinds.items():
        part = move.parts[name]
        if kind == "card":
            relations |= card_relations(edition)[part]
        elif part in NAMES.get(kind, ()):
            relations.setdefault(kind, {})[NAMES[kind].index(part)] = name
            indices.append((name, part))
        else:
            label.append(part)
    return Feature(tuple(label), relations, tuple(indices))
