"""Rewards by name. Each is a pure function of the games before and after.

`reward(ruleset, before, after)` gets two arrays of complete GAME records of the same games and returns an array
(games, players). A reward of your own is such a function; the environments take it in place of a name. The games it
gets are copies, and what it returns is checked. Those here are rules about one player of one game, so that they are
given on a GPU too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.compile import attributes, entry, rule
from borneo_env.engine.check import check_type
from borneo_env.engine.rules.ending import place_of
from borneo_env.engine.rules.ending import score as points_of
from borneo_env.engine.state import CONTESTS_DEFENDED, CONTESTS_WON, N_COMPANIES, N_KINDS, OVER, make_box
from borneo_env.ruleset import Ruleset

Games = NDArray[np.void]
Reward = Callable[[Ruleset, Games, Games], NDArray[np.floating[Any]]]


class UnknownReward(ValueError):
    """A name that no reward has."""


class WrongReward(ValueError):
    """What a reward of one's own returned is not a number for each player of each game."""


@rule
def win(box, before, after, player):
    """1 for the winner at the end, shared among equal winners; 0 for the others and before the end."""
    if not ends(before, after) or place_of(box, after, player) > 1:
        return 0.0
    return 1 / sharing(box, after, 1)


@rule
def place(box, before, after, player):
    """From 1 for the first place to -1 for the last at the end, evenly spaced; equal players share their mean."""
    if not ends(before, after):
        return 0.0
    own = place_of(box, after, player)
    mean_place = own + (sharing(box, after, own) - 1) / 2
    return 1 - 2 * (mean_place - 1) / (box.players - 1)


@rule
def score(box, before, after, player):
    """Own points minus the mean of the others' at the end."""
    return lead(box, after, player) if ends(before, after) else 0.0


@rule
def score_delta(box, before, after, player):
    """The same, spread over the game: how much the lead has changed. Sums to `score`."""
    return lead(box, after, player) - lead(box, before, player)


@rule
def contracts(box, before, after, player):
    """Points of the contracts fulfilled."""
    gained = 0
    for kind in range(N_KINDS):
        gained += (int(after.fulfilled[player, kind]) - int(before.fulfilled[player, kind])) * int(box.points[kind])
    return float(gained)


@rule
def ranks(box, before, after, player):
    """How many slots the own traders have come nearer to the top, all together, and contests won on either side."""
    climbed = slots_below_the_top(before, player) - slots_below_the_top(after, player)
    return float(climbed + contests_won(after, player) - contests_won(before, player))


@rule
def ends(before, after):
    """Whether the game has ended in between."""
    return after.phase == OVER and before.phase != OVER


@rule
def sharing(box, g, place):
    """How many players share a place."""
    equal = 0
    for player in range(box.players):
        equal += place_of(box, g, player) == place
    return equal


@rule
def lead(box, g, player):
    """A player's points minus the mean of the others'."""
    own, all_points = points_of(box, g, player), 0
    for other in range(box.players):
        all_points += points_of(box, g, other)
    return own - (all_points - own) / (box.players - 1)


@rule
def slots_below_the_top(g, player):
    slots = 0
    for company in range(N_COMPANIES):
        for rank in range(g.height[company]):
            if g.ladder[company, rank] == player:
                slots += rank
    return slots


@rule
def contests_won(g, player):
    return int(g.tally[player, CONTESTS_WON]) + int(g.tally[player, CONTESTS_DEFENDED])


RULES = {
    "win": win, "place": place, "score": score, "score-delta": score_delta, "contracts": contracts, "ranks": ranks,
}  # fmt: skip


@rule
def _nothing(number, box, before, after, player):
    return 0.0


def _one_of(rules, first=0):
    """A rule that gives a player what the reward of a number does: compiled code calls no function of a table."""
    if not rules:
        return _nothing
    own, others = rules[0], _one_of(rules[1:], first + 1)

    @rule
    def given(number, box, before, after, player):
        if number == first:
            return own(box, before, after, player)
        return others(number, box, before, after, player)

    return given


reward_of = _one_of(list(RULES.values()))


@entry
def reward_games(boxes, number, before, after, out):
    for i in range(len(after)):
        for player in range(boxes[0].players):
            out[i, player] = reward_of(number, boxes[0], before[i], after[i], player)


@dataclass(frozen=True)
class Named:
    """One of the rewards by name: a rule about two games and a player, called with arrays of games."""

    number: int
    rule: Any

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return inspect.getdoc(getattr(self.rule, "py_func", self.rule))

    def __call__(self, ruleset: Ruleset, before: Games, after: Games) -> NDArray[np.float64]:
        check_type(before)
        check_type(after)
        if len(before) != len(after):
            raise ValueError(
                f"a reward is about the same games before and after, not about {len(before)} and {len(after)}"
            )
        out = np.empty((len(after), ruleset.players))
        reward_games(attributes(make_box(ruleset)), self.number, attributes(before), attributes(after), out)
        return out

    def __reduce__(self) -> Any:
        """By its name: other processes, such as Ray's, have compiled rules of their own."""
        return find_reward, (next(name for name, one in REWARDS.items() if one is self),)


REWARDS: dict[str, Reward] = {name: Named(number, one) for number, (name, one) in enumerate(RULES.items())}
AT_THE_END = tuple(REWARDS[name] for name in ("win", "place", "score"))  # zero until then, so nobody need ask before


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
