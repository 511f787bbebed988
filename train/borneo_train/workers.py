"""Workers: the other processes of a training, started and ended by the first one.

The first process measures, tells and keeps. The others do what it says (see `worker`). They begin while it measures
the learner for the first time, so hardly anybody waits for them. One that ends is missed at once: the first process
has a connection to it.
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
from borneo_train.settings import CPU, Settings
from borneo_train.together import READY, Together, meeting_place

SOON = 0.02  # seconds between two looks at a worker
MISSED = 5.0  # seconds within which a worker is gone whose connection is closed
LAST_WORDS = 300  # letters of them that are told
STORE = "together"  # the file by which all meet


class Company(Protocol):
    """Those who learn beside the first process, as it sees them."""

    together: Together

    def start(self, checkpoints: Path) -> Company:
        """Have them begin, each where the newest checkpoint has it."""

    def order(self, order: int, progress: float) -> None:
        """Have all do something together, and know how much of the training is over."""

    def __enter__(self) -> Company: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None: ...


class WorkerEnded(ValueError):
    """A worker that has ended before its training."""


class Workers:
    """The processes beside this one, in a with block; none if it learns alone."""

    devices: tuple[str, ...] = (CPU,)  # on which several learn

    def __init__(self, settings: Settings) -> None:
        if settings.workers > 1 and settings.device not in self.devices:
            raise ValueError(
                "--workers of one machine are for the CPU: on a GPU one process learns; machines with a card each "
                "learn together with --cluster"
            )
        self.together = Together(count=settings.workers)
        self._settings = settings
        self._processes: list[subprocess.Popen[bytes]] = []
        self._joined = False

    def start(self, checkpoints: Path) -> Workers:
        """Start them, each where the newest checkpoint has it."""
        if self.together.count > 1:
            self._folder = tempfile.TemporaryDirectory()
            self._store = meeting_place(self._file(STORE), self.together.count)
            self._processes = [self._started(rank, checkpoints) for rank in range(1, self.together.count)]
        return self

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """End them all. If an error came from one that has ended, say that."""
        gone = self._gone() if isinstance(error, RuntimeError) else None
        for process in self._processes:
            process.kill()
            process.wait()
        if self._processes:
            self.together.leave()
            self._folder.cleanup()
        self._processes, self._joined = [], False
        if gone:
            raise WorkerEnded(gone) from error

    def order(self, order: int, progress: float) -> None:
        """Have all do something together; the first time, wait until they are there."""
        if self._processes and not self._joined:
            self._join()
        self.together.order(order, progress)

    def pids(self) -> list[int]:
        """Their numbers."""
        return [process.pid for process in self._processes]

    def _started(self, rank: int, checkpoints: Path) -> subprocess.Popen[bytes]:
        about = {
            "rank": rank, "parent": os.getpid(), "store": str(self._file(STORE)),
            "settings": self._settings.as_dict(), "out": str(self._settings.out.absolute()),
            "checkpoints": str(checkpoints.absolute()),
        }  # fmt: skip
        with open(self._log(rank), "wb") as log:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "borneo_train.worker", json.dumps(about)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=worker_environment(),
                process_group=0,  # so that Ctrl-C reaches the first process alone
            )

    def _join(self) -> None:
        """Meet the workers, who need some seconds to begin."""
        ready = [READY.format(rank) for rank in range(1, self.together.count)]
        while not self._store.check(ready):
            if any(process.poll() is not None for process in self._processes):
                raise RuntimeError("a worker has not begun")
            time.sleep(SOON)
        self.together.join(self._store, self._settings.device)
        self._joined = True

    def _gone(self) -> str | None:
        """Which worker has ended, and why, in words; the last moment to do so is now."""
        until = time.monotonic() + MISSED
        while time.monotonic() < until:
            for rank, process in enumerate(self._processes, 1):
                if process.poll() is not None:
                    told = on_one_line(self._last_words(rank) or status(process.returncode), LAST_WORDS)
                    return f"worker {rank} has ended: {told}; --resume goes on from the last checkpoint"
            time.sleep(SOON)
        return None

    def _last_words(self, rank: int) -> str:
        words = self._log(rank).read_text(encoding="utf-8", errors="replace").strip()
        return words.rpartition("\n")[2]

    def _file(self, name: str) -> Path:
        return Path(self._folder.name) / name

    def _log(self, rank: int) -> Path:
        return self._file(f"{rank}.log")


@contextmanager
def one_thread(workers: int) -> Iterator[None]:
    """Use one thread of torch and of the engine if there are several processes: they fill the cores."""
    if workers == 1:
        yield
        return
    of_engine, of_torch = numba.config.NUMBA_NUM_THREADS, torch.get_num_threads()
    try:
        numba.config.NUMBA_NUM_THREADS = 1
        torch.set_num_threads(1)
        yield
    finally:
        numba.config.NUMBA_NUM_THREADS = of_engine
        torch.set_num_threads(of_torch)


def status(code: int) -> str:
    """How a process has ended."""
    return str(signal.strsignal(-code)) if code < 0 else f"status {code}"
