"""Chunks played in this process: by agents that are objects, without workers, or in a debugger."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.play.agent_seats import warm_up
from borneo_agents.arena.play.calls import Heartbeat
from borneo_agents.arena.play.match import Match
from borneo_agents.arena.play.outcomes import PlayedChunk
from borneo_env.agent import Agent


def play_in_process(
    plan: Tournament, chunks: list[range], agents: Sequence[str | Agent], debug: bool
) -> Iterator[PlayedChunk]:
    """Play chunks; with `debug` the first fault of an agent is raised. Agents go once a chunk has been taken."""
    with _noticing_ctrl_c(debug) as heartbeat:
        warm_up(plan, agents, heartbeat)
        for deals in chunks:
            match = Match(plan, deals, agents, heartbeat)
            played = match.play()
            try:
                yield played
            finally:
                match.dismiss()


class _InProcessHeartbeat(Heartbeat):
    """For a match in this process, which Ctrl-C must reach whatever agents make of it."""

    def __init__(self, debugging: bool) -> None:
        self.debugging = debugging
        self.pressed = False

    def stopped(self) -> bool:
        return self.pressed


@contextlib.contextmanager
def _noticing_ctrl_c(debug: bool) -> Iterator[_InProcessHeartbeat]:
    """A heartbeat that knows whether Ctrl-C was pressed."""
    heartbeat, before = _InProcessHeartbeat(debug), signal.getsignal(signal.SIGINT)

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
