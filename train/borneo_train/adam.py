"""The optimiser of all that learns: Adam, on a card with everything it needs there."""

from __future__ import annotations

import torch
from torch import Tensor, nn

EPSILON = 1e-5
LONGEST_STEP = 1.0  # of a lesson: gradients are cut to it


def adam(network: nn.Module, rate: Tensor) -> torch.optim.Adam:
    """The optimiser of a network; on a card, all of it stays there, the rate too."""
    parameters = list(network.parameters())
    if rate.is_cuda:
        return torch.optim.Adam(parameters, lr=rate, eps=EPSILON, fused=True, capturable=True)
    return torch.optim.Adam(parameters, lr=float(rate), eps=EPSILON, fused=True)


def falling(rate: float, progress: float) -> float:
    """The learning rate of a lesson of which so much is over: a fiftieth of it is left at the end."""
    return rate * (1 - 0.98 * progress)


def none_yet(optimizer: torch.optim.Optimizer) -> None:
    """Let an optimiser remember what it remembers before its first step: nothing, in tensors of their size."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            device = parameter.device if group["capturable"] or group["fused"] else "cpu"
            optimizer.state[parameter] = {
                "step": torch.zeros((), device=device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
