"""Practice: what is tried, what is learnt from it, and that it helps."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from borneo_agents.policy.lookahead import lookahead_in_batch  # noqa: E402
from borneo_agents.scripted.dispatch import MERCHANT, Bots  # noqa: E402
from borneo_agents.search.trials import Trials  # noqa: E402
from borneo_train.buffer import LeanBuffer  # noqa: E402
from borneo_train.network import TablePolicy  # noqa: E402
from borneo_train.opponents import Cast  # noqa: E402
from borneo_train.practice import Decisions, Practice  # noqa: E402
from borneo_train.vec_env import BorneoVecEnv  # noqa: E402
from stable_baselines3.common.logger import Logger  # noqa: E402

from borneo_env import Batch, Ruleset  # noqa: E402
from borneo_env.engine.observe import length  # noqa: E402
from borneo_env.engine.state import copy_games, slots_of  # noqa: E402

SCALE = np.full(length(slots_of(Ruleset())), 0.2, np.float32)


def make_learner(seed=1, lookahead=False, games=24, players=(3, 5), turns=1, **settings):
    env = BorneoVecEnv(games, Cast("merchant"), players=players, whole_table=False, lookahead=lookahead, seed=seed)
    about = {
        "edition": "board", "scale": SCALE, "actor": (32, 2), "critic": (4, 1), "lookahead": lookahead
    }  # fmt: skip
    settings = {"n_steps": 5, "batch_size": 64, "n_epochs": 1} | settings
    learner = Practice(
        TablePolicy, env, turns=turns, rollout_buffer_class=LeanBuffer, policy_kwargs=about, seed=seed, device="cpu",
        **settings,
    )  # fmt: skip
    learner.rollout_buffer.generator = torch.Generator().manual_seed(seed)
    learner.set_logger(Logger(None, []))
    return learner


def weights_of(learner):
    return torch.cat([weights.detach().flatten().clone() for weights in learner.policy.parameters()])


@torch.no_grad()
def probabilities_of(learner, observations, masks):
    """By the policy's own account."""
    return learner.policy.get_distribution(observations, masks.numpy()).distribution.probs


class Watched:
    """The games of a learner, which remember what was shown and tried before each step, and what came of it."""

    def __init__(self, learner):
        self.learner, self.seen = learner, []
        self.worth, learner.env.worth = learner.env.worth, self.watch
        _, self.callback = learner._setup_learn(10**6)

    def watch(self, wanted, turns):
        found = self.worth(wanted, turns)
        shown, masks = torch.tensor(self.learner._last_obs), torch.tensor(self.learner.env.action_masks())
        self.seen.append((shown, masks, torch.tensor(wanted), torch.tensor(found), turns))
        return found

    def collect(self):
        assert self.learner.collect_rollouts(self.learner.env, self.callback)
        *parts, turns = zip(*self.seen, strict=True)
        assert set(turns) == {self.learner.turns}
        return [torch.cat(part) for part in parts]


# ---------------------------------------------------------------- what is tried


@pytest.mark.parametrize(("lookahead", "turns"), [(True, 1), (False, 2)])
def test_all_options_are_tried(lookahead, turns):
    _, masks, wanted, *_ = Watched(make_learner(lookahead=lookahead, turns=turns, games=12)).collect()
    assert torch.equal(wanted, masks) and (masks.sum(1) > 5).any()


def test_decisions_are_what_was_shown_and_what_was_found():
    """Every one of them, though the games use their arrays again. An option is liked 200 for a certain win."""
    learner = make_learner()
    shown, masks, _, chances = Watched(learner).collect()
    found = learner._decisions
    assert len(shown) == 24 * 5 == learner.num_timesteps
    assert torch.equal(found.observations, shown) and found.observations.dtype == torch.int8
    assert torch.equal(found.masks, masks)
    for worth, mask, chance in zip(found.worth, masks, chances, strict=True):
        torch.testing.assert_close(worth[mask], 200 * (chance[mask] - chance[mask].mean()), atol=1e-3, rtol=0)
        assert not worth[~mask].any()
    assert found.worth.abs().max() > 5


def test_actions_are_drawn_by_their_odds_from_all_that_are_legal(monkeypatch):
    learner, taken = make_learner(games=200, players=(3,), n_steps=8, lookahead=False), []
    step = learner.env.step
    monkeypatch.setattr(learner.env, "step", lambda actions: taken.append(actions.copy()) or step(actions))
    shown, masks, *_ = Watched(learner).collect()
    actions = torch.from_numpy(np.concatenate(taken))[:, None]
    odds = probabilities_of(learner, shown, masks)
    assert masks.gather(1, actions).all()
    passed = (odds.cumsum(1) - odds / 2).gather(1, actions)  # half of it lies below on average
    assert abs(float(passed.mean()) - 0.5) < 4 * (1 / 12 / len(passed)) ** 0.5
    most = odds.max(1).values
    liked_most = odds.gather(1, actions)[:, 0] == most  # as often as its odds say, and no more
    assert abs(float((liked_most.float() - most).sum())) < 4 * float((most * (1 - most)).sum()) ** 0.5


def test_a_rollout_goes_on_where_the_last_one_ended():
    learner = make_learner()
    watched = Watched(learner)
    watched.collect()
    last = torch.tensor(learner._last_obs)
    shown, *_ = watched.collect()
    assert len(shown) == 2 * 24 * 5
    assert torch.equal(shown[24 * 5 : 24 * 6], last)
    assert torch.equal(learner._decisions.observations, shown[24 * 5 :])


# ---------------------------------------------------------------- what is learnt


def liked_by(learner, decisions):
    """(n, actions): how much options are liked beside each other, by the odds of the policy; 0 where not legal."""
    distribution = learner.policy.get_distribution(decisions.observations, decisions.masks.numpy())
    logs = distribution.distribution.logits * decisions.masks
    return (logs - (logs.sum(1) / decisions.masks.sum(1))[:, None]) * decisions.masks


def error_of(learner, decisions):
    """The mean squared error of all options of all decisions."""
    return ((liked_by(learner, decisions) - decisions.worth)[decisions.masks] ** 2).mean()


@pytest.mark.parametrize("lookahead", [True, False])
def test_options_come_to_be_liked_for_what_they_are_worth(lookahead):
    """Learning the same few decisions over and over."""
    learner = make_learner(lookahead=lookahead, games=12, n_epochs=80, batch_size=60, learning_rate=5e-3)
    Watched(learner).collect()
    before = error_of(learner, learner._decisions).item()
    learner.train()
    assert error_of(learner, learner._decisions).item() < before / 4


def test_one_step_of_learning_is_that_of_the_squared_error():
    """Worked out anew from the gradients."""
    learner = make_learner(lookahead=True, games=8, batch_size=10**6)
    learner.max_grad_norm = 1e9
    Watched(learner).collect()
    policy = learner.policy
    policy.optimizer = torch.optim.SGD(policy.parameters(), lr=1.0)
    learner.lr_schedule = lambda _: 1e-5
    error = error_of(learner, learner._decisions)
    slopes = torch.autograd.grad(error, list(policy.parameters()), allow_unused=True, materialize_grads=True)
    slope, before = torch.cat([part.flatten() for part in slopes]), weights_of(learner)
    learner.train()
    assert slope.abs().max() > 1
    assert torch.allclose(weights_of(learner), before - 1e-5 * slope, atol=1e-6)


def test_gradients_are_clipped():
    learner = make_learner(batch_size=10**6)
    Watched(learner).collect()
    learner.max_grad_norm = 1e-3
    learner.policy.optimizer = torch.optim.SGD(learner.policy.parameters(), lr=1.0)
    learner.lr_schedule = lambda _: 1.0
    before = weights_of(learner)
    learner.train()
    assert float((weights_of(learner) - before).norm()) == pytest.approx(1e-3, rel=0.01)


def test_every_decision_is_learnt_from_as_often_as_there_are_epochs(monkeypatch):
    learner, seen = make_learner(n_epochs=3, batch_size=50), []
    Watched(learner).collect()
    improve = learner._improve
    monkeypatch.setattr(learner, "_improve", lambda part: seen.append(part) or improve(part))
    learner.train()
    assert [len(part.worth) for part in seen] == [50, 50, 20] * 3 and learner._n_updates == 3

    def sorted_rows(parts):
        parts = list(parts)
        return sorted(
            zip(*([bytes(one.numpy().tobytes()) for part in parts for one in part[i]] for i in range(3)), strict=True)
        )

    epochs = [sorted_rows(seen[start : start + 3]) for start in (0, 3, 6)]
    assert epochs == [sorted_rows([learner._decisions])] * 3
    assert not torch.equal(seen[0].observations, seen[3].observations), "in another order"
    learner.rollout_buffer.generator.manual_seed(1)  # as it was at first
    torch.manual_seed(77)
    learner.train()
    assert all(torch.equal(one.observations, other.observations) for one, other in zip(seen[:9], seen[9:], strict=True))


def test_a_single_option_teaches_nothing():
    """And nothing turns to NaN."""
    learner = make_learner()
    learner._last_obs = learner.env.reset()
    masks = torch.zeros((1, 370), dtype=torch.bool)
    masks[0, 3] = True
    before = weights_of(learner)
    learner._decisions = Decisions(torch.tensor(learner._last_obs[:1]), masks, torch.zeros(masks.shape))
    learner.train()
    assert torch.equal(weights_of(learner), before)


def test_the_same_seed_gives_the_same_weights():
    def learnt(seed):
        learner = make_learner(seed)
        learner.learn(3 * 24 * 5)
        assert (learner.num_timesteps, learner._n_updates) == (3 * 24 * 5, 3)
        return weights_of(learner)

    first = learnt(1)
    assert torch.equal(first, learnt(1)) and not torch.equal(first, learnt(2))
    assert torch.isfinite(first).all()


# ---------------------------------------------------------------- that it helps


def decisions_of_merchants(games, seed):
    """Decisions from the middle of merchants' games, as a batch."""
    batch = Batch(games, Ruleset(players=3), seed=seed, finished="hold")
    bots, kinds, kept = Bots(batch), np.full((games, 3), MERCHANT, np.int8), []
    for number in range(30):
        if number % 5 == 0:
            kept.append(copy_games(batch.games))
        rows = np.arange(games)
        batch.step(bots.choose(kinds, rows), rows)
    found = Batch(games * len(kept), batch.ruleset, finished="hold")
    found.games[:] = np.concatenate(kept)
    found.refresh()
    return found


def shown_to(learner, batch):
    shown = batch.observe()
    if learner.policy.lookahead:
        shown = np.concatenate([shown, lookahead_in_batch(batch, np.arange(len(batch)))], 1)
    return torch.tensor(shown)


@pytest.mark.soak
@pytest.mark.parametrize("lookahead", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_a_little_practice_helps_in_decisions_that_were_not_practised(lookahead):
    """By a wide margin: four times the error of the mean."""
    unseen = decisions_of_merchants(120, seed=99)
    mask = unseen.mask.copy()
    worth = Trials(unseen).worth(mask, 1)
    learner = make_learner(
        lookahead=lookahead, games=160, players=(3,), n_steps=8, batch_size=256, n_epochs=16, learning_rate=3e-3
    )
    shown = shown_to(learner, unseen)

    def worth_of_the_best():
        best = probabilities_of(learner, shown, torch.tensor(mask)).argmax(1).numpy()
        return worth[np.arange(len(unseen)), best]

    before = worth_of_the_best()
    learner.learn(2 * 160 * 8)
    gained = worth_of_the_best() - before
    assert gained.mean() > 4 * gained.std() / len(gained) ** 0.5 > 0
