"""Imitation: what an agent plays is asked, remembered and learnt; guests play their own moves."""

import json
import signal
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from borneo_agents.policy.agent import Policy  # noqa: E402  # torch may be missing
from borneo_agents.policy.model import read_model, write_model  # noqa: E402
from borneo_agents.policy.network import logits_of, probabilities_of  # noqa: E402
from borneo_train.games.games import Games  # noqa: E402
from borneo_train.imitation import Imitator, Lesson, Memory, moves_of  # noqa: E402
from borneo_train.run.config import UNSEEN  # noqa: E402
from borneo_train.watching import Watching  # noqa: E402
from networks import network, searcher  # noqa: E402

from borneo_env.agent import Views, find_agent  # noqa: E402

TINY = Lesson("contractor", n_envs=24, n_steps=4, batch_size=24, network="plain", actor="16x1")

pytestmark = pytest.mark.usefixtures("games_are_hardly_played_before", "one_thread")


def phases_of(games):
    """The names of the phases that games are in."""
    return np.array([group.batch.phase_name(row) for group in games.groups for row in range(len(group))])


def weights_of(imitator):
    return torch.cat([part.detach().flatten() for part in imitator.actor.parameters()])


@pytest.mark.parametrize("name", ["contractor", "climber", "random", "rollout:budget=4"])
def test_an_agent_is_asked_what_it_plays_and_nothing_is_played(name):
    games, agent = Games({3: 8, 4: 8}, seed=1), find_agent(name)
    games.spread_out(torch.Generator().manual_seed(1))
    before = [group.batch.observe(0).copy() for group in games.groups]
    found = moves_of(agent, games)
    if "budget" not in name:  # it has thrown the dice
        views = [Views(group.ruleset, *group.batch.view(np.arange(8))) for group in games.groups]
        np.testing.assert_array_equal(found, np.concatenate([agent.act(seen) for seen in views]))
    assert games.mask[torch.arange(16), torch.from_numpy(found)].all()
    for group, old in zip(games.groups, before, strict=True):
        assert np.array_equal(group.batch.observe(0), old)


def test_what_was_seen_longest_ago_is_forgotten():
    games = Games({4: 4})
    memory = Memory(8, games, torch.device("cpu"))
    for number in range(3):
        games.table[:] = number
        memory.add(games, torch.arange(4), torch.arange(4) + 10 * number)
        assert len(memory) == min(8, 4 * (number + 1))
    assert memory.action.tolist() == [20, 21, 22, 23, 10, 11, 12, 13]
    assert memory.table[:, 0].tolist() == [2] * 4 + [1] * 4 and memory.seen == 12


def test_some_games_are_remembered_over_the_end_of_the_memory():
    games = Games({4: 4})
    memory = Memory(5, games, torch.device("cpu"))
    for number in range(3):
        games.table[:] = number
        memory.add(games, torch.tensor([1, 3]), torch.arange(4) + 10 * number)
    assert memory.action.tolist() == [23, 3, 11, 13, 21] and memory.seen == 6
    assert memory.table[:, 0].tolist() == [2, 0, 1, 1, 2]


def test_only_decisions_of_some_phases_are_learnt(monkeypatch):
    monkeypatch.setattr("borneo_train.games.WHOLE_GAME", 40)  # so that some games are in each phase
    imitator = Imitator(replace(TINY, phases="ship,take", n_envs=96))
    asked = torch.from_numpy(moves_of(imitator.agents[0], imitator.games))
    now = np.isin(phases_of(imitator.games), ["ship", "take"])
    monkeypatch.setattr(imitator.games, "play", lambda moves: None)  # the same decisions over and over
    imitator.watch()
    assert 3 < now.sum() < 60 and imitator.seen == now.sum() * TINY.n_steps
    np.testing.assert_array_equal(imitator.memory.action[: now.sum()], asked[now])
    before = weights_of(imitator)
    imitator.learn(0.0)
    assert not torch.equal(weights_of(imitator), before)


@pytest.mark.parametrize("guest", ["", "climber"])
def test_guests_play_their_own_moves_and_the_agent_all_others(guest, monkeypatch):
    """Three quarters of the games have a guest, and the network itself has hardly any moves in common with an agent."""
    imitator = Imitator(replace(TINY, guest=guest, n_envs=96))
    played = []
    monkeypatch.setattr(imitator.games, "play", lambda moves: played.append((moves, imitator.games.seat.clone())))
    asked = torch.from_numpy(moves_of(imitator.agents[0], imitator.games))
    imitator.watch()
    hosts = imitator.games.seat == torch.arange(96) % imitator.games.players
    for moves, _ in played:
        assert torch.equal(moves[~hosts], asked[~hosts])
        if guest:
            theirs = torch.from_numpy(moves_of(imitator.guest, imitator.games))
            assert ((moves == asked) | (moves == theirs)).all()
        assert 0 < (moves != asked).sum() < hosts.sum()


@pytest.mark.parametrize("sample", [True, False])
def test_a_guest_that_is_a_network_alone_is_asked_on_the_device_that_learns(sample, tmp_path, monkeypatch):
    model = network(width=9, depth=2)
    write_model(tmp_path, model)
    imitator = Imitator(replace(TINY, guest=f"policy:{tmp_path}:sample={sample}", n_envs=96))
    monkeypatch.setattr("borneo_train.imitation.moves_of", None)
    games, theirs = imitator.games, torch.arange(0, 96, 5)
    moves = [imitator._guest_moves(games, theirs, torch.zeros(0)) for _ in range(20)]
    odds = probabilities_of(logits_of(model.layers, games.table[theirs, :969].numpy()), games.mask[theirs].numpy())
    rows = np.arange(len(theirs))
    for found in moves:
        assert (odds[rows, found] > 0).all()
        assert sample or (odds[rows, found] > odds.max(1) - 1e-6).all()
    assert (np.std(moves, 0).max() > 0) == sample


def test_a_guest_of_another_edition_is_refused(tmp_path):
    write_model(tmp_path, network("card", width=4))
    with pytest.raises(ValueError, match="trained for the card edition, not for board-3"):
        Imitator(replace(TINY, guest=f"policy:{tmp_path}"))


def test_what_is_remembered_is_what_the_agent_plays_even_where_guests_do():
    imitator = Imitator(TINY)
    asked = moves_of(imitator.agents[0], imitator.games)
    imitator.watch()
    np.testing.assert_array_equal(imitator.memory.action[:24], asked)
    assert imitator.memory.mask[:96].gather(1, imitator.memory.action[:96, None]).all()


def test_an_agent_is_asked_in_some_games_only():
    games, agent = Games({3: 8, 4: 8}, seed=1), find_agent("climber")
    chosen = np.arange(16) % 3 == 0
    np.testing.assert_array_equal(moves_of(agent, games, chosen), moves_of(agent, games)[chosen])


def test_several_agents_have_their_shares_of_the_games_of_each_number_of_players():
    imitator = Imitator(replace(TINY, agent="contractor,climber", n_envs=90))
    imitator.watch()
    found, hosts = imitator.memory.action[:90].numpy(), np.arange(90) // 5 % 2
    games = Imitator(replace(TINY, n_envs=90)).games  # the same as before anything was played
    theirs = np.array([moves_of(agent, games) for agent in imitator.agents])
    assert (theirs[0] != theirs[1]).sum() > 5
    np.testing.assert_array_equal(found, theirs[hosts, np.arange(90)])
    for players in (3, 4, 5):
        assert 0.4 < hosts[games.players == players].mean() < 0.6


def test_of_a_search_the_shares_of_its_tries_are_learnt_beside_the_moves_of_others():
    imitator = Imitator(replace(TINY, agent="ismcts:budget=8,climber", n_envs=30))
    games = Imitator(replace(TINY, n_envs=30)).games
    imitator.watch()
    odds, action = imitator.memory.odds[:30].float(), imitator.memory.action[:30]
    searched = torch.arange(30) // 5 % 2 == 0
    assert torch.allclose(odds.sum(1), torch.ones(30), atol=1e-2) and not odds[~games.mask].any()
    assert ((odds * 8).round() / 8 - odds).abs().max() < 1e-3
    assert (odds[searched].max(1).values < 1).any() and (odds[~searched].max(1).values == 1).all()
    assert torch.equal(odds.argmax(1), action)
    np.testing.assert_array_equal(action[~searched], moves_of(find_agent("climber"), games)[~searched.numpy()])


def test_it_begins_with_the_actor_of_a_policy(tmp_path):
    first = Imitator(TINY)
    write_model(tmp_path, first.model("", {}))
    begun = Imitator(replace(TINY, start=str(tmp_path), seed=5))
    assert torch.allclose(weights_of(begun), weights_of(first), atol=1e-6)
    assert not torch.allclose(weights_of(Imitator(replace(TINY, seed=5))), weights_of(first), atol=1e-6)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"actor": "8x1"},
            "cannot begin with it: it has layers of 16x1 for 969 numbers, and should have layers of 8x1",
        ),
        ({"edition": "card"}, "cannot begin with it: it has learnt the board edition: give --edition of it"),
    ],
)
def test_a_policy_it_cannot_begin_with(change, told, tmp_path):
    write_model(tmp_path, Imitator(TINY).model("", {}))
    with pytest.raises(ValueError, match=told):
        Imitator(replace(TINY, start=str(tmp_path), **change))


def test_it_learns_to_play_as_the_agent_does():
    imitator = Imitator(
        replace(TINY, actor="32x1", n_envs=96, n_steps=8, batch_size=96, n_epochs=4, learning_rate=0.01)
    )
    before = imitator.measured()
    losses = []
    for number in range(30):
        imitator.watch()
        losses.append(imitator.learn(number / 30))
    after = imitator.measured()
    assert losses[-1] < 0.7 * losses[0]
    assert after.low > before.high + 0.1


@pytest.mark.parametrize("phase", ["", "ship"])
def test_agreement_is_that_of_the_policy_which_is_written(phase, monkeypatch):
    monkeypatch.setattr("borneo_train.games.WHOLE_GAME", 40)
    imitator = Imitator(replace(TINY, n_envs=96, phases=phase))
    for _ in range(20):
        imitator.study(0.0)
    policy = Policy(imitator.model("", {}))
    games = imitator._games(TINY.seed + UNSEEN)
    monkeypatch.setattr(imitator, "_games", lambda seed: games)
    monkeypatch.setattr(games, "play", lambda moves: None)  # the same decisions over and over
    alike = moves_of(imitator.agents[0], games) == moves_of(policy, games)
    wanted = alike[phases_of(games) == phase].mean() if phase else alike.mean()
    assert imitator.measured().value == pytest.approx(wanted) and wanted > 0


def test_the_same_seed_gives_the_same_policy():
    found = []
    for seed in (3, 3, 4):
        imitator = Imitator(replace(TINY, seed=seed))
        imitator.watch()
        imitator.learn(0.5)
        found.append(weights_of(imitator))
    assert torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])


# ---------------------------------------------------------------- expert iteration


@pytest.fixture
def expert(tmp_path):
    """The folder of a policy that searches."""
    write_model(tmp_path / "expert", searcher(width=16, depth=1, liking=2.0, others=True, quick=True))
    return tmp_path / "expert"


def own_search(folder, **changes):
    """A lesson in which a policy learns from its own search among bots."""
    lesson = replace(TINY, agent=f"policy:path={folder}:budget=40", among="climber", start=str(folder))
    return replace(lesson, **changes)


def test_among_bots_the_agent_has_one_seat_of_every_game_and_plays_what_is_remembered(expert, monkeypatch):
    imitator = Imitator(own_search(expert))
    games, play, told, played, [agent] = imitator.games, imitator.games.play, [], [], imitator.agents
    assert games.with_bots.all()
    probabilities = agent.probabilities
    monkeypatch.setattr(agent, "probabilities", lambda views: told.append(probabilities(views)) or told[-1])
    monkeypatch.setattr(games, "play", lambda moves: played.append(moves.clone()) or play(moves))
    imitator.watch()
    odds, moves = np.concatenate(told), torch.cat(played)
    np.testing.assert_allclose(imitator.memory.odds[:96], odds, atol=1e-3)
    np.testing.assert_array_equal(moves, odds.argmax(1))
    assert torch.equal(imitator.memory.action[:96], moves) and len(moves) == 96


def test_a_policy_learns_the_probabilities_that_its_search_found(expert):
    imitator = Imitator(own_search(expert, n_epochs=40, learning_rate=0.01))
    imitator.watch()
    rows = torch.arange(96)
    odds = imitator.memory.odds[rows].float()
    least = -torch.xlogy(odds, odds).sum(1).mean()  # no network can expect them better
    before = (imitator._loss(*imitator.memory.at(rows)) - least).item()
    for _ in range(3):
        imitator.learn(0.0)
    assert 0 <= (imitator._loss(*imitator.memory.at(rows)) - least).item() < 0.5 * before


def test_what_has_learnt_from_its_own_search_searches_on(expert):
    old, imitator = read_model(expert), Imitator(own_search(expert))
    imitator.watch()
    imitator.learn(0.0)
    model = imitator.model("", {})
    assert model.card.task == "win" and model.card.steps == 96
    assert model.per_lead == old.per_lead == pytest.approx(0.6)  # its critic was trained with that
    for name in ("critic", "others", "quick"):
        for layer, kept in zip(getattr(old, name), getattr(model, name), strict=True):
            np.testing.assert_array_equal(layer.weights, kept.weights)
    assert np.abs(model.layers[0].weights - old.layers[0].weights).max() > 1e-5


def test_a_policy_copied_from_the_start_on_does_not_search(expert):
    model = Imitator(own_search(expert, start="")).model("", {})
    assert model.critic is None and model.card.task.startswith("imitate policy")


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
    assert (
        status == 0 and f"of the decisions of unseen games are those of contractor; play it as policy:{folder}" in out
    )
    assert read_model(folder).card.seed == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("--minutes 0 --timesteps 0", "--minutes or --timesteps"),
        ("--timesteps -1 --minutes 5", "--minutes or --timesteps"),
        ("--n-envs -1", "--n-envs is a number from 1, not -1"),
        ("--learning-rate -1", "--learning-rate is a number above 0, not -1.0"),
        ("--device abacus", "--device is one of"),
        ("--guest nobody", "nobody"),
        ("--among nobody", "nobody"),
        ("--among merchant --guest climber", "--guest and --among both say who has other seats: give one of them"),
        ("--players 2", "--players wants some of 3,4,5"),
        ("--actor wide", "--actor wants"),
        ("--phases ship,lunch", "--phases are some of place,contract,pay,"),
        ("--phases over", "--phases are some of place,contract,pay,"),
        ("--batch-size 0", "--batch-size is a number from 1, not 0"),
        ("--network woven", "--network 'woven' is not known"),
    ],
)
def test_what_cannot_be_learnt_is_told_in_one_line(given, words, borneo, tmp_path):
    status, out, err = borneo(QUICK, *given.split(), "--out", tmp_path / "copy")
    assert (status, out) == (2, "") and words in err and len(err.strip().splitlines()) == 1
    assert not (tmp_path / "copy").exists()


def test_whoever_stops_it_gets_what_was_learnt_so_far(tmp_path, monkeypatch):
    watching = Watching(lambda: Imitator(TINY), tmp_path / "copy", 10**9, 0.0)
    learn = watching.pupil.learn

    def learn_and_stop(progress):
        signal.raise_signal(signal.SIGINT)
        return learn(progress)

    monkeypatch.setattr(watching.pupil, "learn", learn_and_stop)
    watching.run("")
    assert watching.stopping and read_model(tmp_path / "copy").card.steps == 96


def test_what_was_learnt_is_kept_though_measuring_is_cut_short(tmp_path, monkeypatch):
    watching = Watching(lambda: Imitator(TINY), tmp_path / "copy", 96, 0.0)

    def cut_short():
        raise KeyboardInterrupt

    monkeypatch.setattr(watching.pupil, "measured", cut_short)
    with pytest.raises(KeyboardInterrupt):
        watching.run("")
    assert read_model(tmp_path / "copy").card.steps == 96
