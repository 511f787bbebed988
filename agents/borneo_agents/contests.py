"""Contests: how likely an attack is to win against a hidden hand, and which cards to fight with.

A card shows three flags of a company (strong) or one (weak), so a set of cards is as strong as its numbers of both.
"""

from __future__ import annotations

from borneo_agents.values import STRONG, STRONG_CARD, WEAK_CARD, share_of_hand, whole, NONE, ONE
from borneo_agents.weights import *
from borneo_env.engine.jit import rule
from borneo_env.engine.state import HAND, NO_CARD

MOST = 3  # more cards than this are never worth an attack


@rule
def defence_chance(g, room, player, company, needed, cards):
    """How likely a hidden hand can put up a strength with so many cards at most, keeping one back (R4.5)."""
    if needed <= 0:
        return 1.0
    size = whole(g.hand_size[player])
    cards = min(cards, size - 1)
    if cards <= 0 or needed > STRONG * cards:
        return 0.0
    strong = share_of_hand(g, room, player, company, STRONG_CARD)
    weak = share_of_hand(g, room, player, company, WEAK_CARD)
    other = max(0.0, 1.0 - strong - weak)
    likely = 0.0
    strongs = 1.0  # ways and chances of i strong cards, then of j weak ones among the rest
    for i in range(size + 1):
        term = strongs
        for j in range(size - i + 1):
            best = STRONG * min(i, cards) + min(j, cards - min(i, cards))
            if best >= needed:
                rest = 1.0
                for _ in range(size - i - j):
                    rest *= other
                likely += term * rest
            term *= weak * (size - i - j) / (j + 1)
        strongs *= strong * (size - i) / (i + 1)
    return likely


@rule
def fitting(box, g, company, player, low, strength):
    """How many of a player's own cards from id `low` on have a strength."""
    n = 0
    for card in range(low, 60):
        if g.place[card] == HAND + player and box.strength[card, company] == strength:
            n += 1
    return n


@rule
def cheapest(box, g, room, company, player, low, strength, number):
    """What the cheapest `number` cards of a strength cost, and the lowest id among them."""
    cost = 0.0
    first = NO_CARD
    limit = -1.0
    used = -1
    for _ in range(number):
        best = NO_CARD
        for card in range(low, 60):
            if g.place[card] == HAND + player and box.strength[card, company] == strength:
                worth = room.card_worth[card]
                if worth > limit or (worth == limit and card > used):
                    if best == NO_CARD or worth < room.card_worth[best]:
                        best = card
        if best == NO_CARD:
            return 1000.0, NO_CARD
        limit = room.card_worth[best]
        used = best
        cost += limit
        if first == NO_CARD or best < first:
            first = best
    return cost, first


@rule
def lower_of(one, other):
    """The lower of two card ids, of which either may be missing."""
    if one == NO_CARD or (other != NO_CARD and other < one):
        return other
    return one


@rule
def best_attack(box, g, room, me, company, between, defender, prize, strength, cards, low):
    """The cards to add to an attack: expected points, and the first card to play (NO_CARD: none).

    prize: points for winning; strength, cards: what has been played already; low: the lowest id that may follow.
    """
    best = -1000.0
    first = NO_CARD
    spare = g.hand_size[me] - 1
    strongs = min(fitting(box, g, company, me, low, STRONG), MOST)
    weaks = min(fitting(box, g, company, me, low, ONE), MOST)
    for a in range(strongs + 1):
        for b in range(weaks + 1):
            played = a + b
            if played <= spare and played + cards <= MOST and played + cards > 0:
                power = strength + STRONG * a + b
                lost = defence_chance(g, room, defender, company, power - between + 1, played + cards)
                if power < between:
                    lost = 1.0
                value = (1.0 - lost) * prize - lost * room.w[LOST_ATTACK]
                if value > best:
                    cost, card = cheapest(box, g, room, company, me, low, STRONG, a)
                    cost_weak, card_weak = cheapest(box, g, room, company, me, low, ONE, b)
                    value -= cost + cost_weak
                    if value > best:
                        best = value
                        first = lower_of(card, card_weak)
    return best, first


@rule
def best_defence(box, g, room, me):
    """The next card of the best defence that wins, or NO_CARD; a defence that wins puts a card into the warehouse.

    Weighs the card worth keeping (R4.8) against what the cards cost.
    """
    between = g.attacker_rank - g.defender_rank - 1
    needed = g.strength[0] - between + 1 - g.strength[1]
    low = whole(g.last_played) + 1
    company = whole(g.company)
    spare = min(g.hand_size[me] - 1, g.attack_cards - g.defence_cards)
    strongs = fitting(box, g, company, me, low, STRONG)
    weaks = fitting(box, g, company, me, low, ONE)
    best = 0.0
    first = NO_CARD
    if needed > 0:
        best = -1000.0
    for a in range(strongs + 1):
        for b in range(weaks + 1):
            if 0 < a + b <= spare and STRONG * a + b >= needed:
                cost, card = cheapest(box, g, room, company, me, low, STRONG, a)
                cost_weak, card_weak = cheapest(box, g, room, company, me, low, ONE, b)
                value = -cost - cost_weak
                if g.defence_cards == 0:
                    value += room.unit[me]
                if value > best:
                    best = value
                    first = lower_of(card, card_weak)
    return first
