"""A worker: a process that plays chunks of a tournament, one after another.

It is started with the numbers of two open files: one holds its heartbeat, into the other goes the stack when it
crashes, or when the parent asks for it by a signal. It reads from its standard input: a `WorkerJob`, then one chunk at
a time. For each chunk it writes a file into the folder of the arena, and notes it in the heartbeat. Agents find their
input empty, and what they print goes to the log, as do errors of the worker.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import sys
from collections.abc import Iterator
from typing import Any

from borneo_agents.arena.play.agent_seats import warm_up
from borneo_agents.arena.play.match import Match
from borneo_agents.arena.store.folder import Folder
from borneo_agents.arena.store.records import write_records
from borneo_agents.arena.workers.heartbeat import WRITE_STACK, SharedHeartbeat
from borneo_agents.arena.workers.worker_process import WorkerJob


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


def main() -> None:
    file, stack = map(int, sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    faulthandler.enable(stack, all_threads=False)
    faulthandler.register(WRITE_STACK, stack, all_threads=False)
    heartbeat = SharedHeartbeat(file)
    os.close(file)
    work(_requests(), heartbeat)
    os._exit(0)  # whatever agents have left running


if __name__ == "__main__":
    main()
