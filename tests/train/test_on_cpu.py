"""Compiled parts of networks on a CPU: the same numbers and gradients as torch has."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from borneo_train.actor_critic import masked  # noqa: E402  # torch may be missing
from borneo_train.on_cpu import drawn, in_place, judged  # noqa: E402

from borneo_env.engine.batch import Batch  # noqa: E402

UNITS = 13  # no multiple of eight


@pytest.fixture(scope="module")
def decisions():
    batch = Batch(300, seed=2)
    batch.play_random(40)
    torch.manual_seed(0)
    values = torch.randn(300, UNITS, requires_grad=True)
    weight = torch.randn(len(batch.actions), UNITS, requires_grad=True)
    bias = torch.randn(len(batch.actions), requires_grad=True)
    return values, weight, bias, torch.from_numpy(batch.mask.copy()), torch.from_numpy(batch.sample().astype(np.int64))


def full(values, weight, bias, mask, actions):
    odds = torch.log_softmax(masked(torch.nn.functional.linear(values, weight, bias), mask), 1)
    return odds.gather(1, actions[:, None])[:, 0], -(odds.exp() * odds * mask).sum(1)


def gradients(function, values, weight, bias, mask, actions):
    logs, entropies = function(values, weight, bias, mask, actions)
    weights = torch.linspace(-1, 1, len(logs))
    return torch.autograd.grad((logs * weights + entropies * weights**2).sum(), (values, weight, bias))


def test_odds_entropies_and_gradients_are_those_of_full_products(decisions):
    for found, expected in zip(judged(*decisions), full(*decisions), strict=True):
        assert torch.allclose(found, expected, atol=1e-5)
    for found, expected in zip(gradients(judged, *decisions), gradients(full, *decisions), strict=True):
        assert torch.allclose(found, expected, atol=1e-4)


def test_actions_are_drawn_by_their_odds(decisions):
    values, weight, bias, mask, _ = decisions
    many = 4000
    rows = [tensor[:1].expand(many, -1) for tensor in (values.detach(), mask)]
    actions, logs = drawn(rows[0], weight, bias, rows[1], torch.rand(many, generator=torch.Generator().manual_seed(1)))
    assert mask[0][actions].all()
    odds = torch.log_softmax(masked(torch.nn.functional.linear(values[:1], weight, bias), mask[:1]), 1)[0]
    assert torch.allclose(logs, odds[actions], atol=1e-5)
    shares = torch.bincount(actions, minlength=len(odds)) / many
    assert (shares - odds.exp()).abs().max() < 0.03


def test_any_chance_leads_to_a_legal_action(decisions):
    values, weight, bias, mask, _ = decisions
    for chance in (0.0, 1.0 - 2**-24, 1.0):
        actions, _ = drawn(values.detach(), weight, bias, mask, torch.full((len(values),), chance))
        assert mask.gather(1, actions[:, None]).all()


def test_tied_weights_stand_in_their_places():
    weights = torch.randn(5, requires_grad=True)
    places = torch.tensor([[0, 4, 4], [2, 0, 0]])
    found = in_place(weights, places)
    assert torch.equal(found, weights[places])
    slopes = torch.randn(2, 3)
    (own,) = torch.autograd.grad((found * slopes).sum(), weights)
    (expected,) = torch.autograd.grad((weights[places] * slopes).sum(), weights)
    assert torch.allclose(own, expected)
