"""Arrays of game records as blocks of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def copy_games(games: NDArray[np.void], rows: Any = slice(None)) -> NDArray[np.void]:
    """A copy of an array of games, or of some of them, as whole blocks of memory: NumPy copies field by field."""
    whole = np.dtype((np.void, games.dtype.itemsize))
    chosen = np.ascontiguousarray(games).view(whole)[rows]
    copies: NDArray[np.void] = (chosen.copy() if isinstance(rows, slice) else chosen).view(games.dtype)
    return copies
