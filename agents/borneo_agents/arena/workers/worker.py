"""A worker: a process that plays chunks of a tournament, one after another.

It is started with the number of its parent process, the numbers of two open files (one holds its heartbeat, into the
other goes the stack when it crashes, or when the parent asks for it by a signal), and a folder that is removed when the
parent ends, if there is one. It reads from its standard input: a `WorkerJob`, then one chunk at a time. For
each chunk it writes a file into the folder of the arena, and notes it in the heartbeat. Agents find their input empty,
and what they print goes to the log, as do errors of the worker.

The worker is a child of the process that is started: this one supervises it, as it does bots in processes of their own.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from borneo_agents.arena.play.agent_seats import warm_up
from borneo_agents.arena.play.match import Match
from borneo_agents.arena.store.folder import Folder
from borneo_agents.arena.store.records import write_records
from borneo_agents.arena.workers.heartbeat import WRITE_STACK, SharedHeartbeat
from borneo_agents.arena.workers.worker_process import WorkerJob
from borneo_agents.protocol.supervisor import adopt_orphans, end_as, end_tree, supervise


def work(requests: Iterator[Any], heartbeat: SharedHeartbeat) -> None:
    """Play what is asked for until there is nothing more."""
    job: WorkerJob | None = next(requests, None)
    if job is None:
        return
    tournament = job.tournament
    warm_up(tournament, tournament.agents, heartbeat, job.left_out)
    for deals, plan in requests:
        match = Match(tournament, deals, tournament.agents, heartbeat, plan)
        played = match.play()
        if job.records:
            write_records(job.folder, tournament, played)
        Folder(job.folder).save(played)
        heartbeat.finished()
        match.dismiss()


def _requests() -> Iterator[Any]:
    """What the parent sends; standard input is for this alone, and agents that read theirs find its end."""
    requests = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    while True:
        try:
            request = pickle.load(requests)
        except EOFError:
            return
        yield request


def _leave_with(parent: int, scratch: str) -> None:
    """End this process, and all below it, when its parent has ended: even one that had before this was called."""
    while os.getppid() == parent:
        time.sleep(1)
    while scratch and os.path.exists(scratch):  # noqa: PTH110  # a game may be written into it at this very moment
        shutil.rmtree(scratch, ignore_errors=True)
    end_tree(os.getpid())
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    parent, file, stack, scratch = sys.argv[1:]
    adopt_orphans()
    worker = os.fork()
    if worker:
        leaving = threading.Thread(target=_leave_with, args=(int(parent), scratch), daemon=True)
        leaving.start()
        code = supervise(worker)
        if os.getppid() != int(parent):  # the folder goes first
            leaving.join()
        end_as(code)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    faulthandler.enable(int(stack), all_threads=False)
    faulthandler.register(WRITE_STACK, int(stack), all_threads=False)
    heartbeat = SharedHeartbeat(int(file))
    os.close(int(file))
    work(_requests(), heartbeat)
    signal.pause()  # there are no more requests: the parent ends this process, or has ended


if __name__ == "__main__":
    main()
