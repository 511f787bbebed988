"""Work on a card as CUDA graphs: starting thousands of small kernels one by one takes longer than running them.

What is captured works on the same memory every time. Nothing goes through torch.compile: with torch 2.13 it made wrong
gradients and illegal actions of this code (pytorch/pytorch#193061 is one of the reasons).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

WARM_UP = 3  # calls before one is captured: what is allocated once must be there


def graphed(work: Callable[..., None], on_card: bool) -> Callable[..., None]:
    """Work that is replayed as a CUDA graph; the work itself where there is no card."""
    return CudaGraph(work) if on_card else work


class CudaGraph:
    """Work on tensors of the same shapes: done as it is some times, then captured, and replayed from then on."""

    def __init__(self, work: Callable[..., None]) -> None:
        self._work = work
        self._graph: torch.cuda.CUDAGraph | None = None
        self._inputs: list[Tensor] = []
        self._calls = 0

    def __call__(self, *inputs: Tensor) -> None:
        if not self._inputs:
            self._inputs = [torch.empty_like(tensor) for tensor in inputs]
        for own, tensor in zip(self._inputs, inputs, strict=True):
            own.copy_(tensor)
        self._calls += 1
        if self._calls <= WARM_UP:
            stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self._work(*self._inputs)
            torch.cuda.current_stream().wait_stream(stream)
            return
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph, capture_error_mode="relaxed"):
                self._work(*self._inputs)
        self._graph.replay()


def side_by_side(
    first: Callable[[], Tensor], second: Callable[[], Tensor], device: torch.device
) -> tuple[Tensor, Tensor]:
    """Both results; a card works on both at once, on two streams: small kernels do not fill it one by one."""
    if device.type != "cuda":
        return first(), second()
    here, other = torch.cuda.current_stream(), spare_stream()
    other.wait_stream(here)
    with torch.cuda.stream(other):
        found = second()
    results = first(), found
    here.wait_stream(other)
    return results


@cache
def spare_stream() -> torch.cuda.Stream:
    """The stream beside the usual one."""
    return torch.cuda.Stream()  # type: ignore[no-untyped-call]
