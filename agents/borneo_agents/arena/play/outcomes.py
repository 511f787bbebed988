"""What is kept of games: their outcomes, and the faults by which some were lost."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.state import NOBODY
from borneo_env.outcomes import FIELDS


class Trace(NamedTuple):
    """The traceback of an agent's first fault of a kind."""

    agent: int
    kind: str
    game: int
    text: str


class Forfeit(NamedTuple):
    """Why a game was lost at once."""

    game: int  # counted from the first game of the tournament
    seat: int
    agent: int
    kind: str  # one of FAULTS
    reason: str


def outcome_type(players: int) -> np.dtype[Any]:
    """What is kept of each game; the fields in the middle are those that the game declares."""
    seats = (players,)
    declared = [(field.name, field.kind, (*(seats if field.of_seats else ()), *field.shape)) for field in FIELDS]
    return np.dtype(
        [
            ("game", "i8"),  # counted from the first game of the tournament
            ("deal", "i8"),
            ("seats", "i2", seats),  # index of the agent in each seat
            ("start", "i1"),  # the start player's seat
            ("scores", "i4", seats),
            ("places", "i1", seats),  # from 1, equal players share the better place
            ("turns", "i2"),
            ("decisions", "i2", seats),  # that were not forced
            *declared,
            ("offender", "i1"),  # seat that lost at once by a fault, or -1
        ]
    )


def impossible_field(outcomes: NDArray[np.void], players: int) -> str | None:
    """The first field with a value that no game can have."""
    limits = {"start": (0, players - 1), "places": (1, players), "offender": (NOBODY, players - 1),
              "turns": (0, inf), "decisions": (0, inf)}  # fmt: skip
    limits |= {field.name: (field.low, field.high) for field in FIELDS}
    for name, (low, high) in limits.items():
        if not ((outcomes[name] >= low) & (outcomes[name] <= high)).all():
            return name
    return None


@dataclass
class PlayedChunk:
    """The games of a chunk."""

    outcomes: NDArray[np.void]
    faults: list[Forfeit]
    seconds: NDArray[np.float64]  # (agents,): how long each has thought
    actions: list[NDArray[np.int16]]  # of each game, forced ones left out
    traces: list[Trace]

    @property
    def deals(self) -> range:
        return range(int(self.outcomes["deal"][0]), int(self.outcomes["deal"][-1]) + 1)
