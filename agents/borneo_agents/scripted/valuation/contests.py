"""Contests: how likely an attack is to win against a hidden hand, and which cards to fight with.

A card shows three flags of a company (strong) or one (weak), so sets of cards differ by their numbers of both. Whoever
asks has listed the own cards in the scratch, and what each is worth in hand.
"""

from __future__ import annotations

from borneo_agents.scripted.scratch import ONE, TINY, whole
from borneo_agents.scripted.valuation.hands import STRONG_CARD, WEAK_CARD, share_of_hand
from borneo_agents.scripted.valuation.sharing import STRONG
from borneo_env.engine.state import NO_CARD
from kontor.compile import rule

LOST_ATTACK = 1.2  # points a lost attack costs: the defender keeps a card

MOST_CARDS = 3  # more are never worth an attack
NEVER = -1000.0


@rule
def defence_chance(g, scratch, player, company, needed, cards):
    """How likely a hidden hand can put up a strength with at most so many cards, one card kept back (R4.5)."""
    if needed <= 0:
        return 1.0
    size = whole(g.hand_size[player])
    cards = min(cards, size - 1)
    if needed > STRONG * cards:
        return 0.0
    strong = share_of_hand(g, scratch, player, company, STRONG_CARD)
    weak = share_of_hand(g, scratch, player, company, WEAK_CARD)
    other = max(0.0, 1.0 - strong - weak)
    likely = 0.0
    strongs = 1.0  # the term of i strong cards, times that of j weak ones among the others
    for i in range(size + 1):
        term = strongs
        for j in range(size - i + 1):
            if STRONG * min(i, cards) + min(j, cards - min(i, cards)) >= needed:
                likely += term * other ** (size - i - j)
            term *= weak * (size - i - j) / (j + 1)
        strongs *= strong * (size - i) / (i + 1)
    return likely


@rule
def fitting(box, scratch, company, low, strength):
    """How many of the own cards from id `low` on have a strength in a company."""
    n = whole(0)
    for i in range(scratch.cards):
        card = scratch.hand[i]
        if card >= low and box.strength[card, company] == strength:
            n += 1
    return n


@rule
def cheapest(box, scratch, company, low, strength, number):
    """The cheapest `number` own cards of a strength: what they are worth in hand, and the lowest id among them."""
    cost = 0.0
    first = whole(NO_CARD)
    last = whole(NO_CARD)
    for _ in range(number):
        best = whole(NO_CARD)
        for i in range(scratch.cards):
            card = scratch.hand[i]
            if card >= low and box.strength[card, company] == strength:
                if last == NO_CARD or dearer(scratch, card, last):
                    if best == NO_CARD or dearer(scratch, best, card):
                        best = card
        last = best
        cost += scratch.card_worth[best]
        first = lower(first, best)
    return cost, first


@rule
def dearer(scratch, card, other):
    """Whether a card is worth more in hand than another; among equals the one with the higher id."""
    if scratch.card_worth[card] != scratch.card_worth[other]:
        return scratch.card_worth[card] > scratch.card_worth[other]
    return card > other


@rule
def lower(one, other):
    """The lower of two card ids, either of which may be missing."""
    if one == NO_CARD or (other != NO_CARD and other < one):
        return other
    return one


@rule
def best_attack(box, g, scratch, me, company, between, defender, prize, strength, cards, low):
    """The cards to add to an attack: expected points, and the first card to play (NO_CARD: none).

    prize: points for winning; strength, cards: what has been played already; low: the lowest id that may follow.
    """
    best = NEVER
    first = whole(NO_CARD)
    spare = min(whole(g.hand_size[me]) - 1, MOST_CARDS - cards)
    strongs = fitting(box, scratch, company, low, STRONG)
    weaks = fitting(box, scratch, company, low, ONE)
    for a in range(min(strongs, spare) + 1):
        for b in range(min(weaks, spare - a) + 1):
            if a + b + cards > 0:
                needed = strength + STRONG * a + b - between + 1  # R4.6, R4.7
                lost = defence_chance(g, scratch, defender, company, needed, a + b + cards)
                value = (1.0 - lost) * prize - lost * LOST_ATTACK
                if value > best + TINY:
                    cost, card = cheapest(box, scratch, company, low, STRONG, whole(a))
                    cost_weak, card_weak = cheapest(box, scratch, company, low, ONE, whole(b))
                    value -= cost + cost_weak
                    if value > best + TINY:
                        best, first = value, lower(card, card_weak)
    return best, first


@rule
def best_defence(box, g, scratch, me):
    """The next card of the cheapest defence that wins, or NO_CARD.

    A defence that wins puts a card into the warehouse (R4.8), so that a card is worth adding even without need.
    """
    company, low = whole(g.company), whole(g.last_played) + 1
    needed = whole(g.strength[0] - g.strength[1] - (g.attacker_rank - g.defender_rank - 1) + 1)
    spare = min(whole(g.hand_size[me]) - 1, whole(g.attack_cards - g.defence_cards))
    strongs = fitting(box, scratch, company, low, STRONG)
    weaks = fitting(box, scratch, company, low, ONE)
    kept = scratch.unit[me] if g.defence_cards == 0 else 0.0
    best = NEVER if needed > 0 else 0.0
    first = whole(NO_CARD)
    for a in range(min(strongs, spare) + 1):
        for b in range(min(weaks, spare - a) + 1):
            if a + b > 0 and STRONG * a + b >= needed:
                cost, card = cheapest(box, scratch, company, low, STRONG, whole(a))
                cost_weak, card_weak = cheapest(box, scratch, company, low, ONE, whole(b))
                if kept - cost - cost_weak > best + TINY:
                    best, first = kept - cost - cost_weak, lower(card, card_weak)
    return first
