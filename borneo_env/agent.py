"""Whoever plays Borneo: the Agent protocol of `kontor.agent`, and agents by name.

Names are those of the entry-point groups `borneo.agents` and `borneo.programs`, or `package.module:Class`; see
`kontor.registry`.
"""

from __future__ import annotations

from kontor.agent import Agent, Random, Views, WrongAnswer, are_legal, ask
from kontor.registry import LONGEST_NAME, RANDOM, UnknownAgent, agents_of, check_agents, seat_names

__all__ = [
    "AGENTS",
    "LONGEST_NAME",
    "RANDOM",
    "Agent",
    "Random",
    "UnknownAgent",
    "Views",
    "WrongAnswer",
    "agent_class",
    "are_legal",
    "ask",
    "check_agents",
    "check_registered",
    "find_agent",
    "find_opponents",
    "is_registered",
    "known_agents",
    "program_agents",
    "seat_names",
]

AGENTS = agents_of("borneo")
known_agents, program_agents, is_registered = AGENTS.known, AGENTS.programs, AGENTS.is_registered
find_agent, agent_class, check_registered = AGENTS.find, AGENTS.class_of, AGENTS.check_registered
find_opponents = AGENTS.opponents
