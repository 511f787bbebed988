"""The layout of an observation: which numbers of one flat vector say what, as named blocks with axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kontor.fields import Axis

SMALLEST, LARGEST = -128, 127  # what the numbers can be; those beyond are cut


class Block(NamedTuple):
    """A part of an observation."""

    name: str
    start: int
    axes: tuple[Axis, ...]
    meaning: str

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.labels) for axis in self.axes)

    @property
    def slice(self) -> slice:
        return slice(self.start, self.start + prod(self.shape))


Layout = tuple[Block, ...]


def laid_out(parts: Iterable[tuple[str, tuple[Axis, ...], str]], start: int = 0) -> Layout:
    """Blocks one behind the other, from their names, axes and meanings."""
    blocks: list[Block] = []
    for name, axes, meaning in parts:
        blocks.append(Block(name, blocks[-1].slice.stop if blocks else start, axes, meaning))
    return tuple(blocks)


def length(layout: Layout) -> int:
    """How many numbers an observation has."""
    return int(layout[-1].slice.stop)


def split(layout: Layout, observation: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The blocks of an observation, or of an array of them, by name; views, not copies."""
    batch = observation.shape[:-1]
    return {block.name: observation[..., block.slice].reshape((*batch, *block.shape)) for block in layout}


def join(layout: Layout, blocks: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """The observation made of these blocks: the reverse of `split`."""
    first = layout[0]
    batch = blocks[first.name].shape[: blocks[first.name].ndim - len(first.shape)]
    return np.concatenate([blocks[block.name].reshape((*batch, -1)) for block in layout], axis=-1)


def explain(layout: Layout, observation: NDArray[Any]) -> str:
    """An observation in words: a line for each block, with everything in it that is not zero."""
    return "\n".join(f"{block.name}: {_entries(block, observation[block.slice])}" for block in layout)


def _entries(block: Block, values: Sequence[Any] | NDArray[Any]) -> str:
    labels, told = list(product(*(axis.labels for axis in block.axes))), []
    for index in np.flatnonzero(values).tolist():
        words, value = " ".join(labels[index]), values[index]
        told.append(words if value == 1 and words else f"{words} = {value:g}".removeprefix(" = "))
    return ", ".join(told) or "-"
