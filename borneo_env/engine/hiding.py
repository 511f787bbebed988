"""`redact` and `resample` for Borneo: what a seat may know, and the rest filled in at random (R11)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from borneo_env.engine.game import BORNEO
from borneo_env.ruleset import Ruleset
from kontor.engine import games as kontor
from kontor.templates import hidden

ANY = Ruleset(players=5)  # secrets are the same in all of them
resample_game = BORNEO.bind(hidden.resample_game)


def redact(games: Any, seat: ArrayLike) -> Any:
    """A copy of a game, or of an array of games, as a seat sees it; `seat` may differ from game to game."""
    return kontor.redact(ANY, games, seat)


def resample(games: Any, seat: ArrayLike, rng: np.random.Generator) -> Any:
    """A random complete game among those that look the same to the seat, for one game or each of an array (R11.3).

    Works on complete and on redacted games alike. Its random streams are fresh, so nothing that comes later
    (reshuffles, the port pile) follows the original game.
    """
    return kontor.resample(ANY, games, seat, rng)
