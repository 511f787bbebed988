"""Legal actions: masked logits, and drawing by probabilities."""

from __future__ import annotations

from torch import Tensor

ILLEGAL = -1e9  # the logit of an illegal action


def masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Logits as float32, illegal ones out of reach."""
    return logits.float().masked_fill(~mask, ILLEGAL)


def categorical(probs: Tensor, u: Tensor) -> Tensor:
    """(n,): an action for each row of probabilities, drawn by a number from 0 to 1."""
    cdf = probs.cumsum(1)
    return (cdf > u[:, None] * cdf[:, -1:]).byte().argmax(1)
