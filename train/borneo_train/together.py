"""Processes that learn together: each plays games of its own, and all take the same steps.

Gradients are averaged over all of them before each step, and so is everything else that decides how far it goes. So
their weights are the same at all times, and nothing depends on which of them is quicker. The first process says what
they do next.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

BACKEND = {"cpu": "gloo", "cuda": "nccl"}  # of torch.distributed, by device
PATIENCE = timedelta(days=30)  # the others wait while the first one measures; a process that ends is missed at once
READY = "worker {} is ready"  # what a worker writes where all meet
# Orders: begin with the same; play and learn; learn from what was played ahead; write a checkpoint; be the opponents
# from now on; end.
AGREE, ROUND, SETTLE, KEEP, FREEZE, LEAVE = range(6)


class Together:
    """This process among those that learn together; alone it has nobody to talk to."""

    def __init__(self, rank: int = 0, count: int = 1) -> None:
        self.rank, self.count = rank, count
        self._open: dict[nn.Module, tuple[Any, Tensor, list[Tensor], Callable[[], None]]] = {}  # messages that travel

    def join(self, store: Any, device: str) -> None:
        """Meet the others on this machine; nobody outside can."""
        os.environ["GLOO_SOCKET_IFNAME"] = loopback()
        dist.init_process_group(BACKEND[device], store=store, rank=self.rank, world_size=self.count, timeout=PATIENCE)

    def total(self, values: Tensor) -> Tensor:
        """The sum of what all have."""
        if self.count > 1:
            self._add_up(values).wait()
        return values

    def average(self, network: nn.Module, then: Callable[[], None]) -> None:
        """Put the mean of all processes' gradients in the place of this one's, and then do something with it.

        That waits until `finish`: messages travel while another network is looked at.
        """
        if self.count == 1:
            then()
            return
        gradients = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
        whole = torch.cat([gradient.flatten() for gradient in gradients])
        self._open[network] = self._add_up(whole), whole, gradients, then

    def finish(self, *networks: nn.Module) -> None:
        """Wait for the means of networks, and do what is to be done with them; of all, if none is named."""
        for network in [one for one in self._open if one in networks or not networks]:
            message, whole, gradients, then = self._open.pop(network)
            message.wait()
            parts = torch.split_with_sizes(whole / self.count, [gradient.numel() for gradient in gradients])
            for gradient, part in zip(gradients, parts, strict=True):
                gradient.copy_(part.view_as(gradient))
            then()

    def _add_up(self, values: Tensor) -> Any:
        """Put the sum of what all have in the place of values, as soon as the message that is returned has come."""
        return dist.all_reduce(values, async_op=True)

    def share(self, values: Tensor) -> None:
        """Put what the first process has in the place of values."""
        if self.count > 1:
            dist.broadcast(values, 0)

    def order(self, order: int = ROUND, progress: float = 0.0) -> tuple[int, float]:
        """What the first process says is done next, and how much of the training is over; all call it together."""
        said = torch.tensor([order, progress], dtype=torch.float64)
        if self.count > 1:
            dist.broadcast(said, 0)
        return int(said[0]), float(said[1])

    def collect(self, content: bytes) -> list[bytes]:
        """For the first process what all have, in the order of their ranks; all call it together."""
        if self.count == 1:
            return [content]
        size_of = torch.zeros(self.count, dtype=torch.int64)
        size_of[self.rank] = len(content)
        sizes: list[int] = self.total(size_of).tolist()
        own = torch.zeros(max(1, *sizes), dtype=torch.uint8)
        own[: len(content)] = torch.frombuffer(bytearray(content or b"\0"), dtype=torch.uint8)[: len(content)]
        found = [torch.empty_like(own) for _ in sizes] if self.rank == 0 else None
        dist.gather(own, found)
        return [part[:size].numpy().tobytes() for part, size in zip(found or [], sizes, strict=False)]

    def leave(self) -> None:
        """Talk to nobody any more, whatever was under way."""
        self._open.clear()
        if self.count > 1 and dist.is_initialized():
            dist.destroy_process_group()


ALONE = Together()


def meeting_place(path: Path, count: int) -> Any:
    """Where so many processes meet: a file."""
    return dist.FileStore(str(path), count)  # type: ignore[attr-defined]  # torch exports it, but does not say so


def loopback() -> str:
    """The network interface that only this machine reaches."""
    return next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
