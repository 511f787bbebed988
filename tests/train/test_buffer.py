"""The lean rollout buffer beside sb3-contrib's: the same samples, in an order of its own."""

import numpy as np
import pytest
import torch
from borneo_train.buffer import LeanBuffer
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from borneo_env import Ruleset
from borneo_env.vector import seat_spaces

STEPS, GAMES = 6, 5
SPACES = seat_spaces(Ruleset(), "int8")


def make(kind, seed=0):
    buffer = kind(STEPS, *SPACES, "cpu", gae_lambda=0.9, gamma=0.97, n_envs=GAMES)
    buffer.generator = torch.Generator().manual_seed(seed)
    return buffer


def fill(buffer, seed=1):
    """Fill it with a rollout that never was."""
    rng = np.random.default_rng(seed)
    observations, actions = SPACES
    buffer.reset()
    while not buffer.full:
        buffer.add(
            rng.integers(-2, 127, (GAMES, *observations.shape), np.int8, endpoint=True),
            rng.integers(actions.n, size=(GAMES, 1)),
            rng.normal(size=GAMES).astype(np.float32),
            rng.random(GAMES) < 0.3,
            torch.from_numpy(rng.normal(size=(GAMES, 1)).astype(np.float32)),
            torch.from_numpy(rng.normal(size=GAMES).astype(np.float32)),
            action_masks=rng.random((GAMES, actions.n)) < 0.5,
        )
    last = torch.from_numpy(rng.normal(size=(GAMES, 1)).astype(np.float32))
    buffer.compute_returns_and_advantage(last, rng.random(GAMES) < 0.5)
    return buffer


def rows(buffer, batch_size=None):
    """The samples of one pass, a row of bytes for each decision."""
    passed = []
    for sample in buffer.get(batch_size):
        columns = [np.asarray(part, np.float32).reshape(len(sample.observations), -1) for part in sample]
        passed += [row.tobytes() for row in np.hstack(columns)]
    return passed


@pytest.mark.parametrize("batch_size", [None, 10, 7, 1])
def test_the_samples_are_those_of_sb3_contribs_buffer(batch_size):
    """Each once: observations, actions, values, log probabilities, advantages, returns and masks."""
    lean, usual = fill(make(LeanBuffer)), fill(make(MaskableRolloutBuffer))
    found = rows(lean, batch_size)
    assert sorted(found) == sorted(rows(usual, batch_size))
    assert len(set(found)) == STEPS * GAMES


def test_returns_and_advantages_are_those_of_sb3_contribs_buffer():
    lean, usual = fill(make(LeanBuffer)), fill(make(MaskableRolloutBuffer))
    assert (lean.returns == usual.returns).all() and (lean.advantages == usual.advantages).all()
    assert lean.advantages.std() > 0


def test_minibatches_have_the_size_asked_for():
    assert [len(sample.actions) for sample in fill(make(LeanBuffer)).get(7)] == [7, 7, 7, 7, 2]


def test_observations_and_masks_stay_as_they_are():
    """int8 and bool: a quarter of the memory."""
    (sample,) = fill(make(LeanBuffer)).get()
    assert (sample.observations.dtype, sample.action_masks.dtype) == (torch.int8, torch.bool)
    assert sample.observations.shape == (STEPS * GAMES, *SPACES[0].shape)
    assert sample.action_masks.shape == (STEPS * GAMES, SPACES[1].n)


def test_the_order_depends_on_the_generator_only():
    orders = []
    for everywhere in (1, 2):
        np.random.seed(everywhere)  # noqa: NPY002  # sb3-contrib's buffer draws from it
        torch.manual_seed(everywhere)
        buffer = fill(make(LeanBuffer, seed=3))
        orders.append((rows(buffer), rows(buffer, 7)))
    assert orders[0] == orders[1]
    first, second = orders[0]
    assert first != second and sorted(first) == sorted(second)
    assert rows(fill(make(LeanBuffer, seed=4))) != first


def test_other_draws_do_not_depend_on_the_order():
    """The learner's own random numbers go on as if no order had been drawn."""
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    rows(fill(make(LeanBuffer)))
    assert (torch.get_rng_state() == before[0]).all() and (np.random.get_state()[1] == before[1]).all()  # noqa: NPY002


def test_a_second_rollout_replaces_the_first():
    buffer = fill(make(LeanBuffer), seed=1)
    rows(buffer, 7)
    assert sorted(rows(fill(buffer, seed=2))) == sorted(rows(fill(make(MaskableRolloutBuffer), seed=2)))


def test_what_was_added_is_a_copy():
    """The vector environment uses its arrays again."""
    buffer = make(LeanBuffer)
    observations, masks = np.ones((GAMES, *SPACES[0].shape), np.int8), np.ones((GAMES, SPACES[1].n), np.bool_)
    nothing = torch.zeros(GAMES)
    for _ in range(STEPS):
        observations[:], masks[:] = 1, True
        buffer.add(observations, np.zeros((GAMES, 1)), np.zeros(GAMES), np.zeros(GAMES), nothing, nothing, masks)
        observations[:], masks[:] = 2, False
    (sample,) = buffer.get()
    assert (sample.observations == 1).all() and sample.action_masks.all()
