"""Whether records are games that can be: for files from strangers, for records written by hand, and for tests.

The compiled rules trust their records, so what comes from elsewhere is checked here first: the range of every field,
that all counts agree with where the cards lie, and that the decision being asked for can have come about. What passes
can be played to its end, and passes again after every move.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.compile import attributes
from borneo_env.engine.check_cards import (
    Wrong,
    somewhere,
    wrong_cards,
    wrong_ladders,
    wrong_piles,
    wrong_ports,
    wrong_warehouses,
)
from borneo_env.engine.check_decision import (
    decider,
    sharing_company,
    wrong_contests,
    wrong_decisions,
    wrong_distributions,
    wrong_hands,
    wrong_pasts,
    wrong_payments,
)
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.loops import first_stuck
from borneo_env.engine.state import (
    FIELDS,
    GAME,
    TAKE,
    copy_games,
    make_box,
)
from borneo_env.ruleset import Ruleset

AT_A_TIME = 4096  # games; more would only need more memory


class BrokenGame(ValueError):
    """A record that no game can have come to."""


def check_games(ruleset: Ruleset, games: NDArray[np.void]) -> None:
    """Raise BrokenGame, naming the game and what is wrong, unless all complete games are consistent.

    Whatever passes can be played to its end, and passes after every move.
    """
    check_type(games)
    for first in range(0, len(games), AT_A_TIME):
        some = games[first : first + AT_A_TIME]
        _raise_first(_wrongs(ruleset, some), first)
        room = np.empty(MAX_OPTIONS, np.int16)
        stuck = first_stuck(attributes(make_box(ruleset)), attributes(copy_games(some)), room)  # type: ignore[no-untyped-call]  # compiled
        if stuck >= 0:
            raise BrokenGame(f"game {first + stuck}: not true: a game without a legal move is over")


def check_readable(ruleset: Ruleset, games: NDArray[np.void]) -> None:
    """Raise BrokenGame unless all games, complete or redacted, are such that they can be looked at."""
    check_type(games)
    _raise_first(_ranges(games), 0)
    _raise_first(_readable(make_box(ruleset)[0], games), 0)


def check_type(games: NDArray[np.void]) -> None:
    """Raise BrokenGame unless these are records of this version's games."""
    if not isinstance(games, np.ndarray) or games.dtype != GAME or games.ndim != 1:
        raise BrokenGame("the records have other fields than this version's games")


def _raise_first(wrongs: Iterator[Wrong], first: int) -> None:
    for statement, wrong in wrongs:
        if wrong.any():
            raise BrokenGame(f"game {first + int(np.argmax(wrong))}: not true: {statement}")


def _wrongs(ruleset: Ruleset, games: NDArray[np.void]) -> Iterator[Wrong]:
    """Later checks rely on earlier ones: first the ranges, so that indexing is safe."""
    yield from _ranges(games)
    box = make_box(ruleset)[0]
    yield from _readable(box, games)
    yield from wrong_cards(ruleset, box, games)
    yield from wrong_piles(games)
    yield from wrong_ports(box, games)
    yield from wrong_warehouses(ruleset, box, games)
    yield from wrong_ladders(ruleset, box, games)
    yield from wrong_decisions(ruleset, games)
    yield from wrong_hands(ruleset, games)
    yield from wrong_payments(games)
    yield from wrong_contests(box, games)
    yield from wrong_distributions(games)
    yield from wrong_pasts(box, games)
    yield "the right player decides", games["player"] != decider(ruleset, games)


def _limits() -> tuple[np.dtype[np.void], list[tuple[str, NDArray[Any], NDArray[Any]]]]:
    """The record as one array for each stretch of fields of a type, and the limits of each array: quick to compare."""
    arrays: list[tuple[str, str, tuple[int, ...]]] = []
    limits: list[tuple[str, NDArray[Any], NDArray[Any]]] = []
    for dtype, fields in groupby(FIELDS, key=lambda field: field.dtype):
        stretch = list(fields)
        sizes = [math.prod(field.shape) for field in stretch]
        low = np.repeat(np.array([field.low for field in stretch], dtype), sizes)
        high = np.repeat(np.array([field.high for field in stretch], dtype), sizes)
        name = f"from {stretch[0].name} to {stretch[-1].name}"
        arrays.append((name, dtype, low.shape))
        limits.append((name, low, high))
    return np.dtype(arrays), limits


STRETCHES, LIMITS = _limits()


def _ranges(games: NDArray[np.void]) -> Iterator[Wrong]:
    stretches = games.view(STRETCHES)
    if all((stretches[name] >= low).all() and (stretches[name] <= high).all() for name, low, high in LIMITS):
        return
    for field in FIELDS:
        values = games[field.name]
        statement = f"{field.name} is from {field.low} to {field.high}"
        yield statement, somewhere((values < field.low) | (values > field.high))


def _readable(box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    """What must hold beside the ranges, so that nobody who looks at a game reads or writes outside of it."""
    yield "a ladder is not too long", somewhere(games["height"] > box["slots"])
    take = games["phase"] == TAKE
    yield "a port is shared in the phase take", (games["sharing_port"] >= 0) != take
    yield "somebody shares", take & ((games["sharer"] < 0) | (games["sharer"] >= games["n_sharers"]))
    height = games["height"][np.arange(len(games)), sharing_company(games)]
    yield "a trader that stands chooses", take & (games["sharing_rank"] >= height)
