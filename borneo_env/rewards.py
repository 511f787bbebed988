"""Rewards by name. Each is a pure function of the games before and after, for all players at once.

`reward(ruleset, before, after)` gets two arrays of complete GAME records of the same games and returns an array
(games, players). A reward of your own is such a function; the environments take it in place of a name. The games it
gets are copies, and what it returns is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.games import results
from borneo_env.engine.state import CONTESTS_DEFENDED, CONTESTS_WON, OVER
from borneo_env.ruleset import Ruleset

Games = NDArray[np.void]
Reward = Callable[[Ruleset, Games, Games], NDArray[np.floating[Any]]]


class UnknownReward(ValueError):
    """A name that no reward has."""


class WrongReward(ValueError):
    """What a reward of one's own returned is not a number for each player of each game."""


def win(ruleset: Ruleset, before: Games, after: Games) -> NDArray[np.float64]:
    """1 for the winner at the end, shared among equal winners; 0 for the others and before the end."""
    first = results(ruleset, after).places == 1
    return _at_the_end(before, after, first / first.sum(1, keepdims=True))


def place(ruleset: Ruleset, before: Games, after: Games) -> NDArray[np.float64]:
    """From 1 for the first place to -1 for the last at the end, evenly spaced; equal players share their mean."""
    places = results(ruleset, after).places.astype(float)
    sharing = (places[:, :, None] == places[:, None, :]).sum(2)
    mean_place = places + (sharing - 1) / 2
    return _at_the_end(before, after, 1 - 2 * (mean_place - 1) / (ruleset.players - 1))


def score(ruleset: Ruleset, before: Games, after: Games) -> NDArray[np.float64]:
    """Own points minus the mean of the others' at the end."""
    return _at_the_end(before, after, _lead(ruleset, after))


def score_delta(ruleset: Ruleset, before: Games, after: Games) -> NDArray[np.float64]:
    """The same, spread over the game: how much the lead has changed. Sums to `score`."""
    return _lead(ruleset, after) - _lead(ruleset, before)


def contracts(ruleset: Ruleset, before: Games, after: Games) -> NDArray[np.float64]:
    """Points of the contracts fulfilled."""
    points = np.array([contract.points for contract in ruleset.tables.contracts], float)
    fulfilled = after["fulfilled"].astype(int) - before["fulfilled"]
    gained: NDArray[np.float64] = fulfilled[:, : ruleset.players] @ points
    return gained


def ranks(ruleset: Ruleset, before: Games, after: Games) -> NDArray[np.float64]:
    """How many slots the own traders have come nearer to the top, all together, and contests won on either side."""
    won = after["tally"][..., [CONTESTS_WON, CONTESTS_DEFENDED]].sum(2, dtype=int)
    won -= before["tally"][..., [CONTESTS_WON, CONTESTS_DEFENDED]].sum(2, dtype=int)
    climbed = _slots_below_the_top(ruleset, before) - _slots_below_the_top(ruleset, after)
    gained: NDArray[np.float64] = (climbed + won[:, : ruleset.players]).astype(float)
    return gained


REWARDS: dict[str, Reward] = {
    "win": win,
    "place": place,
    "score": score,
    "score-delta": score_delta,
    "contracts": contracts,
    "ranks": ranks,
}
AT_THE_END: tuple[Reward, ...] = (win, place, score)  # zero until a game is over, so nobody need ask before


def find_reward(reward: str | Reward) -> Reward:
    """A reward by its name; what a function of one's own returns is checked."""
    if callable(reward):
        return reward if reward in REWARDS.values() else partial(_checked, reward)
    if not isinstance(reward, str) or reward not in REWARDS:
        raise UnknownReward(f"there is no reward {reward!r}; use one of {', '.join(REWARDS)}, or a function")
    return REWARDS[reward]


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


def _at_the_end(before: Games, after: Games, values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    ends = (after["phase"] == OVER) & (before["phase"] != OVER)
    return np.where(ends[:, None], values, 0.0)


def _lead(ruleset: Ruleset, games: Games) -> NDArray[np.float64]:
    points = results(ruleset, games).scores.astype(float)
    others = (points.sum(1, keepdims=True) - points) / (ruleset.players - 1)
    lead: NDArray[np.float64] = points - others
    return lead


def _slots_below_the_top(ruleset: Ruleset, games: Games) -> NDArray[np.int64]:
    ladder = games["ladder"]
    slots = np.arange(ladder.shape[2])
    return np.stack([((ladder == p) * slots).sum((1, 2)) for p in range(ruleset.players)], 1)
