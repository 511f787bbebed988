"""Learning on a CUDA card: `make gpu-test` on a machine with one."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba_cuda")

from borneo_train.games.games import LearnerGames  # noqa: E402  # torch may be missing
from borneo_train.run.config import Settings  # noqa: E402
from borneo_train.run.learner import create_learner  # noqa: E402

pytestmark = pytest.mark.gpu

SMALL = {"n_envs": 1536, "batch_size": 1536, "actor": "128x2", "critic": "128x3", "learning_rate": 1e-3}


def learner_of(**settings):
    return create_learner(Settings(**({"device": "cuda"} | SMALL | settings)).filled(has_card=True))


def weights_of(learner):
    return torch.cat([part.detach().flatten() for part in learner.networks.parameters()]).cpu()


def test_a_rollout_on_the_card_is_that_of_the_cpu():
    sizes = {3: 40, 4: 50, 5: 60}
    on_card, on_cpu = LearnerGames(sizes, seed=3, device="cuda"), LearnerGames(sizes, seed=3)
    generator = torch.Generator().manual_seed(1)
    ended = 0
    for _ in range(250):
        actions = on_cpu.random_actions(generator)
        on_card.play(actions.cuda())
        on_cpu.play(actions)
        ended += int(on_cpu.done.sum())
        for name in ("state", "mask", "seat", "reward", "done"):
            assert torch.equal(getattr(on_card, name).cpu(), getattr(on_cpu, name)), name
        for name in ("points", "places"):
            mine, theirs = getattr(on_card, name).cpu(), getattr(on_cpu, name)
            assert torch.equal(mine[on_cpu.done], theirs[on_cpu.done]), name
    assert ended > 100


@pytest.mark.parametrize("network", ("tied", "plain"))
def test_gradients_on_the_card_are_those_of_the_cpu(network, monkeypatch):
    """Of every part of both networks: a compiler once lost those of norms."""
    monkeypatch.setattr("borneo_train.networks.actor_critic.prepared", lambda layers, device: list(layers))  # float32
    on_card, on_cpu = (learner_of(network=network, device=device, max_grad_norm=1e9) for device in ("cuda", "cpu"))
    on_card.networks.load_state_dict(on_cpu.networks.state_dict())
    on_cpu.collect()
    batch = [row[: len(on_cpu.games)] for row in on_cpu._batch()[0]]
    for learner in (on_card, on_cpu):
        learner._train_step_now(*(row.to(learner.games.device) for row in batch))
    for name in ("actor", "critic"):
        mine, theirs = (getattr(learner.networks, name) for learner in (on_card, on_cpu))
        assert torch.allclose(mine.last_bias.grad.cpu(), theirs.last_bias.grad, rtol=1e-3, atol=1e-5)
        found, expected, first = mine.shared.weights.grad.cpu(), theirs.shared.weights.grad, 0
        for shape in theirs.shared.shapes:  # part by part: a large one would hide a small one
            weights = torch.unique(theirs.shared.places[first : first + int(np.prod(shape))])
            first += int(np.prod(shape))
            assert (found[weights] - expected[weights]).norm() <= 1e-2 * expected[weights].norm(), (name, shape)


def test_the_critic_learns_what_games_come_to():
    learner = learner_of()
    for _ in range(40):
        learner.collect()
        metrics = learner.update()
    assert metrics["explained_variance"] > 0.5
    assert learner.networks.are_finite()


@pytest.mark.parametrize("opponent", ["", "self", "random", "merchant"])
def test_the_same_seed_gives_the_same_weights(opponent):
    given = {"opponent": opponent, "opponent_share": 0.25} if opponent else {}
    found = []
    for seed in (7, 7, 8):
        learner = learner_of(seed=seed, n_steps=16, **given)
        for _ in range(5):  # as it is, captured, and replayed
            learner.collect()
            learner.update()
        found.append(weights_of(learner))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_captured_work_is_what_it_is_without():
    found = []
    for captured in (True, False):
        learner = learner_of(seed=5)
        if not captured:
            learner._play, learner._train_step = learner._play_now, learner._train_step_now
        for _ in range(5):
            learner.collect()
            learner.update()
        found.append(weights_of(learner))
    assert torch.equal(*found)
