"""What the scripted bots have in common as agents: a kind, and one call for all views."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from borneo_agents.room import make_room
from borneo_env.agent import Views
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.jit import attributes
from borneo_env.engine.state import make_box

KINDS = 4
RANDOM, CONTRACTOR, CLIMBER, MERCHANT = range(KINDS)


class Scripted:
    """A bot that plays by rules of thumb; a class of its own says which."""

    kind: ClassVar[int]

    def __init__(self) -> None:
        self._room = make_room()
        self._options = np.empty(MAX_OPTIONS, np.int64)

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        from borneo_agents.scripted import act_games  # which imports every bot, and with it this file

        self._room["subject"] = 0  # the last views may have been of another ruleset
        actions = np.empty(len(views), np.int64)
        act_games(
            self.kind,
            attributes(make_box(views.ruleset)),
            attributes(np.ascontiguousarray(views.games)),
            views.dice,
            actions,
            self._options,
            attributes(self._room),
        )
        return actions
