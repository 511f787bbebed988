"""Advantages along the table's common time line.

Every decision of a game is a moment of it, whoever decides. A critic values all seats at every moment, so that
generalised advantage estimation runs for each seat from one moment to the next, and the advantage of a decision is read
off for the seat that made it. No seat has to wait for its own next decision.
"""

from __future__ import annotations

import torch
from torch import Tensor

from borneo_train.together import ALONE, Together


def advantages(rewards: Tensor, done: Tensor, values: Tensor, gamma: float, gae_lambda: float) -> Tensor:
    """(moments, games, seats): how much better each moment went for each seat than the critic thought.

    Arguments:
        rewards: (moments, games, seats): what each decision brought.
        done: (moments, games): whether it ended its game.
        values: (moments + 1, games, seats): what the critic thought before each decision, and after the last.
    """
    found = torch.empty_like(rewards)
    later = torch.zeros_like(rewards[0])
    for moment in reversed(range(len(rewards))):
        goes_on = (~done[moment]).to(rewards.dtype)[:, None]
        surprise = rewards[moment] + gamma * goes_on * values[moment + 1] - values[moment]
        later = surprise + gamma * gae_lambda * goes_on * later
        found[moment] = later
    return found


def standard(values: Tensor, chosen: Tensor, together: Together = ALONE) -> Tensor:
    """Values with mean 0 and variance 1 over those that are chosen, by all who learn together."""
    mean, spread = mean_and_spread(values, chosen, together)
    return (values - mean) / (spread + 1e-8)


def shares_of(chosen: Tensor, parts: int, together: Together = ALONE) -> Tensor:
    """(moments, games): what each one that is chosen counts in the mean of its minibatch, over all who learn together.

    A minibatch is every so many-th game at some moment. A process's sum of shares is 1 in the mean of all processes.
    """
    apart = chosen.view(len(chosen), -1, parts).float()
    counts = together.total(apart.sum(1, keepdim=True)) / together.count
    return (apart / counts.clamp(1 / together.count)).view_as(chosen)


def mean_and_spread(values: Tensor, chosen: Tensor, together: Together = ALONE) -> tuple[Tensor, Tensor]:
    """The mean of those values that are chosen and their standard deviation, over all who learn together."""
    total, chosen = together.total, chosen.expand_as(values)
    count = total(chosen.sum()).clamp(1)
    mean = total((values * chosen).sum()) / count
    return mean, (total(((values - mean) * chosen).square().sum()) / count).sqrt()
