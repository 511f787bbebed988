"""WorkerPool: processes that play chunks, each of which is watched.

A worker that hangs is ended, and one that ends by itself is missed. Either way its last heartbeat has the call that was
running. Its chunk is played again by a new worker, which asks this agent for one game at a time. Then the very decision
is known, and that game is forfeited. `retries` has what follows from it for other games.
A process can also be ended from outside: a chunk whose worker ends while no agent is asked is played again `RETRIES`
times.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator

from borneo_agents.arena.design.config import ArenaConfig
from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.play.calls import ENDED, LEAVING, MAKING, TIME_OUT, WARMING_UP, Call, Fault
from borneo_agents.arena.store.folder import LOG, Folder
from borneo_agents.arena.workers.retries import ChunkTask, FaultHistory
from borneo_agents.arena.workers.worker_process import SOON, WorkerJob, WorkerProcess
from borneo_env.agent import is_registered
from kontor.engine.threads import available_cores
from kontor.traces import current_folder, where_it_was

RETRIES = 2
READY, READY_PER_SECOND = 40.0, 10.0  # seconds for a first call, and more for each second of the time limit
COMPILING = 600.0  # seconds more for agents that are installed: they may compile
GRACE = 1.0  # seconds a call may take beyond its limit until the worker is ended: it may yet answer, too late
SLOW = 5.0  # seconds after which it is said whom the arena waits for
TAIL = 2000  # bytes of the log that are shown when the arena fails

WHEN = {WARMING_UP: "at its first call, before any game", MAKING: "in its __init__", LEAVING: "in its __del__"}


class ArenaError(ValueError):
    """The arena itself failed, not an agent."""


def on_stderr(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


class WorkerPool:
    """So many workers for one tournament; use it as a context, which ends them."""

    def __init__(
        self,
        tournament: Tournament,
        folder: Folder,
        config: ArenaConfig,
        say: Callable[[str], None] = on_stderr,
    ) -> None:
        self.tournament = tournament
        self.folder = folder
        self.config = config
        self.jobs = config.jobs or available_cores()
        self.history = FaultHistory()
        self.workers: list[WorkerProcess] = []
        self.say = say
        self.slow: set[int] = set()  # agents that the user knows to be slow

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.end()

    def play(self, chunks: list[range]) -> Iterator[tuple[int, range | None]]:
        """Play chunks. Yields, again and again, how many games of unfinished chunks are over, and a finished chunk."""
        waiting = [ChunkTask(deals) for deals in reversed(chunks)]
        busy = [self._begin(waiting.pop(), i) for i in range(min(self.jobs, len(chunks)))]
        while busy:
            finished = [i for i in busy if self.workers[i].finished()]
            for i in finished:
                deals = self.workers[i].task.deals
                if waiting:
                    self._begin(waiting.pop(), i)
                else:
                    busy.remove(i)
                yield self._games_over(), deals
            if not finished:
                for i in busy:
                    self._watch(i)
                yield self._games_over(), None
                time.sleep(SOON)

    def _begin(self, task: ChunkTask, i: int) -> int:
        """Give worker i a chunk; where there is none, start it."""
        self.history.prepare(task)
        if i == len(self.workers):
            self.workers.append(self._started())
        self.workers[i].give(task)
        return i

    def _started(self) -> WorkerProcess:
        left_out = set(self.history.disqualified)
        return WorkerProcess(WorkerJob(self.tournament, self.folder.path, self.config.records, left_out))

    def _games_over(self) -> int:
        return sum(worker.state().games_over for worker in self.workers)

    def _watch(self, i: int) -> None:
        """Replace worker i if it hangs or has gone."""
        if self._stuck(self.workers[i]) or self.workers[i].gone():
            task = self._ended(self.workers[i])
            self.workers[i] = self._started()
            self._begin(task, i)

    def _stuck(self, worker: WorkerProcess) -> bool:
        """Whether it has been running an agent's code for too long."""
        call, seconds = worker.running()
        if call is None:
            return False
        limit = self._limit(call)
        if seconds >= SLOW and call.agent not in self.slow:
            self.slow.add(call.agent)
            name = self.tournament.agents[call.agent]
            self.say(f"waiting for {name}: {seconds:.0f} s {_when(call)}; it has {limit:.0f} s")
        return seconds > limit

    def _limit(self, call: Call) -> float:
        """Seconds that a call may take."""
        if call.round not in (WARMING_UP, MAKING):
            return call.views * self.tournament.time_limit + GRACE
        if self.config.warm_up_limit is not None:
            return self.config.warm_up_limit
        compiling = COMPILING if is_registered(self.tournament.agents[call.agent]) else 0.0
        return READY + READY_PER_SECOND * self.tournament.time_limit + compiling

    def _ended(self, worker: WorkerProcess) -> ChunkTask:
        """The chunk of a worker that hangs or has gone, and is ended; with a plan for the agent it was asking."""
        gone, call, task = worker.gone(), worker.state().call, worker.task
        stack = worker.stack()  # meanwhile it may answer, too late, and go on to ask another
        worker.end()
        if call is None and gone:
            task.lost_workers += 1
            if task.lost_workers > RETRIES:
                raise ArenaError(f"workers end, and no agent is to blame; their last words were:\n{self._last_words()}")
        elif call is not None and call.round != LEAVING:
            trace = where_it_was(stack, current_folder())
            self.history.note(task, call, self._fault(call, worker.status() if gone else "", trace))
        return task

    def _fault(self, call: Call, status: str, trace: str) -> Fault:
        """What the agent of a call has done, if its worker has ended with a status, or else hangs."""
        if status:
            return Fault(ENDED, f"the process has ended ({status}) {_when(call)}", trace)
        return Fault(TIME_OUT, f"no answer within {self._limit(call):.3g} s {_when(call)}", trace)

    def _last_words(self) -> str:
        with open(self.folder.path / LOG, "rb") as log:
            log.seek(-min(TAIL, log.seek(0, os.SEEK_END)), os.SEEK_END)
            return log.read().decode("utf-8", "replace").strip()


def _when(call: Call) -> str:
    return WHEN.get(call.round, f"at decision {call.round}")
