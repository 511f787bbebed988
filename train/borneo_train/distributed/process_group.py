"""Processes that learn as one: each plays games of its own, and all take the same steps.

Gradients are averaged before each step (data parallelism), and so is what decides how far steps go. So weights are the
same everywhere at all times. Rank 0 says what all do next.
"""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

BACKEND = {"cpu": "gloo", "cuda": "nccl"}  # of torch.distributed, by device
TIMEOUT = timedelta(days=30)  # ranks wait while rank 0 evaluates; a process that ends is missed at once
STEP, CHECKPOINT, SHUTDOWN = range(3)  # commands of rank 0: play and learn; save your part of a checkpoint; end


class ProcessGroup:
    """This process among those that learn as one; a single one has nobody to talk to."""

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    def init(self, store: Any, device: str) -> None:
        """Meet the other processes of this machine; nobody outside can."""
        os.environ["GLOO_SOCKET_IFNAME"] = loopback()
        dist.init_process_group(BACKEND[device], store=store, rank=self.rank, world_size=self.size, timeout=TIMEOUT)

    def mean(self, values: Tensor) -> Tensor:
        """The mean of all processes' values, which replaces them."""
        if self.size > 1:
            dist.all_reduce(values)
            values /= self.size
        return values

    def average_gradients(self, network: nn.Module) -> None:
        """Put the mean of all processes' gradients in the place of this one's: all of them in one message."""
        if self.size > 1:
            gradients = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
            mean = self.mean(torch.cat([gradient.flatten() for gradient in gradients]))
            for gradient, part in zip(gradients, mean.split([one.numel() for one in gradients]), strict=True):  # type: ignore[no-untyped-call]
                gradient.copy_(part.view_as(gradient))

    def broadcast(self, command: int = STEP, progress: float = 0.0) -> tuple[int, float]:
        """The command of rank 0, and how much of the training is over; all processes call it together."""
        sent = torch.tensor([command, progress], dtype=torch.float64)
        if self.size > 1:
            dist.broadcast(sent, 0)
        return int(sent[0]), float(sent[1])

    def gather(self, content: bytes) -> list[bytes]:
        """For rank 0 the bytes of all processes, by rank; all processes call it together."""
        if self.size == 1:
            return [content]
        found: list[bytes] | None = [b""] * self.size if self.rank == 0 else None
        dist.gather_object(content, found)
        return found or []

    def destroy(self) -> None:
        """Leave the group, whatever was under way."""
        if self.size > 1 and dist.is_initialized():
            dist.destroy_process_group()


SINGLE = ProcessGroup()


def rendezvous(path: Path, size: int) -> Any:
    """Where so many processes meet: a file."""
    return dist.FileStore(str(path), size)  # type: ignore[attr-defined]  # torch exports it, but does not say so


def loopback() -> str:
    """The network interface that only this machine reaches."""
    return next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
