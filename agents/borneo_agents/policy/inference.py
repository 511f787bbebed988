"""The network of a policy for one position at a time, compiled: what decides, and what a search asks many times.

In all layers but the last, weights and inputs are whole numbers of a step: sums are quick, and the same on all
machines. Each unit has a step of its own for its weights. The numbers of a table count as they are, the values after a
layer in steps of a part of the largest. Most numbers of a table are 0, and some values are. So weights lie in memory by
pairs of inputs, and only those of pairs that are not 0 are added up. The last layer is worked out for the outputs that
are asked for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_agents.policy.network import NORM_EPSILON, Floats, Layers
from borneo_agents.policy.products import BLOCK, sum_block
from kontor.compile import entry, rule
from kontor.engine.threads import in_parallel

TABLES_PER_THREAD = 8  # at least
MOST_IN_TABLE, MOST_IN_VALUES = 128, 4095  # steps of an input
SMALLEST_VALUE = np.float32(1e-30)  # the largest value of a layer counts as this at least
CACHE_LINE = 64  # bytes


class CompiledNetwork(NamedTuple):
    """Layers as compiled functions want them, filled up with units that do nothing to whole blocks."""

    units: Any  # how many there are without these
    first: Any  # (blocks, pairs of inputs, 2 * BLOCK): weights of the first layer
    deeper: Any  # (layers, blocks, pairs, 2 * BLOCK): those of the layers up to the last
    steps: Any  # (layers, units): of weights
    biases: Any  # (layers, units)
    gains: Any  # (layers, units)
    shifts: Any  # (layers, units)
    last: Any  # (outputs, units): the last layer
    last_biases: Any  # (outputs,)


class NetworkScratch(NamedTuple):
    """Memory that a network works in."""

    values: Any  # of units after a layer
    found: Any  # what is to be normed
    terms: Any  # of a sum
    sums: Any  # of weights, times inputs
    inputs: Any  # in whole steps
    pairs: Any  # the same memory by pairs
    places: Any  # of pairs that are not 0


def compiled_network(layers: Layers, size: type[np.signedinteger[Any]] = np.int16) -> CompiledNetwork:
    """Layers with weights of this size."""
    *normed, last = layers
    units = last.weights.shape[1]
    spare = ((0, 0), (0, -units % BLOCK))
    first, first_steps = in_steps(normed[0].weights, MOST_IN_TABLE, np.int16)
    deeper = [in_steps(np.pad(layer.weights, spare), MOST_IN_VALUES, size) for layer in normed[1:]]
    shape = (len(deeper), len(first), len(first) * BLOCK // 2, 2 * BLOCK)
    parts = np.array([(layer.biases, layer.gain, layer.shift) for layer in normed], np.float32)
    biases, gains, shifts = np.pad(parts.transpose(1, 0, 2), ((0, 0), *spare))
    return CompiledNetwork(
        np.int64(units),
        aligned(first),
        aligned(np.array([whole for whole, _ in deeper], size).reshape(shape)),
        np.array([first_steps, *(steps for _, steps in deeper)]),
        biases,
        gains,
        shifts,
        np.ascontiguousarray(last.weights, np.float32),
        np.ascontiguousarray(last.biases, np.float32),
    )


def in_steps(weights: Floats, most: int, size: Any) -> tuple[NDArray[Any], Floats]:
    """Weights (units, inputs) by blocks and pairs, as whole numbers of a step that each unit has, and the steps.

    A step is as small as two limits allow: a weight must fit its size, and the sum of a unit 32 bits where no input is
    more than `most`. The last block is filled up with units that do nothing.
    """
    units, inputs = weights.shape
    weights = np.pad(weights.astype(np.float64), ((0, -units % BLOCK), (0, inputs % 2)))
    sizes = np.abs(weights)
    most_of_unit = np.iinfo(np.int32).max / most - inputs  # with room for rounding each weight
    steps = np.maximum(sizes.max(1, initial=0) / np.iinfo(size).max, sizes.sum(1) / most_of_unit)
    steps = np.maximum(steps, np.finfo(np.float32).tiny).astype(np.float32)
    whole = np.rint(weights / steps[:, None]).astype(size)
    blocks = whole.reshape(-1, BLOCK, (inputs + 1) // 2, 2).transpose(0, 2, 1, 3)
    return blocks.reshape(len(blocks), -1, 2 * BLOCK), steps


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """A copy that begins where a line of the processor's cache does: vectors never lie in two lines."""
    memory = np.zeros(array.nbytes + CACHE_LINE, np.int8)
    start = -memory.ctypes.data % CACHE_LINE
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[:] = array
    return copy


def outputs_of(network: CompiledNetwork, tables: NDArray[np.int8], threads: int = 1) -> Floats:
    """(n, outputs): what a network makes of each table, the same to the last bit however many they are.

    NumPy would be quicker for many of them. But its threads wait for each other, fifty milliseconds for one table where
    other programs keep the cores busy.
    """
    outputs = np.empty((len(tables), len(network.last)), np.float32)
    in_parallel(threads, _write_in_thread, (network,), (tables, outputs), TABLES_PER_THREAD)
    return outputs


def _write_in_thread(network: CompiledNetwork, tables: NDArray[np.int8], outputs: Floats) -> None:
    write_outputs(network, tables, outputs, network_scratch(network))


def network_scratch(*networks: CompiledNetwork) -> NetworkScratch:
    """Scratch memory that is large enough for each of these networks."""
    units = max(network.biases.shape[1] for network in networks)
    pairs = max(units // 2, *(network.first.shape[1] for network in networks))
    values, found, terms = np.zeros((3, units), np.float32)
    inputs = np.zeros(2 * pairs, np.int16)
    return NetworkScratch(
        values, found, terms, np.zeros(units, np.int32), inputs, inputs.view(np.int32), np.zeros(pairs, np.int32)
    )


@entry
def write_outputs(network, tables, outputs, scratch):
    """Write all outputs of a network for each table."""
    for i in range(len(tables)):
        run(network, tables[i], scratch)
        for number in range(outputs.shape[1]):
            outputs[i, number] = output(network, number, scratch)


@rule
def run(network, table, scratch):
    """Write what all layers but the last make of a table into the scratch memory's values."""
    for number in range(min(len(table), 2 * network.first.shape[1])):
        scratch.inputs[number] = table[number]  # an odd number's last neighbour, whatever it is, has no weight
    add_up(network.first, scratch)
    norm(network, 0, np.float32(1), scratch)
    for layer in range(1, len(network.biases)):
        step = put_in_steps(scratch, network.biases.shape[1])
        add_up(network.deeper[layer - 1], scratch)
        norm(network, layer, step, scratch)


@rule
def put_in_steps(scratch, units):
    """Write the values as inputs, in whole steps; returns the step. What is no number counts as the largest."""
    for unit in range(units):
        scratch.terms[unit] = scratch.values[unit]
    most = np.float32(MOST_IN_VALUES)
    highest = max(largest(scratch.terms, units), SMALLEST_VALUE)
    factor = most / highest
    for unit in range(units):
        scratch.inputs[unit] = np.int32(min(most, scratch.values[unit] * factor + np.float32(0.5)))
    return highest / most


@rule
def add_up(weights, scratch):
    """Sum up the weights of pairs of inputs that are not 0, times these."""
    count = list_pairs(scratch.pairs, weights.shape[1], scratch.places)
    for block in range(len(weights)):
        sum_block(scratch.sums, block, weights, scratch.pairs, scratch.places, count)


@rule
def list_pairs(pairs, length, places):
    """List the pairs that are not 0, without branches, which cost twice the time; returns how many they are."""
    count = 0
    for number in range(length):
        places[count] = number
        count += pairs[number] != 0
    return count


@rule
def norm(network, layer, step, scratch):
    """Norm and rectify what was summed up. These are the values of the first layer; later layers add theirs."""
    units = network.units
    values, found, terms = scratch.values, scratch.found, scratch.terms
    for unit in range(units):
        found[unit] = np.float32(scratch.sums[unit]) * (network.steps[layer, unit] * step) + network.biases[layer, unit]
        terms[unit] = found[unit]
    mean = total(terms, units) / np.float32(units)
    for unit in range(units):
        found[unit] -= mean
    variance = product(found, found, terms, units) / np.float32(units)
    factor = np.float32(1) / np.sqrt(variance + NORM_EPSILON)
    for unit in range(units):
        normed = found[unit] * factor * network.gains[layer, unit] + network.shifts[layer, unit]
        before = values[unit] if layer else np.float32(0)
        values[unit] = before + max(normed, np.float32(0))
    for unit in range(units, network.biases.shape[1]):
        values[unit] = 0


@rule
def output(network, number, scratch):
    """One output of the network, from the values that `run` left."""
    return product(network.last[number], scratch.values, scratch.terms, network.units) + network.last_biases[number]


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


@rule
def largest(terms, length):
    """The largest of terms, which are lost, an even number of them: as `total` finds the sum."""
    while length % 2 == 0:
        length //= 2
        for i in range(length):
            terms[i] = max(terms[i], terms[length + i])
    for i in range(1, length):
        terms[0] = max(terms[0], terms[i])
    return terms[0]
