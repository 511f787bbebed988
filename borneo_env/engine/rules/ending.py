"""R8.3 to R8.7 The end: last contracts, points and places."""

from __future__ import annotations

from borneo_env.engine.rules.table import discard_from
from borneo_env.engine.state import (
    AT_PORT,
    HAND,
    HAND_ROOM,
    LAST_CONTRACT,
    N_COMPANIES,
    N_KINDS,
    N_SPICES,
    NO_CARD,
    NOBODY,
    OPEN_PORTS,
    OVER,
)
from kontor.compile import rule

PIRATE_PENALTY = 2  # R9.2


@rule
def end_game(box, g):
    """Discard the cards at the ports and in the hands (R8.4); then come the last contracts (R8.5)."""
    g.ended = 1
    for place in range(OPEN_PORTS):
        discard_from(g, AT_PORT + place)
        g.laid[place] = 0
        g.lowest[place] = NO_CARD
        for company in range(N_COMPANIES):
            g.shown[place, company] = 0
    for player in range(box.players):
        discard_from(g, HAND + player)
        g.hand_size[player] = 0
        for i in range(HAND_ROOM):
            g.hand_since[player, i] = -1
    g.player = (g.turn + 1) % box.players
    g.phase = LAST_CONTRACT


@rule
def next_last_contract(box, g):
    """The left neighbour of the player whose turn ended the game begins, that player is the last (R8.5)."""
    g.finished += 1
    if g.finished == box.players:
        g.player = NOBODY
        g.phase = OVER
    else:
        g.player = (g.player + 1) % box.players
        g.phase = LAST_CONTRACT


@rule
def score(box, g, player):
    """Points so far: cards, ports, contracts (R8.6), less the pirates' two (R9.2)."""
    points = 0
    for spice in range(N_SPICES + 1):
        for size in range(3):
            points += int(g.stock[player, spice, size])
    for kind in range(N_KINDS):
        points += int(g.fulfilled[player, kind]) * int(box.points[kind])
    if g.pirates == player:
        points -= PIRATE_PENALTY
    return points


@rule
def contracts_of(g, player):
    """How many contracts a player has fulfilled."""
    contracts = 0
    for kind in range(N_KINDS):
        contracts += int(g.fulfilled[player, kind])
    return contracts


@rule
def place_of(box, g, player):
    """A player's place: points, then contracts; players equal in both share it (R8.7)."""
    mine = score(box, g, player)
    place = 1
    for other in range(box.players):
        theirs = score(box, g, other)
        if theirs > mine or (theirs == mine and contracts_of(g, other) > contracts_of(g, player)):
            place += 1
    return place
