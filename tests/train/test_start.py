"""`--start`: a training begins with the networks of a policy, or of another training."""

from dataclasses import replace

import numpy as np
import pytest
from networks import network, searcher
from trainings import ROLLOUT, TINY, begin, go_on, run, stop_after

torch = pytest.importorskip("torch")

from borneo_agents.policy.model import write_model  # noqa: E402  # torch may be missing
from borneo_train.run.learner import create_learner, model_of  # noqa: E402

pytestmark = pytest.mark.usefixtures("games_are_hardly_played_before", "no_curves_are_drawn", "no_games_to_measure")
TIED = replace(TINY, network="tied", actor="64x2", critic="64x2")


def model(learner):
    return model_of(learner, learner.settings, "")


@pytest.mark.parametrize("settings", [TIED, replace(TIED, network="plain")], ids=lambda settings: settings.network)
def test_it_plays_and_values_as_the_policy_does(settings, tmp_path):
    """And so does its earlier version. Games, decisions and chance are its own."""
    first = create_learner(settings)
    first.collect()
    first.update()
    wanted = model(first)
    write_model(tmp_path, wanted)
    learner = create_learner(replace(settings, start=str(tmp_path), seed=99, opponent_share=0.5))
    found = model(learner)
    for layers, others in ((found.layers, wanted.layers), (found.critic, wanted.critic)):
        for layer, other in zip(layers, others, strict=True):
            for part, its in zip(layer, other, strict=True):
                assert (part is None) == (its is None)
                assert part is None or np.allclose(part, its, atol=1e-5)
    assert learner.decisions == 0
    assert torch.equal(learner.opponents.player.layers[-1].bias, learner.networks.actor.last_bias)
    assert not torch.equal(learner.games.state[:6], first.games.state[:6])
    learner.collect()
    learner.update()
    assert 1 != float(learner.return_scale) == pytest.approx(1, rel=0.05), "values keep their size"


def test_the_newest_policy_of_a_training_is_taken_and_may_be_gone_when_it_goes_on(tmp_path):
    before = run(begin(tmp_path / "before"))
    again = begin(tmp_path / "after", start=str(tmp_path / "before"), seed=4)
    assert torch.equal(again.learner.networks.actor.last_bias, before.learner.networks.actor.last_bias)
    stop_after(again, ROLLOUT).run()
    (tmp_path / "before").rename(tmp_path / "elsewhere")
    again = run(go_on(tmp_path / "after"))
    assert again.learner.decisions == 4 * ROLLOUT and again.settings.start == str(tmp_path / "before")


def test_inputs_that_the_critic_of_a_policy_lacks_have_weights_of_0():
    learner = create_learner(TINY)
    policy = model(learner)
    first, *rest = policy.critic
    learner.networks.load_model(
        replace(policy, critic=[first._replace(weights=first.weights[:, :1400]), *rest]), "board"
    )
    weights = learner.networks().critic[0].weight
    assert not weights[:, 1400:].any() and weights[:, :1400].all(1).any()


REFUSED = {  # settings, the policy there, and what is said
    "of other layers": (TINY, searcher(width=7), "it has layers of 7x1 for 969 numbers, and should have layers of "),
    "of the other edition": (TINY, searcher("card"), "it is of the card edition: train with --edition card"),
    "without a critic": (TINY, network(), "it has no critic"),
    "that is not tied": (
        replace(TIED, actor="64x1"),
        searcher(width=64),
        "its weights are not tied: train with --network plain",
    ),
    "that is none": (TINY, None, "there is no policy, and no training that has made one"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_policy_that_does_not_fit_is_refused(what, tmp_path):
    settings, policy, told = REFUSED[what]
    if policy is not None:
        write_model(tmp_path / "policy", policy)
    with pytest.raises(ValueError, match=f"^--start {tmp_path}/policy: cannot start with it: {told}"):
        begin(tmp_path / "new", **settings.as_dict() | {"start": str(tmp_path / "policy")})
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["card.json", "model.safetensors"])
def test_a_damaged_policy_is_refused(name, tmp_path):
    write_model(tmp_path, searcher())
    (tmp_path / name).write_bytes(b"\x80\x04\x95 no such thing")
    with pytest.raises(ValueError, match=r"--start .*: cannot start with it: ") as told:
        create_learner(replace(TINY, start=str(tmp_path)))
    assert "\n" not in str(told.value)
