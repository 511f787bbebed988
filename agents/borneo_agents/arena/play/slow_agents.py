"""Notices on stderr about an agent that takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from borneo_agents.arena.play.calls import LEAVING, MAKING, WARMING_UP, Call
from borneo_env.files import counted

PATIENCE = 5.0  # seconds until the first notice; the next comes after as many, then after twice as many, and so on

DOING = {
    WARMING_UP: "which has been getting ready (its first call) for",
    MAKING: "whose __init__ has been running for",
    LEAVING: "whose __del__ has been running for",
}


def on_stderr(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


class SlowAgentNotices:
    """The notices of a run, ever more seldom for the same agent."""

    def __init__(self, agents: Sequence[str], say: Callable[[str], None] = on_stderr) -> None:
        self._agents = agents
        self._say = say
        self._silence: dict[int, float] = {}  # seconds, by agent: several workers may wait for it, and again and again
        self._silent_until: dict[int, float] = {}

    def look(self, call: Call | None, seconds: float, limit: float | None) -> None:
        """Give notice if a call takes long; `limit` is after how many seconds it will be ended."""
        now = time.monotonic()
        if call is None or seconds < PATIENCE or now < self._silent_until.get(call.agent, now):
            return
        silence = self._silence.get(call.agent, PATIENCE)
        self._silence[call.agent], self._silent_until[call.agent] = 2 * silence, now + silence
        until = f"; it has {limit:.0f} s" if limit else "; Ctrl-C stops it"
        doing = DOING.get(call.round, f"which has been thinking about {counted(call.views, 'decision')} for")
        self._say(f"waiting for {self._agents[call.agent]}, {doing} {seconds:.0f} s{until}")
