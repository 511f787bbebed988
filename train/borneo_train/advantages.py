"""Generalised advantage estimation along the table's common time line (Schulman et al. 2016, arXiv:1506.02438).

Every decision of a game is a timestep, of any seat. The critic values all seats at every timestep, so GAE runs for
each seat from one timestep to the next. The advantage of a decision is read off for the seat that made it. No seat has
to wait for its own next decision.
"""

from __future__ import annotations

import torch
from torch import Tensor


def advantages(rewards: Tensor, done: Tensor, values: Tensor, gamma: float, gae_lambda: float) -> Tensor:
    """(timesteps, games, seats): how much better each timestep went for each seat than the critic expected.

    Arguments:
        rewards: (timesteps, games, seats): what each decision brought.
        done: (timesteps, games): whether it ended its game.
        values: (timesteps + 1, games, seats): the critic before each decision, and after the last.
    """
    found = torch.empty_like(rewards)
    later = torch.zeros_like(rewards[0])
    for t in reversed(range(len(rewards))):
        goes_on = (~done[t]).to(rewards.dtype)[:, None]
        delta = rewards[t] + gamma * goes_on * values[t + 1] - values[t]
        later = delta + gamma * gae_lambda * goes_on * later
        found[t] = later
    return found


def mean_where(values: Tensor, chosen: Tensor) -> Tensor:
    """The mean of those values that are chosen; 0 if none is."""
    return (values * chosen).sum() / chosen.expand_as(values).sum().clamp(1)


def std_where(values: Tensor, chosen: Tensor) -> Tensor:
    """The standard deviation of those values that are chosen."""
    return mean_where((values - mean_where(values, chosen)).square(), chosen).sqrt()


def normalised(values: Tensor, chosen: Tensor) -> Tensor:
    """Values with mean 0 and variance 1 over those that are chosen."""
    return (values - mean_where(values, chosen)) / (std_where(values, chosen) + 1e-8)
