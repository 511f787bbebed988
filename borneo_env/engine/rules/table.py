"""How single things move on the table: into and out of hands, to warehouses, to the discard pile."""

from __future__ import annotations

from borneo_env.engine.state import CARDS, DISCARD, HAND, WAREHOUSE
from kontor.compile import rule


@rule
def set_down(g, thing, place):
    """Lay a thing on the table for all to see; the clock remembers since when it lies there."""
    g.place[thing] = place
    g.order[thing] = 0
    g.clock += 1
    g.since[thing] = g.clock


@rule
def into_hand(g, player, card):
    """Give a card from the draw pile to a hand; draws come from the newest pile, so `hand_since` stays ascending."""
    g.place[card] = HAND + player
    g.hand_since[player, g.hand_size[player]] = g.since[card]
    g.hand_size[player] += 1


@rule
def out_of_hand(g, player, card):
    """Take a card from a hand; everybody sees from which pile it once came."""
    last = g.hand_size[player] - 1
    slot = 0
    while g.hand_since[player, slot] != g.since[card]:
        slot += 1
    for i in range(slot, last):
        g.hand_since[player, i] = g.hand_since[player, i + 1]
    g.hand_since[player, last] = -1
    g.hand_size[player] = last


@rule
def store(box, g, player, thing):
    """Put a cargo card or a port into a player's warehouse."""
    set_down(g, thing, WAREHOUSE + player)
    g.stock[player, box.spice_of[thing], box.size_of[thing]] += 1


@rule
def discard_from(g, place):
    """Discard every cargo card that lies in a place."""
    for card in range(CARDS):
        if g.place[card] == place:
            g.place[card] = DISCARD
            g.order[card] = 0


@rule
def list_cards(g, place, first_action, options, n):
    """Append the action of every cargo card in a place to the options; returns their new number."""
    for card in range(CARDS):
        if g.place[card] == place:
            options[n] = first_action + card
            n += 1
    return n
