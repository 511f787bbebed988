"""What an arena keeps of a game of Borneo beside places and points, and the measures of how seats have played."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_env.cards import CONTRACT_KINDS
from borneo_env.engine.batch import Batch
from borneo_env.engine.rules.ending import PIRATE_PENALTY
from borneo_env.engine.state import N_KINDS, NOBODY, PORT, SEATS, SHIP, TALLIES
from borneo_env.ruleset import Ruleset

CARGO, PORTS, PIRATES = "cargo cards", "ports", "pirates"
SOURCES = (*CONTRACT_KINDS, CARGO, PORTS, PIRATES)  # of points

Values = NDArray[Any]


class OutcomeField(NamedTuple):
    """A field of the outcome of a game."""

    name: str
    kind: str  # of NumPy
    of_seats: bool  # whether it has a value for each seat, or one for the game
    shape: tuple[int, ...]  # of such a value
    low: int
    high: float
    at_end: Callable[[Batch], Values] | None  # its values, from games as they stand at last; None: `step` counts it


def _ports(batch: Batch, rows: NDArray[np.intp] | slice = slice(None)) -> NDArray[np.int16]:
    """(rows, players): the ports in each warehouse."""
    stock = batch.games["stock"][rows, : batch.ruleset.players, :, PORT]
    ports: NDArray[np.int16] = stock.sum(2, dtype=np.int16)
    return ports


def _cargo(batch: Batch) -> Values:
    stock = batch.games["stock"][:, : batch.ruleset.players]
    cargo: Values = stock.sum((2, 3), dtype=np.int16) - _ports(batch)
    return cargo


def mean_ranks(ladder: NDArray[np.int8], players: int) -> NDArray[np.float64]:
    """(games, players): the mean rank of each player's traders on ladders (games, companies, slots); 1 is the top."""
    theirs = ladder[:, None] == np.arange(players)[:, None, None]
    ranks = np.arange(1, ladder.shape[2] + 1)
    mean: NDArray[np.float64] = (theirs * ranks).sum((2, 3)) / np.maximum(theirs.sum((2, 3)), 1)
    return mean


FIELDS = (
    OutcomeField("fulfilled", "i2", True, (N_KINDS,), 0, inf, lambda b: b.games["fulfilled"][:, : b.ruleset.players]),
    OutcomeField("cargo", "i2", True, (), -(2**15), inf, _cargo),  # cards left in the warehouse
    OutcomeField("ports", "i2", True, (), -(2**15), inf, _ports),  # left there
    OutcomeField("pirates", "i1", False, (), NOBODY, SEATS - 1, lambda b: b.games["pirates"]),  # the seat with the ship
    OutcomeField("ports_taken", "i2", True, (), 0, inf, None),  # those that were paid with included
    OutcomeField("tally", "i2", True, (len(TALLIES),), 0, inf, lambda b: b.games["tally"][:, : b.ruleset.players]),
    OutcomeField("rank", "f4", True, (), 0, 100, lambda b: mean_ranks(b.games["ladder"], b.ruleset.players)),
)


def step(batch: Batch, rows: NDArray[np.intp], actions: NDArray[np.int64], outcomes: NDArray[np.void]) -> None:
    """Step games, and count their turns and what else their ends do not show."""
    shipping = rows[batch.games["phase"][rows] == SHIP]  # once a turn
    before = _ports(batch, shipping)
    batch.step(actions, rows)
    outcomes["turns"][shipping] += 1
    outcomes["ports_taken"][shipping] += np.maximum(_ports(batch, shipping) - before, 0)


def measures(ruleset: Ruleset, outcomes: NDArray[np.void]) -> dict[str, dict[str, Values]]:
    """How seats have played: (games, players) by the name of a measure, in groups. Those of `points` add up to them."""
    points, fulfilled, tally = points_by_source(ruleset, outcomes), outcomes["fulfilled"], outcomes["tally"]
    return {
        "points": {source: points[..., i] for i, source in enumerate(SOURCES)},
        "contracts": {kind: fulfilled[..., i] for i, kind in enumerate(CONTRACT_KINDS)},
        "doings": {
            **{what: tally[..., i] for i, what in enumerate(TALLIES)},
            "ports taken": outcomes["ports_taken"],
            "mean rank at the end": outcomes["rank"],
        },
    }


def points_by_source(ruleset: Ruleset, outcomes: NDArray[np.void]) -> NDArray[np.int64]:
    """(games, players, sources): where the points of each seat come from (R8.6, R9.2); they add up to its score."""
    worth = np.array([contract.points for contract in ruleset.tables.contracts])
    contracts = outcomes["fulfilled"].astype(np.int64) * worth
    penalty = -PIRATE_PENALTY * (outcomes["pirates"][:, None] == np.arange(ruleset.players))
    others = np.stack([outcomes["cargo"], outcomes["ports"], penalty], -1)
    return np.concatenate([contracts, others], -1)


def points_words(ruleset: Ruleset) -> str:
    """Where points come from, in a ruleset."""
    kinds = [contract for contract in ruleset.tables.contracts if contract.supply]
    rows = "; ".join(f"{contract.kind}, {_wanted(contract.kind)}, {contract.points} points" for contract in kinds)
    pirates = " The pirates cost points at the end." if ruleset.blackbeard else ""
    return f"Contracts by kind ({rows}), and cards left in the warehouse: a point each.{pirates}"


def _wanted(kind: str) -> str:
    """What a kind of contract wants: `each-2` and `same-4` name it."""
    which, number = kind.split("-")
    return f"{number} of each spice" if which == "each" else f"{number} of one spice"
