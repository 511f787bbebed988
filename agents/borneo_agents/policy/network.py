"""The network of a policy, in NumPy: it leads from the observation to a logit for each action.

Layers of one width come first, each normed and rectified and, but for the first, added to what came before it; then one
plain layer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NORM_EPSILON = np.float32(1e-5)  # keeps a norm from dividing by nothing
LARGEST_LOGIT = np.float32(1e30)  # logits beyond are cut, so that two of them still have a difference

Floats = NDArray[np.float32]


class Layer(NamedTuple):
    """A layer. In the file, its parts are called 0.weights, 0.biases, 0.gain, 0.shift, 1.weights, ..."""

    weights: Floats  # (outputs, inputs)
    biases: Floats  # (outputs,)
    gain: Floats | None = None  # (outputs,): what the norm multiplies with; the last layer has no norm
    shift: Floats | None = None  # (outputs,): what it adds


Layers = list[Layer]


def logits_of(layers: Layers, shown: NDArray[Any]) -> Floats:
    """(n, outputs): what the layers make of `shown`, (n, inputs): of observations, the logit of each action."""
    values = shown.astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):  # a strange file may lead anywhere: see `_finite`
        for number, layer in enumerate(layers[:-1]):
            found = np.maximum(_normed(values @ layer.weights.T + layer.biases, layer), 0)
            values = values + found if number else found
        last = layers[-1]
        logits: Floats = values @ last.weights.T + last.biases
    return logits


def _normed(values: Floats, layer: Layer) -> Floats:
    """Values of mean 0 and variance 1, times the gain, plus the shift."""
    assert layer.gain is not None and layer.shift is not None, "all layers but the last have a norm"
    values = values - values.mean(1, keepdims=True)
    variance = (values * values).mean(1, keepdims=True)
    normed: Floats = values / np.sqrt(variance + NORM_EPSILON) * layer.gain + layer.shift
    return normed


def best_actions(logits: Floats, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(n,): the legal action with the highest logit, the first of equals."""
    actions: NDArray[np.int64] = _finite(logits, mask).argmax(1)
    return actions


def drawn_actions(logits: Floats, mask: NDArray[np.bool_], dice: NDArray[np.uint64]) -> NDArray[np.int64]:
    """(n,): a legal action drawn by its probability; `dice` are 64 random bits for each."""
    finite = _finite(logits, mask)
    cdf = np.exp(finite - finite.max(1, keepdims=True)).cumsum(1, dtype=np.float64)
    point = (dice >> np.uint64(11)) * 2.0**-53 * cdf[:, -1]  # below the end, always
    actions: NDArray[np.int64] = (cdf > point[:, None]).argmax(1)
    return actions


def probabilities_of(logits: Floats, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(n, actions): the probability of each action, the softmax of the legal ones' logits; 0 for illegal ones."""
    finite = _finite(logits, mask).astype(np.float64)
    odds = np.exp(finite - finite.max(1, keepdims=True))
    probs: NDArray[np.float64] = odds / odds.sum(1, keepdims=True)
    return probs


def _finite(logits: Floats, mask: NDArray[np.bool_]) -> Floats:
    """Finite logits for legal actions, where no number counts as the least; minus infinity for all others."""
    return np.where(mask, np.fmin(np.fmax(logits, -LARGEST_LOGIT), LARGEST_LOGIT), np.float32(-np.inf))
