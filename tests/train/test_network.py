"""Networks: tied weights, and the same numbers in NumPy."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from borneo_agents.policy.network import logits_of  # noqa: E402
from borneo_train.networks.actor_critic import actor_of, critic_of, scale_of  # noqa: E402  # torch may be missing
from borneo_train.networks.mlp import apply, prepared, to_model  # noqa: E402
from borneo_train.networks.symmetry import (  # noqa: E402
    AT_PORT,
    OF_COMPANY,
    OF_SPICE,
    action_features,
    orbit,
    state_features,
)
from borneo_train.networks.tied import Width  # noqa: E402
from borneo_train.run.config import shape_of  # noqa: E402

from borneo_env.cards import COMPANIES, SPICES  # noqa: E402
from borneo_env.engine.actions import action_table  # noqa: E402
from borneo_env.engine.batch import Batch  # noqa: E402
from borneo_env.engine.observe import layout, length, state_layout  # noqa: E402
from borneo_env.engine.state import slots_of  # noqa: E402
from borneo_env.ruleset import EDITIONS, Ruleset  # noqa: E402

KNOWN = length(slots_of(Ruleset()))
BLOCKS = {block.name: block for block in layout(slots_of(Ruleset()))}


def random_positions(n):
    batch = Batch(n, seed=1)
    batch.play_random(60)
    return batch


def actor(kind="tied", units=64, depth=2, seed=0):
    torch.manual_seed(seed)
    return actor_of(kind, "board", units, depth)


@pytest.mark.parametrize("kind", ("tied", "plain"))
@pytest.mark.parametrize("edition", EDITIONS)
def test_a_network_leads_from_a_table_to_actions_and_values(kind, edition):
    batch = Batch(3, edition=edition)
    table = torch.from_numpy(batch.state(batch.player))
    assert apply(actor_of(kind, edition, 64, 1).layers(), table.float()).shape == (3, len(batch.actions))
    with_flags = torch.cat([table, torch.zeros(3, 5, dtype=table.dtype)], 1)
    assert apply(critic_of(kind, edition, 64, 2).layers(), with_flags.float()).shape == (3, 5)


def test_numpy_has_the_logits_of_torch():
    batch, network = random_positions(50), actor(depth=3)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
        expected = apply(network.layers(), torch.from_numpy(batch.observe())).numpy()
        layers = to_model(network.layers())
    assert np.allclose(logits_of(layers, batch.observe()), expected, atol=1e-4)


def test_numbers_behind_the_observation_do_not_count():
    table = torch.from_numpy(random_positions(4).state(0))
    layers = prepared(actor().layers(), torch.device("cpu"))
    other = table.clone()
    other[:, KNOWN:] += 1
    assert torch.equal(apply(layers, table), apply(layers, other))


def test_weights_of_free_units_are_all_their_own():
    shared = actor("plain", units=8).shared
    assert len(torch.unique(shared.places)) == shared.places.numel() == shared.weights.numel()


@pytest.mark.parametrize("kind", ("tied", "plain"))
def test_gradients_of_tied_weights_are_those_of_autograd(kind):
    shared = actor(kind).shared
    along = [torch.randn(shape) for shape in shared.shapes]
    sum((part * one).sum() for part, one in zip(shared(), along, strict=True)).backward()
    weights = shared.weights.detach().requires_grad_()
    (weights[shared.places] * torch.cat([one.ravel() for one in along])).sum().backward()
    assert torch.allclose(shared.weights.grad, weights.grad, rtol=1e-5, atol=1e-4)


def test_what_a_unit_of_a_company_sees_is_the_same_for_all_companies():
    """With the first two companies exchanged in what it sees, a tied network has the logits exchanged too."""
    network = actor(depth=3)
    with torch.no_grad():
        network.shared.weights.normal_(generator=torch.Generator().manual_seed(0))
        free = Width.of("tied", 64).free
        network.shared.weights[: KNOWN * free] = 0  # free units and those of spices know companies apart
        ladders = BLOCKS["ladders"]
        before = torch.zeros(1, KNOWN)
        before[0, ladders.slice] = torch.rand(ladders.shape, generator=torch.Generator().manual_seed(1)).flatten()
        after = before.clone()
        exchanged = before[0, ladders.slice].view(ladders.shape)[[1, 0, 2, 3]]
        after[0, ladders.slice] = exchanged.flatten()
        of_company = network.shared()[0][free : free + 4 * Width.of("tied", 64).company]
        seen = [(table[:, :KNOWN] @ of_company.T).view(4, -1) for table in (before, after)]
    assert torch.allclose(seen[0][[1, 0, 2, 3]], seen[1], atol=1e-5)
    assert not torch.allclose(seen[0], seen[1], atol=1e-2)


def index_of(name, *index):
    block = BLOCKS[name]
    return block.start + int(np.ravel_multi_index(index, block.shape))


def test_orbits_of_numbers():
    features = state_features("board")
    flags = features[index_of("port_flags", 2, 1)]  # of yellow, at the third port
    assert orbit(flags, AT_PORT, (1, 2)) != orbit(flags, AT_PORT, (1, 0)) != orbit(flags, AT_PORT, (0, 0))
    alike = features[index_of("port_flags", 0, 3)]
    assert orbit(flags, AT_PORT, (1, 2)) == orbit(alike, AT_PORT, (3, 0))
    first, second = features[index_of("hand", 0)], features[index_of("hand", 1)]  # red and yellow, pepper and cinnamon
    assert orbit(first, OF_SPICE, (0,)) != orbit(first, OF_SPICE, (1,)) == orbit(second, OF_SPICE, (0,))
    assert orbit(first, OF_COMPANY, (2,)) == orbit(first, OF_COMPANY, (3,)), "no flag of either"
    assert orbit(first, OF_COMPANY, (0,)) != orbit(first, OF_COMPANY, (1,)), "three flags and one"


def test_orbits_of_actions():
    table, features = action_table(slots_of(Ruleset())), action_features("board")
    place, other = (features[table.action(f"place {COMPANIES[i]}", "place")] for i in (0, 1))
    assert orbit(place, OF_COMPANY, (0,)) == orbit(other, OF_COMPANY, (1,)) != orbit(other, OF_COMPANY, (0,))
    moved = features[table.action("transfer red 2 blue", "traders")]
    assert len({orbit(moved, OF_COMPANY, (company,)) for company in range(4)}) == 3, "from, to, and neither"
    contract = features[table.action(f"contract same-4 {SPICES[2]}", "contract")]
    assert orbit(contract, OF_SPICE, (2,)) != orbit(contract, OF_SPICE, (1,))
    assert len(features) == len(table)


def test_every_number_has_a_scale():
    for edition in EDITIONS:
        assert len(scale_of(edition)) == state_layout(slots_of(Ruleset(edition)))[-1].slice.stop
        assert ((scale_of(edition) > 0) & (scale_of(edition) <= 1)).all()


def test_a_tied_network_has_a_multiple_of_64_units():
    with pytest.raises(ValueError, match="multiple of 64 units, not 100"):
        shape_of("tied", "100x2", "--actor")
    assert Width.of("tied", 128).all == 128
