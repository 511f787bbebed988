"""The learner: all seats learn, masks hold, opponents play their seats, and the same seed gives the same weights."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from borneo_agents.policy.model import write_model  # noqa: E402  # torch may be missing
from borneo_agents.policy.network import best_actions, logits_of  # noqa: E402
from borneo_train.games.opponents import views_of  # noqa: E402
from borneo_train.networks.mlp import apply  # noqa: E402
from borneo_train.networks.sampling import masked  # noqa: E402
from borneo_train.run.config import Settings  # noqa: E402
from borneo_train.run.learner import create_learner  # noqa: E402
from networks import network  # noqa: E402

from borneo_env.agent import find_agent  # noqa: E402
from borneo_env.engine.observe import length  # noqa: E402
from borneo_env.engine.state import slots_of  # noqa: E402
from borneo_env.ruleset import Ruleset  # noqa: E402
from borneo_env.vector import Seats  # noqa: E402

pytestmark = pytest.mark.usefixtures("games_are_hardly_played_before")
KNOWN = length(slots_of(Ruleset()))
TINY = {
    "n_envs": 12, "batch_size": 6, "n_steps": 8, "n_epochs": 1, "network": "plain", "actor": "16x2", "critic": "8x1",
    "workers": 1,
}  # fmt: skip


def learner_of(**given):
    return create_learner(Settings(**TINY | given).filled(has_card=False))


def weights_of(learner):
    return torch.cat([parameter.detach().flatten() for parameter in learner.networks.parameters()])


def learn(learner, updates):
    for _ in range(updates):
        learner.collect()
        metrics = learner.update()
    return metrics


@pytest.fixture(scope="module")
def played(games_are_hardly_played_before):
    """A learner that has learnt a little, and has played another rollout."""
    learner = learner_of(seed=4, margin_coef=0.0)  # a margin is counted up to a limit: wins and losses may differ then
    learn(learner, 12)
    learner.collect()
    return learner


# ---------------------------------------------------------------- rollout


def test_masks_are_never_violated(played):
    rollout = played.rollout
    assert rollout.mask.gather(2, rollout.action[..., None]).all()


def test_a_rollout_holds_log_probabilities_and_values_of_the_networks(played):
    rollout, games, policy = played.rollout, played.games, played.networks()
    for t in range(8):
        logits = apply(policy.actor, rollout.state[t])
        log_probs = torch.log_softmax(masked(logits, rollout.mask[t]), 1)
        assert torch.allclose(log_probs.gather(1, rollout.action[t, :, None])[:, 0], rollout.log_prob[t], atol=1e-4)
        values = apply(policy.critic, rollout.state[t]) * played.return_scale
        for game in range(len(games)):
            players, seat = int(games.players[game]), int(rollout.seat[t, game])
            turned = values[game, :players].roll(seat)  # the first is the one who decides
            assert torch.allclose(rollout.value[t, game, :players], turned, atol=1e-4)
            assert not rollout.value[t, game, players:].any()


def test_actions_are_drawn_by_their_probabilities():
    """Each of 4,000 games in the same position: the frequencies of actions are those of the policy."""
    learner = learner_of()
    policy = learner.networks()
    state, mask = (tensor[:1].expand(4000, -1) for tensor in (learner.games.state, learner.games.mask))
    u = torch.rand(4000, generator=torch.Generator().manual_seed(1))
    action, log_prob, _ = policy.act(state, mask, u)
    found = torch.bincount(action, minlength=mask.shape[1]) / 4000
    assert torch.allclose(found[action], log_prob.exp(), atol=0.05)
    again, entropy, _ = policy.evaluate(state[:1], mask[:1], action[:1])
    assert torch.allclose(again, log_prob[:1])
    probs = found[found > 0]
    assert entropy.item() == pytest.approx(float(-(probs * probs.log()).sum()), abs=0.05)


def test_the_reward_is_the_win_less_par_and_a_bonus_for_the_margin():
    games = learner_of(players="4").games
    games.places[:] = torch.tensor([1, 3, 1, 4, 0], dtype=torch.int8)
    games.points[:] = torch.tensor([30.0, 12.0, 30.0, 0.0, 0.0])
    games.done[:] = True
    games.done[1] = False
    found = games._win_reward(torch.tensor(0.5))
    margins = [min(1.5, max(-1.5, margin / 12)) for margin in (30 - 14, 12 - 20, 30 - 14, 0 - 24)]
    expected = [share + 0.5 * margin for share, margin in zip((0.25, -0.25, 0.25, -0.25), margins, strict=True)]
    assert found[0, :4].tolist() == pytest.approx(expected)
    assert not found[1].any() and not found[:, 4].any()


@pytest.mark.parametrize("task", ("contracts", "ranks"))
def test_other_tasks_have_their_own_rewards(task):
    learner = learner_of(task=task)
    rewards = 0.0
    for _ in range(6):
        learn(learner, 1)
        assert torch.equal(learner.rollout.reward[-1], learner.games.reward)
        rewards += float(learner.rollout.reward.abs().sum())
    assert rewards > 0


# ---------------------------------------------------------------- update


def actor_loss_gradient(learner, chosen):
    """The actor's gradient of one step on a whole rollout, where only chosen decisions are the learner's."""
    learner.rollout.is_learner.copy_(chosen)
    batch, _ = learner._batch()
    learner.learning_rate.zero_()  # the step changes nothing
    learner._train_step_now(*batch)
    return torch.cat([parameter.grad.flatten() for parameter in learner.networks.actor.parameters()])


def test_what_opponents_decide_teaches_the_actor_nothing(played):
    """Whatever their actions are."""
    rollout = played.rollout
    chosen = rollout.seat == 1
    first = actor_loss_gradient(played, chosen)
    before = rollout.log_prob.clone()
    rollout.log_prob[~chosen] -= 0.7
    assert torch.equal(actor_loss_gradient(played, chosen), first) and first.abs().max() > 0
    rollout.log_prob.copy_(before)
    everything = actor_loss_gradient(played, torch.ones_like(chosen))
    assert not torch.allclose(everything, first)


def test_metrics_are_the_usual_ones(played):
    metrics = played.update()
    assert set(metrics) == {
        "ep_rew_mean", "ep_len_mean", "policy_gradient_loss", "value_loss", "entropy", "approx_kl", "clip_fraction",
        "explained_variance", "learning_rate",
    }  # fmt: skip
    assert np.isfinite(list(metrics.values())).all()
    assert abs(metrics["ep_rew_mean"]) < 1e-5, "what one wins the others lose"
    assert 0 < metrics["entropy"] < 6


def test_rates_fall_with_progress_and_after_large_updates():
    learner = learner_of(learning_rate=0.1, ent_coef=0.5, margin_coef=1.0)
    learner.progress = 1.0
    learn(learner, 1)
    assert float(learner.learning_rate) == pytest.approx(0.005)
    assert float(learner.ent_coef) == pytest.approx(0.05)
    assert float(learner.margin_coef) == pytest.approx(0.2)
    careful = learner_of(target_kl=1e-9)
    learn(careful, 2)
    assert careful.kl_lr_scale == pytest.approx(0.81)
    assert float(careful.learning_rate) == pytest.approx(careful.settings.learning_rate * 0.9)


def test_the_same_seed_gives_the_same_weights():
    runs = []
    for seed in (7, 7, 8):
        learner = learner_of(seed=seed, network="tied", actor="64x2", critic="64x1")
        learn(learner, 3)
        runs.append(weights_of(learner))
    assert torch.equal(runs[0], runs[1])
    assert not torch.equal(runs[0], runs[2])


def test_every_decision_is_learnt_from_as_often_as_there_are_epochs(played, monkeypatch):
    learner = learner_of(n_epochs=3)
    seen = []
    monkeypatch.setattr(learner, "_train_step", lambda *rows: seen.append(rows[3].clone()))
    learner.collect()
    learner.update()
    assert all(len(rows) == 6 for rows in seen) and len(seen) == 3 * 16
    once = learner.rollout.log_prob.flatten().sort().values
    for epoch in range(3):
        assert torch.equal(torch.cat(seen[16 * epoch : 16 * epoch + 16]).sort().values, once)
    assert not torch.equal(seen[0], seen[16]), "in another order"


# ---------------------------------------------------------------- opponents


@pytest.mark.parametrize("opponent", ["self", "random"])
def test_opponents_have_all_seats_but_one_in_their_share_of_the_games(opponent):
    learner = learner_of(players="3,5", n_envs=80, batch_size=80, opponent=opponent, opponent_share=0.5)
    learner.collect()
    games, rollout = learner.games, learner.rollout
    flags = rollout.state[..., games.width : games.width + 5]
    for game in range(80):
        players, mine = int(games.players[game]), game % int(games.players[game])
        for t in range(8):
            seat = int(rollout.seat[t, game])
            opponents = [game >= 40 and place < players and (seat + place) % players != mine for place in range(5)]
            assert flags[t, game].tolist() == opponents
            assert rollout.is_learner[t, game] == (game < 40 or seat == mine)
    assert set(flags.sum(2).unique().tolist()) == {0, 2, 4}
    assert not rollout.state[..., games.width + 5 :].any()
    assert rollout.mask.gather(2, rollout.action[..., None]).all()


def asked_of(learner):
    """What opponents would play now, where they decide, by u = 0.5."""
    is_learner = learner.opponents.write_flags()
    action = learner.opponents.act(torch.full((len(learner.games),), -1), torch.full((len(learner.games),), 0.5))
    assert (action[is_learner] == -1).all() and 0 < is_learner.sum() < len(is_learner)
    return ~is_learner, action[~is_learner]


def test_earlier_versions_play_as_they_did_until_the_next_snapshot():
    learner = learner_of(players="4", n_envs=100, batch_size=100, opponent_share=1.0)
    _, first = asked_of(learner)
    with torch.no_grad():
        for parameter in learner.networks.actor.parameters():
            parameter += torch.randn_like(parameter)
    assert torch.equal(asked_of(learner)[1], first), "what is learnt does not change them"
    learner.opponents.snapshot(learner.networks)
    assert not torch.equal(asked_of(learner)[1], first)


def test_snapshots_are_taken_twenty_times_in_a_training(monkeypatch):
    learner, taken = learner_of(opponent_share=0.5), []
    monkeypatch.setattr(learner.opponents, "snapshot", lambda networks: taken.append(learner.progress))
    for part in range(101):
        learner.progress = part / 100
        learner.collect()
    assert taken == pytest.approx([0.05 * number for number in range(1, 21)])


def test_a_policy_plays_what_it_likes_best(tmp_path):
    model = network(width=9, depth=2)
    write_model(tmp_path, model)
    learner = learner_of(players="4", n_envs=100, batch_size=100, opponent=str(tmp_path), opponent_share=1.0)
    for _ in range(2):
        asked, action = asked_of(learner)
        logits = logits_of(model.layers, learner.games.state[:, :KNOWN].numpy())
        np.testing.assert_array_equal(action, best_actions(logits, learner.games.mask.numpy())[asked.numpy()])
        learn(learner, 1)


def test_a_policy_of_another_edition_is_no_opponent(tmp_path):
    write_model(tmp_path, network("card", width=4))
    with pytest.raises(ValueError, match="was trained for the card edition, not for board"):
        learner_of(opponent=str(tmp_path), opponent_share=0.5)


@pytest.mark.parametrize("opponent", ["contractor", "ismcts:budget=4"])
def test_agents_play_what_they_would_play_if_asked(opponent):
    learner = learner_of(players="3,4", n_envs=40, batch_size=40, opponent=opponent, opponent_share=0.5)
    games, twin = learner.games, learner_of(players="3,4", n_envs=40, batch_size=40, opponent_share=0.5).games
    agent, generator = find_agent(opponent), torch.Generator().manual_seed(1)
    for _ in range(20):
        asked, action = asked_of(learner)
        views = views_of(twin, asked.numpy())
        np.testing.assert_array_equal(action, np.concatenate([agent.act(seen) for seen in views]))
        played = torch.where(asked, 0, games.random_actions(generator))
        played[asked] = action
        games.play(played)
        twin.play(played)


# ---------------------------------------------------------------- what comes of it


def wins_against_random(learner, games=300):
    seats = Seats(games, Ruleset(players=3), seed=99, deals_anew=False)
    wins, over = 0.0, np.zeros(games, bool)
    actor = learner.networks().actor
    while not over.all():
        with torch.no_grad():
            logits = apply(actor, torch.from_numpy(seats.observation))
        actions = masked(logits, torch.from_numpy(seats.mask.copy())).argmax(1).numpy()
        seats.step(np.where(over, -1, actions))
        wins += float(seats.reward[seats.done & ~over].sum())
        over |= seats.done
    return wins / games


def test_a_tiny_training_beats_random_players_by_far():
    """300 games have a standard error of 2.7 points: 50 % is 6 of them above the par of 33 %."""
    learner = learner_of(
        players="3", n_envs=128, batch_size=128, n_steps=64, network="tied", actor="64x1", critic="64x1",
        learning_rate=4e-3, seed=1,
    )  # fmt: skip
    before = wins_against_random(learner)
    for update in range(12):
        learner.progress = update / 12
        learn(learner, 1)
    after = wins_against_random(learner)
    assert before < 0.45 < 0.5 < after, (before, after)
