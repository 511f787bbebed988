"""The PettingZoo environment: one game of Borneo, every seat an agent, one decision at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from borneo_env.engine.game import BORNEO
from borneo_env.engine.state import PHASES
from borneo_env.ruleset import Ruleset
from borneo_env.screen import Screen
from kontor.envs import aec

MANUAL = Path(__file__).with_name("MANUAL.md").read_text(encoding="utf-8")


class raw_env(aec.raw_env):
    __doc__ = MANUAL
    plays = BORNEO
    ruleset: Ruleset
    screen = Screen
    metadata = aec.raw_env.metadata | {"name": "borneo_v0", "render_modes": Screen.modes}

    def _in_words(self, game: np.void, seat: int, action: int) -> str:
        """A move in the words of the story, which tell nothing hidden."""
        from borneo_env.pieces import plain
        from borneo_env.story import deed

        return plain(deed(self.ruleset, game, seat, self._batch.actions.move(action, PHASES[game["phase"]])))

    def _repr_svg_(self) -> str:
        """What a notebook shows: the position for the viewer's eyes, or that there is none yet."""
        from borneo_env.render import Picture, notice

        return notice(self._obstacle) if self._obstacle else Picture(self.ruleset, *self._sight()).svg()


class env(raw_env, aec.env):
    __doc__ = MANUAL
