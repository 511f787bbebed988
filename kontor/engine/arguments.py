"""Arguments checked: compiled loops trust what they are given, so Python looks first, and says what is wrong."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kontor.fields import SPECTATOR

MOST = 2**63 - 1  # of 64 bits
WRITTEN = tuple(map(np.dtype, ("int8", "int16", "int32", "int64", "float32", "float64")))  # what observations can be


def is_whole(number: Any) -> TypeGuard[int]:
    """Whether something is a whole number: True and False are none here, though Python takes them for 1 and 0."""
    return type(number) is int or isinstance(number, np.integer)


def whole_numbers(numbers: ArrayLike) -> NDArray[Any]:
    """A copy of whole numbers as int64, those beyond 64 bits as the last within; other things as NumPy takes them."""
    array = np.asarray(numbers)
    if array.dtype.kind in "iu":
        return (np.minimum(array, MOST) if array.dtype == np.uint64 else array).astype(np.int64)
    exact = np.asarray(numbers, object)  # a list with a number beyond 64 bits is floats or objects for NumPy
    if exact.size and all(map(is_whole, exact.flat)):
        array = np.clip(exact, -MOST, MOST).astype(np.int64)
    return array


def checked_pile(things: ArrayLike, number: int, name: str) -> NDArray[np.int64]:
    """A pile in which each of so many things lies once."""
    pile = np.asarray(things)
    if pile.dtype.kind not in "iu" or pile.shape != (number,) or (np.sort(pile) != np.arange(number)).any():
        raise ValueError(f"a pile of the {number} {name} has each number from 0 to {number - 1} once")
    return pile.astype(np.int64)


def checked_number(value: Any, low: int, high: int, meaning: str) -> int:
    """A whole number in its range, as Python's own; `meaning` says what it should be."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{meaning}, not {value!r}")
    return int(value)


def checked_rows(rows: ArrayLike, size: int) -> NDArray[np.intp]:
    """Different places of a batch in ascending order."""
    rows = np.asarray(rows)
    numbers = rows.ndim == 1 and (rows.dtype.kind in "iu" or rows.size == 0)
    if not numbers or (len(rows) and (rows[0] < 0 or rows[-1] >= size or (rows[1:] <= rows[:-1]).any())):
        raise ValueError(f"rows are different places of the batch, 0 to {size - 1}, in ascending order")
    return rows.astype(np.intp, copy=False)


def checked_game(game: int, size: int) -> int:
    """A place of a batch, as Python's own number."""
    if type(game) is int and 0 <= game < size:
        return game
    if not isinstance(game, np.integer) or not 0 <= game < size:
        raise ValueError(f"there is no game {game!r}; the batch has the games 0 to {size - 1}")
    return int(game)


def checked_seat(seat: int, players: int) -> int:
    """A seat of so many players, or SPECTATOR."""
    return checked_number(seat, SPECTATOR, players - 1, "a seat is the number of a player, or -1 for a spectator")


def checked_seats(seats: ArrayLike, players: int, games: int) -> NDArray[np.int64]:
    """(games,): a seat of so many players, or SPECTATOR, for each game; one that does not exist is a ValueError."""
    chosen = np.asarray(seats)
    if chosen.dtype.kind not in "iu" or not _all_between(SPECTATOR, chosen, players - 1):
        raise ValueError(f"a seat is a number from 0 to {players - 1}, or {SPECTATOR} for a spectator, not {seats!r}")
    if chosen.shape not in ((games,), (), (1,)):
        raise ValueError(f"one seat, or one for each of the {games} games is needed, not an array of {chosen.shape}")
    each = np.empty(games, np.int64)
    each[:] = chosen
    return each


def _all_between(low: int, numbers: NDArray[Any], high: int) -> bool:
    if not numbers.size:
        return True
    return bool(np.minimum.reduce(numbers, None) >= low and np.maximum.reduce(numbers, None) <= high)


def room_for(out: NDArray[Any] | None, *shape: int) -> NDArray[Any]:
    """The array to write numbers into: the one given, or a new one."""
    if out is None:
        return np.empty(shape, np.int8)
    check_room(out, *shape)
    return out


def check_room(out: Any, *shape: int) -> None:
    """Raise ValueError unless numbers can be written into an array of this shape: compiled loops do not look."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype not in WRITTEN or not out.flags.writeable:
        is_one = f"a {out.dtype} array of {out.shape}" if isinstance(out, np.ndarray) else repr(out)
        numbers = ", ".join(map(str, WRITTEN))
        raise ValueError(f"out is an array of {shape} that can be written to, of {numbers}; not {is_one}")
