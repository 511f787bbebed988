"""SCRATCH: the memory scripted bots work in, since compiled rules allocate nothing.

Whoever calls `choose` brings one, from `make_scratch`. Only its cache of appraisals outlives a decision.
"""

from __future__ import annotations

from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.state import CARDS, HAND_ROOM, N_COMPANIES, N_SPICES, OPEN_PORTS, SEATS

# Numba compiles a function anew for each width of integer it is called with, and for each literal. So that every
# function is compiled once, numbers from a record are made `whole` before they are handed on.
whole = np.int64
NONE, ONE, TWO = whole(0), whole(1), whole(2)
TINY = 1e-9  # points that tell two values apart: less is rounding, which may differ between machines
ANY = whole(-1)  # no particular company, contract or port

MAX_TRIGGERS = HAND_ROOM * OPEN_PORTS
CACHE_SLOTS = 251  # a prime number, so that goods that are nearly the same have slots of their own

SCRATCH = np.dtype(
    [
        ("worth", "f8", (MAX_OPTIONS,)),  # points of each option of the decision, where a bot counts in points
        # a cache: what goods are worth to whoever has them
        ("cache_key", "i8", (CACHE_SLOTS, 3)),  # goods, contracts left, ports to come; with another ruleset, clear it
        (
            "cached_gain",
            "f8",
            (CACHE_SLOTS, N_SPICES + 1, 2),
        ),  # points of one and of two more of a spice (last: a chest)
        ("cached_hope", "f8", (CACHE_SLOTS,)),  # points that contracts may bring beyond the goods they cost
        # what goods are worth to each player
        ("gain", "f8", (SEATS, N_SPICES + 1, 2)),
        ("unit", "f8", (SEATS,)),  # points of a middling cargo card
        ("total", "f8", (SEATS,)),  # points a player may come to
        ("rival", "f8", (SEATS,)),  # how much a point of this player hurts the one who decides
        # hands
        ("hand", "i8", (HAND_ROOM,)),  # own cards
        ("cards", "i8"),  # how many they are
        ("strong", "i8", (N_COMPANIES,)),  # own cards with three flags of each company
        ("card_worth", "f8", (CARDS,)),  # points of keeping each own card in hand
        ("hold", "f8", (SEATS, N_COMPANIES)),  # how likely a player can ship a card with three flags of the company
        ("hidden", "f8", (2, N_COMPANIES, 2)),  # unseen cards by pile, company and strength, as parts of the pile
        # a distribution that is played through
        ("pool", "i8", (CARDS,)),  # the cards that are left
        ("sharers", "i8", (N_COMPANIES,)),  # the companies in their order
        ("got", "f8", (SEATS,)),  # points each player takes
        # distributions the hand can bring about now
        ("triggers", "i8"),  # how many there are
        ("trigger_card", "i8", (MAX_TRIGGERS,)),
        ("trigger_port", "i8", (MAX_TRIGGERS,)),
        ("trigger_sharers", "i8", (MAX_TRIGGERS, N_COMPANIES)),
        ("trigger_count", "i8", (MAX_TRIGGERS,)),  # how many companies share
        ("trigger_monopoly", "i8", (MAX_TRIGGERS,)),
        ("now", "f8", (OPEN_PORTS,)),  # the best of them at each port
        # what a card with three flags of each company would do at one port
        ("outcome", "i8", (N_COMPANIES,)),  # NOTHING_YET, A_MONOPOLY or A_SHARE
        ("picks", "i8", (N_COMPANIES, SEATS)),  # and how many cards each player would take
        # what each player can make of each port by sharing it out
        ("laid", "i8", (OPEN_PORTS, CARDS)),  # the cards that lie there
        ("laid_gain", "f8", (OPEN_PORTS, SEATS)),  # points of all of them
        ("best", "f8", (OPEN_PORTS, SEATS)),
        ("likely", "f8", (OPEN_PORTS, SEATS)),  # how likely they do it; where it is 0, the others mean nothing
        ("mine", "f8", (OPEN_PORTS, SEATS)),  # what the one who decides would get of it
        ("open", "f8", (OPEN_PORTS,)),  # how likely a port has not been shared out yet
    ],
    align=True,
)


def make_scratch() -> NDArray[Any]:
    """An array of one SCRATCH record."""
    return np.zeros(1, SCRATCH)


_OF_THREAD = local()


def scratch_of_thread() -> NDArray[Any]:
    """The scratch memory of this thread, with an empty cache: one for all of its bots, which it asks one at a time."""
    if not hasattr(_OF_THREAD, "scratch"):
        _OF_THREAD.scratch = make_scratch()
    scratch: NDArray[Any] = _OF_THREAD.scratch
    scratch["cache_key"] = 0
    return scratch
