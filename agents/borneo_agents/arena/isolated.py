"""Isolated: an agent that is known by name, in a process of its own, which is sent its views and nothing else."""

from __future__ import annotations

import os
import sys
from math import inf

from borneo_agents.protocol.agent import MEMORY, ProcessAgent
from borneo_agents.protocol.process import import_paths
from borneo_env.agent import Agent, find_agent, program_agents

HOST = "borneo_agents.arena.host"
NEEDED = ("BORNEO_CACHE_DIR", "XDG_CACHE_HOME", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Isolated(ProcessAgent):
    """An agent by its name, hosted by a process that speaks the protocol."""

    greeting = 900.0  # seconds: it may have to be compiled. Whoever watches over the arena has less patience

    def __init__(self, name: str) -> None:
        super().__init__([sys.executable, "-P", "-u", "-m", HOST, name], seconds=inf, memory=MEMORY)

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in NEEDED if name in os.environ}
        return kept | {"PYTHONPATH": import_paths()}


def made(agent: str | Agent, isolate: bool) -> Agent:
    """An agent from its name, in a process of its own if this is wanted; programs always have one."""
    if isolate and isinstance(agent, str) and agent.partition(":")[0] not in program_agents():
        return Isolated(agent)
    return find_agent(agent)
