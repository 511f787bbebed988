"""Where an environment shows its position: as text, as an array of pixels, or in a window."""

from __future__ import annotations

from typing import Any

import numpy as np

from borneo_env.ruleset import Ruleset

RENDER_MODES = ["ansi", "rgb_array", "human"]


class Screen:
    """Shows positions in one render mode; what it needs is imported when the first one is shown."""

    def __init__(self, mode: str | None) -> None:
        if mode is not None and mode not in RENDER_MODES:
            raise ValueError(f"render mode {mode!r} is not offered; use one of {', '.join(RENDER_MODES)}")
        self.mode = mode
        self._window: Any = None

    def show(self, ruleset: Ruleset, game: np.void, viewer: int | None, last_move: str) -> Any:
        """The position for a viewer's eyes: a text, an array of pixels, or None once it is in the window."""
        from borneo_env.render import Picture

        if self.mode is None:
            raise ValueError(f"give a render_mode when you make the environment: one of {', '.join(RENDER_MODES)}")
        picture = Picture(ruleset, game, viewer, last_move)
        if self.mode == "ansi":
            return picture.ansi()
        if self.mode == "rgb_array":
            return picture.rgb()
        if self._window is None:
            from borneo_env.render.window import PictureWindow

            self._window = PictureWindow()
        self._window.show(picture)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def __getstate__(self) -> dict[str, Any]:
        return {"mode": self.mode, "_window": None}  # a window cannot be copied; a copy opens its own
