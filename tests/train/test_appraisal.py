"""Appraisal: a critic learns what others' turns are worth from what it thinks at the policy's own."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import borneo_train.appraisal as appraisal  # noqa: E402  # torch may be missing
from borneo_agents.policy.fears import outcomes  # noqa: E402
from borneo_agents.policy.model import read_model, write_model  # noqa: E402
from borneo_agents.policy.network import logits_of  # noqa: E402
from borneo_train.appraisal import Appraisal, Appraiser, Tables, worth_of_others  # noqa: E402
from networks import network, searcher, shown_to_critic  # noqa: E402

from borneo_env.agent import find_agent  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def folder(tmp_path):
    """The folder of a policy that searches."""
    write_model(tmp_path / "policy", searcher(liking=2.0, others=True, quick=True))
    return tmp_path / "policy"


def lesson(folder, **changes):
    usual = {"among": "climber", "network": "plain", "n_envs": 12, "batch_size": 128}
    return Appraisal(str(folder), **(usual | changes))


def tables(place, worth, game):
    return Tables(np.zeros((len(game), 1), np.int8), np.array(place), np.array(worth, np.float32), np.array(game))


def test_anothers_turn_is_worth_what_the_next_own_one_is_or_the_end():
    found = [
        tables([1, 0], [9, 0.5], [0, 1]),
        tables([0, 3], [0.2, 9], [0, 1]),
        tables([3], [9], [0]),
        tables([2, 2], [9, 9], [0, 1]),
        tables([0], [-0.1], [1]),
    ]
    ends = np.array([0.75, -0.25])
    worth = [some.worth.tolist() for some in worth_of_others(found, ends)]
    assert worth == [pytest.approx(some) for some in ([0.2, 0.5], [0.2, -0.1], [0.75], [0.75, -0.1], [-0.1])]


def test_tables_are_those_where_turns_begin_and_worth_what_the_critic_thinks_later(folder, monkeypatch):
    ends, looks = [], []
    appraiser = Appraiser(lesson(folder))

    def noted(batch, per_lead):
        ends.append(outcomes(batch, per_lead))
        return ends[-1]

    look = appraiser._look

    def looked(batch, rows, me):
        found = look(batch, rows, me)
        seats = np.maximum(batch.player, 0)
        np.testing.assert_array_equal(found.shown, shown_to_critic(appraiser.policy, batch, seats, me)[rows])
        np.testing.assert_array_equal(found.place, (me - batch.games["turn"])[rows] % batch.ruleset.players)
        looks.append(len(rows))
        return found

    monkeypatch.setattr(appraisal, "outcomes", noted)
    monkeypatch.setattr(appraiser, "_look", looked)
    played = appraiser.play(5, 0)
    assert len(played.worth) == sum(looks) and set(played.game.tolist()) == set(range(12))
    own = logits_of(appraiser.policy.critic, played.shown)[np.arange(len(played.worth)), played.place]
    for game in range(12):
        rows, players = np.flatnonzero(played.game == game), 3 + game // 4
        expected = ends[game // 4][game % 4, (game % 4) % players]
        turns = played.place[rows].tolist()
        assert all(later == (turn - 1) % players for turn, later in pairwise(turns))
        for row in rows[::-1]:
            expected = own[row] if played.place[row] == 0 else expected
            assert played.worth[row] == pytest.approx(expected, abs=1e-3)  # its weights are rounded


def test_it_learns_what_others_turns_are_worth_and_forgets_nothing_of_its_own(folder):
    appraiser = Appraiser(lesson(folder, n_envs=60, batch_size=256, n_epochs=20, learning_rate=0.003))
    before = appraiser.measured()
    for number in range(4):
        told = appraiser.study(number / 4)
    after = appraiser.measured()
    assert after.high < 0.8 * before.low
    assert appraiser.seen == sum(len(some.worth) for some in appraiser.memory) and "tables, off by" in told
    unseen = appraiser.play(99, 0)
    mine = unseen.some(np.flatnonzero(unseen.place == 0))
    assert np.corrcoef(appraiser.values(mine), mine.worth)[0, 1] > 0.75


def test_only_the_critic_changes(folder):
    old, appraiser = read_model(folder), Appraiser(lesson(folder))
    appraiser.study(0.0)
    model = appraiser.model("borneo appraise", {})
    for name in ("layers", "others", "quick"):
        for layer, kept in zip(getattr(old, name), getattr(model, name), strict=True):
            np.testing.assert_array_equal(layer.weights, kept.weights)
    assert np.abs(model.critic[0].weights - old.critic[0].weights).max() > 1e-5
    assert model.card.task == "win" and model.card.settings["appraisal"]["among"] == "climber"
    assert model.card.command == "borneo appraise, of the policy that comes of: train"


def test_the_same_seed_gives_the_same_critic(folder):
    found = []
    for seed in (3, 3, 4):
        appraiser = Appraiser(lesson(folder, seed=seed))
        appraiser.study(0.5)
        found.append(appraiser._layers()[0].weights)
    assert np.array_equal(found[0], found[1]) and not np.array_equal(found[0], found[2])


def test_a_policy_without_a_model_of_the_others_is_given_one(tmp_path):
    write_model(tmp_path / "alone", searcher())
    write_model(tmp_path / "copy", network(seed=9))
    with pytest.raises(ValueError, match="give --others"):
        Appraiser(lesson(tmp_path / "alone"))
    given = Appraiser(lesson(tmp_path / "alone", others=str(tmp_path / "copy"))).model("", {})
    np.testing.assert_array_equal(given.others[0].weights, network(seed=9).layers[0].weights)
    assert given.shippers is None
    given = Appraiser(lesson(tmp_path / "alone", others=str(tmp_path / "alone"), shippers=str(tmp_path / "copy")))
    np.testing.assert_array_equal(given.model("", {}).shippers[0].weights, network(seed=9).layers[0].weights)
    np.testing.assert_array_equal(given.policy.others[0].weights, searcher().layers[0].weights)


def test_policies_that_cannot_be_taught(tmp_path):
    policy = searcher(others=True)
    for name, model, told in [
        ("no-critic", network(), "has no critic of the task win"),
        ("other-task", replace(policy, card=replace(policy.card, task="ranks")), "has no critic of the task win"),
        ("blind", replace(policy, critic=[blind(policy.critic[0]), *policy.critic[1:]]), "cannot see who is"),
    ]:
        write_model(tmp_path / name, model)
        with pytest.raises(ValueError, match=told):
            Appraiser(lesson(tmp_path / name))
    write_model(tmp_path / "policy", policy)
    write_model(tmp_path / "card-game", network("card"))
    with pytest.raises(ValueError, match="plays the card edition"):
        Appraiser(lesson(tmp_path / "policy", others=str(tmp_path / "card-game")))


def blind(layer):
    return layer._replace(weights=layer.weights[:, :-5])


# ---------------------------------------------------------------- the command

QUICK = "--timesteps 200 --n-envs 60 --batch-size 64 --network plain --among climber"


def test_the_command_writes_a_policy_that_plays(borneo, folder, tmp_path):
    out = tmp_path / "taught"
    status, told, err = borneo("appraise", folder, *QUICK.split(), "--seed", 7, "--json", "--out", out)
    assert status == 0, err
    found = json.loads(told)
    assert 0 < found["low"] <= found["value"] <= found["high"]
    card = read_model(out).card
    assert card.strength[0]["measure"] == "error of a value" and card.strength[0]["value"] == found["value"]
    assert find_agent(f"policy:path={out}:budget=20")
    status, told, err = borneo("appraise", folder, *QUICK.split(), "--out", out)
    assert (status, told) == (2, "") and "--fresh to replace it" in err
    status, told, err = borneo("appraise", folder, *QUICK.split(), "--out", out, "--fresh")
    assert status == 0 and "of a win is how far it is off" in told and told.endswith(f"play it as policy:{out}\n")
    assert "before the lesson it was off by " in err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("--among nobody", "nobody"),
        ("--others nowhere", "nowhere"),
        ("--n-envs -1", "--n-envs is a number from 1, not -1"),
        ("--network tied", "tied"),
        ("--minutes 0 --timesteps 0", "--minutes or --timesteps"),
    ],
)
def test_what_cannot_be_learnt_is_told_in_one_line(given, words, borneo, folder, tmp_path):
    status, out, err = borneo("appraise", folder, *QUICK.split(), *given.split(), "--out", tmp_path / "taught")
    assert (status, out) == (2, "") and words in err and len(err.strip().splitlines()) == 1
    assert not (tmp_path / "taught").exists()
