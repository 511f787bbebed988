"""Contracts: which one, or none yet; what to pay with; and which card of a won defence to keep."""

from __future__ import annotations

from borneo_agents.scripted.scratch import ANY, TINY, whole
from borneo_agents.scripted.valuation.goods import (
    appraise,
    doubles,
    gain_of,
    income,
    jokers_of,
    plus,
    prospects,
    spices,
)
from borneo_env.engine.actions import BARGAIN, JOKER, PAYMENT
from borneo_env.engine.rules.contracts import first_owed
from borneo_env.engine.rules.ending import PIRATE_PENALTY
from borneo_env.engine.state import AMOUNT, CHEST, DOUBLE, N_SPICES, OF_ONE_SPICE, PORT
from kontor.compile import rule

PATIENCE = 0.3  # points by which waiting is preferred
SPICE_OWED = 1.6  # points it costs to pay one spice

NEVER = -1000.0


@rule
def choose_contract(box, g, options, count, scratch):
    """Fulfil the contract that leaves most, or wait for a better one; at the end there is nothing to wait for."""
    me = whole(g.player)
    hoped = income(box, g)
    have, twice, jokers = spices(g, me), doubles(g, me), jokers_of(g, me)
    scratch.worth[0] = 0.0
    if g.ended == 0:
        scratch.worth[0] = prospects(box, g, have, twice, jokers, hoped) + PATIENCE
    for i in range(1, count):
        scratch.worth[i] = after_contract(box, g, options[i], have, twice, jokers, hoped)
    return most_worth(options, count, scratch)


@rule
def terms_of(action):
    """The kind and the spice (ANY: each) of a contract's action."""
    choice = action - BARGAIN
    kind = 0
    while choice >= (N_SPICES if OF_ONE_SPICE[kind] else 1):
        choice -= N_SPICES if OF_ONE_SPICE[kind] else 1
        kind += 1
    return kind, whole(choice) if OF_ONE_SPICE[kind] else ANY


@rule
def after_contract(box, g, action, have, twice, jokers, hoped):
    """Profit of a contract that can be paid, and the prospects of what is left."""
    kind, spice = terms_of(action)
    amount = AMOUNT[kind]
    price = whole(0)
    missing = whole(0)
    rest = have
    fewer = twice
    for s in range(N_SPICES):
        if spice == ANY or s == spice:
            big, small = cheapest_payment(have[s], twice[s], amount)
            price += big + small
            missing += max(0, amount - have[s])
            rest = plus(rest, s, -(2 * big + small))
            fewer = plus(fewer, s, -big)
    value = float(box.points[kind] - price - missing)  # what is missing is paid by jokers, or by the pirates
    if g.ended == 1:
        return value
    if missing > jokers:
        value -= PIRATE_PENALTY
    g.supply[kind] -= 1
    value += prospects(box, g, rest, fewer, max(whole(0), jokers - missing), hoped)
    g.supply[kind] += 1
    return value


@rule
def cheapest_payment(have, twice, amount):
    """How many doubles and smaller things of a spice pay an amount, or as much of it as there is, with fewest cards."""
    small = have - 2 * twice
    big = min(twice, amount // 2)
    if big < twice and amount - 2 * big > small:
        big += 1
    return big, max(whole(0), min(small, amount - 2 * big))


@rule
def choose_payment(box, g, options, count, scratch):
    """Give what is missed least, and covers most."""
    me = whole(g.player)
    owed = first_owed(g)
    hoped = income(box, g)
    for i in range(count):
        spice = (options[i] - PAYMENT) // 3 if options[i] < JOKER else CHEST
        size = (options[i] - PAYMENT) % 3 if options[i] < JOKER else PORT
        covers = min(2 if size == DOUBLE else 1, int(g.owed[owed]))
        value = 0.0
        if spice != owed and spice != CHEST:  # R9.2
            covers = 1
            value -= PIRATE_PENALTY
        g.stock[me, spice, size] -= 1
        value += prospects(box, g, spices(g, me), doubles(g, me), jokers_of(g, me), hoped)
        g.stock[me, spice, size] += 1
        scratch.worth[i] = value + covers * SPICE_OWED
    return most_worth(options, count, scratch)


@rule
def choose_keep(box, g, options, count, scratch):
    """Keep the card of the defence that helps most: any is better than none."""
    me = whole(g.player)
    appraise(box, g, scratch, me)
    scratch.worth[0] = NEVER
    for i in range(1, count):
        scratch.worth[i] = gain_of(box, scratch, me, options[i] - box.first_card)
    return most_worth(options, count, scratch)


@rule
def take_most_gain(box, g, options, count, scratch):
    """Take the card that is worth most."""
    me = whole(g.player)
    appraise(box, g, scratch, me)
    for i in range(count):
        scratch.worth[i] = gain_of(box, scratch, me, options[i] - box.first_card)
    return most_worth(options, count, scratch)


@rule
def most_worth(options, count, scratch):
    """The option that is worth most, the first of equals."""
    best = 0
    for i in range(1, count):
        if scratch.worth[i] > scratch.worth[best] + TINY:
            best = i
    return options[best]
