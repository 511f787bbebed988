"""A worker process as its parent sees it."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.play.calls import Call
from borneo_agents.arena.store.folder import LOG
from borneo_agents.arena.workers.heartbeat import SIZE, WRITE_STACK, HeartbeatState, SharedHeartbeat
from borneo_agents.arena.workers.retries import ChunkTask
from borneo_agents.cluster import TOKEN
from borneo_agents.protocol.process import SUPERVISOR, import_paths
from borneo_agents.protocol.supervisor import end_group, end_tree

SOON = 0.05  # seconds between two looks at a worker
MOST_LOOKS = 10  # for the stack of a worker that hangs
LONGEST_STACK = 2**16  # bytes
MEMORY = 2**62  # bytes it may have: no less than there are
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class WorkerJob(NamedTuple):
    """What a worker must know before its first chunk."""

    tournament: Tournament
    folder: Path
    records: bool
    left_out: set[int]  # agents that are not asked, and so need not get ready


class WorkerProcess:
    """A process that plays chunks of a job; like bots it has a supervisor, and ends with this process."""

    task: ChunkTask

    def __init__(self, job: WorkerJob) -> None:
        self._given = 0
        self._seen = (-1, time.monotonic())  # how many notes there were, and since when there are as many
        self._stack = tempfile.TemporaryFile()  # noqa: SIM115  # closed in `end`
        with tempfile.TemporaryFile() as heartbeat, open(job.folder / LOG, "ab") as log:
            heartbeat.truncate(SIZE)
            self._heartbeat = SharedHeartbeat(heartbeat.fileno())
            leash, self._leash = os.pipe()  # the supervisor holds one end, and sees this process's end at it
            self._process = subprocess.Popen(
                [
                    *SUPERVISOR, str(leash), str(MEMORY),
                    sys.executable, "-P", "-u", "-m", "borneo_agents.arena.workers.worker",
                    str(heartbeat.fileno()), str(self._stack.fileno()),
                ],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[leash, heartbeat.fileno(), self._stack.fileno()],
                env=worker_environment(),
                start_new_session=True,  # so that Ctrl-C reaches the parent alone
            )  # fmt: skip
            os.close(leash)
        self._send(job)

    def give(self, task: ChunkTask) -> None:
        """Have it play a chunk."""
        self.task = task
        self._given += 1
        self._send((task.deals, task.plan))

    def _send(self, message: Any) -> None:
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):  # it will be missed soon
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()

    def finished(self) -> bool:
        """Whether it has played what it was given."""
        return self.state().finished == self._given

    def state(self) -> HeartbeatState:
        return self._heartbeat.read()

    def running(self) -> tuple[Call | None, float]:
        """The call that is running, and for how many seconds."""
        state = self.state()
        if state.notes != self._seen[0]:
            self._seen = (state.notes, time.monotonic())
        return state.call, time.monotonic() - self._seen[1]

    def gone(self) -> bool:
        return self._process.poll() is not None and not self.finished()

    def status(self) -> str:
        """How it has ended."""
        code = self._process.poll() or 0
        return f"{signal.strsignal(-code)}" if code < 0 else f"status {code}"

    def stack(self) -> str:
        """Where it is or was, as faulthandler has written it; empty if it has not."""
        if self._process.poll() is None:
            os.kill(self._process.pid, WRITE_STACK)
            for _ in range(MOST_LOOKS):
                if os.fstat(self._stack.fileno()).st_size or self._process.poll() is not None:
                    break
                time.sleep(SOON)
        return os.pread(self._stack.fileno(), LONGEST_STACK, 0).decode("utf-8", "replace")

    def end(self) -> None:
        """End it, and the processes that agents have started in it; once is enough."""
        if self._stack.closed:
            return
        (end_tree if self._process.poll() is None else end_group)(self._process.pid)
        self._process.wait()
        os.close(self._leash)
        self._stack.close()
        if self._process.stdin:
            with contextlib.suppress(BrokenPipeError):  # what it was last sent and never read
                self._process.stdin.close()


def worker_environment() -> dict[str, str]:
    """This process's environment, with the same import paths, and one thread for each worker: they fill the cores.

    What opens a cluster of Ray is none of an agent's business.
    """
    ours = {name: value for name, value in os.environ.items() if name != TOKEN}
    return {**ours, "PYTHONPATH": import_paths(), **dict.fromkeys(ONE_THREAD, "1")}
