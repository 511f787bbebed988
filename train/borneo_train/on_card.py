"""Work on a card: side by side, or recorded as a CUDA graph and then replayed; and what is quick there.

Starting thousands of small kernels one by one from Python takes longer than running them. What is recorded works on the
same memory every time. Nothing goes through torch.compile: with torch 2.13 it made wrong gradients and illegal actions
of this code (pytorch/pytorch#193061 is one of the reasons), and recorded work is quick enough without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

FACTOR = 4  # weights are looked after together that have up to so many times the places of others
ROUND = 8  # rows of a table begin at such addresses, with zeros behind them: matrix units of cards want it so
WARM_UP = 3  # steps before one is recorded: what is allocated once must be there


def padded(numbers: int) -> int:
    """How long a row of so many numbers is, with the zeros behind them."""
    return -(-numbers // ROUND) * ROUND


def side_by_side(device: torch.device, *works: Callable[[], Any]) -> list[Any]:
    """Do independent work, on a card each on a stream of its own: small kernels do not fill a card one by one."""
    if device.type != "cuda":
        return [work() for work in works]
    here = torch.cuda.current_stream()
    streams = [here, *spare_streams(len(works) - 1)][: len(works)]
    for stream in streams[1:]:
        stream.wait_stream(here)
    found = []
    for stream, work in zip(streams, works, strict=True):
        with torch.cuda.stream(stream):
            found.append(work())
    for stream in streams[1:]:
        here.wait_stream(stream)
    return found


def meanwhile(device: torch.device, work: Callable[[], None], other: Callable[[], None]) -> None:
    """Do two things, beside a card at the same time: it gets on with the first where the other leaves it idle."""
    if device.type != "cuda":
        work()
        other()
        return
    here, (long, short) = torch.cuda.current_stream(), separate_streams()
    for stream in (long, short):
        stream.wait_stream(here)
    with torch.cuda.stream(long):
        begun = _apart().submit(as_here(device, work))  # starting kernels takes a thread's time as well
    with torch.cuda.stream(short):
        other()
    begun.result()
    for stream in (long, short):
        here.wait_stream(stream)


@cache
def _apart() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="apart")


def as_here(device: torch.device, work: Callable[[], Any]) -> Callable[[], Any]:
    """Work for another thread, on the stream of this one."""
    if device.type != "cuda":
        return work
    stream = torch.cuda.current_stream()

    def on_stream() -> Any:
        with torch.cuda.stream(stream):
            return work()

    return on_stream


@cache
def spare_streams(count: int) -> list[torch.cuda.Stream]:
    """Streams for short work, which goes before long work."""
    return [torch.cuda.Stream(priority=-1) for _ in range(count)]  # type: ignore[no-untyped-call]


@cache
def separate_streams() -> list[torch.cuda.Stream]:
    """A stream for long work, and one for short work beside it."""
    return [torch.cuda.Stream(), torch.cuda.Stream(priority=-1)]  # type: ignore[no-untyped-call]


@contextmanager
def recording(graph: torch.cuda.CUDAGraph) -> Iterator[None]:
    """Record what is done in here.

    Products that are recorded get scratch memory of their own. Else they would share it with those that the same
    streams are given later, and what is replayed beside these could wait for ever.
    """
    torch.cuda.synchronize()
    torch._C._cuda_clearCublasWorkspaces()
    with torch.cuda.graph(graph, capture_error_mode="relaxed"):
        yield
    torch._C._cuda_clearCublasWorkspaces()


class Recorded:
    """Work on a card that is recorded the second time it is done, and replayed from then on."""

    def __init__(self, work: Callable[[], None], generator: torch.Generator) -> None:
        self._work, self._generator = work, generator
        self._graph: torch.cuda.CUDAGraph | None = None
        self._warm = False

    def __call__(self) -> None:
        if not self._warm:
            self._warm = True
            self._work()
            return
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            self._graph.register_generator_state(self._generator)
            with recording(self._graph):
                self._work()
        self._graph.replay()


class RecordedStep:
    """A step of the optimisers on a card: some as they are, then one that is recorded, and replayed from then on."""

    def __init__(self, work: Callable[..., None]) -> None:
        self._work = work
        self._graph: torch.cuda.CUDAGraph | None = None
        self._rows: list[Tensor] = []
        self._done = 0

    def __call__(self, *rows: Tensor) -> None:
        if not self._rows:
            self._rows = [torch.empty(row.shape, dtype=row.dtype, device=row.device) for row in rows]
        for own, row in zip(self._rows, rows, strict=True):
            own.copy_(row)
        if self._done < WARM_UP:
            self._done += 1
            stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self._work(*self._rows)
            torch.cuda.current_stream().wait_stream(stream)
            return
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with recording(self._graph):
                self._work(*self._rows)
        self._graph.replay()


class Sources:
    """Where the places of each weight are, so that a card adds up gradients by looking, in the same order always.

    Weights with about as many places are looked after together, and places that some of them lack are -1.
    """

    def __init__(self, places: NDArray[np.int64]) -> None:
        self._places = places
        self._there: list[Tensor] = []

    def tensors(self, device: torch.device) -> list[Tensor]:
        """Where each weight comes among all that are looked after, and the places of each lot."""
        if not self._there:
            self._there = [torch.from_numpy(array).to(device) for array in self._found()]
        return self._there

    def _found(self) -> list[NDArray[np.int64]]:
        places = self._places
        order, counts = np.argsort(places, kind="stable"), np.bincount(places)
        ends = counts.cumsum()
        room = FACTOR ** np.ceil(np.log(counts) / np.log(FACTOR) - 1e-9).astype(np.int64)
        lots = []
        for size in np.unique(room):
            weights = np.flatnonzero(room == size)
            number = np.arange(size)
            found = order[np.minimum(ends[weights, None] - counts[weights, None] + number, len(places) - 1)]
            lots.append(np.where(number < counts[weights, None], found, -1))
        return [np.argsort(np.argsort(room, kind="stable"), kind="stable"), *lots]


class Spread(torch.autograd.Function):
    """Weights at their places."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, places: Tensor, back: Tensor, *sources: Tensor) -> Tensor:
        ctx.save_for_backward(back, *sources)
        return weights[places]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        back, *sources = ctx.saved_tensors
        (given,) = gradients
        sums = [torch.where(source >= 0, given[source.clamp(0)], 0.0).sum(1) for source in sources]
        return torch.cat(sums)[back], None, None, *(None for _ in sources)


def spread(weights: Tensor, places: Tensor, sources: Sources) -> Tensor:
    """Tied weights where they stand: `weights[places]`."""
    found: Tensor = Spread.apply(weights, places, *sources.tensors(weights.device))  # type: ignore[no-untyped-call]
    return found
