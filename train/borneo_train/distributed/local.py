"""Workers of this machine: the other processes of a training, started and ended by rank 0.

They start while rank 0 evaluates the learner for the first time, so they cost hardly any time. One that ends is missed
at once: rank 0 has a connection to it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numba
import torch
from borneo_agents.arena.workers.worker_process import worker_environment

from borneo_train.distributed.process_group import ProcessGroup, rendezvous
from borneo_train.run.config import CPU, Settings
from kontor.files import on_one_line

POLL_SECONDS = 0.02  # between two looks at a worker
EXIT_SECONDS = 5.0  # within which a worker is gone whose connection is closed
LAST_LINE = 300  # letters of it that are shown


class WorkerGroup:
    """The other processes of a training, as rank 0 uses them in a with block."""

    def __init__(self, group: ProcessGroup) -> None:
        self.group = group

    def start(self, checkpoints: Path) -> Self:
        """Start them, each from the newest checkpoint."""
        return self

    def command(self, command: int, progress: float) -> None:
        """Have all processes do something together, and know how much of the training is over."""
        self.group.broadcast(command, progress)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """End them."""


class LocalWorkers(WorkerGroup):
    """The processes beside this one; none if it learns alone."""

    devices: tuple[str, ...] = (CPU,)  # on which several learn

    def __init__(self, settings: Settings) -> None:
        if settings.workers > 1 and settings.device not in self.devices:
            raise ValueError(
                "--workers of one machine are for the CPU: on a GPU one process learns; machines with a card each "
                "learn together with --cluster"
            )
        super().__init__(ProcessGroup(size=settings.workers))
        self._settings = settings
        self.processes: list[subprocess.Popen[bytes]] = []
        self._has_met = False

    def start(self, checkpoints: Path) -> Self:
        if self.group.size > 1:
            self._scratch = tempfile.TemporaryDirectory()
            store = Path(self._scratch.name) / "store"
            self._store = rendezvous(store, self.group.size)
            about = {
                "parent": os.getpid(), "store": str(store), "settings": self._settings.as_dict(),
                "out": str(self._settings.out.absolute()), "checkpoints": str(checkpoints.absolute()),
            }  # fmt: skip
            self.processes = [self._started({"rank": rank} | about) for rank in range(1, self.group.size)]
        return self

    def _started(self, about: dict[str, Any]) -> subprocess.Popen[bytes]:
        with open(self._log(about["rank"]), "wb") as log:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "borneo_train.distributed.worker", json.dumps(about)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=worker_environment(),
                process_group=0,  # so that Ctrl-C reaches rank 0 alone
            )

    def command(self, command: int, progress: float) -> None:
        if self.processes and not self._has_met:
            self._meet()
        super().command(command, progress)

    def _meet(self) -> None:
        """Wait for the workers, who need some seconds to start."""
        ready = [ready_key(rank) for rank in range(1, self.group.size)]
        while not self._store.check(ready):
            if any(process.poll() is not None for process in self.processes):
                raise RuntimeError("a worker has not started")
            time.sleep(POLL_SECONDS)
        self.group.init(self._store, self._settings.device)
        self._has_met = True

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """End them all. If an error came from one that has ended, say that."""
        reason = self._why_ended() if isinstance(error, RuntimeError) else None
        for process in self.processes:
            process.kill()
            process.wait()
        if self.processes:
            self.group.destroy()
            self._scratch.cleanup()
        self.processes, self._has_met = [], False
        if reason:
            raise ValueError(reason) from error

    def _why_ended(self) -> str | None:
        """Which worker has ended, and why, in words: by its last line, unless it was killed."""
        deadline = time.monotonic() + EXIT_SECONDS
        while time.monotonic() < deadline:
            for rank, process in enumerate(self.processes, 1):
                if (code := process.poll()) is not None:
                    said = self._log(rank).read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
                    reason = signal.strsignal(-code) if code < 0 else said or f"status {code}"
                    shown = on_one_line(str(reason), LAST_LINE)
                    return f"worker {rank} has ended: {shown}; --resume goes on from the last checkpoint"
            time.sleep(POLL_SECONDS)
        return None

    def _log(self, rank: int) -> Path:
        return Path(self._scratch.name) / f"{rank}.log"


def ready_key(rank: int) -> str:
    """What a worker writes into the store when it is ready."""
    return f"worker {rank} is ready"


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Use so many threads of torch and of the engine."""
    engine_threads, torch_threads = numba.config.NUMBA_NUM_THREADS, torch.get_num_threads()
    try:
        numba.config.NUMBA_NUM_THREADS = count
        torch.set_num_threads(count)
        yield
    finally:
        numba.config.NUMBA_NUM_THREADS = engine_threads
        torch.set_num_threads(torch_threads)
