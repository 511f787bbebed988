"""Process: a process beside the server for long work, so that pages need not share the interpreter with it.

Little is imported here: the process begins with this file.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

BEHIND = 10  # how nice it is: pages come first


class BackgroundProcess:
    """A process that does one job after the other. It is started for the first one, and anew after it has ended.

    It ends with this process, however that ends.
    """

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, job: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """The result of a job to come; BrokenExecutor, now or then, if the process was ended from outside."""
        if self._pool is None:
            context = get_context("spawn")
            ends, self._alive = context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(1, context, _begin, (ends,))
        try:
            return self._pool.submit(job, *arguments)
        except BrokenProcessPool:
            self.close()
            return self.submit(job, *arguments)

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._pool is not None:
            self._alive.close()
            self._pool.shutdown(wait=False)  # whoever waits for a job hears that it is broken
            self._pool = None


def _begin(ends: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    if hasattr(os, "nice"):
        os.nice(BEHIND)
    threading.Thread(target=_end_with, args=(ends,), daemon=True).start()


def _end_with(ends: Connection) -> None:
    """End this process when the server has closed the other end of a pipe, or was killed."""
    with suppress(EOFError, OSError):
        ends.recv()
    os._exit(0)
