"""Functions over arrays of game records: how games stand, and what seats know of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kontor.compile import attributes
from kontor.engine.arguments import checked_seats, room_for
from kontor.engine.check import check_readable, check_type
from kontor.engine.records import copy_games
from kontor.layout import length
from kontor.ruleset import Ruleset
from kontor.templates import hidden, loops


class Results(NamedTuple):
    """How games stand, (games, players) each."""

    scores: NDArray[np.int32]
    places: NDArray[np.int8]


def results(ruleset: Ruleset, games: NDArray[np.void]) -> Results:
    """Points and places in games as they are now."""
    game = ruleset.game
    check_type(game, games)
    shape = (len(games), ruleset.players)
    values = Results(np.zeros(shape, np.int32), np.zeros(shape, np.int8))
    game.of(loops).score_games(attributes(game.box(ruleset)), attributes(games), *values)
    return values


def observe(
    ruleset: Ruleset, games: NDArray[np.void], seats: ArrayLike, out: NDArray[Any] | None = None, *, check: bool = True
) -> NDArray[Any]:
    """(games, length): what a seat of each game knows; int8, or as `out` is.

    `check=False` skips the check of the records: only for records that the engine made.
    """
    return _written("observe_games", length(ruleset.game.layout(ruleset)), ruleset, games, seats, out, check)


def state(
    ruleset: Ruleset, games: NDArray[np.void], seats: ArrayLike, out: NDArray[Any] | None = None, *, check: bool = True
) -> NDArray[Any]:
    """(games, length): the whole tables, secrets included, with seats counted from the given ones; see `observe`."""
    return _written("state_of_games", length(ruleset.game.state_layout(ruleset)), ruleset, games, seats, out, check)


def _written(
    loop: str,
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
    game = ruleset.game
    getattr(game.of(loops), loop)(attributes(game.box(ruleset)), attributes(games), chosen, out)
    return out


def redact(ruleset: Ruleset, games: Any, seat: ArrayLike) -> Any:
    """A copy of a game, or of an array of games, as a seat sees it; `seat` may differ from game to game."""
    views, seats = _prepare(ruleset, games, seat)
    ruleset.game.of(hidden).redact_games(attributes(ruleset.game.box(ruleset)), attributes(views), seats)
    return _like(games, views)


def resample(ruleset: Ruleset, games: Any, seat: ArrayLike, rng: np.random.Generator) -> Any:
    """A random complete game among those that look the same to the seat, for one game or each of an array.

    Works on complete and on redacted games alike. Its random streams are fresh, so nothing that comes later
    follows the original game.
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"resample draws from a generator, np.random.default_rng(seed), not from {rng!r}")
    game, box = ruleset.game, attributes(ruleset.game.box(ruleset))
    if unknown := game.cannot_resample():
        raise ValueError(
            f"{game.title} does not say how {', '.join(unknown)} is dealt anew: give the game fill_secrets"
        )
    copies, seats = _prepare(ruleset, games, seat)
    room = np.empty(game.room, np.int16)
    bound = game.of(hidden)
    impossible = bound.first_impossible(box, attributes(copies), seats, room)
    if impossible >= 0:
        seen_by = f"seat {seats[impossible]}" if seats[impossible] >= 0 else "a spectator"
        raise ValueError(f"game {impossible}: no deal of what {seen_by} has not seen leads to this position")
    seeds = rng.integers(2**64, size=len(copies), dtype=np.uint64)
    bound.resample_games(box, attributes(copies), seats, seeds, room)
    return _like(games, copies)


def _prepare(ruleset: Ruleset, games: Any, seat: ArrayLike) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    records = np.atleast_1d(games)
    if records.dtype != ruleset.game.record or records.ndim != 1:
        raise TypeError(
            f"give a record of {ruleset.game.title} or a row of them, not {type(games).__name__} of {records.shape}"
        )
    return copy_games(records), checked_seats(seat, ruleset.players, len(records))


def _like(games: Any, copies: NDArray[np.void]) -> Any:
    return copies if np.ndim(games) else copies[0]
