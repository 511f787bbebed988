"""Rewards by name. Each is a pure function of the games before and after.

`reward(ruleset, before, after)` gets two arrays of complete records of the same games and returns an array
(games, players). A reward of your own is such a function; the environments take it in place of a name. The games it
gets are copies, and what it returns is checked. Those by name are rules about one player of one game, so that they are
given on a GPU too; a game may have more than the general ones.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kontor.compile import attributes
from kontor.engine.check import check_type
from kontor.game import Game
from kontor.ruleset import Ruleset
from kontor.templates import rewards as templates
from kontor.templates.rewards import AT_THE_END

Games = NDArray[np.void]
Reward = Callable[[Ruleset, Games, Games], NDArray[np.floating[Any]]]


class UnknownReward(ValueError):
    """A name that no reward has."""


class WrongReward(ValueError):
    """What a reward of one's own returned is not a number for each player of each game."""


@dataclass(frozen=True)
class Named:
    """One of a game's rewards by name: a rule about two records and a player, called with arrays of games."""

    game: Game
    name: str

    @property
    def number(self) -> int:
        return list(self.game.all_rewards).index(self.name)

    @property
    def at_the_end(self) -> bool:
        """Whether it gives nothing before the end, so that nobody need ask."""
        return self.name in AT_THE_END

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        rule = self.game.all_rewards[self.name]
        return inspect.getdoc(getattr(rule, "py_func", rule))

    def __call__(self, ruleset: Ruleset, before: Games, after: Games) -> NDArray[np.float64]:
        check_type(self.game, before)
        check_type(self.game, after)
        if len(before) != len(after):
            raise ValueError(
                f"a reward is about the same games before and after, not about {len(before)} and {len(after)}"
            )
        out = np.empty((len(after), ruleset.players))
        loop = self.game.of(templates).reward_games
        loop(attributes(self.game.box(ruleset)), self.number, attributes(before), attributes(after), out)
        return out


def find_reward(game: Game, reward: str | Reward) -> Reward:
    """A reward by its name; what a function of one's own returns is checked."""
    if callable(reward):
        return reward if isinstance(reward, Named) else partial(_checked, reward)
    if not isinstance(reward, str) or reward not in game.all_rewards:
        known = ", ".join(game.all_rewards)
        raise UnknownReward(f"there is no reward {reward!r}; use one of {known}, or a function")
    return Named(game, reward)


def _checked(reward: Reward, ruleset: Ruleset, before: Games, after: Games) -> NDArray[np.float64]:
    given = reward(ruleset, before, after)
    name, shape = getattr(reward, "__name__", repr(reward)), (len(after), ruleset.players)
    try:
        values = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise WrongReward(f"the reward {name} returned {given!r}; it must be an array of numbers") from None
    if values.shape != shape:
        raise WrongReward(f"the reward {name} returned an array of {values.shape}; (games, players) are {shape}")
    if not np.isfinite(values).all():
        raise WrongReward(f"the reward {name} returned numbers that are not finite: {values[~np.isfinite(values)][0]}")
    return values
