"""A network of half the width becomes a wider one that plays the same, and learns with all of its units."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from borneo_agents.policy.model import write_model
from borneo_agents.policy.network import logits_of
from borneo_train import checkpoint
from borneo_train.learner import Learner
from borneo_train.network import Width
from borneo_train.settings import Settings
from borneo_train.training import model_of
from borneo_train.widening import twins

SMALL = Settings(
    players="3,4", actor="64x2", critic="64x2", n_envs=32, n_steps=4, batch_size=16, n_epochs=1, device="cpu",
    learning_rate=1e-3, timesteps=512, workers=1,
)  # fmt: skip
WIDE = replace(SMALL, actor="128x2", critic="128x2", seed=5)


def tables(learner):
    return learner.games.table[:, : learner.games.width + 5].numpy()


@pytest.mark.parametrize("kind", ["tied", "plain"])
def test_a_policy_begun_with_by_one_of_twice_the_width_plays_and_values_the_same(kind, tmp_path):
    small = Learner(replace(SMALL, network=kind))
    for _ in range(2):  # else all that the actor says is about 0
        small.play()
        small.learn()
    write_model(tmp_path, model_of(small, ""))
    wide = checkpoint.made(replace(WIDE, network=kind, start=str(tmp_path)))
    before, after = model_of(small, ""), model_of(wide, "")
    seen, known = tables(small), small.games.known
    assert len(after.layers[0].weights) == 128 and len(before.layers[0].weights) == 64
    wanted = logits_of(before.layers, seen[:, :known])
    np.testing.assert_allclose(logits_of(after.layers, seen[:, :known]), wanted, atol=1e-4)
    np.testing.assert_allclose(logits_of(after.critic, seen), logits_of(before.critic, seen), atol=1e-4)
    assert wanted.std() > 0.01


@pytest.mark.parametrize("quick", ["", "64x1"])
def test_a_training_goes_on_with_networks_of_twice_the_width(quick, tmp_path):
    small = Learner(replace(SMALL, quick=quick))
    small.play()
    small.learn()
    checkpoint.save(tmp_path / checkpoint.FOLDER, small, {})
    wide = checkpoint.made(replace(WIDE, quick=quick, critic="64x2", start=str(tmp_path)))  # the critic is as it was
    for before, after, known in ((small.actor, wide.actor, small.games.known), (small.critic, wide.critic, None)):
        seen = torch.from_numpy(tables(small)[:, :known]).float()
        assert torch.allclose(before(seen), after(seen), atol=1e-4)
    old, new = small.learnt(), wide.learnt()
    assert all(torch.equal(old[name], new[name]) for name in old if name.startswith(("scale", "critic", "quick")))
    assert not any(tensor.any() for name, tensor in new.items() if name.startswith("actor.adam"))
    wide.play()
    wide.learn()


@pytest.mark.parametrize("kind", ["tied", "plain"])
def test_twins_learn_different_things(kind, tmp_path):
    write_model(tmp_path, model_of(Learner(replace(SMALL, network=kind)), ""))
    wide = checkpoint.made(replace(WIDE, network=kind, start=str(tmp_path)))
    once, again = twins(wide.actor.width)
    for network in (wide.actor, wide.critic):
        first = network.layers()[0].weight
        assert torch.equal(first[once], first[again])
    wide.play()
    wide.learn()
    for network in (wide.actor, wide.critic):
        first = network.layers()[0].weight
        apart = (first[once] - first[again]).abs().amax(1)
        assert (apart > 1e-6).float().mean() > 0.9, "some units never speak; all others have a will of their own"


def test_twins_are_in_the_same_group():
    once, again = twins(Width.of("tied", 128))
    assert sorted([*once, *again]) == list(range(128))
    groups = np.repeat(np.arange(21), [32, *[12] * 4, *[6] * 4, *[2] * 12])  # free, companies, spices, ports
    assert (groups[once] == groups[again]).all()


def test_no_other_width_can_be_begun_with(tmp_path):
    write_model(tmp_path, model_of(Learner(SMALL), ""))
    for actor, told in (("192x2", "64x2 for 969 numbers, and should have layers of 192x2"), ("128x3", "128x3")):
        with pytest.raises(ValueError, match=told):
            checkpoint.made(replace(WIDE, actor=actor, start=str(tmp_path)))
    checkpoint.save(tmp_path / checkpoint.FOLDER, Learner(SMALL), {})
    for actor in ("192x2", "128x3", "128x1"):
        with pytest.raises(
            ValueError, match="give --edition, --actor and --critic as it had them, or networks twice as wide"
        ):
            checkpoint.made(replace(WIDE, actor=actor, start=str(tmp_path)))
