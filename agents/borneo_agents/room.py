"""ROOM: the scratch paper of the scripted bots, since compiled rules allocate nothing.

Nothing on it outlives a decision; whoever calls `choose` brings one.
"""

from __future__ import annotations

import numpy as np

from borneo_env.cards import MAX_PORTS
from borneo_env.engine.state import CARDS, HAND_ROOM, N_COMPANIES, N_SPICES, OPEN_PORTS, SEATS

WEIGHTS = 64

ROOM = np.dtype(
    [
        ("gain", "f8", (SEATS, N_SPICES + 1, 2)),  # points of one or two more of a spice (or of a chest) to each player
        ("pool", "i8", (CARDS,)),  # cards that are shared out
        ("got", "f8", (SEATS,)),  # points each player gets from it
        ("picks", "i8", (N_COMPANIES, SEATS)),  # cards each player gets if a card of the company is shipped
        ("trigger", "i8", (N_COMPANIES,)),  # what such a card brings about: NOTHING_YET, A_MONOPOLY, A_SHARE
        ("sharers", "i8", (N_COMPANIES,)),
        ("hand", "i8", (HAND_ROOM,)),  # the deciding player's cards, ascending
        ("card_worth", "f8", (CARDS,)),  # points of keeping each of them in hand
        ("hold", "f8", (SEATS, N_COMPANIES)),  # chance that a player can ship a card of the company
        ("hidden", "f8", (2, N_COMPANIES, 2)),  # unseen cards by pile, company and strength (weak, strong)
        ("hidden_cards", "f8", (2,)),
        ("total", "f8", (SEATS,)),  # points each player may come to
        ("rival", "f8", (SEATS,)),  # how much a point of another player hurts
        ("laid_gain", "f8", (OPEN_PORTS, SEATS)),  # points of all cards at a port to each player
        ("strong", "i8", (N_COMPANIES,)),  # own cards with three flags of each company
        ("best", "f8", (OPEN_PORTS, SEATS)),  # what each player can make of a port by sharing it out
        ("likely", "f8", (OPEN_PORTS, SEATS)),  # how likely they hold the card for it
        ("mine", "f8", (OPEN_PORTS, SEATS)),  # what the viewer gets if they do
        ("open", "f8", (OPEN_PORTS,)),  # how likely a port has not been shared out
        ("was", "f8", (SEATS, 3)),
        ("before", "f8", (OPEN_PORTS,)),
        ("unit", "f8", (SEATS,)),  # points of a middling cargo card to each player
        ("w", "f8", (WEIGHTS,)),
    ],
    align=True,
)
assert MAX_PORTS < CARDS


def make_room() -> np.ndarray:
    """An array of one ROOM record."""
    from borneo_agents.weights import DEFAULT

    rooms = np.zeros(1, ROOM)
    rooms["w"] = DEFAULT
    return rooms
