"""Isolated: an agent that is known by name, in a process of its own, which is sent its views and nothing else."""

from __future__ import annotations

import os
import sys
from math import inf

from borneo_agents.protocol.agent import MEMORY, ProcessAgent
from borneo_agents.protocol.process import import_paths
from borneo_env.agent import Agent, find_agent, program_agents

SERVER = "borneo_agents.arena.workers.agent_server"
NEEDED = ("BORNEO_CACHE_DIR", "XDG_CACHE_HOME", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Isolated(ProcessAgent):
    """An agent by its name, in a process that speaks the protocol."""

    greeting = 900.0  # seconds: it may have to be compiled. The limit of the arena ends it before

    def __init__(self, name: str) -> None:
        super().__init__([sys.executable, "-P", "-u", "-m", SERVER, name], seconds=inf, memory=MEMORY)

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in NEEDED if name in os.environ}
        return kept | {"PYTHONPATH": import_paths()}


def instantiate_agent(agent: str | Agent, isolate: bool) -> Agent:
    """An agent from its name, in a process of its own if this is wanted; programs always have one."""
    if isolate and isinstance(agent, str) and not is_program(agent):
        return Isolated(agent)
    return find_agent(agent)


def is_program(name: str) -> bool:
    """Whether an agent always has a process of its own."""
    return name.partition(":")[0] in program_agents()
