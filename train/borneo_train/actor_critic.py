"""An actor that sees what a seat knows, and a critic that sees the whole table and values all seats.

The critic is also told who is a stranger: one who does not play as the learner does. A seat of the learner's is worth
more than the same seat in other hands, and without knowing whose it is the critic would value a mixture of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor

from borneo_env.engine.observe import state_layout
from borneo_env.engine.state import SEATS, slots_of
from borneo_env.ruleset import Ruleset
from borneo_train.network import Dense, Floats, Tied, Width, apply, hidden
from borneo_train.on_cpu import judged
from borneo_train.roles import Thing, action_things, table_things
from borneo_train.settings import Settings, shape

UNDECIDED, OUTRIGHT = 0.01, 1.0  # how large the outputs of a new actor and a new critic are, about

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


def actor_of(kind: str, edition: str, known: int, units: int, depth: int) -> Tied:
    """From what a seat knows to a logit for each action."""
    things, scale = table_things(edition)[:known], scale_of(edition)[:known]
    return Tied(things, scale, Width.of(kind, units), depth, action_things(edition), UNDECIDED)


def critic_of(kind: str, edition: str, units: int, depth: int) -> Tied:
    """From the whole table, and who is a stranger, to a value for each seat, counted from the deciding one."""
    seats, strangers = ([Thing((label, seat), {}, ()) for seat in range(SEATS)] for label in ("seat", "stranger"))
    scale = np.concatenate([scale_of(edition), np.ones(SEATS, np.float32)])
    return Tied([*table_things(edition), *strangers], scale, Width.of(kind, units), depth, seats, OUTRIGHT)


def quick_networks(settings: Settings, known: int) -> list[Tied]:
    """A smaller actor and critic of the size that is asked for, or none.

    They learn beside a learner what its actor thinks and what its games come to, and play on in searches, which ask
    networks a thousand times for one decision.
    """
    if not settings.quick:
        return []
    size = shape(settings.quick, "--quick")
    kind, edition = settings.network, settings.edition
    return [actor_of(kind, edition, known, *size), critic_of(kind, edition, *size)]


def masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Logits as full numbers, illegal ones out of reach."""
    return logits.float().masked_fill(~mask, -1e9)


def judged_actions(actor: Sequence[Dense], table: Tensor, mask: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
    """The logarithms of the odds that an actor gives to actions, and the entropies of its decisions."""
    if table.is_cuda:
        odds = torch.log_softmax(masked(apply(actor, table), mask), 1)
        return odds.gather(1, action[:, None])[:, 0], -(odds.exp() * odds * mask).sum(1)
    return judged(hidden(actor, table.float()), actor[-1].weight, actor[-1].bias, mask, action)
