"""Practice: what is tried, what is learnt from it, and that it helps."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from borneo_agents.bot import MERCHANT  # noqa: E402  # torch may be missing
from borneo_agents.briefing import ADVICE, brief_batch  # noqa: E402
from borneo_agents.scripted import Bots  # noqa: E402
from borneo_agents.trials import Trials  # noqa: E402
from borneo_train.buffer import LeanBuffer  # noqa: E402
from borneo_train.network import TablePolicy, usual_scale  # noqa: E402
from borneo_train.opponents import Cast  # noqa: E402
from borneo_train.practice import CONSIDERED, Decisions, Practice  # noqa: E402
from borneo_train.vec_env import BorneoVecEnv  # noqa: E402
from stable_baselines3.common.logger import Logger  # noqa: E402

from borneo_env import Batch, Ruleset  # noqa: E402
from borneo_env.engine.state import copy_games  # noqa: E402

CLIP = 0.2


def make_learner(seed=1, briefed=True, games=24, players=(3, 5), turns=1, **settings):
    env = BorneoVecEnv(games, Cast("merchant"), players=players, whole_table=False, briefed=briefed, seed=seed)
    about = {
        "edition": "board", "scale": usual_scale("board", False), "actor": (32, 2), "critic": (4, 1), "briefed": briefed
    }  # fmt: skip
    settings = {"n_steps": 5, "batch_size": 64, "n_epochs": 1, "ent_coef": 0.0, "clip_range": CLIP} | settings
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
def odds_of(learner, observations, masks):
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


@pytest.mark.parametrize("turns", [1, 2])
@pytest.mark.parametrize("briefed", [True, False])
def test_likely_options_are_tried_and_no_others(briefed, turns):
    """Where one alone is likely there is nothing to compare."""
    learner = make_learner(briefed=briefed, turns=turns)
    if not briefed:
        with torch.no_grad():
            learner.policy.action_net.own.bias.normal_(0, 6)  # or it would find all options likely
    shown, masks, wanted, *_ = Watched(learner).collect()
    odds = odds_of(learner, shown, masks)
    likely = odds >= CONSIDERED
    clear = ((odds - CONSIDERED).abs() > 1e-5).all(1)
    assert torch.equal(wanted[clear], (likely & (likely.sum(1, keepdim=True) > 1))[clear])
    assert (likely.sum(1) == 1).any() and (masks & ~likely).any() and wanted.any()


def test_decisions_are_what_was_shown_and_what_was_found():
    """Every one of them, though the games use their arrays again."""
    learner = make_learner()
    shown, masks, wanted, worth = Watched(learner).collect()
    found = learner._decisions
    assert len(shown) == 24 * 5 == learner.num_timesteps
    assert torch.equal(found.observations, shown) and found.observations.dtype == torch.int8
    assert torch.equal(found.masks, masks)
    odds = odds_of(learner, shown, masks) * wanted
    torch.testing.assert_close(found.odds, odds)
    expected = (odds * worth).sum(1) / odds.sum(1).clamp(1e-9)
    torch.testing.assert_close(found.gains, torch.where(wanted, worth - expected[:, None], 0.0), atol=1e-6, rtol=0)


def test_gains_even_out():
    learner = make_learner()
    Watched(learner).collect()
    odds, gains = learner._decisions.odds, learner._decisions.gains
    assert (odds * gains).sum(1).abs().max() < 1e-6
    assert gains.abs().max() > 0.01 and not gains[odds == 0].any()


def test_actions_are_drawn_by_their_odds_from_all_that_are_legal(monkeypatch):
    learner, taken = make_learner(games=200, players=(3,), n_steps=8, briefed=False), []
    step = learner.env.step
    monkeypatch.setattr(learner.env, "step", lambda actions: taken.append(actions.copy()) or step(actions))
    shown, masks, *_ = Watched(learner).collect()
    actions = torch.from_numpy(np.concatenate(taken))[:, None]
    odds = odds_of(learner, shown, masks)
    assert masks.gather(1, actions).all()
    passed = (odds.cumsum(1) - odds / 2).gather(1, actions)  # half of it lies below on average
    assert abs(float(passed.mean()) - 0.5) < 4 * (1 / 12 / len(passed)) ** 0.5


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


def one_decision(learner, gains, scale=1.0):
    """A decision among several options, as if its first ones had brought so much; `scale` is of the odds it had."""
    if learner._last_obs is None:
        learner._last_obs = learner.env.reset()
    masks = learner.env.action_masks()
    row = int(np.argmax(masks.sum(1)))
    shown, mask = torch.tensor(learner._last_obs[row : row + 1]), torch.tensor(masks[row : row + 1])
    options = torch.nonzero(mask[0]).flatten()[: len(gains)]
    odds = odds_of(learner, shown, mask)
    brought = torch.zeros_like(odds)
    brought[0, options] = torch.tensor(gains)
    return Decisions(shown, mask, odds * scale, brought), options


def train(learner, decisions):
    learner._decisions = decisions
    learner.train()
    return odds_of(learner, decisions.observations, decisions.masks)[0]


@pytest.mark.parametrize("briefed", [True, False])
@pytest.mark.parametrize("gains", [(0.1, -0.1, 0.0), (-0.1, 0.0, 0.1), (0.0, 1e-4, -1e-4)])
def test_what_brought_more_becomes_more_likely_and_what_brought_less_becomes_less(gains, briefed):
    learner = make_learner(briefed=briefed, learning_rate=1e-4)
    if briefed:
        with torch.no_grad():
            learner.policy.judge.direct[ADVICE] = 0.1  # or the merchant's action would be nearly all there is
    decision, options = one_decision(learner, gains)
    before = decision.odds[0]
    after = train(learner, decision)
    change = (after / before - 1)[options].tolist()
    for gain, more in zip(gains, change, strict=True):
        assert gain == 0 or more * gain > 0
    assert max(map(abs, change)) > 1e-4


@pytest.mark.parametrize(
    ("gains", "scale"), [((0.1, 0.1), 1 / (1.02 * (1 + CLIP))), ((-0.1, -0.1), 1 / (0.98 * (1 - CLIP)))]
)
def test_beyond_the_clip_there_is_nothing_more_to_learn(gains, scale):
    """The odds have gone further already than one round may change them."""
    learner = make_learner(learning_rate=0.1)
    decision, _ = one_decision(learner, (*gains, 0.0), scale)
    decision.gains[0, decision.gains[0] != 0] *= torch.tensor([1.0, 1.5])  # usual gains are a spread
    before = weights_of(learner)
    train(learner, decision)
    assert torch.equal(weights_of(learner), before)


@pytest.mark.parametrize(("gain", "scale"), [(0.1, 1 / (0.9 * (1 - CLIP))), (-0.1, 1 / (1.1 * (1 + CLIP)))])
def test_odds_that_went_the_wrong_way_come_back_from_beyond_the_clip(gain, scale):
    learner = make_learner(learning_rate=1e-4, briefed=False)
    decision, (first, second) = one_decision(learner, (gain, 2 * gain), scale)
    before = odds_of(learner, decision.observations, decision.masks)[0]
    after = train(learner, decision)
    assert float(after[first] + after[second] - before[first] - before[second]) * gain > 0


def test_many_passes_stop_at_the_clip():
    """And do get there: the odds of one option rise by a fifth, and go on no further than the last step took them."""
    learner = make_learner(learning_rate=5e-5, n_epochs=200, briefed=False)
    decision, (first, second) = one_decision(learner, (0.1, -0.1))
    after = train(learner, decision) / decision.odds[0]
    assert 1 + CLIP - 0.01 < after[first] < 1 + CLIP + 0.06
    assert 1 - CLIP - 0.06 < after[second] < 1 - CLIP + 0.01


def test_one_step_of_learning_is_that_of_gains_and_indecision():
    """Worked out anew from the gradients: gains in units of the usual one, and entropy."""
    learner = make_learner(ent_coef=0.3, batch_size=10**6)
    learner.max_grad_norm = 1e9
    Watched(learner).collect()
    policy, found = learner.policy, learner._decisions
    policy.optimizer = torch.optim.SGD(policy.parameters(), lr=1.0)
    learner.lr_schedule = lambda _: 0.01
    distribution = policy.get_distribution(found.observations, found.masks.numpy())
    some = found.gains[found.gains != 0]
    assert len(some) > 20
    brought = (distribution.distribution.probs * found.gains).sum(1).mean() / some.std()
    loss = -brought - 0.3 * distribution.entropy().mean()
    slopes = torch.autograd.grad(loss, list(policy.parameters()), allow_unused=True, materialize_grads=True)
    slope, before = torch.cat([part.flatten() for part in slopes]), weights_of(learner)
    learner.train()
    assert slope.abs().max() > 1e-2
    assert torch.allclose(weights_of(learner), before - 0.01 * slope, atol=1e-6)


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
    monkeypatch.setattr(learner, "_improve", lambda part, usual: seen.append(part) or improve(part, usual))
    learner.train()
    assert [len(part.gains) for part in seen] == [50, 50, 20] * 3 and learner._n_updates == 3

    def sorted_rows(parts):
        parts = list(parts)
        return sorted(
            zip(*([bytes(one.numpy().tobytes()) for part in parts for one in part[i]] for i in range(4)), strict=True)
        )

    epochs = [sorted_rows(seen[start : start + 3]) for start in (0, 3, 6)]
    assert epochs == [sorted_rows([learner._decisions])] * 3
    assert not torch.equal(seen[0].observations, seen[3].observations), "in another order"
    learner.rollout_buffer.generator.manual_seed(1)  # as it was at first
    torch.manual_seed(77)
    learner.train()
    assert all(torch.equal(one.observations, other.observations) for one, other in zip(seen[:9], seen[9:], strict=True))


def test_without_any_gains_only_indecision_is_learnt():
    """As when a policy is sure everywhere; nothing turns to NaN."""
    learner = make_learner(learning_rate=1e-3, briefed=False)
    decision, _ = one_decision(learner, (0.0, 0.0))
    before = weights_of(learner)
    train(learner, decision)
    assert torch.equal(weights_of(learner), before)
    learner.ent_coef = 0.1
    with torch.no_grad():
        learner.policy.action_net.own.bias.normal_(0, 1)
    entropy = [-(odds * odds.clamp(1e-9).log()).sum() for odds in (
        odds_of(learner, *decision[:2])[0], train(learner, decision))]  # fmt: skip
    assert entropy[1] > entropy[0]


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


def worth_of_the_best(learner, batch, worth):
    """What the actions come to that a learner likes best."""
    shown = batch.observe()
    if learner.policy.briefed:
        shown = np.concatenate([shown, brief_batch(batch, np.arange(len(batch)))], 1)
    best = odds_of(learner, torch.tensor(shown), torch.tensor(batch.mask.copy())).argmax(1).numpy()
    return worth[np.arange(len(batch)), best]


@pytest.mark.parametrize(("briefed", "rounds"), [(True, 3), (False, 2)])
def test_a_little_practice_helps_in_decisions_that_were_not_practised(briefed, rounds):
    """By a wide margin: four times the error of the mean."""
    unseen = decisions_of_merchants(300, seed=99)
    worth = Trials(unseen).worth(unseen.mask.copy(), 1)
    learner = make_learner(
        briefed=briefed, games=384, players=(3,), n_steps=8, batch_size=512, n_epochs=4, learning_rate=3e-3
    )
    before = worth_of_the_best(learner, unseen, worth)
    learner.learn(rounds * 384 * 8)
    gained = worth_of_the_best(learner, unseen, worth) - before
    assert gained.mean() > 4 * gained.std() / len(gained) ** 0.5 > 0
