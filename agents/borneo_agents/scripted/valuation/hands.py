"""Hands: what other players may hold (R11.3), and what own cards are worth in hand.

Everything goes by what one player may know. Hidden cards are counted by the pile they belong to, wherever a complete
game happens to have them.
"""

from __future__ import annotations

from borneo_agents.scripted.scratch import whole
from borneo_agents.scripted.valuation.sharing import STRONG
from borneo_env.engine.state import CARDS, HAND, N_COMPANIES, PILE, SEATS, UNSEEN
from kontor.compile import rule

LATER = 0.45  # how likely a card that is not in hand now will be, a round later
CARD = 0.4  # points of any card in a hand of three
ONLY_ONE = 0.3  # more for the only card of its company
LEADS = 0.2  # more where the player leads the company
FOLLOWS = 0.5  # more where the player is on the next ranks, and may fight

OLDER, NEWEST = range(2)
WEAK_CARD, STRONG_CARD = whole(0), whole(1)


@rule
def is_hidden(g, card, me):
    """Whether a player cannot know where a card is: in another hand or in the draw pile."""
    place = g.place[card]
    return place in (UNSEEN, PILE) or (HAND <= place < HAND + SEATS and place != HAND + me)


@rule
def major_of(box, card):
    """The company a card has three flags of (R0.8): two of its first three are."""
    flags = box.flags_of[card]
    return whole(flags[0] if flags[0] == flags[1] or flags[0] == flags[2] else flags[1])


@rule
def count_hidden(box, g, scratch, me):
    """Write which part of each pile's unseen cards is of each company and strength; older piles are taken together."""
    scratch.hidden[:] = 0.0
    older = newest = 0.0
    for card in range(CARDS):
        if is_hidden(g, card, me):
            pile = NEWEST if g.since[card] == g.pile_since else OLDER
            older += pile == OLDER
            newest += pile == NEWEST
            for company in range(N_COMPANIES):
                strength = box.strength[card, company]
                if strength > 0:
                    scratch.hidden[pile, company, STRONG_CARD if strength == STRONG else WEAK_CARD] += 1.0
    for company in range(N_COMPANIES):
        for strength in (WEAK_CARD, STRONG_CARD):
            scratch.hidden[OLDER, company, strength] /= max(1.0, older)
            scratch.hidden[NEWEST, company, strength] /= max(1.0, newest)


@rule
def share_of_hand(g, scratch, player, company, strength):
    """How likely a card of a hidden hand is a weak, or a strong one of a company."""
    size = g.hand_size[player]
    if size == 0:
        return 0.0
    expected = 0.0
    for slot in range(size):
        expected += scratch.hidden[NEWEST if g.hand_since[player, slot] == g.pile_since else OLDER, company, strength]
    return expected / size


@rule
def list_hand(g, scratch, me):
    """Write the own cards, in the order of their ids."""
    scratch.cards = 0
    for card in range(CARDS):
        if g.place[card] == HAND + me:
            scratch.hand[scratch.cards] = card
            scratch.cards += 1


@rule
def count_strong(box, g, scratch, me):
    """Write the own cards, and how many have three flags of each company."""
    list_hand(g, scratch, me)
    for company in range(N_COMPANIES):
        scratch.strong[company] = 0
    for i in range(scratch.cards):
        scratch.strong[major_of(box, scratch.hand[i])] += 1


@rule
def estimate_hands(box, g, scratch, me):
    """Write how likely each player can ship a card with three flags of each company."""
    count_hidden(box, g, scratch, me)
    count_strong(box, g, scratch, me)
    for company in range(N_COMPANIES):
        for player in range(box.players):
            if player != me:
                lacking = 1.0 - share_of_hand(g, scratch, player, company, STRONG_CARD)
                scratch.hold[player, company] = 1.0 - lacking ** whole(g.hand_size[player])
        scratch.hold[me, company] = 1.0 if scratch.strong[company] > 0 else LATER


@rule
def hand_card(box, g, scratch, me, card):
    """Points of holding a card: more if it is the only one of its company, or its traders could ship and fight with it.

    The fuller the hand, the less a card is missed.
    """
    value = CARD
    company = major_of(box, card)
    if scratch.strong[company] == 1:
        value += ONLY_ONE
    for rank in range(min(3, g.height[company])):
        if g.ladder[company, rank] == me:
            value += LEADS if rank == 0 else FOLLOWS
            break
    return value * 4.0 / (g.hand_size[me] + 1)


@rule
def price_hand(box, g, scratch, me):
    """Write what each own card is worth in hand."""
    count_strong(box, g, scratch, me)
    for i in range(scratch.cards):
        card = scratch.hand[i]
        scratch.card_worth[card] = hand_card(box, g, scratch, me, card)
