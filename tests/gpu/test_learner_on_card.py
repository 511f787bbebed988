"""Learning on a CUDA card: `make gpu-test` on a machine with one."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba_cuda")

from borneo_train.games.games import Games  # noqa: E402  # torch may be missing
from borneo_train.learner import Learner  # noqa: E402
from borneo_train.run.config import Settings  # noqa: E402

pytestmark = pytest.mark.gpu

SMALL = {"n_envs": 1536, "batch_size": 1536, "actor": "128x2", "critic": "128x3", "learning_rate": 1e-3}


def learner_of(**settings):
    return Learner(Settings(**({"device": "cuda"} | SMALL | settings)).filled(True))


def weights_of(learner):
    return torch.cat([p.detach().flatten() for network in learner.networks for p in network.parameters()]).cpu()


def test_a_rollout_on_the_card_is_that_of_the_cpu():
    sizes = {3: 40, 4: 50, 5: 60}
    on_card, on_cpu = Games(sizes, seed=3, device="cuda"), Games(sizes, seed=3)
    generator = torch.Generator().manual_seed(1)
    ended = 0
    for _ in range(250):
        actions = on_cpu.random_actions(generator)
        on_card.play(actions.cuda())
        on_cpu.play(actions)
        ended += int(on_cpu.done.sum())
        for name in ("table", "mask", "seat", "reward", "done"):
            assert torch.equal(getattr(on_card, name).cpu(), getattr(on_cpu, name)), name
        for name in ("points", "places"):
            mine, theirs = getattr(on_card, name).cpu(), getattr(on_cpu, name)
            assert torch.equal(mine[on_cpu.done], theirs[on_cpu.done]), name
    assert ended > 100


@pytest.mark.parametrize("network", ("tied", "plain"))
def test_gradients_on_the_card_are_those_of_the_cpu(network):
    """Of every part of both networks: a compiler once lost those of norms."""
    on_card, on_cpu = learner_of(network=network), learner_of(network=network, device="cpu", workers=1)
    on_card.numbers = torch.float32
    with torch.no_grad():
        on_cpu._play_now()
    for theirs, ours in zip(on_cpu.networks, on_card.networks, strict=True):
        ours.load_state_dict(theirs.state_dict())
    found, expected = gradients(on_card, on_cpu.rollout), gradients(on_cpu, on_cpu.rollout)
    for owner, mine, theirs in zip(on_cpu.networks, found, expected, strict=True):
        assert torch.allclose(mine[1], theirs[1], rtol=1e-3, atol=1e-5)
        first = 0
        for shape in owner.shared.shapes:  # part by part: a large one would hide a small one
            weights = torch.unique(owner.shared.places[first : first + int(np.prod(shape))])
            first += int(np.prod(shape))
            assert (mine[0][weights] - theirs[0][weights]).norm() <= 1e-2 * theirs[0][weights].norm(), shape


def gradients(learner, kept):
    """Of both networks' losses at the first moment of a rollout, all on the CPU."""
    chance = torch.Generator().manual_seed(2)
    there = learner.present.expand(*kept.own.shape, 5)
    advantage, target = (torch.randn(t.shape, generator=chance) for t in (kept.logp, there))
    actors = [t[0].to(learner.device) for t in (kept.table, kept.mask, kept.action, kept.logp, advantage, kept.own)]
    critics = [t[0].to(learner.device) for t in (kept.table, target, there)]
    losses = [learner._actor_loss(learner._as_numbers(actors[0]), *actors[1:])[0]]
    losses.append(learner._critic_loss(learner._as_numbers(critics[0]), *critics[1:], learner.critic)[0])
    parts = [[network.shared.weights, network.last_bias] for network in learner.networks]
    return [[part.cpu() for part in torch.autograd.grad(loss, own)] for loss, own in zip(losses, parts, strict=True)]


def test_the_critic_learns_what_games_come_to():
    learner = learner_of()
    for _ in range(40):
        learner.collect()
        figures = learner.update()
    assert figures["explained_variance"] > 0.5
    assert learner.is_sound()


def test_the_same_seed_gives_the_same_weights():
    found = []
    for seed in (7, 7, 8):
        learner = learner_of(seed=seed)
        for _ in range(4):  # as it is, recorded, and replayed
            learner.collect()
            learner.update()
        found.append(weights_of(learner))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_recorded_work_is_what_it_is_without():
    found = []
    for recorded in (True, False):
        learner = learner_of(seed=5)
        if not recorded:
            learner._play, learner._step = learner._play_now, learner._step_now
        for _ in range(4):
            learner.collect()
            learner.update()
        found.append(weights_of(learner))
    assert torch.equal(*found)


def test_bots_and_earlier_versions_have_their_share_of_the_games():
    learner = learner_of(bots=0.25, frozen=0.25, bot="merchant")
    for _ in range(2):
        learner.collect()
        learner.update()
    kept, opponents, with_bots = learner.rollout, learner.opponents, learner.games.with_bots
    assert int(with_bots.sum()) == len(learner.games) // 4
    assert abs(int(opponents.others.sum()) - len(learner.games) // 4) <= 1
    assert kept.own[:, ~opponents.others].all()
    assert 0.15 < kept.own[:, opponents.others].float().mean() < 0.4
    assert (kept.seat[1:, with_bots] == kept.seat[:-1, with_bots])[~kept.done[:-1, with_bots]].all()
    assert learner.is_sound()


def test_bots_play_ahead_and_the_same_seed_gives_the_same_weights():
    """While the card learns from one rollout, bots play the next one on the CPU: nothing depends on who is quicker."""
    found = []
    for _ in range(2):
        learner = learner_of(bots=0.5, n_steps=8, seed=3, bot="contractor", quick="64x1")
        for update in range(4):
            learner.collect()
            learner.update()
            assert update == 0 or learner.ahead is not None
            kept = learner.rollout
            assert kept.mask.gather(2, kept.action[..., None]).all()
        learner.settle()
        found.append(weights_of(learner))
    assert torch.isfinite(found[0]).all() and torch.equal(*found)
