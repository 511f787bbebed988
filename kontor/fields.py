"""Fields: what the record of a game is made of. One table says what each number may be, and who sees it.

A record is one entry of a NumPy array; a batch of games is such an array. From the fields follow the record's type, the
checks of what is loaded, the observation, what is hidden from whom, and the sheet that people see of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

PUBLIC = "public"  # everybody sees it
OWN = "own"  # its first axis is SEAT, and each player sees the own row
NOBODY = "nobody"  # not before it is turned up

NONE = -1  # in place of a member or a player: there is none
HIDDEN = -2  # a card lies there that the viewer does not see
OVER = -1  # in place of a player: the game is over
CHANCE = -2  # in place of a player: chance decides
SPECTATOR = -1  # in place of a seat: somebody who sees only what is public


@dataclass(frozen=True)
class Axis:
    """What an index or a value runs over: cards, places, amounts. The members' labels are what people and records read.

    `copies` says that the members are things, so many of each in the game, such as the cards of a deck: what a seat
    does not see of them can be dealt anew. Where that differs, `there(box, member)` says how many there are.
    """

    name: str
    members: tuple[Any, ...]  # texts or numbers
    copies: int = 0
    there: Callable[..., int] | None = None

    def __init__(
        self, name: str, members: Iterable[Any], copies: int = 0, there: Callable[..., int] | None = None
    ) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "members", tuple(members))
        object.__setattr__(self, "copies", copies)
        object.__setattr__(self, "there", there)

    @property
    def labels(self) -> tuple[str, ...]:
        """What people read of the members."""
        return tuple(map(str, self.members))

    def __len__(self) -> int:
        return len(self.members)


SEAT = Axis("seat", ())  # as many as the game has players at most
STREAMS = 2  # of random numbers that every game has: chance, and the choices of players who play at random


@dataclass(frozen=True)
class Field:
    """One field of a record: a number, or an array of them.

    Arguments:
        name: `g.name` in the rules.
        of: what the numbers are: (lowest, highest), or members of an axis, where -1 stands for none.
        each: the axes of an array, or plain sizes.
        meaning: a sentence.
        seen: who sees it: PUBLIC, OWN or NOBODY.
        dtype: of NumPy; by default the smallest integer that has room.
    """

    name: str
    of: Axis | tuple[int, int]
    each: tuple[Axis | int, ...] = ()
    meaning: str = ""
    seen: str = PUBLIC
    dtype: str = ""

    def __post_init__(self) -> None:
        if hasattr(np.record, self.name) or not self.name.isidentifier():
            raise ValueError(f"a field cannot be called {self.name!r}: NumPy's records have that name already")
        if self.seen not in (PUBLIC, OWN, NOBODY):
            raise ValueError(f"field {self.name} is seen by PUBLIC, OWN or NOBODY, not {self.seen!r}")
        if self.seen == OWN and self.each[:1] != (SEAT,):
            raise ValueError(f"field {self.name} is seen by its OWNer, so its first axis is SEAT: each=(SEAT, ...)")

    @property
    def is_things(self) -> bool:
        """Whether the values are things of which there are so many."""
        return isinstance(self.of, Axis) and self.of.copies > 0

    @property
    def low(self) -> int:
        if isinstance(self.of, tuple):
            return self.of[0]
        return HIDDEN if self.is_things and self.seen != PUBLIC else NONE

    def high(self, seats: int) -> int:
        return self.of[1] if isinstance(self.of, tuple) else size_of(self.of, seats) - 1

    def shape(self, seats: int) -> tuple[int, ...]:
        return tuple(size_of(axis, seats) for axis in self.each)

    def type(self, seats: int) -> str:
        fitting = (name for name in ("i1", "i2", "i4", "i8") if self.high(seats) <= np.iinfo(name).max >= -self.low)
        return self.dtype or next(fitting)


def size_of(axis: Axis | int, seats: int) -> int:
    """How many members an axis has in a game of so many seats."""
    if isinstance(axis, int):
        return axis
    return seats if axis is SEAT else len(axis)


def all_fields(fields: Sequence[Field], phases: Sequence[str], streams: int) -> tuple[Field, ...]:
    """The fields of a game, and the general ones that its author has not listed."""
    general = (
        Field("rng", (0, 2**64 - 1), (STREAMS + streams,), "random streams: chance, random choices", NOBODY, "u8"),
        Field("number", (0, 2**63 - 1), (), "which game of its seed this is: it tells the deal", NOBODY, "i8"),
        Field("turns", (0, 32_000), (), "how many turns have begun"),
        Field("phase", (0, len(phases) - 1), (), "what is being decided"),
        Field("player", (CHANCE, 127), (), "who decides; -1 when the game is over", dtype="i1"),
        Field("turn", SEAT, (), "whose turn it is"),
    )
    listed = {field.name for field in fields}
    return (*(field for field in general if field.name not in listed), *fields)


def record_type(fields: Sequence[Field], seats: int) -> np.dtype[np.void]:
    """The type of the record: no byte between the fields, and a multiple of eight of them, so that equal games have
    equal bytes. Fields that would not fit so are put in the order of their sizes."""
    columns = [(field.name, np.dtype(field.type(seats)), field.shape(seats)) for field in fields]
    bytes_of = [np.dtype((dtype, shape)).itemsize for _, dtype, shape in columns]
    starts = np.concatenate([[0], np.cumsum(bytes_of)])
    if any(start % dtype.itemsize for start, (_, dtype, _) in zip(starts, columns, strict=False)):
        columns.sort(key=lambda column: -column[1].itemsize)
    if padding := -int(starts[-1]) % 8:
        columns.append(("padding", np.dtype("i1"), (padding,)))
    return np.dtype(columns, align=True)
