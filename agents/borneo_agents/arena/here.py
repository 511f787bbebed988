"""Chunks played in this process: by agents that are objects, without workers, or in a debugger."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from borneo_agents.arena.chairs import Asked, NoHeartbeat, warm_up
from borneo_agents.arena.folder import Folder
from borneo_agents.arena.match import Match, Played
from borneo_agents.arena.records import write_records
from borneo_agents.arena.tournament import Tournament
from borneo_agents.arena.waiting import Notices
from borneo_env.agent import Agent

LOOK = 0.5  # seconds between two looks at an agent that may take long


def play_here(
    plan: Tournament,
    folder: Folder | None,
    chunks: list[range],
    agents: Sequence[str | Agent],
    records: bool,
    debug: bool,
) -> Iterator[tuple[int, Played]]:
    """Play chunks; with `debug` the first fault of an agent is raised."""
    with _listening(debug) as heartbeat, _saying_who_takes_long(plan, heartbeat):
        warm_up(plan, agents, heartbeat)
        for deals in chunks:
            match = Match(plan, deals, agents, heartbeat)
            played = match.play()
            if folder and records:
                write_records(folder.path, plan, deals, played)
            if folder:
                folder.save(deals, played)
            match.dismiss()
            yield 0, played


class _Here(NoHeartbeat):
    """For a match in this process, which Ctrl-C must reach whatever agents make of it."""

    def __init__(self, debugging: bool) -> None:
        self.debugging = debugging
        self.pressed = False
        self.call: tuple[Asked, float] | None = None  # whose code is running, and since when

    def asking(self, asked: Asked) -> None:
        self.call = asked, time.monotonic()

    def answered(self) -> None:
        self.call = None

    def stopped(self) -> bool:
        return self.pressed


@contextlib.contextmanager
def _saying_who_takes_long(plan: Tournament, heartbeat: _Here) -> Iterator[None]:
    """Looks at the running call now and then; not in a debugger, where all take long."""
    over, notices = threading.Event(), Notices(plan.agents)

    def look() -> None:
        while not over.wait(LOOK):
            call = heartbeat.call
            if call:
                notices.look(call[0], time.monotonic() - call[1], None)

    if heartbeat.debugging:
        yield
        return
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def _listening(debug: bool) -> Iterator[_Here]:
    """A heartbeat that knows whether Ctrl-C was pressed."""
    heartbeat, before = _Here(debug), signal.getsignal(signal.SIGINT)

    def press(number: int, frame: Any) -> None:
        heartbeat.pressed = True
        assert callable(before)
        before(number, frame)

    if debug or not callable(before) or threading.current_thread() is not threading.main_thread():
        yield heartbeat  # then Ctrl-C raises nothing here, or what it always does
        return
    signal.signal(signal.SIGINT, press)
    try:
        yield heartbeat
    finally:
        signal.signal(signal.SIGINT, before)
