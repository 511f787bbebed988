"""R4 Traders: a transfer, or a contest for rank."""

from __future__ import annotations

import numpy as np

from borneo_env.engine.actions import COMPANY, OTHERS, PASS, SLOT, TRANSFER
from borneo_env.engine.rules.setup import join
from borneo_env.engine.rules.table import discard_from, list_cards, out_of_hand, store
from borneo_env.engine.state import (
    ATTACK,
    CARDS,
    COMMIT,
    CONTESTS_DEFENDED,
    CONTESTS_STARTED,
    CONTESTS_WON,
    DEFENCE,
    DEFEND,
    HAND,
    KEEP,
    N_COMPANIES,
    NO_CARD,
    SHIP,
    TRANSFERS,
    YIELD,
)
from kontor.compile import rule

ONE = np.uint64(1)


@rule
def legal_traders(box, g, options):
    """Nothing, a transfer (R4.1), or a contest (R4.2)."""
    options[0] = PASS
    n = list_transfers(box, g, options, 1)
    if g.hand_size[g.player] > 1:  # R4.5
        n = list_contests(box, g, options, n)
    return n


@rule
def list_transfers(box, g, options, n):
    for company in range(N_COMPANIES):
        for rank in range(g.height[company]):
            if g.ladder[company, rank] == g.player:
                action = TRANSFER + (company * box.slots + rank) * OTHERS
                for other in range(N_COMPANIES):
                    if other != company:
                        if g.height[other] < box.slots:
                            options[n] = action
                            n += 1
                        action += 1
    return n


@rule
def list_contests(box, g, options, n):
    pairs = box.slots * (box.slots - 1) // 2
    armed = companies_in_hand(box, g)
    for company in range(N_COMPANIES):
        if (armed >> company) & 1:
            for rank in range(1, g.height[company]):
                if g.ladder[company, rank] == g.player:
                    action = box.first_contest + company * pairs + rank * (rank - 1) // 2
                    for above in range(rank):
                        if g.ladder[company, above] != g.player:
                            options[n] = action + above
                            n += 1
    return n


@rule
def companies_in_hand(box, g):
    """Bit c is set if the player holds a card with a flag of company c, which an attack there needs (R4.3)."""
    companies = 0
    for card in range(CARDS):
        if g.place[card] == HAND + g.player:
            for flag in range(4):
                companies |= 1 << box.flags_of[card, flag]
    return companies


@rule
def apply_traders(box, g, action):
    if action == PASS:
        g.phase = SHIP
    elif action < box.first_contest:
        move = (action - TRANSFER) // OTHERS
        other = (action - TRANSFER) % OTHERS
        company = move // box.slots
        transfer(g, company, move % box.slots, other if other < company else other + 1)
        g.tally[g.player, TRANSFERS] += 1
        g.phase = SHIP
    else:
        begin_contest(box, g, action - box.first_contest)


@rule
def transfer(g, company, rank, other):
    """Move a trader to the end of a ladder; those below its old slot move up (R1.8)."""
    player = g.ladder[company, rank]
    last = g.height[company] - 1
    for i in range(rank, last):
        g.ladder[company, i] = g.ladder[company, i + 1]
    g.ladder[company, last] = -1
    g.height[company] = last
    join(g, other, player)


@rule
def begin_contest(box, g, choice):
    pairs = box.slots * (box.slots - 1) // 2
    g.tally[g.player, CONTESTS_STARTED] += 1
    g.company = choice // pairs
    above = choice % pairs
    rank = 1
    while above >= rank:
        above -= rank
        rank += 1
    g.attacker_rank = rank
    g.defender_rank = above
    g.attack_cards = 0
    g.defence_cards = 0
    g.strength[0] = 0
    g.strength[1] = 0
    g.last_played = NO_CARD
    g.fighters = fighters_of(box, g.company)
    g.phase = COMMIT


@rule
def fighters_of(box, company):
    """The set of cards with at least one flag of a company, as bits."""
    fighters = np.uint64(0)
    for card in range(CARDS):
        if box.strength[card, company] > 0:
            fighters |= ONE << np.uint64(card)
    return fighters


@rule
def list_fighters(box, g, options, n):
    """The hand cards that may be played next: with a flag of the company (R4.3), ascending, not the last one (R4.5)."""
    if g.hand_size[g.player] > 1:
        for card in range(g.last_played + 1, CARDS):
            if g.place[card] == HAND + g.player and box.strength[card, g.company] > 0:
                options[n] = box.first_card + card
                n += 1
    return n


@rule
def play_fighter(box, g, card, side, place):
    out_of_hand(g, g.player, card)
    g.place[card] = place
    g.strength[side] += box.strength[card, g.company]  # R4.6
    g.last_played = card


@rule
def legal_commit(box, g, options):
    n = 0
    if g.attack_cards > 0:
        options[0] = PASS
        n = 1
    return list_fighters(box, g, options, n)


@rule
def apply_commit(box, g, action):
    if action == PASS:
        g.player = g.ladder[g.company, g.defender_rank]
        g.last_played = NO_CARD
        g.phase = DEFEND
    else:
        play_fighter(box, g, action - box.first_card, 0, ATTACK)
        g.attack_cards += 1


@rule
def legal_defend(box, g, options):
    """R4.4: at most as many cards as the attacker played, or none."""
    options[0] = PASS
    if g.defence_cards == g.attack_cards:
        return 1
    return list_fighters(box, g, options, 1)


@rule
def apply_defend(box, g, action):
    if action == PASS:
        decide_contest(g)
    else:
        play_fighter(box, g, action - box.first_card, 1, DEFENCE)
        g.defence_cards += 1


@rule
def decide_contest(g):
    """Compare the strengths (R4.6): R4.7 if the attacker has at least as many, R4.8 if the defender has more."""
    discard_from(g, ATTACK)  # R4.9
    between = g.attacker_rank - g.defender_rank - 1
    if g.strength[0] >= g.strength[1] + between:
        discard_from(g, DEFENCE)
        g.tally[g.turn, CONTESTS_WON] += 1
        attacker = g.ladder[g.company, g.attacker_rank]
        g.ladder[g.company, g.attacker_rank] = g.ladder[g.company, g.defender_rank]
        g.ladder[g.company, g.defender_rank] = attacker
        g.phase = YIELD
    else:
        g.tally[g.player, CONTESTS_DEFENDED] += 1
        if g.defence_cards > 0:
            g.phase = KEEP
        else:
            end_contest(g)


@rule
def legal_keep(box, g, options):
    options[0] = PASS
    return list_cards(g, DEFENCE, box.first_card, options, 1)


@rule
def apply_keep(box, g, action):
    if action != PASS:
        store(box, g, g.player, action - box.first_card)
    discard_from(g, DEFENCE)  # R4.9
    end_contest(g)


@rule
def legal_yield(box, g, options):
    """R4.7: the slot the attacker left, or another company with room (card edition: the same one too)."""
    n = 0
    for company in range(N_COMPANIES):
        if box.card_edition or (company != g.company and g.height[company] < box.slots):
            options[n] = COMPANY + company
            n += 1
    options[n] = SLOT
    return n + 1


@rule
def apply_yield(box, g, action):
    """The beaten trader already stands on the slot the attacker left; it stays, or goes to the end of a ladder."""
    if action != SLOT:
        transfer(g, g.company, g.attacker_rank, action - COMPANY)
    end_contest(g)


@rule
def end_contest(g):
    g.company = -1
    g.fighters = np.uint64(0)
    g.player = g.turn
    g.phase = SHIP
