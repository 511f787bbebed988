"""The network of a policy for one position at a time, compiled: what decides, and what a search asks many times.

Most numbers of a table are 0, and so are half of the values after a layer. So weights lie in memory by their inputs,
and only those of inputs that are not 0 are added up. The last layer is worked out for the outputs that are asked for.
All other weights are whole numbers of a step, which each input has for its own: a search asks several networks in turn,
and so they take half the room in the processor's cache. In all that rounds off less than the files' half precision.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.policy.network import NORM_EPSILON, Floats, Layers
from borneo_env.engine.jit import entry, rule
from borneo_env.engine.threads import in_parallel

# The layers of a network, with the weights by their inputs, in steps of those: (inputs, units), (layers, units, units)
# and the steps, (inputs,), (layers, units); three of (layers, units); and the last layer by its outputs: (outputs,
# units), (outputs,).
Network = namedtuple("Network", "first deeper first_steps deeper_steps biases gains shifts last last_biases")

# What a network works with: the values of units, what is summed up for the next ones, the terms of a sum, and the
# inputs that are not 0.
Room = namedtuple("Room", "values sums terms places")

TABLES_PER_THREAD = 8  # at least
MOST_STEPS = np.iinfo(np.int16).max


def compiled_network(layers: Layers) -> Any:
    """Layers as the compiler wants them."""
    normed, last = layers[:-1], layers[-1]
    units = len(last.weights[0])
    first, first_steps = in_steps(normed[0].weights.T)
    deeper, deeper_steps = in_steps(np.array([layer.weights.T for layer in normed[1:]]).reshape(-1, units, units))

    def rows(part: str) -> Any:
        return np.array([getattr(layer, part) for layer in normed], np.float32)

    return Network(
        first, deeper, first_steps, deeper_steps,
        rows("biases"), rows("gain"), rows("shift"),
        np.ascontiguousarray(last.weights, np.float32),
        np.ascontiguousarray(last.biases, np.float32),
    )  # fmt: skip


def in_steps(weights: Floats) -> tuple[NDArray[np.int16], Floats]:
    """Weights as whole numbers of a step, and the steps: the largest weight of an input is so many of its steps."""
    steps = np.maximum(np.abs(weights).max(-1) / MOST_STEPS, np.finfo(np.float32).tiny).astype(np.float32)
    return np.ascontiguousarray(np.rint(weights / steps[..., None]), np.int16), steps


def outputs_of(network: Any, tables: NDArray[np.int8], threads: int = 1) -> Floats:
    """(n, outputs): what a network makes of each table, the same to the last bit however many they are.

    NumPy would be quicker for many of them. But its threads wait for each other, fifty milliseconds for one table where
    other programs keep the cores busy.
    """
    found = np.empty((len(tables), len(network.last)), np.float32)
    room = make_room(threads, network)
    in_parallel(threads, outputs_of_tables, (network,), (tables, found), TABLES_PER_THREAD, room)
    return found


def make_room(threads: int, *networks: Any) -> tuple[Any, ...]:
    """Scratch memory for each thread, large enough for each of these networks."""
    units = max(network.last.shape[1] for network in networks)
    inputs = 1 + max(units, *(len(network.first) for network in networks))
    return np.zeros((threads, 3, units), np.float32), np.zeros((threads, inputs), np.int32)


@rule
def room_of(values, places):
    """The scratch memory of a thread."""
    return Room(values[0, 0], values[0, 1], values[0, 2], places[0])


@rule
def run(network, table, room):
    """Write what all layers but the last make of a table into the room's values."""
    add_rows(network.first, network.first_steps, table, network.biases[0], room)
    put_normed(network, 0, room)
    for layer in range(1, len(network.biases)):
        below = layer - 1
        add_rows(network.deeper[below], network.deeper_steps[below], room.values, network.biases[layer], room)
        put_normed(network, layer, room)


@rule
def list_inputs(inputs, length, places):
    """List the inputs that are not 0, without branches, which cost twice the time; returns how many they are."""
    count = 0
    for number in range(length):
        places[count] = number
        count += inputs[number] != 0
    return count


@rule
def add_rows(weights, steps, inputs, biases, room):
    """Sum up the biases and the weights of inputs that are not 0, of four at a time, which saves memory traffic."""
    units = weights.shape[1]
    sums, places = room.sums, room.places
    count = list_inputs(inputs, len(weights), places)
    for unit in range(units):
        sums[unit] = biases[unit]
    whole = count // 4 * 4
    for k in range(0, whole, 4):
        a, b, c, d = places[k], places[k + 1], places[k + 2], places[k + 3]
        of_a, of_b = np.float32(inputs[a]) * steps[a], np.float32(inputs[b]) * steps[b]
        of_c, of_d = np.float32(inputs[c]) * steps[c], np.float32(inputs[d]) * steps[d]
        for unit in range(units):
            sums[unit] += (of_a * np.float32(weights[a, unit]) + of_b * np.float32(weights[b, unit])) + (
                of_c * np.float32(weights[c, unit]) + of_d * np.float32(weights[d, unit])
            )
    for k in range(whole, count):
        a = places[k]
        of_a = np.float32(inputs[a]) * steps[a]
        for unit in range(units):
            sums[unit] += of_a * np.float32(weights[a, unit])


@rule
def put_normed(network, layer, room):
    """Norm and rectify the sums; they are the values of the first layer, and are added to those of a later one."""
    units = network.last.shape[1]
    values, sums, terms = room.values, room.sums, room.terms
    for unit in range(units):
        terms[unit] = sums[unit]
    mean = total(terms, units) / np.float32(units)
    for unit in range(units):
        sums[unit] -= mean
    variance = product(sums, sums, terms, units) / np.float32(units)
    factor = np.float32(1) / np.sqrt(variance + NORM_EPSILON)
    for unit in range(units):
        found = sums[unit] * factor * network.gains[layer, unit] + network.shifts[layer, unit]
        before = values[unit] if layer else np.float32(0)
        values[unit] = before + max(found, np.float32(0))


@rule
def output(network, number, room):
    """One output of the network, from the values that `run` left."""
    return product(network.last[number], room.values, room.terms, network.last.shape[1]) + network.last_biases[number]


@rule
def product(a, b, terms, length):
    """The scalar product."""
    for i in range(length):
        terms[i] = a[i] * b[i]
    return total(terms, length)


@rule
def total(terms, length):
    """The sum of terms, which are lost: halves are added up, so that the processor adds many at a time.

    All machines add up in this order, and so play the same games.
    """
    while length > 8:
        half = length // 2
        for i in range(half):
            terms[i] += terms[half + i]
        if length % 2:
            terms[0] += terms[length - 1]
        length = half
    whole = np.float32(0)
    for i in range(length):
        whole += terms[i]
    return whole


@entry
def outputs_of_tables(network, tables, found, values, places):
    """Write all outputs of a network for each table."""
    room = room_of(values, places)
    for i in range(len(tables)):
        run(network, tables[i], room)
        for number in range(found.shape[1]):
            found[i, number] = output(network, number, room)
