"""What a seat may know (R11): `redact` blanks the rest of a game, `resample` fills it in at random.

`redact` defines secret information for the whole project: views of agents and observations are made from what it
leaves. A spectator, who sees no hand at all, is seat -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from borneo_env.compile import attributes, entry, rule
from borneo_env.engine.arguments import checked_seats
from borneo_env.engine.dice import below, scramble
from borneo_env.engine.state import (
    CARDS,
    COMMIT,
    GAME,
    HAND,
    HAND_ROOM,
    NO_CARD,
    PILE,
    SEATS,
    SHUFFLES,
    THINGS,
    UNSEEN,
    copy_games,
)

ONE = np.uint64(1)


@rule
def blank_secrets(g, seat):
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
def fill_secrets(g, seat, unseen):
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
def possible(g, seat):
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
def can_be_dealt(g, seat, unseen):
    """Whether the unseen things are as many as the piles and the other hands of a game hold; blanks its secrets."""
    blank_secrets(g, seat)
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
def list_unseen(g, low, high, unseen):
    """List the unseen things with ids from low to high in their order; returns how many there are."""
    n = 0
    for thing in range(low, high):
        if g.place[thing] == UNSEEN:
            unseen[n] = thing
            n += 1
    return n


@entry
def redact_games(games, seats):
    for i in range(len(games)):
        blank_secrets(games[i], seats[i])


@rule
def resample_game(g, seat, stream, unseen):
    """Replace a game by a random one its seat cannot tell apart; `unseen` is room to work in. Returns the stream."""
    searching = True
    while searching:
        blank_secrets(g, seat)
        g.rng[SHUFFLES] = stream
        fill_secrets(g, seat, unseen)
        stream = g.rng[SHUFFLES]
        searching = not possible(g, seat)
    for own in range(len(g.rng)):
        g.rng[own] = scramble(stream, np.uint64(1 + own)) | ONE
    return stream


@entry
def resample_games(games, seats, seeds, unseen):
    for i in range(len(games)):
        resample_game(games[i], seats[i], scramble(seeds[i], np.uint64(0)) | ONE, unseen)


@entry
def first_impossible(games, seats, unseen):
    """The first of some games that cannot be resampled, or -1."""
    for i in range(len(games)):
        if not can_be_dealt(games[i], seats[i], unseen):
            return i
    return -1


def redact(games: Any, seat: ArrayLike) -> Any:
    """A copy of a game, or of an array of games, as a seat sees it; `seat` may differ from game to game."""
    views, seats = _prepare(games, seat)
    redact_games(attributes(views), seats)
    return _like(games, views)


def resample(games: Any, seat: ArrayLike, rng: np.random.Generator) -> Any:
    """A random complete game among those that look the same to the seat, for one game or each of an array (R11.3).

    Works on complete and on redacted games alike. Its random streams are fresh, so nothing that comes later
    (reshuffles, the port pile) follows the original game.
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"resample draws from a generator, np.random.default_rng(seed), not from {rng!r}")
    copies, seats = _prepare(games, seat)
    watching = np.flatnonzero(seats >= 0)
    seen = (copies["place"][watching] == HAND + seats[watching, None]).sum(1)
    if np.any(seen != copies["hand_size"][watching, seats[watching]]):
        raise ValueError("a view that hides the seat's own hand cannot be resampled for it; give its own view")
    unseen = np.empty(THINGS, np.int8)
    impossible = first_impossible(attributes(copies), seats, unseen)
    if impossible >= 0:
        seen_by = f"seat {seats[impossible]}" if seats[impossible] >= 0 else "a spectator"
        raise ValueError(f"game {impossible}: no deal of the cards {seen_by} has not seen leads to this position")
    seeds = rng.integers(2**64, size=len(copies), dtype=np.uint64)
    resample_games(attributes(copies), seats, seeds, unseen)
    return _like(games, copies)


def _prepare(games: Any, seat: ArrayLike) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    records = np.atleast_1d(games)
    if records.dtype != GAME or records.ndim != 1:
        raise TypeError(f"give a GAME record or a row of them, not {type(games).__name__} of shape {records.shape}")
    return copy_games(records), checked_seats(seat, SEATS, len(records))


def _like(games: Any, copies: NDArray[np.void]) -> Any:
    return copies if np.ndim(games) else copies[0]
