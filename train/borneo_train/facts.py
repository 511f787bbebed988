"""Facts about actions that a network is told instead of finding them out.

An action is one number among hundreds. What actions have in common is in their texts, and on the cards they are about:
flags, spices, sizes. These facts are a fixed table, so a trained network has a plain last layer again once they are
multiplied in.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.actions import action_table
from borneo_env.engine.rules.cargo import TOP_ROW
from borneo_env.engine.state import CARDS, DOUBLE, N_COMPANIES, N_SPICES, make_box, slots_of
from borneo_env.ruleset import Ruleset

Floats = NDArray[np.float32]


@cache
def card_facts(edition: str) -> Floats:
    """(cards, facts): the company with three flags and the one with one, that of the bottom row, spice and size."""
    box = make_box(Ruleset(edition))[0]
    company, spice = np.eye(N_COMPANIES), np.eye(N_SPICES)
    strength = box["strength"]
    spices = spice[box["spice_of"][:CARDS]]
    double = (box["size_of"][:CARDS] == DOUBLE)[:, None]
    facts = [
        strength == strength.max(1, keepdims=True),
        (strength > 0) & (strength < strength.max(1, keepdims=True)),
        company[box["flags_of"][:, TOP_ROW]],
        spices,
        spices * double,
        double,
    ]
    return np.concatenate(facts, 1).astype(np.float32)


@cache
def action_facts(edition: str) -> Floats:
    """(actions, facts): what kind of action it is, each word of its text, and the facts of the card it is about."""
    table = action_table(slots_of(Ruleset(edition)))
    cards = card_facts(edition)
    columns: dict[object, int] = {}
    entries: list[tuple[int, int, float]] = []
    for action in range(len(table)):
        kind = table.block_of(action).name
        words = next(iter(table.texts(action))).split()[1:]
        if kind in ("ship", "card"):
            card, *port = words
            about = {(kind, *where, fact): value for where in ((), *(port and [tuple(port)]))
                     for fact, value in enumerate(cards[int(card)])}  # fmt: skip
        else:
            about = {(kind, place, word): 1.0 for place, word in enumerate(words)}
        for name, value in {kind: 1.0, **about}.items():
            entries.append((action, columns.setdefault(name, len(columns)), float(value)))
    facts = np.zeros((len(table), len(columns)), np.float32)
    for action, column, value in entries:
        facts[action, column] = value
    return facts
