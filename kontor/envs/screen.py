"""Where an environment shows its position. Any game has a sheet of its fields; a game may have pictures, too."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from kontor.engine.games import redact
from kontor.ruleset import Ruleset
from kontor.view import told_fields


class Screen:
    """Shows positions in one render mode."""

    modes: ClassVar[list[str]] = ["ansi"]

    def __init__(self, mode: str | None) -> None:
        if mode is not None and mode not in self.modes:
            raise ValueError(f"render mode {mode!r} is not offered; use one of {', '.join(self.modes)}")
        self.mode = mode

    def show(self, ruleset: Ruleset, game: np.void, viewer: int | None, last_move: str) -> Any:
        """The position for a viewer's eyes, in the way of the mode."""
        if self.mode is None:
            raise ValueError(f"give a render_mode when you make the environment: one of {', '.join(self.modes)}")
        return self._shown(ruleset, game, viewer, last_move)

    def _shown(self, ruleset: Ruleset, game: np.void, viewer: int | None, last_move: str) -> Any:
        return sheet(ruleset, game, viewer, last_move)

    def close(self) -> None:
        """There is nothing to close."""


def sheet(ruleset: Ruleset, game: np.void, viewer: int | None, last_move: str = "") -> str:
    """A position as text: who decides what, and a line for each field that the viewer sees; None sees all."""
    seen = game if viewer is None else redact(ruleset, game, viewer)
    player, phase = int(game["player"]), ruleset.game.phase_names[game["phase"]]
    asked = f"player {player} decides: {phase}" if player >= 0 else "the game is over"
    fields = told_fields(ruleset, seen, viewer)
    lines = [f"{ruleset.game.title}, {asked}", *([last_move] if last_move else [])]
    lines += [f"{name.replace('_', ' ')}: {_in_words(told)}" for name, told in fields.items()]
    return "\n".join(lines) + "\n"


def _in_words(told: Any) -> str:
    """What a field tells, rows of arrays divided by strokes."""
    if not isinstance(told, tuple):
        return "-" if told is None else str(told)
    return (" | " if any(isinstance(row, tuple) for row in told) else " ").join(map(_in_words, told))
