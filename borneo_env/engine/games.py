"""Kontor's functions over arrays of records, and the contracts of Borneo beside points and places."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_env.ruleset import Ruleset
from kontor.engine.games import observe, state
from kontor.engine.games import results as results_of

__all__ = ["Results", "observe", "results", "state"]


class Results(NamedTuple):
    """How games stand, (games, players) each."""

    scores: NDArray[np.int32]
    places: NDArray[np.int8]
    contracts: NDArray[np.int8]


def results(ruleset: Ruleset, games: NDArray[np.void]) -> Results:
    """Points, places and numbers of contracts in games as they are now."""
    stand = results_of(ruleset, games)
    contracts: Any = games["fulfilled"][:, : ruleset.players].sum(2, dtype=np.int8)
    return Results(stand.scores, stand.places, contracts)
