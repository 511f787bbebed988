"""Bots as tables: what one does in each phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from borneo_env.engine.state import OVER, PHASES
from kontor.compile import rule


def by_phase(table: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    """A rule that does what the table has for the phase of the game: a bot."""
    missing = set(PHASES) - set(table) - {PHASES[OVER]}
    assert not missing, f"nothing is said of {missing}"
    *others, last = table
    chosen = table[last]
    for name in reversed(others):
        chosen = _in_phase(PHASES.index(name), table[name], chosen)
    return chosen


def _in_phase(phase: int, does: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    @rule
    def choice(box, g, options, count, scratch):  # type: ignore[no-untyped-def]
        if g.phase == phase:
            return does(box, g, options, count, scratch)
        return otherwise(box, g, options, count, scratch)

    return choice
