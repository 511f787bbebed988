"""Opponents of the learner: who is cast for a game, and the league of earlier policies.

Opponents are numbered: scripted bots by their kind, then the learner as it is now (CURRENT), then an earlier learner
drawn from the league (EARLIER). The league keeps the learner as it was from time to time, as ordinary model folders.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from borneo_agents.policy.model import CARD, WEIGHTS
from borneo_agents.scripted.dispatch import CLIMBER, CONTRACTOR, KINDS, MERCHANT
from numpy.typing import NDArray

from borneo_train.folders import folders_by_steps, named_by

FIRST_NETWORK = KINDS
CURRENT, EARLIER = FIRST_NETWORK, FIRST_NETWORK + 1

LEAGUE, SELF, MERCHANTS, MIXED, NOBODY = "league", "self", "merchant", "mixed", "nobody"
CASTS = {
    LEAGUE: "itself as it is now, and in every other seat as it was before",
    SELF: "itself as it is now",
    MERCHANTS: "merchants",
    MIXED: "scripted bots at half of the tables, most of them merchants, and the league at the others",
    NOBODY: "nobody: the learner decides for every seat, and learns from all of it",
}
MODEL_FILES = (WEIGHTS, CARD)
BOTS = (MERCHANT, MERCHANT, MERCHANT, MERCHANT, CLIMBER, CONTRACTOR)  # of a mixed table, each as likely as the next
LARGEST_LEAGUE = 24  # when it is full, every other one of the older half leaves


class Cast:
    """Draws the opponents of new games."""

    def __init__(self, name: str) -> None:
        if name not in CASTS:
            raise ValueError(f"there are no opponents {name!r}; use one of {', '.join(CASTS)}")
        self.name = name
        self.is_empty = name == NOBODY
        self.has_networks = name not in (MERCHANTS, NOBODY)
        self.has_earlier = False  # whether the league has anybody to draw

    def draw(self, rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.int64]:
        """(games, seats): an opponent for each seat."""
        if self.name == MERCHANTS:
            return np.full(shape, MERCHANT)
        if self.name in (SELF, NOBODY):
            return np.full(shape, CURRENT)
        league = np.where(rng.random(shape) < 0.5, EARLIER if self.has_earlier else CURRENT, CURRENT)
        if self.name == LEAGUE:
            return league
        bots = np.array(BOTS)[rng.integers(len(BOTS), size=shape)]
        return np.where(rng.random((shape[0], 1)) < 0.5, bots, league)


class League:
    """The learner as it was, from time to time: folders of models, named by the steps it had made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def members(self) -> list[Path]:
        """The folders, the oldest first."""
        return folders_by_steps(self.folder, MODEL_FILES)

    def place_for(self, steps: int) -> Path:
        """Where the learner of so many steps belongs."""
        return self.folder / named_by(steps)

    def to_leave(self) -> list[Path]:
        """Who leaves, if it has grown too large: some of the older half, which are more alike, but never the first."""
        members = self.members()
        return members[1 : len(members) // 2 : 2] if len(members) > LARGEST_LEAGUE else []

    def draw(self, rng: np.random.Generator) -> Path | None:
        """Somebody from the league, each as likely as the next."""
        members = self.members()
        return members[rng.integers(len(members))] if members else None
