"""Work on a card that is recorded as a CUDA graph and then replayed.

Starting thousands of small kernels one by one from Python takes longer than running them. What is recorded works on the
same memory every time.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

WARM_UP = 3  # steps before one is recorded: what is compiled and allocated must be there


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
            torch.cuda.synchronize()
            with torch.cuda.graph(self._graph, capture_error_mode="relaxed"):
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
            torch.cuda.synchronize()
            with torch.cuda.graph(self._graph, capture_error_mode="relaxed"):
                self._work(*self._rows)
        self._graph.replay()
