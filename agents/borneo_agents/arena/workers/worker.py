"""A worker: a process that plays chunks of a tournament, one after another.

It is started with the number of its parent process, the numbers of two open files (one holds its heartbeat, into the
other goes the stack when it crashes, or when the parent asks for it by a signal), and a folder that is removed when the
parent ends, if there is one. It reads JSON lines from its standard input: the tournament, then one chunk at a time. For
each chunk it writes a file into the folder of the arena, and notes it in the heartbeat. Agents find their input empty,
and what they print goes to the log, as do errors of the worker.

The worker is a child of the process that is started: this one supervises it, as it does bots in processes of their own.
"""

from __future__ import annotations

import faulthandler
import json
import os
import shutil
import signal
import sys
import threading
import time
from typing import Any, TextIO

from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.play.agent_seats import warm_up
from borneo_agents.arena.play.calls import Fault
from borneo_agents.arena.play.match import Match, RetryPlan
from borneo_agents.arena.store.folder import Folder
from borneo_agents.arena.store.records import write_records
from borneo_agents.arena.workers.heartbeat import WRITE_STACK, SharedHeartbeat
from borneo_agents.protocol.supervisor import adopt_orphans, end_as, end_tree, supervise


def work(requests: TextIO, heartbeat: SharedHeartbeat) -> None:
    """Play what is asked for until there is nothing more."""
    first = requests.readline()
    if not first:
        return
    job = json.loads(first)
    tournament, folder = Tournament.from_json(job["tournament"]), Folder(job["folder"])
    warm_up(tournament, tournament.agents, heartbeat, job["left_out"])
    for request in requests:
        wanted = json.loads(request)
        match = Match(tournament, range(*wanted["deals"]), tournament.agents, heartbeat, _plan(wanted))
        played = match.play()
        if job["records"]:
            write_records(folder.path, tournament, played)
        folder.save(played)
        heartbeat.finished()
        match.dismiss()


def _plan(wanted: dict[str, Any]) -> RetryPlan:
    """What earlier attempts have found out, as it is sent."""
    return RetryPlan(
        set(wanted["alone"]),
        {(round, game): Fault(*fault) for round, game, fault in wanted["forfeits"]},
        {agent: (since, Fault(*fault)) for agent, since, fault in wanted["disqualified"]},
    )


def _keep_requests() -> TextIO:
    """Standard input for this module alone: agents that read theirs find its end."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return requests


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
    work(_keep_requests(), heartbeat)
    signal.pause()  # there are no more requests: the parent ends this process, or has ended


if __name__ == "__main__":
    main()
