"""What a seat may know (R11): `redact` blanks the rest of a game, `resample` fills it in at random.

`redact` defines secret information for the whole project: views of agents and observations are made from what it
leaves. A spectator, who sees no hand at all, is seat -1. The drivers around these rules are Kontor's.
"""

from __future__ import annotations

import numpy as np

from borneo_env.engine.state import (
    CARDS,
    COMMIT,
    HAND,
    HAND_ROOM,
    NO_CARD,
    PILE,
    SEATS,
    SHUFFLES,
    THINGS,
    UNSEEN,
)
from kontor.compile import rule
from kontor.templates.dice import below

ONE = np.uint64(1)


@rule
def blank_secrets(box, g, seat):
    """Blank what a seat does not know: other hands, the order of both piles (R11.2), and the random streams."""
    for thing in range(THINGS):
        place = g.place[thing]
        if place == PILE or (HAND <= place < HAND + SEATS and place != HAND + seat):
            g.place[thing] = UNSEEN
    g.draw[:] = NO_CARD
    g.port_pile[:] = NO_CARD
    g.rng[:] = np.uint64(0)
    g.number = 0


@rule
def fill_secrets(box, g, seat, unseen):
    """Deal the unseen things of a redacted game: each hand gets as many cards of each pile as it holds (R11.3)."""
    n = shuffled_unseen(g, 0, CARDS, unseen)
    for player in range(SEATS):
        if player != seat:
            for slot in range(g.hand_size[player]):
                card = take_from_pile(g, unseen, n, g.hand_since[player, slot])
                if card != NO_CARD:  # there always is one in a game that can be
                    g.place[card] = HAND + player
    lay_pile(g, g.draw, unseen, n)
    n = shuffled_unseen(g, CARDS, THINGS, unseen)
    lay_pile(g, g.port_pile, unseen, n)


@rule
def shuffled_unseen(g, low, high, unseen):
    """List the unseen things with ids from low to high in random order; returns how many there are."""
    n = 0
    for thing in range(low, high):
        if g.place[thing] == UNSEEN:
            j = below(g, SHUFFLES, n + 1)
            unseen[n] = unseen[j]
            unseen[j] = thing
            n += 1
    return n


@rule
def take_from_pile(g, unseen, n, since):
    """Take the first card of a certain draw pile from the list of unseen cards; NO_CARD if there is none."""
    for i in range(n):
        card = unseen[i]
        if card != NO_CARD and g.since[card] == since:
            unseen[i] = NO_CARD
            return card
    return NO_CARD


@rule
def lay_pile(g, pile, unseen, n):
    """Lay what is left of a list as a pile."""
    height = 0
    for i in range(n):
        if unseen[i] != NO_CARD:
            g.place[unseen[i]] = PILE
            pile[height] = unseen[i]
            height += 1


@rule
def is_possible(box, g, seat):
    """Whether the game can have come about: someone who just declared an attack holds a card for it (R4.3).

    Where no other deal of the unseen cards would help, this one is taken, so that a search for a better one ends.
    """
    if g.phase != COMMIT or g.attack_cards > 0:
        return True
    for card in range(CARDS):
        if g.place[card] == HAND + g.player and is_fighter(g, card):
            return True
    return not may_attack(g, seat)


@rule
def is_fighter(g, card):
    return (g.fighters >> np.uint64(card)) & ONE == ONE


@rule
def may_attack(g, seat):
    """Whether the deciding player can hold a card for an attack, for all that a seat knows."""
    if not 0 <= g.player < SEATS:
        return False
    for card in range(CARDS):
        if is_fighter(g, card):
            place = g.place[card]
            if g.player == seat:
                if place == HAND + seat:
                    return True
            elif place in (PILE, UNSEEN) or (HAND <= place < HAND + SEATS and place != HAND + seat):
                for slot in range(g.hand_size[g.player]):
                    if g.hand_since[g.player, slot] == g.since[card]:
                        return True
    return False


@rule
def can_be_filled(box, g, seat, unseen):
    """Whether the unseen things are as many as the piles and the other hands of a redacted game hold."""
    if seat >= 0 and own_cards(g, seat) != g.hand_size[seat]:
        return False
    n = list_unseen(g, 0, CARDS, unseen)
    left = n
    for player in range(SEATS):
        if not 0 <= g.hand_size[player] <= HAND_ROOM:
            return False
        if player != seat:
            for slot in range(g.hand_size[player]):
                if take_from_pile(g, unseen, n, g.hand_since[player, slot]) == NO_CARD:
                    return False
                left -= 1
    if left != g.draw_left or list_unseen(g, CARDS, THINGS, unseen) != g.ports_left:
        return False
    return g.phase != COMMIT or g.attack_cards > 0 or may_attack(g, seat)


@rule
def own_cards(g, seat):
    """How many cards of a hand are seen: none where another seat's view is looked at."""
    seen = 0
    for card in range(CARDS):
        seen += g.place[card] == HAND + seat
    return seen


@rule
def list_unseen(g, low, high, unseen):
    """List the unseen things with ids from low to high in their order; returns how many there are."""
    n = 0
    for thing in range(low, high):
        if g.place[thing] == UNSEEN:
            unseen[n] = thing
            n += 1
    return n
