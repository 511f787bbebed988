"""What the bots have in common as agents: views laid out for compiled rules, and of scripted ones a kind."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from borneo_agents.room import room_of_thread
from borneo_env.agent import Views
from borneo_env.engine.actions import action_table
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.jit import attributes
from borneo_env.engine.state import GAME, make_box, slots_of

KINDS = 4
RANDOM, CONTRACTOR, CLIMBER, MERCHANT = range(KINDS)


def as_arrays(views: Views) -> tuple[Any, Any, NDArray[np.uint64]]:
    """The cards, games and dice of views as compiled rules want them; they trust them, so others are refused here."""
    ruleset, size = views.ruleset, len(views.games)
    shape = (size, len(action_table(slots_of(ruleset))))
    if (views.games.dtype, views.mask.shape, views.dice.shape) != (GAME, shape, (size,)):
        raise ValueError(
            f"views of {size} games of {ruleset.name} have masks of shape {shape}, not {views.mask.shape}, and dice "
            f"for each, not of shape {views.dice.shape}: give views the ruleset of their batch"
        )
    if (views.player.astype(np.uint8) >= ruleset.players).any():  # -1, for nobody, becomes the highest
        raise ValueError(f"nobody of {ruleset.name} decides in one of the views: it is over, or of another ruleset")
    games = attributes(np.ascontiguousarray(views.games))
    return attributes(make_box(ruleset)), games, np.ascontiguousarray(views.dice)


class Scripted:
    """A bot that plays by rules of thumb; a class of its own says which.

    It keeps nothing itself from one call to the next, so that several threads may ask the same one.
    """

    kind: ClassVar[int]
    memoryless = True

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        from borneo_agents.scripted import act_games  # which imports every bot, and with it this file

        actions = np.empty(len(views), np.int64)
        act_games(self.kind, *as_arrays(views), actions, np.empty(MAX_OPTIONS, np.int64), attributes(room_of_thread()))
        return actions
