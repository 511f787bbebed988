"""Bots for one game at a time: a subclass of `Bot` has a method `decide(view, options)`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kontor.agent import Views
from kontor.files import in_short
from kontor.view import MoveOption, View


class NotAnOption(ValueError):
    """A bot has returned something else than one of its options."""


class Bot:
    """A bot that decides one game at a time: a subclass has the method `decide`.

    It is asked for many games by turns, and is to decide each view by itself: it keeps no notes on a game.
    """

    memoryless = True

    def decide(self, view: Any, options: list[Any]) -> MoveOption:
        """One of the options."""
        raise NotImplementedError(f"{type(self).__name__} has no method decide(self, view, options)")

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        views.check()
        kind: type[View] = views.ruleset.game.own_kind("view", View)
        actions = np.empty(len(views), np.int64)
        dice = views.dice.tolist()
        for i in range(len(views)):
            view = kind(views.ruleset, views.games[i], views.mask[i], dice[i])
            actions[i] = self._checked(view, self.decide(view, view.options)).action
        return actions

    def _checked(self, view: View, chosen: Any) -> MoveOption:
        if not isinstance(chosen, MoveOption) or chosen.view is not view:
            legal = ", ".join(option.text for option in view.options)
            name, answer = f"{type(self).__name__}.decide", in_short(chosen)
            raise NotAnOption(f"{name} returned {answer}, which is none of the Option objects it was given: {legal}")
        return chosen
