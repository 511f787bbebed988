"""What holds for every record of a game: its statements, and where they do not hold.

Kontor checks the range of every field first, so that indexing is safe. Later statements rely on earlier ones: that all
counts agree with where the cards lie, and that the decision being asked for can have come about. What passes can be
played to its end, and passes again after every move.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.check_cards import (
    Wrong,
    somewhere,
    wrong_cards,
    wrong_ladders,
    wrong_piles,
    wrong_ports,
    wrong_warehouses,
)
from borneo_env.engine.check_decision import (
    decider,
    sharing_company,
    wrong_contests,
    wrong_decisions,
    wrong_distributions,
    wrong_hands,
    wrong_pasts,
    wrong_payments,
)
from borneo_env.engine.state import TAKE, make_box
from borneo_env.ruleset import Ruleset


def wrongs(ruleset: Ruleset, games: NDArray[np.void]) -> Iterator[Wrong]:
    """What must hold for complete games."""
    box = make_box(ruleset)[0]
    yield from unreadable(ruleset, games)
    yield from wrong_cards(ruleset, box, games)
    yield from wrong_piles(games)
    yield from wrong_ports(box, games)
    yield from wrong_warehouses(ruleset, box, games)
    yield from wrong_ladders(ruleset, box, games)
    yield from wrong_decisions(ruleset, games)
    yield from wrong_hands(ruleset, games)
    yield from wrong_payments(games)
    yield from wrong_contests(box, games)
    yield from wrong_distributions(games)
    yield from wrong_pasts(box, games)
    yield "the right player decides", games["player"] != decider(ruleset, games)


def unreadable(ruleset: Ruleset, games: NDArray[np.void]) -> Iterator[Wrong]:
    """What must hold beside the ranges, so that nobody who looks at a game reads or writes outside of it."""
    box = make_box(ruleset)[0]
    yield "a ladder is not too long", somewhere(games["height"] > box["slots"])
    take = games["phase"] == TAKE
    yield "a port is shared in the phase take", (games["sharing_port"] >= 0) != take
    yield "somebody shares", take & ((games["sharer"] < 0) | (games["sharer"] >= games["n_sharers"]))
    height = games["height"][np.arange(len(games)), sharing_company(games)]
    yield "a trader that stands chooses", take & (games["sharing_rank"] >= height)
