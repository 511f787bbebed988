"""Profile: how an agent plays, from the ends of its games, so that one sees why it wins.

All figures are means per seat and game.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from borneo_env.cards import CONTRACT_KINDS
from borneo_env.engine.rules.ending import PIRATE_PENALTY
from borneo_env.engine.state import TALLIES
from borneo_env.ruleset import Ruleset

CARGO, PORTS, PIRATES = "cargo cards", "ports", "pirates"
SOURCES = (*CONTRACT_KINDS, CARGO, PORTS, PIRATES)
MORE_DOINGS = {"ports taken": "ports_taken", "mean rank at the end": "rank"}


@dataclass(frozen=True)
class Profile:
    agent: str
    seats: int  # how often it sat at a table
    points: dict[str, float]  # by source, see SOURCES
    contracts: dict[str, float]  # by kind
    doings: dict[str, float]  # see TALLIES, and MORE_DOINGS
    decisions: float  # of its own, forced ones not counted
    turns: float  # of its games, all players together
    win_share_by_seat: tuple[float | None, ...]  # in turn order, the start player's first; None where it never sat
    faults: int  # games lost by a crash, an illegal move or a time-out


def profiles(agents: tuple[str, ...], ruleset: Ruleset, outcomes: NDArray[np.void]) -> tuple[Profile, ...]:
    """The profile of each agent."""
    points = points_by_source(ruleset, outcomes)
    first = outcomes["places"] == 1
    wins = first / first.sum(1, keepdims=True)
    seats = np.arange(ruleset.players)
    in_turn = (seats - outcomes["start"][:, None]) % ruleset.players
    turns = np.broadcast_to(outcomes["turns"][:, None], wins.shape)
    at_fault = outcomes["offender"][:, None] == seats
    rows = []
    for number, agent in enumerate(agents):
        own = outcomes["seats"] == number
        doings = dict(zip(TALLIES, outcomes["tally"][own].mean(0).tolist(), strict=True))
        rows.append(
            Profile(
                agent,
                int(own.sum()),
                dict(zip(SOURCES, points[own].mean(0).tolist(), strict=True)),
                dict(zip(CONTRACT_KINDS, outcomes["fulfilled"][own].mean(0).tolist(), strict=True)),
                doings | {name: float(outcomes[field][own].mean()) for name, field in MORE_DOINGS.items()},
                float(outcomes["decisions"][own].mean()),
                float(turns[own].mean()),
                tuple(_mean(wins[own & (in_turn == seat)]) for seat in seats),
                int((own & at_fault).sum()),
            )
        )
    return tuple(rows)


def points_by_source(ruleset: Ruleset, outcomes: NDArray[np.void]) -> NDArray[np.int64]:
    """(games, players, sources): where the points of each seat come from (R8.6, R9.2); they add up to its score."""
    worth = np.array([contract.points for contract in ruleset.tables.contracts])
    contracts = outcomes["fulfilled"].astype(np.int64) * worth
    penalty = -PIRATE_PENALTY * (outcomes["pirates"][:, None] == np.arange(ruleset.players))
    others = np.stack([outcomes["cargo"], outcomes["ports"], penalty], -1)
    return np.concatenate([contracts, others], -1)


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(values.mean()) if len(values) else None
