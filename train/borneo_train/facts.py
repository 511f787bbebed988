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
    told = [_facts_of(table.block_of(action).name, table.texts(action)[0], edition) for action in range(len(table))]
    names = list(dict.fromkeys(name for facts in told for name in facts))
    return np.array([[facts.get(name, 0) for name in names] for facts in told], np.float32)


def _facts_of(kind: str, text: str, edition: str) -> dict[tuple[object, ...], float]:
    """The facts of an action that are not 0, and some that are, by name."""
    _, *words = text.split()
    facts: dict[tuple[object, ...], float] = {(kind,): 1}
    if kind not in ("ship", "card"):
        return facts | {(kind, place, word): 1 for place, word in enumerate(words)}
    card, *port = words
    for which in ((kind,), (kind, *port)):  # what the card is like at any port, and at this one
        facts |= {(*which, fact): value for fact, value in enumerate(card_facts(edition)[int(card)].tolist())}
    return facts
