"""The catalogue of agents: what each does and which arguments it takes, read from the docstring of its class.

The first sentence of a docstring is the agent's idea. The meaning of arguments stands below `Arguments:`, in the
docstring of the class or of one it is derived from.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

from kontor.registry import Registry

HEADING = "Arguments:"
REQUIRED = "required"


@dataclass(frozen=True)
class Argument:
    name: str
    default: str  # as it is written in a name, or REQUIRED
    meaning: str


@dataclass(frozen=True)
class Entry:
    """What is known of an agent."""

    name: str
    idea: str
    arguments: tuple[Argument, ...]


def catalogue(agents: Registry) -> list[Entry]:
    """All agents that are found by a short name."""
    return [entry(agents, name) for name in (*agents.known(), *agents.programs())]


def entry(agents: Registry, name: str) -> Entry:
    """An agent by its name, such as `ismcts` or `my_bot:MyBot`. It is not made."""
    kind, _ = agents.class_of(name)
    own_name = kind.__name__.lower()
    idea = (inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")
    if name != own_name and {name, own_name} <= set(agents.known()):
        idea = f"Another name for {own_name}."
    meanings = _meanings(kind)
    arguments = [
        Argument(one.name, REQUIRED if one.default is one.empty else str(one.default), meanings.get(one.name, ""))
        for one in inspect.signature(kind).parameters.values()
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    return Entry(name, idea, tuple(arguments))


def _meanings(kind: type) -> dict[str, str]:
    """The meanings of arguments in the docstrings of a class and those it is derived from; its own count first."""
    found: dict[str, str] = {}
    for one in kind.__mro__:
        _, _, listed = (inspect.cleandoc(one.__doc__ or "")).partition(f"{HEADING}\n")
        told = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", listed.split("\n\n")[0], re.MULTILINE)
        found = {name: " ".join(meaning.split()) for name, meaning in told} | found
    return found
