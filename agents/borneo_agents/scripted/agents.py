"""The scripted bots as agents."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from borneo_agents.scripted.dispatch import CLIMBER, CONTRACTOR, MERCHANT, RANDOM, act_games
from borneo_agents.scripted.scratch import scratch_of_thread
from borneo_env.agent import Random, Views
from borneo_env.engine.game import MAX_OPTIONS
from kontor.compile import attributes


class Scripted:
    """A bot that plays by rules of thumb; a class of its own says which.

    It keeps nothing itself from one call to the next, so that several threads may ask the same one.
    """

    kind: ClassVar[int]
    memoryless = True

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        actions = np.empty(len(views), np.int64)
        options = np.empty(MAX_OPTIONS, np.int64)
        act_games(self.kind, *views.arrays(), actions, options, attributes(scratch_of_thread()))
        return actions


class Contractor(Scripted):
    """Collects towards the best contract within reach and pays with the cards it needs least."""

    kind = CONTRACTOR


class Climber(Scripted):
    """Fights for rank where the next distributions will pay."""

    kind = CLIMBER


class Merchant(Scripted):
    """Values every option in points: goods towards contracts, ranks, ports about to be shared, hidden hands."""

    kind = MERCHANT


# The agents that compiled loops can play for, and by which number they know each.
COMPILED: dict[type, int] = {Random: RANDOM, **{bot: bot.kind for bot in (Contractor, Climber, Merchant)}}
