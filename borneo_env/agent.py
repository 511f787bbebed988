"""Who plays: agents by name."""

from __future__ import annotations

KNOWN = ("random",)


class UnknownAgent(ValueError):
    """A name that no agent has."""


def seat_names(agents: str, players: int) -> list[str]:
    """The agent of every seat from `random` (all seats) or `random,random,random` (one per seat)."""
    names = [name.strip() for name in agents.split(",")]
    for name in names:
        if name not in KNOWN:
            raise UnknownAgent(f"there is no agent {name!r}; known are: {', '.join(KNOWN)}")
    if len(names) == 1:
        return names * players
    if len(names) != players:
        raise UnknownAgent(f"{len(names)} agents for {players} players; give one name, or one per seat")
    return names
