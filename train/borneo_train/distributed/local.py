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
from typing import Any, Protocol

import numba
import torch
from borneo_agents.arena.workers.worker_process import worker_environment

from borneo_env.files import on_one_line
from borneo_train.distributed.process_group import ProcessGroup, rendezvous
from borneo_train.run.config import CPU, Settings

POLL_SECONDS = 0.02  # between two looks at a worker
EXIT_SECONDS = 5.0  # within which a worker is gone whose connection is closed
LAST_LINE = 300  # letters of it that are shown
STORE = "store"  # the file by which all meet


class WorkerGroup(Protocol):
    """The other processes of a training, as rank 0 uses them."""

    group: ProcessGroup

    def start(self, checkpoints: Path) -> WorkerGroup:
        """Start them, each from the newest checkpoint."""

    def command(self, command: int, progress: float) -> None:
        """Have all processes do something together, and know how much of the training is over."""

    def __enter__(self) -> WorkerGroup: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None: ...


class WorkerEnded(ValueError):
    """A worker that has ended before its training."""


class LocalWorkers:
    """The processes beside this one, in a with block; none if it learns alone."""

    devices: tuple[str, ...] = (CPU,)  # on which several learn

    def __init__(self, settings: Settings) -> None:
        if settings.workers > 1 and settings.device not in self.devices:
            raise ValueError(
                "--workers of one machine are for the CPU: on a GPU one process learns; machines with a card each "
                "learn together with --cluster"
            )
        self.group = ProcessGroup(size=settings.workers)
        self._settings = settings
        self._processes: list[subprocess.Popen[bytes]] = []
        self._has_met = False

    def start(self, checkpoints: Path) -> LocalWorkers:
        """Start them, each from the newest checkpoint."""
        if self.group.size > 1:
            self._folder = tempfile.TemporaryDirectory()
            self._store = rendezvous(self._file(STORE), self.group.size)
            self._processes = [self._started(rank, checkpoints) for rank in range(1, self.group.size)]
        return self

    def __enter__(self) -> LocalWorkers:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """End them all. If an error came from one that has ended, say that."""
        reason = self._why_ended() if isinstance(error, RuntimeError) else None
        for process in self._processes:
            process.kill()
            process.wait()
        if self._processes:
            self.group.destroy()
            self._folder.cleanup()
        self._processes, self._has_met = [], False
        if reason:
            raise WorkerEnded(reason) from error

    def command(self, command: int, progress: float) -> None:
        """Have all processes do something together; the first time, wait until they are there."""
        if self._processes and not self._has_met:
            self._meet()
        self.group.broadcast(command, progress)

    def pids(self) -> list[int]:
        """Their process numbers."""
        return [process.pid for process in self._processes]

    def _started(self, rank: int, checkpoints: Path) -> subprocess.Popen[bytes]:
        about = {
            "rank": rank, "parent": os.getpid(), "store": str(self._file(STORE)),
            "settings": self._settings.as_dict(), "out": str(self._settings.out.absolute()),
            "checkpoints": str(checkpoints.absolute()),
        }  # fmt: skip
        with open(self._log(rank), "wb") as log:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "borneo_train.distributed.worker", json.dumps(about)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=worker_environment(),
                process_group=0,  # so that Ctrl-C reaches rank 0 alone
            )

    def _meet(self) -> None:
        """Wait for the workers, who need some seconds to start."""
        ready = [ready_key(rank) for rank in range(1, self.group.size)]
        while not self._store.check(ready):
            if any(process.poll() is not None for process in self._processes):
                raise RuntimeError("a worker has not started")
            time.sleep(POLL_SECONDS)
        self.group.init(self._store, self._settings.device)
        self._has_met = True

    def _why_ended(self) -> str | None:
        """Which worker has ended, and why, in words."""
        deadline = time.monotonic() + EXIT_SECONDS
        while time.monotonic() < deadline:
            for rank, process in enumerate(self._processes, 1):
                if process.poll() is not None:
                    killed = process.returncode < 0  # and has written nothing of it
                    last_line = "" if killed else self._last_line(rank)
                    reason = on_one_line(last_line or status(process.returncode), LAST_LINE)
                    return f"worker {rank} has ended: {reason}; --resume goes on from the last checkpoint"
            time.sleep(POLL_SECONDS)
        return None

    def _last_line(self, rank: int) -> str:
        return self._log(rank).read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]

    def _file(self, name: str) -> Path:
        return Path(self._folder.name) / name

    def _log(self, rank: int) -> Path:
        return self._file(f"{rank}.log")


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


def status(code: int) -> str:
    """How a process has ended."""
    return str(signal.strsignal(-code)) if code < 0 else f"status {code}"
