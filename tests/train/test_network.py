"""The learner's network: who sees what, layers with facts of actions, and the scale of observations."""

from functools import cache

import numpy as np
import pytest
import torch
from borneo_agents.policy.lookahead import (
    ADVICE,
    ENDS_TURN,
    GAIN,
    IN_TIME,
    OPTION_FEATURES,
    OWN,
    PER_POINT,
    PER_PROBABILITY,
    lookahead_features,
)
from borneo_agents.policy.model import Model, read_model, write_model
from borneo_agents.scripted.agents import Merchant
from borneo_train.facts import action_facts
from borneo_train.network import ByFacts, Network, OptionNetwork, TablePolicy, usual_scale
from bot_games import decisions
from gymnasium import spaces
from networks import card

from borneo_env import Ruleset, resample
from borneo_env.agent import Views
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.games import observe, state
from borneo_env.engine.observe import length
from borneo_env.engine.state import slots_of
from borneo_env.vector import Seats, seat_spaces

editions = pytest.mark.parametrize("edition", ["board", "card"])


def learner(edition="board", whole_table=True, seed=1, **settings):
    """A small network with random weights."""
    shown, actions = seat_spaces(Ruleset(edition), "int8", whole_table)
    scale = np.random.default_rng(seed).uniform(0.02, 1, shown.shape).astype(np.float32)
    torch.manual_seed(seed)
    settings = {"actor": (16, 2), "critic": (12, 3)} | settings
    policy = TablePolicy(shown, actions, lambda _: 1e-2, edition=edition, scale=scale, **settings)
    with torch.no_grad():
        for weights in policy.parameters():
            weights.normal_(0, 0.3)
    return policy


def judged(policy, shown):
    """Logits and values for what is shown."""
    with torch.no_grad():
        features = policy.extract_features(torch.from_numpy(shown))
        actor, critic = policy.mlp_extractor(features)
        assert torch.equal(actor, policy.mlp_extractor.forward_actor(features))
        assert torch.equal(critic, policy.mlp_extractor.forward_critic(features))
        values = policy.predict_values(torch.from_numpy(shown)).flatten()
        assert torch.equal(values, policy.value_net(critic).flatten())
        return policy.action_net(actor), values


# ---------------------------------------------------------------- actor and critic


@editions
def test_the_critic_sees_the_whole_table_and_the_actor_does_not(edition):
    """Secrets drawn anew: the actor cannot tell, the critic can."""
    ruleset = Ruleset(edition)
    games, *_ = decisions(ruleset)
    twins = resample(games, games["player"], np.random.default_rng(1))
    shown, also_shown = (state(ruleset, tables, games["player"]) for tables in (games, twins))
    known = length(slots_of(ruleset))
    assert (shown[:, :known] == also_shown[:, :known]).all() and (shown != also_shown).any(1).mean() > 0.9
    (logits, values), (also_logits, also_values) = (judged(learner(edition), one) for one in (shown, also_shown))
    assert torch.equal(logits, also_logits)
    differs = torch.from_numpy((shown != also_shown).any(1))
    assert torch.equal(values != also_values, differs)


@pytest.mark.parametrize("whole_table", [True, False])
def test_every_number_has_its_reader(whole_table):
    """One number after the other is changed: those of the observation reach both, those behind it the critic alone."""
    known, policy = length(slots_of(Ruleset())), learner(whole_table=whole_table)
    size = policy.observation_space.shape[0]
    assert (size > known) == whole_table
    one = np.random.default_rng(1).integers(0, 3, size).astype(np.int8)
    changed = one + 20 * np.eye(size, dtype=np.int8)
    (logits, value), (all_logits, all_values) = judged(policy, one[None]), judged(policy, changed)
    assert (all_values != value).all()
    reached = (all_logits - logits).abs().amax(1) > 1e-3
    assert reached[:known].all() and not reached[known:].any()


def test_actor_and_critic_share_nothing():
    policy = learner()
    shown = np.ones((3, *policy.observation_space.shape), np.int8)
    logits, values = judged(policy, shown)
    with torch.no_grad():
        for weights in (*policy.mlp_extractor.critic.parameters(), *policy.value_net.parameters()):
            weights.normal_()
    also_logits, also_values = judged(policy, shown)
    assert torch.equal(logits, also_logits) and (values != also_values).all()


@editions
def test_layers_have_the_widths_that_were_asked_for(edition):
    policy = learner(edition, actor=(10, 4), critic=(7, 1))
    known, wide = length(slots_of(Ruleset(edition))), policy.observation_space.shape[0]
    towers = policy.mlp_extractor
    assert [tuple(layer.weight.shape) for layer in towers.actor.layers] == [(10, known), *[(10, 10)] * 3]
    assert [tuple(layer.weight.shape) for layer in towers.critic.layers] == [(7, wide)]
    assert [layer.weights.shape for layer in policy.actor_layers()] == [
        (10, known), *[(10, 10)] * 3, (policy.action_space.n, 10)
    ]  # fmt: skip


# ---------------------------------------------------------------- briefing

TOLD = MAX_OPTIONS * OPTION_FEATURES


@cache
def some_decisions(edition):
    """Games, masks and features of some decisions of whole games: looking ahead takes its time."""
    games, views, masks, dice = (part[::8] for part in decisions(Ruleset(edition)))
    return games, masks, lookahead_features(Views(Ruleset(edition), views, masks, dice))


def lookahead_learner(edition, whole_table, spread=0.0):
    """A new network with lookahead features, and decisions of whole games as it sees them; weights may be spread."""
    ruleset, (games, masks, features) = Ruleset(edition), some_decisions(edition)
    shown = state(ruleset, games, games["player"]) if whole_table else observe(ruleset, games, games["player"])
    plain, actions = seat_spaces(ruleset, "int8", whole_table)
    space = spaces.Box(-128, 127, (plain.shape[0] + TOLD,), np.int8)
    torch.manual_seed(1)
    scale = np.full(plain.shape, 0.2, np.float32)
    policy = TablePolicy(
        space, actions, lambda _: 1e-2, edition=edition, scale=scale, actor=(16, 2), critic=(12, 3), lookahead=True
    )
    with torch.no_grad():
        for weights in policy.parameters():
            if spread:
                weights.normal_(0, spread)
    return policy, np.concatenate([shown, features], 1), masks


@torch.no_grad()
def liked(policy, shown, masks):
    """How much each action is liked, by the policy itself."""
    features = policy.extract_features(torch.from_numpy(shown))
    return policy.logits(features, policy.mlp_extractor.forward_actor(features), torch.from_numpy(masks)).numpy()


@editions
@pytest.mark.parametrize("whole_table", [True, False])
def test_a_new_learner_goes_by_chances_and_the_merchant(edition, whole_table):
    policy, shown, masks = lookahead_learner(edition, whole_table)
    with torch.no_grad():
        probs = policy.get_distribution(torch.from_numpy(shown), masks).distribution.probs.numpy()
    features = shown[:, -TOLD:].reshape(-1, MAX_OPTIONS, OPTION_FEATURES).astype(float)
    promise = 1.5 * features[:, :, ADVICE] / PER_POINT + features[:, :, IN_TIME] * 10 / (PER_PROBABILITY / 10)
    best = [np.flatnonzero(mask)[good[: mask.sum()].argmax()] for mask, good in zip(masks, promise, strict=True)]
    assert (probs.argmax(1) == best).mean() > 0.98
    assert not probs[~masks].any()
    assert 0.5 < probs.max(1).mean() < 0.99, "and tries something else now and then"


@editions
@pytest.mark.parametrize("whole_table", [True, False])
def test_a_lookahead_learner_is_the_same_in_a_file_and_as_an_opponent(edition, whole_table, tmp_path):
    """Which are shown the observation and the features, and nothing between them."""
    policy, shown, masks = lookahead_learner(edition, whole_table, spread=0.2)
    wanted = liked(policy, shown, masks)
    known = length(slots_of(Ruleset(edition)))
    seen = np.concatenate([shown[:, :known], shown[:, -TOLD:]], 1)
    write_model(tmp_path, Model(card(edition, lookahead=True), policy.actor_layers(), policy.option_head_parts()))
    model = read_model(tmp_path)
    opponent = Network(torch.device("cpu"))
    opponent.load(model)
    tolerance = 2e-5 * np.abs(wanted).max()
    assert np.abs(model.logits(seen, masks) - wanted).max() < tolerance
    also = opponent._logits(torch.from_numpy(seen).float(), torch.from_numpy(masks)).numpy()
    assert np.abs(also - wanted).max() < tolerance
    extra = wanted - Model(card(edition), model.layers).logits(seen, masks)
    assert np.abs(extra[~masks]).max() < tolerance < 0.01 < extra[masks].std(), "the head has its say on what is legal"


def test_an_opponent_may_be_briefed_and_then_not():
    """What it was before leaves nothing behind."""
    policy, shown, masks = lookahead_learner("board", False, spread=0.2)
    opponent, legal = Network(torch.device("cpu")), torch.from_numpy(masks)
    opponent.load(Model(card(lookahead=True), policy.actor_layers(), policy.option_head_parts()))
    opponent.load(plain := Model(card(), policy.actor_layers()))
    seen = torch.from_numpy(shown).float()
    found = opponent._logits(seen, legal).numpy()
    assert np.allclose(found, plain.logits(shown, masks), atol=1e-4)


def test_neither_tower_sees_the_features():
    policy, shown, _ = lookahead_learner("board", True, spread=0.2)
    changed = shown.copy()
    changed[:, -TOLD:] = 77
    with torch.no_grad():
        some, others = (
            policy.mlp_extractor(policy.extract_features(torch.from_numpy(one))) for one in (shown, changed)
        )
    assert all(map(torch.equal, some, others))


def test_the_secrets_of_the_whole_table_do_not_reach_a_briefed_actor():
    policy, shown, masks = lookahead_learner("board", True, spread=0.2)
    known, changed = length(slots_of(Ruleset())), shown.copy()
    changed[:, known:-TOLD] = 77
    assert np.array_equal(liked(policy, shown, masks), liked(policy, changed, masks))


def test_a_new_option_head_goes_by_merchant_and_chances_and_has_hardly_a_view_of_its_own():
    """A point of the merchant's counts like 15 thousandths of the chance to win in the rounds to come."""
    torch.manual_seed(3)
    network = OptionNetwork(64, action_facts("board"))
    with torch.no_grad():
        *_, direct = network.parts()
        latent, masks = torch.relu(torch.randn(40, 64)), torch.rand(40, 370) < 0.1
        features = torch.randint(-20, 21, (40, MAX_OPTIONS, OPTION_FEATURES)).float()
        trusted = [ADVICE, IN_TIME]
        features[:, :, trusted] = 0
        found = network(latent, features.flatten(1), masks)
    scale = torch.tensor([PER_POINT, PER_PROBABILITY / 10])
    assert (direct[trusted] * scale).tolist() == pytest.approx([1.5, 10.0])
    assert torch.count_nonzero(direct) == len(trusted)
    assert 0 < found.abs().max() < 0.5 and not found[~masks].any()


def test_features_are_scaled_to_what_they_are_of():
    """Points, tenths of a chance, whole facts."""
    network = OptionNetwork(64, action_facts("board"))
    with torch.no_grad():
        network.direct.fill_(1.0)
        *_, direct = network.parts()
    assert (direct[[ADVICE, GAIN, ENDS_TURN, OWN, -1]] * torch.tensor([20, 50, 1, 8, 8])).tolist() == pytest.approx(
        [1.0] * 5
    )


def test_a_step_of_learning_moves_every_part_of_the_option_head():
    policy, shown, masks = lookahead_learner("board", False, spread=0.2)
    before = {name: tensor.clone() for name, tensor in policy.option_head.state_dict().items()}
    actions = torch.from_numpy(masks.argmax(1))
    _, log_probs, _ = policy.evaluate_actions(torch.from_numpy(shown), actions, torch.from_numpy(masks))
    log_probs.sum().backward()
    policy.optimizer.step()
    after = policy.option_head.state_dict()
    assert {name for name in after if torch.equal(after[name], before[name])} == {"facts", "scale"}
    held = [id(weights) for group in policy.optimizer.param_groups for weights in group["params"]]
    assert sorted(held) == sorted(map(id, policy.parameters())), "the optimizer has every weight once"


# ---------------------------------------------------------------- facts


@editions
def test_a_layer_by_facts_is_a_plain_layer_with_its_weight(edition):
    torch.manual_seed(2)
    layer = ByFacts(16, action_facts(edition))
    with torch.no_grad():
        for weights in layer.parameters():
            weights.normal_()
        plain = torch.nn.Linear(16, len(action_facts(edition)))
        plain.weight.copy_(layer.weight())
        plain.bias.copy_(layer.own.bias)
        latent = torch.randn(50, 16)
        assert torch.allclose(layer(latent), plain(latent), atol=1e-5)
        facts, common, own = (part.double().numpy() for part in (layer.facts, layer.common.weight, layer.own.weight))
        assert np.abs(layer.weight().numpy() - (own + facts @ common)).max() < 1e-5


def test_a_new_layer_by_facts_likes_all_actions_about_the_same():
    """Or a fresh learner would not try them all."""
    torch.manual_seed(2)
    with torch.no_grad():
        logits = ByFacts(64, action_facts("board"))(torch.relu(torch.randn(50, 64)) * 2)
    assert 0 < logits.abs().max() < 1


def test_a_step_of_learning_moves_what_is_common_and_what_is_not():
    policy = learner()
    before = {name: tensor.clone() for name, tensor in policy.state_dict().items()}
    shown = torch.randint(0, 4, (8, *policy.observation_space.shape), dtype=torch.int8)
    actor, critic = policy.mlp_extractor(policy.extract_features(shown))
    (policy.action_net(actor)[:, 5].sum() + policy.value_net(critic).sum()).backward()
    policy.optimizer.step()
    moved = {name: not torch.equal(tensor, before[name]) for name, tensor in policy.state_dict().items()}
    fixed = {"action_net.facts", "mlp_extractor.actor.scale", "mlp_extractor.critic.scale"}
    assert {name for name, has_moved in moved.items() if not has_moved} == fixed
    # What was learned of one action is learned of those it has facts in common with, and of no other.
    own, common = (policy.state_dict()[f"action_net.{part}.weight"] for part in ("own", "common"))
    (action,) = np.flatnonzero((own != before["action_net.own.weight"]).any(1))
    assert action == 5
    facts = action_facts("board")[5]
    assert (common != before["action_net.common.weight"]).any(1).numpy().tolist() == (facts > 0).tolist()


def test_the_optimizer_has_every_weight_once():
    policy = learner()
    held = [id(weights) for group in policy.optimizer.param_groups for weights in group["params"]]
    assert sorted(held) == sorted(map(id, policy.parameters()))
    assert {group["lr"] for group in policy.optimizer.param_groups} == {1e-2}


def test_learners_do_not_share_facts_or_scales():
    first, facts = learner(), action_facts("board").copy()
    second = learner()
    with torch.no_grad():
        for name, tensor in first.named_buffers():
            tensor.fill_(7)
            assert not (dict(second.named_buffers())[name] == 7).any()
    assert (action_facts("board") == facts).all() and (first.mlp_extractor.actor.scale == 7).all()


# ---------------------------------------------------------------- the scale


@pytest.mark.parametrize(
    ("edition", "whole_table", "games"),
    [("board", True, 20), *(pytest.param(edition, True, 64, marks=pytest.mark.soak) for edition in ("board", "card"))],
)
def test_the_scale_keeps_numbers_of_other_games_within_a_few_units(edition, whole_table, games, monkeypatch):
    monkeypatch.setattr("borneo_train.network.SCALE_GAMES", games)
    scale = usual_scale.__wrapped__(edition, whole_table)
    largest = np.zeros(len(scale), np.float32)
    for players in (3, 4, 5):
        seats = Seats(12, Ruleset(edition, players), opponents=Merchant(), whole_table=whole_table, seed=77)
        for _ in range(60):
            assert seats.observation.shape[1:] == scale.shape
            largest = np.maximum(largest, np.abs(seats.observation * scale).max(0))
            seats.step(seats.batch.sample())
    assert largest.max() <= 4
    assert (largest <= 1).mean() > 0.9
    large = scale < 1 / 10
    assert large.sum() > 5 and (largest[large] > 0.5).all(), "and does not make them smaller than need be"


@pytest.fixture
def few_games(monkeypatch):
    monkeypatch.setattr("borneo_train.network.SCALE_GAMES", 6)
    monkeypatch.setattr("borneo_train.network.SCALE_STEPS", 12)


def worked_out(whole_table):
    """The scale anew, and not what is kept of it."""
    return usual_scale.__wrapped__("board", whole_table)


def test_the_scale_is_the_same_on_every_call(few_games):
    first, again = worked_out(False), worked_out(False)
    assert first.dtype == np.float32 and first.tobytes() == again.tobytes()
    assert (first > 0).all() and first.max() == 1
    assert np.allclose(1 / first, np.round(1 / first))


def test_the_scale_of_the_whole_table_begins_with_that_of_the_observation(few_games):
    seen, everything = worked_out(False), worked_out(True)
    assert len(everything) > len(seen) and (everything[: len(seen)] == seen).all()
