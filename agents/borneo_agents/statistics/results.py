"""FinishedGames of many games between agents, and what a single seat, pair of seats or deal got out of them.

The same deals are played by every line-up with rotated seats, so games with the same deal are not independent. Whoever
asks how sure a figure is must therefore count deals, never games: `blocks` gives one number per deal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class BadResults(ValueError):
    """FinishedGames from which nothing can be computed, with the reason."""


@dataclass(frozen=True, eq=False)
class FinishedGames:
    """Finished games with the same number of players; made by `finished_games`."""

    agents: tuple[str, ...]
    seats: Ints  # (games, players): the index of the agent in each seat
    places: Ints  # (games, players): from 1, equal players share the better place
    scores: Floats  # (games, players)
    deal: Ints  # (games,): deals numbered from 0 in the order in which they first occur

    @property
    def games(self) -> int:
        return int(self.seats.shape[0])

    @property
    def players(self) -> int:
        return int(self.seats.shape[1])

    @property
    def deals(self) -> int:
        return int(self.deal.max()) + 1

    @cached_property
    def win_shares(self) -> Floats:
        """What each seat has of the win: 1, or 1/k for k equal winners, or 0. (games, players)"""
        first = self.places == 1
        shares: Floats = first / first.sum(1, keepdims=True)
        return shares

    @cached_property
    def mean_places(self) -> Floats:
        """The place of each seat; equal players share the mean of the places they fill. (games, players)"""
        others, own = self.places[:, None, :], self.places[:, :, None]
        ahead, equal = (others < own).sum(2), (others == own).sum(2)
        mean_place: Floats = ahead + (equal + 1) / 2
        return mean_place

    def index(self, agent: str) -> int:
        return self.agents.index(agent)


def finished_games(
    agents: Sequence[str], seats: ArrayLike, places: ArrayLike, scores: ArrayLike, deal: Sequence[Any] | NDArray[Any]
) -> FinishedGames:
    """Games as tables (games, players). `deal` may hold any ids; equal ids mean the same deal."""
    tables = np.asarray(seats, np.int64), np.asarray(places, np.int64), np.asarray(scores, float)
    return FinishedGames(tuple(agents), *tables, _numbered_by_appearance(np.asarray(deal)))


def _numbered_by_appearance(deal: NDArray[Any]) -> Ints:
    _, first, number = np.unique(deal, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[first.argsort()] = np.arange(len(first))
    return rank[number]


def seat_sums(games: FinishedGames, values: Floats) -> tuple[Floats, Floats]:
    """Sum of `values` (games, players) and number of seats, for each deal and agent: two arrays (deals, agents)."""
    columns = len(games.agents)
    cell = games.deal[:, None] * columns + games.seats
    return sums_by_cell(cell, values, games.deals, columns)


def pair_sums(games: FinishedGames, a: NDArray[Any], b: NDArray[Any]) -> tuple[Floats, Floats]:
    """For each deal and each pair (a[i], b[i]) of different agents: points for "a before b", and meetings.

    Each pair of seats with these agents is a meeting; equal places give half a point.
    """
    column = np.full((len(games.agents),) * 2, -1)
    column[a, b] = np.arange(len(a))
    sums, counts = np.zeros((2, games.deals, len(a)))
    for seat in range(games.players):
        for other in range(games.players):
            pair = column[games.seats[:, seat], games.seats[:, other]]
            met = pair >= 0
            before = (np.sign(games.places[:, other] - games.places[:, seat]) + 1) / 2
            cell = games.deal[met] * len(a) + pair[met]
            points, meetings = sums_by_cell(cell, before[met], games.deals, len(a))
            sums += points
            counts += meetings
    return sums, counts


def sums_by_cell(cell: Ints, values: Floats, deals: int, columns: int) -> tuple[Floats, Floats]:
    size = deals * columns
    sums = np.bincount(cell.ravel(), values.ravel(), size).astype(float)  # without any cell they would be integers
    counts = np.bincount(cell.ravel(), minlength=size).astype(float)
    return sums.reshape(deals, columns), counts.reshape(deals, columns)


def blocks(games: FinishedGames, agent: str, other: str | None = None) -> Floats:
    """One number in [0, 1] for each deal in which the agent (and the other) played, in the order of the deals.

    Alone: the agent's mean win share per seat, whose par is 1/players if the seats were rotated. With another agent:
    the share of their meetings in which `agent` was placed before `other`, ties half, whose par is 1/2.
    """
    a = games.index(agent)
    if other is None:
        sums, counts = (array[:, a] for array in seat_sums(games, games.win_shares))
    else:
        pair = pair_sums(games, np.array([a]), np.array([games.index(other)]))
        sums, counts = (array[:, 0] for array in pair)
    played = counts > 0
    if not played.any():
        raise BadResults(f"{agent} and {other} never met")
    shares: Floats = sums[played] / counts[played]
    return shares
