"""The compiled network: the numbers of NumPy, but for rounded weights, for one position at a time."""

import numpy as np
import pytest
from borneo_agents.policy.inference import compiled_network, in_steps, network_scratch, outputs_of, write_outputs
from borneo_agents.policy.network import logits_of
from networks import in_eight_bits, layers_of

ROUNDED = {"rtol": 1e-3, "atol": 1e-3}


def outputs(layers, tables, scratch=None):
    """All outputs, from the compiled network."""
    network = compiled_network(layers)
    found = np.full((len(tables), len(layers[-1].biases)), np.nan, np.float32)
    write_outputs(network, tables, found, scratch or network_scratch(network))
    return found


def in_numpy(layers, tables):
    return logits_of(layers, tables)


def tables(numbers, share, seed=1):
    """Tables of which some numbers are not 0."""
    rng = np.random.default_rng(seed)
    return (rng.integers(-2, 30, (12, numbers)) * (rng.random((12, numbers)) < share)).astype(np.int8)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.2, 1.0])
@pytest.mark.parametrize(("width", "depth"), [(1, 1), (2, 1), (7, 3), (16, 2), (67, 4), (130, 3)])
def test_a_compiled_network_says_what_numpy_says(width, depth, share):
    layers = layers_of(np.random.default_rng(3), 51, 9, width, depth, 2.0)
    shown = tables(60, share)  # it looks at the first numbers only
    np.testing.assert_allclose(outputs(layers, shown), in_numpy(layers, shown[:, :51]), **ROUNDED)


@pytest.mark.parametrize("size", [np.int8, np.int16])
def test_weights_are_whole_numbers_of_a_step_that_each_unit_has_for_its_own(size):
    weights = np.random.default_rng(2).normal(size=(70, 41)).astype(np.float32) * np.logspace(-6, 6, 70)[:, None]
    weights[5] = 0
    whole, steps = in_steps(weights, 128, size)
    assert whole.dtype == size and whole.shape == (2, 21, 2 * 64) and np.isfinite(steps).all()
    by_units = whole.reshape(2, 21, 64, 2).transpose(0, 2, 1, 3).reshape(128, 42).astype(int)
    most = np.iinfo(size).max
    assert (np.abs(by_units).max(1) == np.where((np.arange(128) == 5) | (np.arange(128) >= 70), 0, most)).all()
    assert (np.abs(by_units[:70, :41] * steps[:70, None] - weights) <= 0.51 * steps[:70, None]).all()
    assert not by_units[:, 41].any()


def test_weights_of_eight_bits_are_coarser():
    layers, shown = layers_of(np.random.default_rng(3), 51, 9, 64, 3, 2.0), tables(51, 0.3)
    coarse = outputs_of(compiled_network(layers, np.int8), shown)
    off = np.abs(coarse - in_numpy(layers, shown)).max()
    assert 0.005 < off < 0.2
    np.testing.assert_allclose(coarse, in_numpy(in_eight_bits(layers), shown), **ROUNDED)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_table_gets_the_same_outputs_to_the_last_bit_in_any_company(threads):
    network = compiled_network(layers_of(np.random.default_rng(3), 51, 9, 67, 3, 2.0))
    shown = np.concatenate([tables(51, 0.3, seed) for seed in range(3)])
    alone = np.concatenate([outputs_of(network, shown[row : row + 1]) for row in range(len(shown))])
    np.testing.assert_array_equal(outputs_of(network, shown, threads), alone)
    assert outputs_of(network, shown[:0], threads).shape == (0, 9)


def test_one_scratch_memory_does_for_several_networks():
    small, large = (
        layers_of(np.random.default_rng(5), inputs, 4, width, 3, 1.0) for inputs, width in ((9, 5), (40, 70))
    )
    scratch = network_scratch(compiled_network(small), compiled_network(large))
    for layers, shown in ((large, tables(40, 1.0)), (small, tables(9, 1.0)), (large, tables(40, 0.5))):
        np.testing.assert_array_equal(outputs(layers, shown, scratch), outputs(layers, shown))


@pytest.mark.parametrize("number", [-128, 127])
def test_all_numbers_of_a_table_may_be_as_large_as_they_can(number):
    layers = layers_of(np.random.default_rng(5), 900, 4, 3, 1, 1.0)
    layers[0].weights[0] = 1.0
    shown = np.full((2, 900), number, np.int8)
    np.testing.assert_allclose(outputs(layers, shown), in_numpy(layers, shown), **ROUNDED)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # where nothing is compiled
def test_weights_that_lead_beyond_all_numbers_do_so_quietly():
    first, *deeper, last = layers_of(np.random.default_rng(5), 20, 4, 16, 3, 1.0)
    layers = [first._replace(gain=first.gain * np.float32(1e38), shift=first.shift * np.float32(1e38)), *deeper, last]
    assert not np.isfinite(in_numpy(layers, tables(20, 0.5))).all()
    assert not np.isfinite(outputs(layers, tables(20, 0.5))).all()
