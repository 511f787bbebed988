"""R3 Contracts: choosing one and paying it; R9.2 Blackbeard's secret."""

from __future__ import annotations

from borneo_env.engine.actions import BARGAIN, JOKER, PASS, PAYMENT
from borneo_env.engine.rules.ending import next_last_contract
from borneo_env.engine.state import (
    AMOUNT,
    CARDS,
    CHEST,
    DISCARD,
    DOUBLE,
    N_KINDS,
    N_SPICES,
    OF_ONE_SPICE,
    OUT,
    PAY,
    PORT,
    SINGLE,
    THINGS,
    TRADERS,
    WAREHOUSE,
)
from kontor.compile import rule

NOTHING = -1  # no card is set aside


@rule
def legal_contract(box, g, options):
    """No contract, or one that is in supply and can be paid (R3.1)."""
    options[0] = PASS
    n = 1
    pirates = pirates_willing(box, g)
    action = BARGAIN
    for kind in range(N_KINDS):
        amount = AMOUNT[kind]
        if OF_ONE_SPICE[kind]:
            for spice in range(N_SPICES):
                if g.supply[kind] > 0 and payable(g, only(spice, amount), pirates, NOTHING, NOTHING):
                    options[n] = action
                    n += 1
                action += 1
        else:
            if g.supply[kind] > 0 and payable(g, (amount, amount, amount, amount), pirates, NOTHING, NOTHING):
                options[n] = action
                n += 1
            action += 1
    return n


@rule
def apply_contract(box, g, action):
    if action == PASS:
        after_contract(box, g)
        return
    choice = action - BARGAIN
    kind = 0
    while choice >= (N_SPICES if OF_ONE_SPICE[kind] else 1):
        choice -= N_SPICES if OF_ONE_SPICE[kind] else 1
        kind += 1
    g.contract = kind
    for spice in range(N_SPICES):
        owes = not OF_ONE_SPICE[kind] or spice == choice
        g.owed[spice] = AMOUNT[kind] if owes else 0
    g.phase = PAY


@rule
def only(spice, amount):
    """What is owed when it is one spice only."""
    return (
        amount if spice == 0 else 0,
        amount if spice == 1 else 0,
        amount if spice == 2 else 0,
        amount if spice == 3 else 0,
    )


@rule
def pirates_willing(box, g):
    """R9.2: in phase 1, while the pirate ship does not lie with the player."""
    return box.blackbeard and g.ended == 0 and g.pirates != g.player


@rule
def payable(g, owed, pirates, spent_spice, spent_size):
    """Whether the deciding player's warehouse, without one thing already spent, can pay what is owed (R3.2).

    Things of a spice go to their own debt; a joker covers one of any debt. The pirates cover one more if some spice
    has a thing to spare for them: more than a double's worth too much, or a small thing too much.
    """
    missing = 0
    to_spare = False
    for spice in range(N_SPICES):
        small = int(g.stock[g.player, spice, SINGLE]) + int(g.stock[g.player, spice, PORT])
        doubles = int(g.stock[g.player, spice, DOUBLE])
        if spice == spent_spice:
            if spent_size == DOUBLE:
                doubles -= 1
            else:
                small -= 1
        surplus = small + 2 * doubles - owed[spice]
        if surplus < 0:
            missing -= surplus
        elif surplus >= 2 or (surplus == 1 and small > 0):
            to_spare = True
    jokers = int(g.stock[g.player, CHEST, PORT])
    if spent_spice == CHEST:
        jokers -= 1
    return missing <= jokers or (pirates and to_spare and missing == jokers + 1)


@rule
def first_owed(g):
    """The spice that is paid next, in the order pepper, cinnamon, cloves, nutmeg; N_SPICES when all is paid."""
    for spice in range(N_SPICES):
        if g.owed[spice] > 0:
            return spice
    return N_SPICES


@rule
def owed_after(g, spice, worth):
    """What is owed once a payment is made towards a spice; overpaying is not refunded (R3.3)."""
    rest = max(0, int(g.owed[spice]) - worth)
    return (
        rest if spice == 0 else int(g.owed[0]),
        rest if spice == 1 else int(g.owed[1]),
        rest if spice == 2 else int(g.owed[2]),
        rest if spice == 3 else int(g.owed[3]),
    )


@rule
def legal_pay(box, g, options):
    """The things that may be given for the first spice owed: those after which the rest can still be paid."""
    n = 0
    owed = first_owed(g)
    for spice in range(N_SPICES):
        for size in range(3):
            if g.stock[g.player, spice, size] > 0 and may_pay(box, g, owed, spice, size):
                options[n] = PAYMENT + spice * 3 + size
                n += 1
    if g.stock[g.player, CHEST, PORT] > 0 and may_pay(box, g, owed, CHEST, PORT):
        options[n] = JOKER
        n += 1
    return n


@rule
def may_pay(box, g, owed, spice, size):
    pirates = pirates_willing(box, g)
    if spice != owed and spice != CHEST:  # R9.2: the pirates take a card of another spice, and will not trade again
        return pirates and payable(g, owed_after(g, owed, 1), False, spice, size)
    worth = 2 if size == DOUBLE else 1
    return payable(g, owed_after(g, owed, worth), pirates, spice, size)


@rule
def apply_pay(box, g, action):
    owed = first_owed(g)
    spice = (action - PAYMENT) // 3 if action < JOKER else CHEST
    size = (action - PAYMENT) % 3 if action < JOKER else PORT
    worth = 2 if size == DOUBLE else 1
    if spice != owed and spice != CHEST:
        worth = 1  # R9.2: whatever it shows, it counts one
        g.pirates = g.player
    spend(box, g, spice, size)
    g.owed[owed] = max(0, int(g.owed[owed]) - worth)
    if first_owed(g) == N_SPICES:
        g.supply[g.contract] -= 1
        g.fulfilled[g.player, g.contract] += 1
        g.contract = -1
        after_contract(box, g)


@rule
def spend(box, g, spice, size):
    """Give away the thing of this spice and size that has lain longest in the warehouse (R3.3, R3.4)."""
    oldest = -1
    for thing in range(THINGS):
        if g.place[thing] == WAREHOUSE + g.player and box.spice_of[thing] == spice and box.size_of[thing] == size:
            if oldest < 0 or g.since[thing] < g.since[oldest]:
                oldest = thing
    g.place[oldest] = DISCARD if oldest < CARDS else OUT
    g.stock[g.player, spice, size] -= 1


@rule
def after_contract(box, g):
    if g.ended == 1:
        next_last_contract(box, g)
    else:
        g.phase = TRADERS
