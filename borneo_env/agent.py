"""The Agent protocol, and agents by name.

An agent decides for a batch: `act(views)` gets the games as their deciding players see them, and returns an action for
each. It never gets the real games, so it cannot cheat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.batch import observe
from borneo_env.engine.hidden import resample
from borneo_env.ruleset import Ruleset

RANDOM = "random"  # needs no views: the engine draws in its own loop
KNOWN = (RANDOM,)


@dataclass(frozen=True)
class Views:
    """Games as their deciding players see them, with the legal actions."""

    ruleset: Ruleset
    games: NDArray[np.void]  # (n,) redacted records
    mask: NDArray[np.bool_]  # (n, actions)

    @property
    def player(self) -> NDArray[np.int8]:
        """(n,): who decides, and whose view it is."""
        player: NDArray[np.int8] = self.games["player"]
        return player

    def observe(self) -> NDArray[np.int8]:
        """(n, length): the observations of the deciding players."""
        return observe(self.ruleset, self.games, self.player)

    def resample(self, rng: np.random.Generator) -> NDArray[np.void]:
        """Complete games, each random among those its player cannot tell from the real one."""
        games: NDArray[np.void] = resample(self.games, self.player, rng)
        return games

    def __len__(self) -> int:
        return len(self.games)


@runtime_checkable
class Agent(Protocol):
    """Whoever decides."""

    def act(self, views: Views) -> NDArray[np.integer[Any]]:
        """An action for each view."""


class UnknownAgent(ValueError):
    """A name that no agent has."""


def seat_names(agents: str, players: int) -> list[str]:
    """The agent of every seat from `random` (all seats) or `random,random,random` (one per seat)."""
    names = [name.strip() for name in agents.split(",")]
    for name in names:
        _check_name(name)
    if len(names) == 1:
        return names * players
    if len(names) != players:
        raise UnknownAgent(f"{len(names)} agents for {players} players; give one name, or one per seat")
    return names


def find_opponents(opponents: Any, players: int) -> list[str | Agent]:
    """The opponents of one seat, in turn order from its left: one for all, or one for each."""
    one_for_all = isinstance(opponents, str) or not isinstance(opponents, Sequence)
    several = [opponents] * (players - 1) if one_for_all else opponents
    if len(several) != players - 1:
        raise UnknownAgent(f"{len(several)} opponents given; a game of {players} has {players - 1}")
    for opponent in several:
        if isinstance(opponent, str):
            _check_name(opponent)
        elif not isinstance(opponent, Agent):
            raise UnknownAgent(f"an opponent is a name or has a method act(views), not {opponent!r}")
    return list(several)


def _check_name(name: str) -> None:
    if name not in KNOWN:
        raise UnknownAgent(f"there is no agent {name!r}; known are: {', '.join(KNOWN)}")
