"""Where Borneo's environments show their position: as text, as an array of pixels, or in a window."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from borneo_env.ruleset import Ruleset
from kontor.envs import screen

RENDER_MODES = ["ansi", "rgb_array", "human"]


class Screen(screen.Screen):
    """Shows positions in one render mode; what it needs is imported when the first one is shown."""

    modes: ClassVar[list[str]] = RENDER_MODES

    def __init__(self, mode: str | None) -> None:
        super().__init__(mode)
        self._window: Any = None

    def _shown(self, ruleset: Ruleset, game: np.void, viewer: int | None, last_move: str) -> Any:  # type: ignore[override]
        """A text, an array of pixels, or None once the position is in the window."""
        from borneo_env.render import Picture

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
