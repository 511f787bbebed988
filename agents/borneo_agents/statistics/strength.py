"""Plackett-Luce strengths: one number per agent that explains whole rankings of three and more players.

In this model a ranking is a row of choices: the winner is drawn among all seats in proportion to their strengths, then
the second among the rest, and so on.

Ties: equal players could be ranked in any order. Each order counts alike, so that a tie favours nobody.
Copies: two seats with the same agent are two seats with the same strength. That three copies win three times as often
as one is expected, and which copy was better says nothing. Keeping only the best copy would flatter agents with copies.
Extremes: an agent that never lost has no finite strength. Each agent gets `PRIOR_WINS` against an average agent, which
is of no weight beside a hundred games but keeps every figure finite. An end of an interval that the prior alone decides
is None: that of an agent which was never ahead of stronger ones, or never behind weaker ones, by way of others or not.

Without ties the fit is that of `choix.ilsr_rankings` with alpha = PRIOR_WINS / agents. It is done here because the
bootstrap needs a thousand fits, with weights for ties and repeated deals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from borneo_agents.statistics.intervals import (
    BOOTSTRAP,
    FEW_DEALS,
    NONE,
    RESAMPLES,
    Estimate,
    bootstrap_ends,
    draw_deals,
)
from borneo_agents.statistics.results import FinishedGames, Floats, Ints, pair_sums

POINTS = 400 / math.log(10)  # as with Elo: 400 points more are ten times the strength
PRIOR_WINS = 0.5
TOLERANCE = 1e-7  # of the logarithm of a strength
MOST_ROUNDS = 20_000

# (agents in some seats, the one that was chosen): how often
Choices = dict[tuple[tuple[int, ...], int], float]


@dataclass(frozen=True)
class Strength:
    """An agent's strength in points, relative to the mean of all agents or to the anchor."""

    agent: str
    points: Estimate


@dataclass(frozen=True)
class Strengths:
    anchor: str | None
    strengths: tuple[Strength, ...]  # the strongest first


def strengths(
    games: FinishedGames, rng: np.random.Generator, anchor: str | None = None, resamples: int = RESAMPLES
) -> Strengths:
    """The strength of each agent, with an interval from a bootstrap over deals."""
    patterns, pattern_of_game = _patterns(games)
    model = _model(patterns, len(games.agents))
    fitted = model.fit(np.bincount(pattern_of_game)[None, :].astype(float))
    draws = np.concatenate(
        [
            model.fit(np.array([np.bincount(pattern_of_game, row[games.deal], len(patterns)) for row in weights]))
            for weights in draw_deals(games.deals, resamples, rng)
        ]
    )
    reference = list(range(len(games.agents))) if anchor is None else [games.index(anchor)]
    value = _in_points(fitted, reference)[0]
    low, high = bootstrap_ends(_in_points(draws, reference))
    ahead = _ahead_of(games)
    rows = []
    for i, agent in enumerate(games.agents):
        bounded = bool(ahead[i, reference].all()), bool(ahead[reference, i].all())
        points = _estimate(float(value[i]), float(low[i]), float(high[i]), bounded, games.deals)
        rows.append(Strength(agent, points))
    return Strengths(anchor, tuple(sorted(rows, key=lambda row: -row.points.value)))


def _estimate(value: float, low: float, high: float, bounded: tuple[bool, bool], deals: int) -> Estimate:
    if deals < FEW_DEALS or not any(bounded):
        return Estimate(value, None, None, NONE)
    return Estimate(value, low if bounded[0] else None, high if bounded[1] else None, BOOTSTRAP)


def _in_points(log_strengths: Floats, reference: list[int]) -> Floats:
    points: Floats = POINTS * (log_strengths - log_strengths[:, reference].mean(1, keepdims=True))
    return points


def _ahead_of(games: FinishedGames) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Whether agent i was ever placed before or level with j, directly or by way of others. (agents, agents)"""
    count = len(games.agents)
    ahead = np.eye(count, dtype=bool)
    a, b = np.nonzero(~ahead)
    ahead[a, b] = pair_sums(games, a, b)[0].any(0)
    for via in range(count):
        ahead |= ahead[:, via, None] & ahead[None, via, :]
    return ahead


def _patterns(games: FinishedGames) -> tuple[Ints, Ints]:
    """The different games (patterns, 2, players), agents and places in order of place; and which one each game is."""
    order = np.lexsort((games.seats, games.places))
    agents = np.take_along_axis(games.seats, order, 1)
    places = np.take_along_axis(games.places, order, 1)
    rows, pattern_of_game = np.unique(np.hstack([agents, places]), axis=0, return_inverse=True)
    return rows.reshape(len(rows), 2, games.players), pattern_of_game.ravel()


@dataclass(frozen=True)
class _Model:
    """The choices in each pattern of a game, ready for fitting many samples of games at once."""

    sets: Floats  # (sets, agents): how many seats each agent has in a set of seats that somebody was chosen from
    faced: Floats  # (patterns, sets): how often the set occurs in such a game
    won: Floats  # (patterns, agents): how often the agent was chosen in such a game

    def fit(self, patterns: Floats) -> Floats:
        """Logarithms of strengths (samples, agents), from the number of games of each pattern (samples, patterns).

        Hunter's MM algorithm (2004) with a gamma prior (Caron and Doucet 2012), under which strengths average 1.
        """
        faced, won = patterns @ self.faced, patterns @ self.won + PRIOR_WINS
        strength = np.ones_like(won)
        for _ in range(MOST_ROUNDS):
            better = won / (faced / (strength @ self.sets.T) @ self.sets + PRIOR_WINS)
            better /= better.mean(1, keepdims=True)
            change = np.abs(np.log(better / strength)).max()
            strength = better
            if change < TOLERANCE:
                logarithms: Floats = np.log(strength)
                return logarithms
        raise RuntimeError(f"the strengths have not settled after {MOST_ROUNDS} rounds")


def _model(patterns: Ints, agents: int) -> _Model:
    choices = [_choices(*pattern) for pattern in patterns.tolist()]
    sets = sorted({seats for counted in choices for seats, _ in counted})
    number = {seats: index for index, seats in enumerate(sets)}
    members = np.array([np.bincount(seats, minlength=agents) for seats in sets], float).reshape(len(sets), agents)
    faced, won = np.zeros((len(patterns), len(sets))), np.zeros((len(patterns), agents))
    for pattern, counted in enumerate(choices):
        for (seats, winner), times in counted.items():
            faced[pattern, number[seats]] += times
            won[pattern, winner] += times
    return _Model(members, faced, won)


def _choices(agents: list[int], places: list[int]) -> Choices:
    """The choices that make up one ranking, in order of place; those among copies of one agent are left out."""
    counted: Choices = {}
    for level, behind in _levels(agents, places):
        # Over all orders of k equal players, each subset of them is equally often the one still to be placed.
        for size in range(1, len(level) + 1):
            share = 1 / math.comb(len(level), size) / size
            for waiting in combinations(level, size):
                seats = tuple(sorted(waiting + behind))
                if len(set(seats)) > 1:
                    for winner in waiting:
                        counted[seats, winner] = counted.get((seats, winner), 0.0) + share
    return counted


def _levels(agents: list[int], places: list[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """For each place that is taken: the agents there, and those behind them."""
    for place in sorted(set(places)):
        yield (
            tuple(agent for agent, at in zip(agents, places, strict=True) if at == place),
            tuple(agent for agent, at in zip(agents, places, strict=True) if at > place),
        )
