"""Two parts of a network that torch is slow at on a CPU, compiled, with gradients of their own.

A decision has some eight options among hundreds of actions. Full products, and exponentials of numbers far below zero,
would take longer than the rest of the network: so the last layer looks at legal actions only. And tied weights are put
where they stand, and their gradients added up, one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from borneo_env.compile import entry, rule
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.threads import available_cores, in_parallel

EIGHT = np.uint64(8)
NEXT = tuple(np.uint64(place) for place in range(8))
ROWS_PER_THREAD = 64  # fewer are not worth waking another thread for


@entry
def put_in_place(weights, places, out):
    """Write the weight of each place."""
    for i in range(len(places)):
        out[i] = weights[places[i]]


@entry
def add_up(gradients, places, out):
    """Add up the gradients of all places of each weight."""
    for i in range(len(places)):
        out[places[i]] += gradients[i]


@rule
def product(a, b):
    """The scalar product, in eight sums side by side, as the processor likes it.

    Unsigned places cannot be counted from the end: so the compiler takes eight numbers at once.
    """
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = np.float32(0)
    for eighth in range(len(a) // 8):
        i = np.uint64(eighth) * EIGHT
        s0 += a[i] * b[i]
        s1 += a[i + NEXT[1]] * b[i + NEXT[1]]
        s2 += a[i + NEXT[2]] * b[i + NEXT[2]]
        s3 += a[i + NEXT[3]] * b[i + NEXT[3]]
        s4 += a[i + NEXT[4]] * b[i + NEXT[4]]
        s5 += a[i + NEXT[5]] * b[i + NEXT[5]]
        s6 += a[i + NEXT[6]] * b[i + NEXT[6]]
        s7 += a[i + NEXT[7]] * b[i + NEXT[7]]
    for last in range(len(a) // 8 * 8, len(a)):
        s0 += a[last] * b[last]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@rule
def look_at_options(weights, biases, values, mask, options, odds):
    """List the legal actions, with the logarithms of their odds; returns how many they are."""
    count = 0
    highest = np.float32(-np.inf)
    for action in range(len(mask)):
        if mask[action]:
            options[count] = action
            odds[count] = product(weights[action], values) + biases[action]
            highest = max(highest, odds[count])
            count += 1
    total = np.float32(0)
    for i in range(count):
        total += np.exp(odds[i] - highest)
    for i in range(count):
        odds[i] -= highest + np.log(total)
    return count


@entry
def draw_options(weights, biases, values, masks, chances, actions, logs):
    """Draw a legal action for each row of values, by its odds."""
    options, odds = np.empty(MAX_OPTIONS, np.int64), np.empty(MAX_OPTIONS, np.float32)
    for i in range(len(values)):
        count = look_at_options(weights, biases, values[i], masks[i], options, odds)
        heap, chosen = np.float32(0), 0
        for chosen in range(count):  # the last one, if the odds do not quite add up to 1
            heap += np.exp(odds[chosen])
            if heap > chances[i]:
                break
        actions[i], logs[i] = options[chosen], odds[chosen]


@entry
def judge_options(weights, biases, values, masks, actions, logs, entropies):
    """The logarithm of the odds of each action given, and the entropy of the odds it was drawn by."""
    options, odds = np.empty(MAX_OPTIONS, np.int64), np.empty(MAX_OPTIONS, np.float32)
    for i in range(len(values)):
        entropies[i] = 0
        for j in range(look_at_options(weights, biases, values[i], masks[i], options, odds)):
            entropies[i] -= np.exp(odds[j]) * odds[j]
            if options[j] == actions[i]:
                logs[i] = odds[j]


@entry
def judge_option_gradients(
    weights, biases, values, masks, actions, entropies, of_logs, of_entropies, of_values, gathered, gathered_biases
):
    """The gradients of values, weights and biases, from those of the logarithms and the entropies."""
    of_weights, of_biases = gathered[0], gathered_biases[0]
    options, odds = np.empty(MAX_OPTIONS, np.int64), np.empty(MAX_OPTIONS, np.float32)
    for i in range(len(values)):
        of_values[i] = 0
        for j in range(look_at_options(weights, biases, values[i], masks[i], options, odds)):
            action, share = options[j], np.exp(odds[j])
            slope = -of_logs[i] * share - of_entropies[i] * share * (odds[j] + entropies[i])
            if action == actions[i]:
                slope += of_logs[i]
            of_biases[action] += slope
            for unit in range(values.shape[1]):
                of_values[i, unit] += slope * weights[action, unit]
                of_weights[action, unit] += slope * values[i, unit]


def _run(function: Any, shared: tuple[Any, ...], own: tuple[Any, ...], scratch: tuple[Any, ...] = ()) -> None:
    in_parallel(available_cores(), function, shared, own, ROWS_PER_THREAD, scratch)


def _arrays(*tensors: Tensor) -> tuple[NDArray[Any], ...]:
    return tuple(tensor.detach().contiguous().numpy() for tensor in tensors)


def _room(rows: int, *shape: int) -> NDArray[np.float32]:
    """Zeros for each thread."""
    return np.zeros((max(1, min(available_cores(), rows // ROWS_PER_THREAD)), *shape), np.float32)


class InPlace(torch.autograd.Function):
    """Tied weights where they stand."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, places: Tensor) -> Tensor:
        ctx.places, ctx.count = places, len(weights)
        out = np.empty(places.numel(), np.float32)
        (own,) = _arrays(weights)
        put_in_place(own, places.flatten().numpy(), out)
        return torch.from_numpy(out).view(places.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        out = np.zeros(ctx.count, np.float32)
        (given,) = _arrays(gradients[0].flatten())
        add_up(given, ctx.places.flatten().numpy(), out)
        return torch.from_numpy(out), None


class LegalOdds(torch.autograd.Function):
    """The last layer of an actor: logarithms of the odds of actions, and entropies."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, weight: Tensor, bias: Tensor, masks: Tensor, actions: Tensor
    ) -> tuple[Tensor, Tensor]:
        shared, own = _arrays(weight, bias), _arrays(values, masks, actions)
        logs, entropies = np.empty((2, len(values)), np.float32)
        _run(judge_options, shared, (*own, logs, entropies))
        ctx.kept = shared, own, entropies
        return torch.from_numpy(logs), torch.from_numpy(entropies)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        shared, own, entropies = ctx.kept
        of_values = np.empty_like(own[0])
        room, room_for_biases = (_room(len(of_values), *part.shape) for part in shared)
        given = _arrays(*gradients)
        _run(judge_option_gradients, shared, (*own, entropies, *given, of_values), (room, room_for_biases))
        return (
            torch.from_numpy(of_values),
            torch.from_numpy(room.sum(0)),
            torch.from_numpy(room_for_biases.sum(0)),
            None,
            None,
        )


def in_place(weights: Tensor, places: Tensor) -> Tensor:
    """Tied weights where they stand: `weights[places]`."""
    found: Tensor = InPlace.apply(weights, places)
    return found


def judged(values: Tensor, weight: Tensor, bias: Tensor, masks: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
    """Logarithms of the odds of actions, and entropies, from the values before the last layer."""
    found: tuple[Tensor, Tensor] = LegalOdds.apply(values, weight, bias, masks, actions)
    return found


def drawn(values: Tensor, weight: Tensor, bias: Tensor, masks: Tensor, chances: Tensor) -> tuple[Tensor, Tensor]:
    """Legal actions drawn by their odds, and the logarithms of these."""
    own = _arrays(values, masks, chances)
    actions, logs = np.empty(len(values), np.int64), np.empty(len(values), np.float32)
    _run(draw_options, _arrays(weight, bias), (*own, actions, logs))
    return torch.from_numpy(actions), torch.from_numpy(logs)
