"""Contractor: collects towards the best contract within reach, and pays with the cards it needs least.

It looks at its own warehouse and this turn only: what it could take now, and how far that helps.
"""

from __future__ import annotations

from borneo_agents.scripted.by_phase import by_phase
from borneo_agents.scripted.scratch import TINY, whole
from borneo_agents.scripted.valuation.bargains import (
    NEVER,
    choose_contract,
    choose_keep,
    choose_payment,
    take_most_gain,
)
from borneo_agents.scripted.valuation.goods import appraise, appraise_all, gain_of
from borneo_agents.scripted.valuation.hands import count_strong
from borneo_agents.scripted.valuation.ladders import contest_of, swap
from borneo_agents.scripted.valuation.sharing import (
    STRONG,
    fill_pool,
    hand_out,
    lay_down,
    may_trigger,
    sharers_at,
    take_back,
)
from borneo_env.engine.actions import COMPANY, PASS, SLOT
from borneo_env.engine.state import AT_PORT, CARDS, HAND, OPEN_PORTS
from kontor.compile import rule

A_CARD = 0.5  # points an attack must bring for the card it costs
CROWDED, USEFUL = 0.1, 0.1  # against shipping to where cards lie already, and what it could use itself


@rule
def highest_slot(box, g, options, count, scratch):
    """Place as high as possible."""
    chosen = options[0]
    for i in range(1, count):
        if g.height[options[i] - COMPANY] < g.height[chosen - COMPANY]:
            chosen = options[i]
    return chosen


@rule
def step_up(box, g, options, count, scratch):
    """Attack a neighbour, with a strong card that cannot lose, if more goods can be taken this turn for it."""
    me = whole(g.player)
    appraise_all(box, g, scratch)
    count_strong(box, g, scratch, me)
    best = best_haul(box, g, scratch, me) + A_CARD
    chosen = options[0]
    for i in range(1, count):
        if options[i] >= box.first_contest:
            company, rank, above = contest_of(box, options[i])
            if rank == above + 1 and scratch.strong[company] > 1:
                swap(g, company, rank, above)
                value = best_haul(box, g, scratch, me)
                swap(g, company, rank, above)
                if value > best + TINY:
                    best, chosen = value, options[i]
    return chosen


@rule
def one_card(box, g, options, count, scratch):
    """Attack with a single strong card: no single card of a neighbour beats it."""
    for i in range(count):
        if options[i] == PASS or box.strength[options[i] - box.first_card, g.company] == STRONG:
            return options[i]
    return options[0]


@rule
def one_card_if_enough(box, g, options, count, scratch):
    """Defend with a single card if it wins."""
    needed = g.strength[0] - g.strength[1] - (g.attacker_rank - g.defender_rank - 1) + 1
    if g.defence_cards == 0:
        for i in range(1, count):
            if box.strength[options[i] - box.first_card, g.company] >= needed:
                return options[i]
    return PASS


@rule
def stay(box, g, options, count, scratch):
    return SLOT


@rule
def best_haul(box, g, scratch, me):
    """The most that a hand card takes from a port this turn."""
    best = 0.0
    for card in range(CARDS):
        if g.place[card] == HAND + me:
            for at in range(OPEN_PORTS):
                best = max(best, haul(box, g, scratch, me, card, at))
    return best


@rule
def haul(box, g, scratch, me, card, at):
    """What shipping a card to a port gets a player at once."""
    if not may_trigger(box, g, card, at):
        return 0.0
    covered = lay_down(box, g, card, at)
    sharers, monopoly = sharers_at(box, g, scratch, card, at)
    cards = fill_pool(g, scratch, AT_PORT + at)
    take_back(box, g, card, at, covered, me)
    if sharers == 0:
        return 0.0
    hand_out(box, g, scratch, me, at, cards, sharers, monopoly)
    return scratch.got[me]


@rule
def ship_for_goods(box, g, options, count, scratch):
    """Ship what brings most goods at once; else a card it has no use for, where fewest cards lie."""
    me = whole(g.player)
    appraise_all(box, g, scratch)
    best = NEVER
    chosen = options[0]
    for i in range(count):
        card = (options[i] - box.first_ship) // OPEN_PORTS
        at = (options[i] - box.first_ship) % OPEN_PORTS
        value = haul(box, g, scratch, me, card, at) - CROWDED * g.laid[at] - USEFUL * gain_of(box, scratch, me, card)
        if value > best + TINY:
            best, chosen = value, options[i]
    return chosen


@rule
def least_needed(box, g, options, count, scratch):
    """Drop the card whose spice helps least."""
    me = whole(g.player)
    appraise(box, g, scratch, me)
    chosen = options[0]
    for i in range(1, count):
        least = gain_of(box, scratch, me, chosen - box.first_card)
        if gain_of(box, scratch, me, options[i] - box.first_card) < least - TINY:
            chosen = options[i]
    return chosen


contractor = by_phase(
    {
        "place": highest_slot, "contract": choose_contract, "pay": choose_payment, "traders": step_up,
        "commit": one_card, "defend": one_card_if_enough, "keep": choose_keep, "yield": stay, "ship": ship_for_goods,
        "take": take_most_gain, "drop": least_needed, "last contract": choose_contract,
    }
)  # fmt: skip
