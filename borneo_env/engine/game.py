"""One game: the one dispatch on the phase. `legal` lists what may be done, `apply` does it."""

from __future__ import annotations

from borneo_env.compile import entry
from borneo_env.engine.rules.cargo import apply_ship, apply_take, legal_ship, legal_take
from borneo_env.engine.rules.contracts import apply_contract, apply_pay, legal_contract, legal_pay
from borneo_env.engine.rules.drawing import apply_drop, legal_drop
from borneo_env.engine.rules.setup import apply_place, legal_place
from borneo_env.engine.rules.traders import (
    apply_commit,
    apply_defend,
    apply_keep,
    apply_traders,
    apply_yield,
    legal_commit,
    legal_defend,
    legal_keep,
    legal_traders,
    legal_yield,
)
from borneo_env.engine.state import (
    COMMIT,
    CONTRACT,
    DEFEND,
    DROP,
    KEEP,
    LAST_CONTRACT,
    PAY,
    PLACE,
    SHIP,
    TAKE,
    TRADERS,
    YIELD,
)

MAX_OPTIONS = 64  # more than any position has: a port of 60 cards to choose from is the longest list


@entry
def legal(box, g, options):
    """Write the legal actions into `options`, ascending; returns how many there are, 0 when the game is over."""
    phase = g.phase
    if phase == PLACE:
        return legal_place(box, g, options)
    if phase in (CONTRACT, LAST_CONTRACT):
        return legal_contract(box, g, options)
    if phase == PAY:
        return legal_pay(box, g, options)
    if phase == TRADERS:
        return legal_traders(box, g, options)
    if phase == COMMIT:
        return legal_commit(box, g, options)
    if phase == DEFEND:
        return legal_defend(box, g, options)
    if phase == KEEP:
        return legal_keep(box, g, options)
    if phase == YIELD:
        return legal_yield(box, g, options)
    if phase == SHIP:
        return legal_ship(box, g, options)
    if phase == TAKE:
        return legal_take(box, g, options)
    if phase == DROP:
        return legal_drop(box, g, options)
    return 0


@entry
def apply(box, g, action):
    """Carry out a legal action, and all that follows from it, up to the next decision."""
    phase = g.phase
    if phase == PLACE:
        apply_place(box, g, action)
    elif phase in (CONTRACT, LAST_CONTRACT):
        apply_contract(box, g, action)
    elif phase == PAY:
        apply_pay(box, g, action)
    elif phase == TRADERS:
        apply_traders(box, g, action)
    elif phase == COMMIT:
        apply_commit(box, g, action)
    elif phase == DEFEND:
        apply_defend(box, g, action)
    elif phase == KEEP:
        apply_keep(box, g, action)
    elif phase == YIELD:
        apply_yield(box, g, action)
    elif phase == SHIP:
        apply_ship(box, g, action)
    elif phase == TAKE:
        apply_take(box, g, action)
    elif phase == DROP:
        apply_drop(box, g, action)
