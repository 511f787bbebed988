"""Workers: processes that play chunks, and the eye on them.

A worker that hangs is ended, and one that ends by itself is missed. Either way its last heartbeat says whom it asked.
Its chunk is played again by a new worker, which asks this agent for one game at a time. Then the very decision is
known, and that game is lost by it. `blame` says what follows from it for other games.
A process can also be ended from outside: a chunk whose worker ends while no agent is asked is played again `RETRIES`
times.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from borneo_agents.arena.blame import Experience, Task
from borneo_agents.arena.chairs import ENDED, LEAVING, MAKING, TIME_OUT, WARMING_UP, Asked
from borneo_agents.arena.folder import LOG, Folder
from borneo_agents.arena.heartbeat import SIZE, TELL_STACK, Beat, SharedHeartbeat, packed
from borneo_agents.arena.match import Charge
from borneo_agents.arena.tournament import Tournament
from borneo_agents.arena.waiting import Notices
from borneo_agents.cluster import TOKEN
from borneo_agents.protocol.process import import_paths
from borneo_agents.protocol.supervisor import end_group, end_tree
from borneo_env.agent import is_registered
from borneo_env.traces import current_folder, where_it_was

RETRIES = 2
READY, READY_PER_SECOND = 40.0, 10.0  # seconds for a first call, and more for each second of the time limit
COMPILING = 600.0  # seconds more for agents that are installed: they may compile
GRACE = 1.0  # seconds a call may take beyond its limit until the worker is ended: it may yet answer, too late
SOON = 0.05  # seconds between two looks at the workers
MOST_LOOKS = 10  # for the stack of a worker that hangs
LONGEST_STACK = 2**16  # bytes
TAIL = 2000  # bytes of the log that are shown when the arena fails
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

WHEN = {WARMING_UP: "at its first call, before any game", MAKING: "in its __init__"}


class ArenaError(ValueError):
    """The arena itself failed, not an agent."""


class Workers:
    """So many workers for one tournament; use it as a context, which ends them."""

    def __init__(
        self,
        tournament: Tournament,
        folder: Folder,
        jobs: int,
        *,
        records: bool = False,
        warm_up_limit: float | None = None,
        scratch: bool = False,
    ) -> None:
        self.tournament = tournament
        self.folder = folder
        self.jobs = jobs
        self.records = records
        self.warm_up_limit = warm_up_limit
        self.scratch = scratch  # whether the folder can go when this process has gone
        self.experience = Experience()
        self.workers: list[Worker] = []
        self.notices = Notices(tournament.agents)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.end()

    def play(self, chunks: list[range]) -> Iterator[tuple[int, range | None]]:
        """Play chunks. Yields, again and again, how many games of unfinished chunks are over, and a finished chunk."""
        waiting = [Task(deals) for deals in reversed(chunks)]
        self.workers = [self.start(waiting.pop()) for _ in range(min(self.jobs, len(chunks)))]
        while self.workers:
            for i, worker in enumerate(self.workers):
                if worker.finished():
                    finished = worker.task.deals
                    if waiting:
                        self.give(worker, waiting.pop())
                    else:
                        self.workers.remove(worker)
                        worker.end()
                    yield self.games_over(), finished
                    break
                self.workers[i] = self.attended(worker)
            else:
                yield self.games_over(), None
                time.sleep(SOON)

    def attended(self, worker: Worker) -> Worker:
        """A worker that has been looked at, or the one that takes the place of one that hangs or has gone."""
        return self._replace(worker) if self._stuck(worker) or worker.gone() else worker

    def _stuck(self, worker: Worker) -> bool:
        """Whether it has been running an agent's code for too long."""
        asked, since = worker.asking()
        limit = self._limit(asked) if asked else None
        self.notices.look(asked, since, limit)
        return limit is not None and since > limit

    def _limit(self, asked: Asked) -> float:
        """Seconds that a call may take."""
        if asked.round not in (WARMING_UP, MAKING):
            return asked.views * self.tournament.time_limit + GRACE
        if self.warm_up_limit is not None:
            return self.warm_up_limit
        compiling = COMPILING if is_registered(self.tournament.agents[asked.agent]) else 0.0
        return READY + READY_PER_SECOND * self.tournament.time_limit + compiling

    def games_over(self) -> int:
        return sum(worker.beat().games_over for worker in self.workers)

    def start(self, task: Task) -> Worker:
        """A new worker for a chunk."""
        worker = Worker(self.tournament, self.folder, self.scratch)
        worker.say({
            "tournament": packed(self.tournament), "folder": str(self.folder.path),
            "records": self.records, "cold": sorted(self.experience.cold),
        })  # fmt: skip
        self.give(worker, task)
        return worker

    def give(self, worker: Worker, task: Task) -> None:
        """Have a worker play a chunk."""
        self.experience.prepare(task)
        worker.give(task)

    def _replace(self, worker: Worker) -> Worker:
        """A new worker for the chunk of one that hangs or has gone, with orders about the agent it was asking."""
        gone, asked, task = worker.gone(), worker.beat().asked, worker.task
        stack = worker.stack()  # meanwhile it may answer, too late, and go on to ask another
        worker.end()
        if asked is None and gone:
            task.lost_workers += 1
            if task.lost_workers > RETRIES:
                raise ArenaError(f"workers end, and no agent is to blame; their last words were:\n{self._last_words()}")
        elif asked is not None and asked.round != LEAVING:
            kind, reason = self._told(asked, worker.status() if gone else "")
            self.experience.blame(task, asked, Charge(kind, reason, where_it_was(stack, current_folder())))
        return self.start(task)

    def _told(self, asked: Asked, status: str) -> tuple[str, str]:
        """The kind of a fault, and what has happened in words."""
        when = WHEN.get(asked.round, f"at decision {asked.round}")
        if status:
            return ENDED, f"the process has ended ({status}) {when}"
        return TIME_OUT, f"no answer within {self._limit(asked):.3g} s {when}"

    def _last_words(self) -> str:
        with open(self.folder.path / LOG, "rb") as log:
            log.seek(-min(TAIL, log.seek(0, os.SEEK_END)), os.SEEK_END)
            return log.read().decode("utf-8", "replace").strip()


class Worker:
    """A process that plays chunks, as its parent sees it."""

    task: Task

    def __init__(self, tournament: Tournament, folder: Folder, scratch: bool) -> None:
        self._given = 0
        self._seen = (-1, time.monotonic())  # the last heartbeat, and when it was first seen
        self._stack = tempfile.TemporaryFile()  # noqa: SIM115  # closed in `end`
        with tempfile.TemporaryFile() as heartbeat, open(folder.path / LOG, "ab") as log:
            heartbeat.truncate(SIZE)
            self._heartbeat = SharedHeartbeat(heartbeat.fileno())
            self._process = subprocess.Popen(
                [
                    sys.executable, "-P", "-u", "-m", "borneo_agents.arena.worker",
                    str(os.getpid()), str(heartbeat.fileno()), str(self._stack.fileno()),
                    str(folder.path) if scratch else "",
                ],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[heartbeat.fileno(), self._stack.fileno()],
                text=True,
                encoding="utf-8",
                env=environment(),
                start_new_session=True,  # so that Ctrl-C reaches the parent alone
            )  # fmt: skip

    def give(self, task: Task) -> None:
        """Have it play a chunk."""
        self.task = task
        self._given += 1
        self.say({
            "deals": [task.deals.start, task.deals.stop],
            "alone": sorted(task.orders.alone),
            "condemned": [[*which, charge] for which, charge in task.orders.condemned.items()],
            "given_up": [[agent, *why] for agent, why in task.orders.given_up.items()],
        })  # fmt: skip

    def finished(self) -> bool:
        """Whether it has played what it was given."""
        return self.beat().finished == self._given

    def beat(self) -> Beat:
        return self._heartbeat.read()

    def asking(self) -> tuple[Asked | None, float]:
        """Whose code it is running, and for how many seconds."""
        beat = self.beat()
        if beat.number != self._seen[0]:
            self._seen = (beat.number, time.monotonic())
        return beat.asked, time.monotonic() - self._seen[1]

    def gone(self) -> bool:
        return self._process.poll() is not None and not self.finished()

    def status(self) -> str:
        """How it has ended."""
        code = self._process.poll() or 0
        return f"{signal.strsignal(-code)}" if code < 0 else f"status {code}"

    def stack(self) -> str:
        """Where it is or was, as faulthandler has written it; empty if it has not."""
        if self._process.poll() is None:
            os.kill(self._process.pid, TELL_STACK)
            for _ in range(MOST_LOOKS):
                if os.fstat(self._stack.fileno()).st_size or self._process.poll() is not None:
                    break
                time.sleep(SOON)
        return os.pread(self._stack.fileno(), LONGEST_STACK, 0).decode("utf-8", "replace")

    def end(self) -> None:
        """End it, and the processes that agents have started in it."""
        (end_tree if self._process.poll() is None else end_group)(self._process.pid)
        self._process.wait()
        self._stack.close()
        if self._process.stdin:
            with contextlib.suppress(BrokenPipeError):  # what it was last told and never read
                self._process.stdin.close()

    def say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):  # it will be missed soon
            print(json.dumps(message), file=self._process.stdin, flush=True)


def environment() -> dict[str, str]:
    """This process's environment, with the same import paths, and one thread for each worker: they fill the cores.

    What opens a cluster of Ray is none of an agent's business.
    """
    ours = {name: value for name, value in os.environ.items() if name != TOKEN}
    return {**ours, "PYTHONPATH": import_paths(), **dict.fromkeys(ONE_THREAD, "1")}
