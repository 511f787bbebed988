"""Contractor: collects towards the best contract within reach, and pays with the cards it needs least.

It looks at its own warehouse and this turn only: what it could take now, and how far that helps.
"""

from __future__ import annotations

from borneo_agents.bot import CONTRACTOR, Scripted
from borneo_agents.merchant import contract, contest_of, keep, laid_down, order_at, pay, swap, taken_back
from borneo_agents.values import (
    NONE,
    ONE,
    STRONG,
    appraise,
    fill_pool,
    gain_of,
    share_out,
    whole,
)
from borneo_env.engine.actions import COMPANY, PASS, SLOT
from borneo_env.engine.jit import rule
from borneo_env.engine.rules.cargo import monopolist
from borneo_env.engine.state import (
    AT_PORT,
    CARDS,
    COMMIT,
    CONTRACT,
    DEFEND,
    DROP,
    HAND,
    KEEP,
    LAST_CONTRACT,
    NOBODY,
    OPEN_PORTS,
    PAY,
    PLACE,
    SEATS,
    SHIP,
    TAKE,
    TRADERS,
    YIELD,
)

A_CARD = 0.5  # points a card must bring to be spent on an attack


class Contractor(Scripted):
    """Collects towards the best contract within reach and pays with the cards it needs least."""

    kind = CONTRACTOR


@rule
def contractor(box, g, options, count, dice, room):
    """The action of the contractor."""
    phase = g.phase
    me = whole(g.player)
    if phase in (CONTRACT, LAST_CONTRACT):
        return contract(box, g, options, count, room)
    if phase == PAY:
        return pay(box, g, options, count, room)
    if phase == KEEP:
        return keep(box, g, options, count, room)
    if phase == PLACE:
        return highest_slot(g, options, count)
    if phase == YIELD:
        return options[count - 1]
    if phase == COMMIT:
        return one_card(box, g, options, count)
    if phase == DEFEND:
        return enough(box, g, options, count)
    for player in range(box.players):
        appraise(box, g, room, player)
    if phase == TRADERS:
        return step_up(box, g, options, count, room, me)
    if phase == SHIP:
        return ship_for_goods(box, g, options, count, room, me)
    if phase == TAKE:
        return most_needed(box, g, options, count, room, me)
    return least_needed(box, g, options, count, room, me)


@rule
def highest_slot(g, options, count):
    """Place as high as possible."""
    chosen = options[0]
    for i in range(count):
        if g.height[options[i] - COMPANY] < g.height[chosen - COMPANY]:
            chosen = options[i]
    return chosen


@rule
def step_up(box, g, options, count, room, me):
    """Attack a neighbour with a card that cannot lose, if more goods can be taken this turn for it."""
    now = best_haul(box, g, room, me)
    best = now + A_CARD
    chosen = options[0]
    for i in range(1, count):
        if options[i] >= box.first_contest:
            company, rank, above = contest_of(box, options[i])
            if rank == above + 1 and strong_cards(box, g, me, company) > 1:
                swap(g, company, rank, above)
                value = best_haul(box, g, room, me)
                swap(g, company, rank, above)
                if value > best:
                    best, chosen = value, options[i]
    return chosen


@rule
def strong_cards(box, g, me, company):
    n = 0
    for card in range(CARDS):
        if g.place[card] == HAND + me and box.strength[card, company] == STRONG:
            n += 1
    return n


@rule
def one_card(box, g, options, count):
    """A single card with three flags beats whatever card a neighbour has; the first there is will do."""
    for i in range(count):
        if options[i] == PASS or box.strength[options[i] - box.first_card, g.company] == STRONG:
            return options[i]
    return options[0]


@rule
def enough(box, g, options, count):
    """Defend with a single card if it is enough."""
    needed = g.strength[0] - (g.attacker_rank - g.defender_rank - 1) + 1 - g.strength[1]
    if g.defence_cards == 0:
        for i in range(1, count):
            if box.strength[options[i] - box.first_card, g.company] >= needed:
                return options[i]
    return PASS


@rule
def best_haul(box, g, room, me):
    """The most that a hand card takes from a port this turn."""
    best = 0.0
    for card in range(CARDS):
        if g.place[card] == HAND + me:
            for at in range(OPEN_PORTS):
                best = max(best, haul(box, g, room, me, card, at))
    return best


@rule
def haul(box, g, room, me, card, at):
    """What shipping a card to a port gets a player at once."""
    port = g.open[at]
    if g.laid[at] + 1 < box.limit[port] and g.shown[at, box.flags_of[card, 0]] + 4 < box.monopoly[port]:
        if g.shown[at, box.flags_of[card, 1]] + 4 < box.monopoly[port]:
            return 0.0
    covered = laid_down(box, g, card, at)
    for player in range(SEATS):
        room.got[player] = 0
    company = monopolist(box, g, card, at, box.monopoly[port])
    if company != NOBODY or g.laid[at] >= box.limit[port]:
        n = fill_pool(g, room, AT_PORT + at)
        if company != NOBODY:
            room.sharers[0] = company
            share_out(box, g, room, n, ONE)
        else:
            share_out(box, g, room, n, order_at(box, g, room, at))
        if not box.card_edition or company == NOBODY or g.ladder[company, 0] == me:
            room.got[me] += room.gain[me, box.spice_of[port], 0]
    taken_back(box, g, card, at, covered, me)
    return room.got[me]


@rule
def ship_for_goods(box, g, options, count, room, me):
    """Ship what brings most goods at once; else a card it has no use for, where fewest cards lie."""
    best = -1000.0
    chosen = options[0]
    for i in range(count):
        card = (options[i] - box.first_ship) // OPEN_PORTS
        at = (options[i] - box.first_ship) % OPEN_PORTS
        value = haul(box, g, room, me, card, at) - 0.1 * g.laid[at] - 0.1 * gain_of(box, room, me, card)
        if value > best:
            best, chosen = value, options[i]
    return chosen


@rule
def most_needed(box, g, options, count, room, me):
    chosen = options[0]
    for i in range(count):
        if gain_of(box, room, me, options[i] - box.first_card) > gain_of(box, room, me, chosen - box.first_card):
            chosen = options[i]
    return chosen


@rule
def least_needed(box, g, options, count, room, me):
    chosen = options[0]
    for i in range(count):
        if gain_of(box, room, me, options[i] - box.first_card) < gain_of(box, room, me, chosen - box.first_card):
            chosen = options[i]
    return chosen
