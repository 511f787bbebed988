"""How strong an actor is by itself: one seat in each of many games, the others filled by an agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from borneo_env.engine.loops import NO_ACTION
from borneo_env.ruleset import Ruleset
from borneo_env.vector import Seats
from borneo_train.actor_critic import masked


class Outcome(NamedTuple):
    """Share of the wins with the half of its 95 % interval, points, and how many games."""

    wins: float
    margin: float
    points: float
    games: int


@torch.no_grad()
def evaluate_actor(
    actor: Callable[[Tensor], Tensor],
    against: Any,
    *,
    players: int = 4,
    games: int = 1000,
    seed: int,
    edition: str = "board",
    device: str = "cpu",
    threads: int | None = None,
) -> Outcome:
    """Games of one actor, always with its most likely action, in a seat drawn for each deal."""
    ruleset = Ruleset(edition=edition, players=players)
    seats = Seats(games, ruleset, opponents=against, seed=seed, threads=threads, deals_anew=False)
    shares: NDArray[np.float64] = np.zeros(games)
    points: NDArray[np.float64] = np.zeros(games)
    over = np.zeros(games, np.bool_)
    while not over.all():
        rows = np.flatnonzero(~over)
        table = torch.from_numpy(seats.observation[rows]).to(device)
        mask = torch.from_numpy(seats.mask[rows]).to(device)
        actions = np.full(games, NO_ACTION)
        actions[rows] = masked(actor(table), mask).argmax(1).cpu().numpy()
        seats.step(actions)
        ended = np.flatnonzero(seats.done & ~over)
        shares[ended] = seats.reward[ended]
        points[ended] = seats.final_scores[ended, seats.final_seat[ended]]
        over[ended] = True
    return Outcome(float(shares.mean()), float(1.96 * shares.std() / games**0.5), float(points.mean()), games)
