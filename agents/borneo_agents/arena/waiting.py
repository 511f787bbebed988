"""Waiting: says on stderr whom an arena waits for, when an agent takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from borneo_agents.arena.chairs import LEAVING, MAKING, WARMING_UP, Asked
from borneo_env.files import counted

PATIENCE = 5.0  # seconds until it is said; it is said again after as many, then twice as many, and so on

DOING = {
    WARMING_UP: "which has been getting ready (its first call) for",
    MAKING: "whose __init__ has been running for",
    LEAVING: "whose __del__ has been running for",
}


def on_stderr(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


class Notices:
    """What has been said about agents that take long."""

    def __init__(self, agents: Sequence[str], say: Callable[[str], None] = on_stderr) -> None:
        self._agents = agents
        self._say = say
        self._silence: dict[int, float] = {}  # seconds, by agent: several workers may wait for it, and again and again
        self._silent_until: dict[int, float] = {}

    def look(self, asked: Asked | None, seconds: float, limit: float | None) -> None:
        """Say it if a call takes long; `limit` is after how many seconds it will be ended."""
        now = time.monotonic()
        if asked is None or seconds < PATIENCE or now < self._silent_until.get(asked.agent, now):
            return
        silence = self._silence.get(asked.agent, PATIENCE)
        self._silence[asked.agent], self._silent_until[asked.agent] = 2 * silence, now + silence
        until = f"; it has {limit:.0f} s" if limit else "; Ctrl-C stops it"
        self._say(f"waiting for {self._agents[asked.agent]}, {_doing(asked)} {seconds:.0f} s{until}")


def _doing(asked: Asked) -> str:
    thinking = f"which has been thinking about {counted(asked.views, 'decision')} for"
    return DOING.get(asked.round, thinking)
