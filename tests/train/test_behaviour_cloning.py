"""Behaviour cloning: what an agent plays is asked, kept and learnt; a roll-in policy plays its own moves."""

import json
import signal
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from borneo_agents.policy.agent import Policy  # noqa: E402  # torch may be missing
from borneo_agents.policy.model import read_model, write_model  # noqa: E402
from borneo_train.games.games import LearnerGames  # noqa: E402
from borneo_train.games.opponents import actions_of  # noqa: E402
from borneo_train.run.config import EVAL_SEED_OFFSET  # noqa: E402
from borneo_train.supervised.behaviour_cloning import BehaviourCloning, ReplayBuffer  # noqa: E402
from borneo_train.supervised.config import BCConfig  # noqa: E402
from borneo_train.supervised.run import SupervisedRun  # noqa: E402
from networks import searcher  # noqa: E402

from borneo_env.agent import find_agent  # noqa: E402

TINY = BCConfig(
    "contractor", n_envs=24, n_steps=4, batch_size=24, network="plain", actor="16x1", players="3,4", device="cpu"
)

pytestmark = pytest.mark.usefixtures("games_are_hardly_played_before", "one_thread")


def everywhere(games):
    return np.ones(len(games), bool)


def weights_of(trainee):
    return torch.cat([part.detach().flatten() for part in trainee.actor.parameters()])


@pytest.mark.parametrize("soft", [False, True])
def test_the_newest_decisions_are_kept(soft):
    games = LearnerGames({4: 4})
    replay = ReplayBuffer(6, 8, games.actions, torch.device("cpu"), soft)
    for number in range(3):
        games.state[:] = number
        probs = torch.zeros(4, games.actions)
        probs[torch.arange(4), torch.arange(4) + 10 * number] = 1.0
        replay.add(games, probs)
        assert len(replay) == min(6, 4 * (number + 1))
    target = replay.target.argmax(1) if soft else replay.target
    assert target.tolist() == [12, 13, 20, 21, 22, 23]
    assert replay.state[:, 0].tolist() == [1, 1, 2, 2, 2, 2] and replay.seen == 12


@pytest.mark.parametrize("roll_in", ["", "climber"])
def test_the_roll_in_policy_plays_its_own_moves_and_the_agent_all_others(roll_in, monkeypatch):
    """Three quarters of the games have it, and the network itself has hardly any moves in common with an agent."""
    trainee = BehaviourCloning(replace(TINY, roll_in=roll_in, n_envs=96))
    games, played = trainee.games, []
    monkeypatch.setattr(games, "play", lambda moves: played.append(moves.clone()))
    asked = torch.from_numpy(actions_of(trainee.agents[0], games, everywhere(games)))
    trainee.watch()
    theirs = games.seat == torch.arange(96) % games.players
    for moves in played:
        assert torch.equal(moves[~theirs], asked[~theirs])
        if roll_in:
            other = torch.from_numpy(actions_of(trainee.roll_in, games, everywhere(games)))
            assert ((moves == asked) | (moves == other)).all()
        assert 0 < (moves != asked).sum() < theirs.sum()
    assert torch.equal(trainee.replay.target[:96], asked), "the agent's moves are learnt, wherever others play"


def test_several_agents_have_their_shares_of_the_games():
    trainee = BehaviourCloning(replace(TINY, agent="contractor,climber", n_envs=80))
    moves = [actions_of(agent, trainee.games, everywhere(trainee.games)) for agent in trainee.agents]
    trainee.watch()
    number = np.arange(80) // 4 % 2
    assert (moves[0] != moves[1]).sum() > 3
    np.testing.assert_array_equal(trainee.replay.target[:80], np.where(number == 0, *moves))


def test_probabilities_of_a_search_are_learnt_beside_the_moves_of_others():
    trainee = BehaviourCloning(replace(TINY, agent="ismcts:budget=8,climber", n_envs=32))
    mask, climbers = trainee.games.mask.clone(), np.arange(32) // 4 % 2 == 1
    moves = actions_of(trainee.agents[1], trainee.games, climbers)
    trainee.watch()
    probs = trainee.replay.target[:32].float()
    assert torch.allclose(probs.sum(1), torch.ones(32), atol=1e-2) and not probs[~mask].any()
    assert ((probs * 8).round() / 8 - probs).abs().max() < 1e-3
    assert (probs[~climbers].max(1).values < 1).any() and (probs[climbers].max(1).values == 1).all()
    np.testing.assert_array_equal(probs[climbers].argmax(1), moves)


def test_it_starts_with_the_actor_of_a_policy(tmp_path):
    first = BehaviourCloning(TINY)
    write_model(tmp_path, first.model(""))
    started = BehaviourCloning(replace(TINY, start=str(tmp_path), seed=5))
    assert torch.allclose(weights_of(started), weights_of(first), atol=1e-6)
    assert not torch.allclose(weights_of(BehaviourCloning(replace(TINY, seed=5))), weights_of(first), atol=1e-6)
    for change, words in (
        ({"actor": "8x1"}, "it has layers of 16x1 for 969 numbers, and should have layers of 8x1"),
        ({"edition": "card"}, "it has learnt the board edition: give --edition of it"),
    ):
        with pytest.raises(ValueError, match=f"cannot start with it: {words}"):
            BehaviourCloning(replace(TINY, start=str(tmp_path), **change))


def test_it_learns_to_play_as_the_agent_does():
    trainee = BehaviourCloning(
        replace(TINY, actor="32x1", n_envs=96, n_steps=8, batch_size=96, n_epochs=4, learning_rate=0.01)
    )
    before = trainee.measured()
    losses = []
    for number in range(30):
        trainee.watch()
        losses.append(trainee.learn(number / 30))
    after = trainee.measured()
    assert losses[-1] < 0.7 * losses[0]
    assert after.low > before.high + 0.1


def test_agreement_is_that_of_the_policy_which_is_written(monkeypatch):
    trainee = BehaviourCloning(replace(TINY, n_envs=96))
    for _ in range(10):
        trainee.update(0.0)
    policy, games = Policy(trainee.model("")), trainee._games(TINY.seed + EVAL_SEED_OFFSET)
    monkeypatch.setattr(trainee, "_games", lambda seed: games)
    monkeypatch.setattr(games, "play", lambda moves: None)  # the same decisions over and over
    agent, own = (actions_of(one, games, everywhere(games)) for one in (trainee.agents[0], policy))
    assert trainee.measured().value == pytest.approx((agent == own).mean()) and (agent == own).any()


def test_the_same_seed_gives_the_same_policy():
    found = []
    for seed in (3, 3, 4):
        trainee = BehaviourCloning(replace(TINY, seed=seed))
        trainee.update(0.5)
        found.append(weights_of(trainee))
    assert torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])


# ---------------------------------------------------------------- a policy as the agent


@pytest.fixture
def expert(tmp_path):
    """The folder of a policy that searches."""
    write_model(tmp_path / "expert", searcher(width=16, depth=1, liking=2.0))
    return tmp_path / "expert"


def test_a_policy_learns_from_its_own_search_and_searches_on(expert):
    """Expert iteration: the actor learns the probabilities that the search found; all else stays."""
    config = replace(TINY, agent=f"policy:path={expert}:budget=40", start=str(expert), learning_rate=0.01, n_epochs=40)
    trainee, old = BehaviourCloning(config), read_model(expert)
    trainee.watch()
    target = trainee.replay.target[:96].float()
    least = -torch.xlogy(target, target).sum(1).mean()  # no network can expect them better
    losses = [trainee.learn(0.0) - least for _ in range(3)]
    assert 0 <= losses[-1] < 0.7 * losses[0]
    model = trainee.model("")
    assert model.card.task == "win" and model.card.steps == 96
    assert model.margin_coef == old.margin_coef == pytest.approx(0.6)  # its critic was trained with that
    for layer, kept in zip(old.critic, model.critic, strict=True):
        np.testing.assert_array_equal(layer.weights, kept.weights)
    assert np.abs(model.layers[0].weights - old.layers[0].weights).max() > 1e-5


def test_a_policy_that_is_imitated_from_nothing_gives_one_that_does_not_search(expert):
    model = BehaviourCloning(replace(TINY, agent=f"policy:path={expert}:budget=0")).model("")
    assert model.critic is None and model.card.task.startswith("imitate policy")


def test_a_policy_keeps_its_networks_and_gets_a_smaller_one_for_its_search(expert):
    """Distillation: what is learnt plays on in the search, and decides nothing."""
    config = replace(TINY, agent=f"policy:path={expert}:budget=0", actor="8x1", rollouts=True)
    trainee, old = BehaviourCloning(config), read_model(expert)
    trainee.watch()
    model = trainee.model("borneo imitate")
    assert model.rollout[0].weights.shape == (8, 969) and model.layers[0].weights.shape == (16, 969)
    np.testing.assert_array_equal(model.layers[0].weights, old.layers[0].weights)
    assert model.card.task == "win" and model.card.command.endswith("; the rollout network: borneo imitate")
    assert Policy(model, budget=40).searches
    with pytest.raises(ValueError, match="--rollouts is for one policy"):
        BehaviourCloning(replace(TINY, rollouts=True))


# ---------------------------------------------------------------- the command

QUICK = "imitate contractor --timesteps 1000 --n-envs 24 --batch-size 24 --network plain --actor 16x1 --players 3,4"


def test_the_command_writes_a_policy_that_plays(borneo, tmp_path):
    folder = tmp_path / "copy"
    status, out, err = borneo(QUICK, "--seed", 7, "--json", "--out", folder)
    assert status == 0, err
    found = json.loads(out)
    assert 0 <= found["low"] <= found["value"] <= found["high"] <= 1
    model = read_model(folder)
    assert (model.card.task, model.card.players, model.card.seed) == ("imitate contractor", [3, 4], 7)
    assert model.card.steps >= 1000 and model.card.strength[0]["value"] == found["value"]
    assert model.critic is None and find_agent(f"policy:{folder}")

    status, out, err = borneo(QUICK, "--out", folder)
    assert (status, out) == (2, "") and "--fresh to replace it" in err
    assert read_model(folder).card.seed == 7
    status, out, err = borneo(QUICK, "--fresh", "--out", folder)
    words = f"of the decisions of unseen games are those of contractor; play it as policy:{folder}"
    assert status == 0 and words in out and read_model(folder).card.seed == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("--minutes 0 --timesteps 0", "--minutes or --timesteps"),
        ("--timesteps -1 --minutes 5", "--minutes or --timesteps"),
        ("--n-envs -1", "--n-envs is a number from 1, not -1"),
        ("--roll-in nobody", "nobody"),
        ("--actor wide", "--actor wants"),
    ],
)
def test_what_cannot_be_learnt_is_refused_in_one_line(given, words, borneo, tmp_path):
    status, out, err = borneo(QUICK, *given.split(), "--out", tmp_path / "copy")
    assert (status, out) == (2, "") and words in err and len(err.strip().splitlines()) == 1
    assert not (tmp_path / "copy").exists()


def test_ctrl_c_keeps_what_was_learnt_so_far(tmp_path, monkeypatch):
    run = SupervisedRun(TINY, tmp_path / "copy", 10**9, 0.0)
    learn = run.trainee.learn

    def learn_and_stop(progress):
        signal.raise_signal(signal.SIGINT)
        return learn(progress)

    monkeypatch.setattr(run.trainee, "learn", learn_and_stop)
    run.run("")
    assert run.stopping and read_model(tmp_path / "copy").card.steps == 96


def test_a_policy_is_kept_though_measuring_is_cut_short(tmp_path, monkeypatch):
    run = SupervisedRun(TINY, tmp_path / "copy", 96, 0.0)

    def cut_short():
        raise KeyboardInterrupt

    monkeypatch.setattr(run.trainee, "measured", cut_short)
    with pytest.raises(KeyboardInterrupt):
        run.run("")
    assert read_model(tmp_path / "copy").card.steps == 96
