"""Sums of products in vectors: those that are summed up one by one, in numbers of 32 bits."""

import numba
import numpy as np
import pytest
from borneo_agents.policy.inference import MOST_IN_TABLE, MOST_IN_VALUES, aligned, in_steps
from borneo_agents.policy.products import BLOCK, sum_block, sum_one_by_one


@numba.njit
def summed(sums, block, weights, pairs, places, count):
    sum_block(sums, block, weights, pairs, places, count)


@pytest.mark.parametrize("size", [np.int8, np.int16])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 40])
def test_sums_in_vectors_are_those_one_by_one(size, count):
    rng = np.random.default_rng(count)
    least, most = np.iinfo(size).min, np.iinfo(size).max
    weights = rng.integers(least, most + 1, (3, 40, 2 * BLOCK)).astype(size)
    inputs = rng.integers(-300, 300, 80).astype(np.int16)
    places = rng.permutation(40).astype(np.int32)
    found, wanted = np.full((2, 3 * BLOCK), 7, np.int32)
    for block in (0, 2):
        summed(found, block, weights, inputs.view(np.int32), places, count)
        sum_one_by_one(wanted, block, weights, inputs.view(np.int32), places, count)
    np.testing.assert_array_equal(found, wanted)
    by_units = weights.reshape(3, 40, BLOCK, 2)[:, places[:count]].astype(int)
    exactly = (by_units * inputs.reshape(-1, 1, 2)[places[:count]]).sum((1, 3))
    np.testing.assert_array_equal(found.reshape(3, BLOCK), np.where([[True], [False], [True]], exactly, 7))


@pytest.mark.parametrize("size", [np.int8, np.int16])
@pytest.mark.parametrize("most", [MOST_IN_TABLE, MOST_IN_VALUES])
@pytest.mark.parametrize("inputs", [1, 255, 4096])
def test_no_sum_needs_more_than_32_bits(size, most, inputs):
    """All inputs are as large as they can be, and all weights of a unit are equal."""
    weights = np.random.default_rng(1).normal(size=(5, 1)).astype(np.float32).repeat(inputs, 1)
    whole, steps = in_steps(weights, most, size)
    pairs = np.full(inputs + inputs % 2, most, np.int16).view(np.int32)
    sums = np.zeros(BLOCK, np.int32)
    summed(sums, 0, whole, pairs, np.arange(len(pairs), dtype=np.int32), len(pairs))
    np.testing.assert_allclose(sums[:5] * steps[:5], most * weights.sum(1, dtype=float), rtol=1 / 60)
    assert not sums[5:].any()


def test_weights_begin_where_a_line_of_the_cache_does():
    for numbers in (1, 30, 1000):
        array = np.arange(3 * numbers, dtype=np.int16).reshape(3, numbers)
        assert aligned(array).ctypes.data % 64 == 0
        np.testing.assert_array_equal(aligned(array), array)
