"""Functions over arrays of game records: how games stand, and what seats know of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from borneo_env.compile import attributes
from borneo_env.engine.arguments import checked_seats, room_for
from borneo_env.engine.check import check_readable, check_type
from borneo_env.engine.loops import observe_games, score_games, state_of_games
from borneo_env.engine.observe import length, state_length
from borneo_env.engine.state import make_box, slots_of
from borneo_env.ruleset import Ruleset


class Results(NamedTuple):
    """How games stand, (games, players) each."""

    scores: NDArray[np.int32]
    places: NDArray[np.int8]
    contracts: NDArray[np.int8]


def results(ruleset: Ruleset, games: NDArray[np.void]) -> Results:
    """Points, places and numbers of contracts in games as they are now."""
    check_type(games)
    shape = (len(games), ruleset.players)
    values = Results(np.zeros(shape, np.int32), np.zeros(shape, np.int8), np.zeros(shape, np.int8))
    score_games(attributes(make_box(ruleset)), attributes(games), *values)
    return values


def observe(
    ruleset: Ruleset, games: NDArray[np.void], seats: ArrayLike, out: NDArray[Any] | None = None, *, check: bool = True
) -> NDArray[Any]:
    """(games, length): what a seat of each game knows; int8, or as `out` is.

    `check=False` skips the check of the records: only for records that the engine made.
    """
    return _written(observe_games, length(slots_of(ruleset)), ruleset, games, seats, out, check)


def state(
    ruleset: Ruleset, games: NDArray[np.void], seats: ArrayLike, out: NDArray[Any] | None = None, *, check: bool = True
) -> NDArray[Any]:
    """(games, length): the whole tables, secrets included, with seats counted from the given ones; see `observe`."""
    return _written(state_of_games, state_length(slots_of(ruleset)), ruleset, games, seats, out, check)


def _written(
    loop: Callable[..., None],
    width: int,
    ruleset: Ruleset,
    games: NDArray[np.void],
    seats: ArrayLike,
    out: NDArray[Any] | None,
    check: bool,
) -> NDArray[Any]:
    """What a compiled loop writes about a seat of each game, a row for each."""
    if check:
        check_readable(ruleset, games)
    chosen = checked_seats(seats, ruleset.players, len(games))
    out = room_for(out, len(games), width)
    loop(attributes(make_box(ruleset)), attributes(games), chosen, out)
    return out
