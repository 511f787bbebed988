"""Policy: a trained network as an agent, on NumPy alone."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numba
import numpy as np
from numpy.typing import NDArray

from borneo_agents.briefing import brief_on
from borneo_agents.model import Model, ModelError, best_actions, drawn_actions, odds_of, read_model
from borneo_env.agent import UnknownAgent, Views

SHIPPED = Path(__file__).parent / "shipped"
UNDECIDED = 0.1  # odds of the second best action from which a policy wants to be briefed again


class Policy:
    """Plays what a trained network likes.

    Arguments:
        path: folder of the model, or the model itself; without it, the policy that comes with the package.
        sample: draw each action by how much it is liked, instead of playing the one that is liked most.
        briefings: how often it may be briefed on a decision, as long as it is undecided; fewer are quicker and weaker.
    """

    def __init__(self, path: str | Path | Model | None = None, sample: bool = False, briefings: int = 4) -> None:
        if type(sample) is not bool:
            raise UnknownAgent(f"sample is True or False, not {sample!r}")
        if type(briefings) is not int or briefings < 1:
            raise UnknownAgent(f"briefings are a number from 1, not {briefings!r}")
        self.model = path if isinstance(path, Model) else read_model(SHIPPED if path is None else str(path))
        self._sample = sample
        self._briefings = briefings

    @property
    def fingerprint(self) -> bytes:
        """What the arena knows a policy by: games of two trainings must not be mixed."""
        parts = [part for layer in (*self.model.layers, self.model.judge or ()) for part in layer if part is not None]
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).digest()

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        logits = self._logits(views)
        if self._sample:
            return drawn_actions(logits, views.mask, views.dice)
        return best_actions(logits, views.mask)

    def odds(self, views: Views) -> NDArray[np.float64]:
        """(n, actions): how likely each action is when it is drawn by liking; illegal ones are not."""
        return odds_of(self._logits(views), views.mask)

    def _logits(self, views: Views) -> NDArray[np.float32]:
        edition = self.model.card.edition
        if views.ruleset.edition != edition:
            raise ModelError(f"the policy was trained for the {edition} edition, not for {views.ruleset.name}")
        if self.model.judge is None:
            return self.model.logits(views.observe(), views.mask)
        return self._considered(views)

    def _considered(self, views: Views) -> NDArray[np.float32]:
        """How much each action is liked on average of all briefings, of which only undecided decisions get several."""
        logits = np.zeros(views.mask.shape, np.float32)
        undecided = np.arange(len(views))
        for before in range(self._briefings):
            if not len(undecided):
                break
            some = Views(views.ruleset, views.games[undecided], views.mask[undecided], views.dice[undecided])
            found = self._briefed(some, before)
            with np.errstate(over="ignore", invalid="ignore"):  # a strange file may lead anywhere
                logits[undecided] += (found - logits[undecided]) / (before + 1)
            odds = odds_of(logits[undecided], some.mask)
            undecided = undecided[(odds > UNDECIDED).sum(1) > 1]
        return logits

    def _briefed(self, views: Views, before: int) -> NDArray[np.float32]:
        notes = brief_on(views, numba.config.NUMBA_NUM_THREADS, before)
        return self.model.logits(np.concatenate([views.observe(), notes], 1), views.mask)
