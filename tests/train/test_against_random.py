"""What the examples with other libraries share. `make ecosystem` runs the examples themselves."""

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from borneo_env import Batch  # noqa: E402
from borneo_env.agent import Views  # noqa: E402
from borneo_env.rewards import REWARDS  # noqa: E402

FOLDER = Path(__file__).parents[2] / "train" / "examples"
LONGEST = {"sb3_maskable_ppo": 80, "sb3_self_play": 80}  # lines; of others 120


@pytest.fixture
def shared(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    import against_random

    return against_random


def test_a_network_plays_the_legal_action_it_likes_most(shared):
    batch = Batch(50, players=4, seed=1, finished="hold")
    batch.play_random(40)
    views = Views(batch.ruleset, *batch.view(np.arange(50)))
    liked = torch.arange(views.mask.shape[1]).float().repeat(50, 1)  # the last action most, legal or not
    last_legal = views.mask.shape[1] - 1 - views.mask[:, ::-1].argmax(axis=1)
    assert np.array_equal(shared.Player(lambda seen: liked - 2e6).act(views), last_legal)


@pytest.mark.parametrize("as_json", [True, False])
def test_an_experiment_measures_before_and_after(shared, capsys, as_json):
    actor = shared.network(969, 370)
    for values in actor.parameters():
        torch.nn.init.zeros_(values)  # so it takes the first legal action
    experiment = shared.Experiment("Nobody", actor, games=24, seed=3)
    unchanged = experiment._wins()
    with torch.no_grad():
        actor[2].bias += torch.arange(370)  # and now the last one
    experiment.end(1234, as_json)
    told = capsys.readouterr().out
    assert unchanged == experiment.before and experiment.before["seed"] == 4
    if as_json:
        told = json.loads(told)
        assert (told["library"], told["decisions"], told["seed"]) == ("Nobody", 1234, 3)
        assert told["before"] == experiment.before and told["after"]["value"] != told["before"]["value"]
        assert told["after"]["games"] == 24 and told["after"]["low"] <= told["after"]["value"] <= told["after"]["high"]
    else:
        assert "Nobody learnt from 1,234 decisions" in told
        assert "before: wins " in told and "after : wins " in told


def test_the_reward_adds_up_to_the_win_and_a_twentieth_of_the_lead(shared):
    batch = Batch(20, players=4, seed=2, finished="hold")
    before = batch.games.copy()
    batch.play_random()
    ruleset, after = batch.ruleset, batch.games
    expected = REWARDS["win"](ruleset, before, after) + REWARDS["score"](ruleset, before, after) / 20
    assert np.allclose(shared.reward(ruleset, before, after), expected)


def test_examples_are_short():
    for file in FOLDER.glob("*.py"):
        assert len(file.read_text(encoding="utf-8").splitlines()) <= LONGEST.get(file.stem, 120), file
