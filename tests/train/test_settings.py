"""Settings of a training: what a device adds to them, and which are refused in words."""

import json
import math
from dataclasses import fields, replace

import pytest
from borneo_train.run.config import PRESETS, RANGES, Settings
from trainings import ROLLOUT, TINY, begin, go_on

torch = pytest.importorskip("torch")


pytestmark = pytest.mark.usefixtures("games_are_hardly_played_before")


# ---------------------------------------------------------------- what a device adds


@pytest.mark.parametrize(
    ("device", "has_card", "found"),
    [("auto", False, "cpu"), ("auto", True, "cuda"), ("cpu", True, "cpu"), ("cuda", True, "cuda")],
)
def test_a_device_fills_in_what_is_not_given(device, has_card, found):
    filled = Settings(device=device, n_steps=8).filled(has_card)
    assert filled.device == found and filled.n_steps == 8
    preset = PRESETS[found] | {"n_steps": 8}
    assert {name: getattr(filled, name) for name in preset} == preset
    filled.check()


def test_a_training_of_some_minutes_has_no_number_of_decisions():
    assert Settings(minutes=5).filled(False).timesteps == 0
    assert Settings(minutes=5, timesteps=100).filled(False).timesteps == 100


def test_what_was_trained_on_a_card_goes_on_on_one(tmp_path, monkeypatch):
    kept = {"command": "borneo train", "settings": replace(TINY, device="cuda").as_dict()}
    (tmp_path / "settings.json").write_text(json.dumps(kept))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="was trained on a GPU and goes on on one only; torch can use none here"):
        go_on(tmp_path)
    with pytest.raises(ValueError, match="has --device cuda and cannot go on with cpu"):
        go_on(tmp_path, device="cpu")


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"task": "lose"}, "--task 'lose' is not known; use one of win, contracts, ranks"),
        ({"edition": "dice"}, "--edition 'dice' is not known; use one of"),
        ({"network": "deep"}, "--network 'deep' is not known; use one of tied, plain"),
        ({"players": "2"}, "--players wants some of 3,4,5, each once, not '2'"),
        ({"players": "3,3"}, "--players wants some of 3,4,5"),
        ({"players": "three"}, "--players wants whole numbers"),
        ({"actor": "16"}, "--actor wants the width and number of layers"),
        ({"critic": "8x0"}, "--critic wants the width and number of layers"),
        ({"network": "tied"}, "layers of a tied network have a multiple of 64 units, not 8"),
        ({"batch_size": 5}, "--n-envs 12 times --n-steps 4 is no multiple of --batch-size 5: an update goes"),
        ({"batch_size": 96}, "--n-envs 12 times --n-steps 4 is no multiple of --batch-size 96"),
        ({"workers": 5}, "--n-envs 12 and --batch-size 12 cannot be divided by --workers 5: .*, as with --workers 4"),
        ({"workers": 12, "players": "3,4,5"}, "--n-envs 12 leaves a player count without games"),
        ({"n_envs": 2, "batch_size": 2, "players": "3,4,5"}, "--n-envs 2 leaves a player count without games"),
        ({"opponent": "nobody"}, "there is no agent 'nobody'"),
        ({"against": "nobody"}, "there is no agent 'nobody'"),
        ({"against": "random,nobody"}, "there is no agent 'nobody'"),
        ({"against": "random,"}, "there is no agent ''"),
        ({"against": "random, random"}, "--against wants agents with commas between them, each once, not"),
        ({"device": "abacus"}, "--device is one of auto, cpu, cuda, not 'abacus'"),
        ({"timesteps": -1}, "--timesteps is a number from 0, not -1"),
        ({"minutes": math.inf}, "--minutes is a number from 0, not inf"),
        ({"n_steps": -1}, "--n-steps is a number from 1, not -1"),
        ({"learning_rate": math.nan}, "--learning-rate is a number above 0, not nan"),
        ({"target_kl": -0.1}, "--target-kl is a number above 0, not -0.1"),
        ({"opponent_share": 1.5}, "--opponent-share is a number from 0 to 1, not 1.5"),
        ({"workers": 513}, "--workers is a number from 1 to 512, not 513"),
        ({"seed": 2**63}, r"--seed is a number from 0, below 2\*\*63, not 9"),
    ],
)
def test_settings_that_make_no_sense(changes, complaint, tmp_path):
    with pytest.raises(ValueError, match=complaint):
        begin(tmp_path / "new", **changes)
    assert not (tmp_path / "new").exists()


def test_every_number_has_a_range():
    numbers = {field.name for field in fields(Settings) if type(field.default) in (int, float)}
    assert numbers == {name for names, _, _ in RANGES for name in names}


# ---------------------------------------------------------------- those of a training that goes on


@pytest.mark.parametrize(
    ("key", "value"),
    [("n_envs", "many"), ("opponent_share", True), ("learning_rate", None), ("actor", 64), ("timesteps", 1.5)],
)
def test_settings_of_another_type_are_refused(key, value, tmp_path):
    """Somebody has edited them."""
    path = tmp_path / "settings.json"
    kept = {"command": "borneo train", "settings": TINY.as_dict()}
    path.write_text(json.dumps(kept | {"settings": kept["settings"] | {key: value}}))
    with pytest.raises(ValueError, match=f"no training to go on with: the setting {key} cannot be {value!r}"):
        go_on(tmp_path)
    path.write_text(json.dumps(kept | {"settings": kept["settings"] | {"learning_rate": 1}}))
    assert go_on(tmp_path).settings.learning_rate == 1


def test_what_cannot_change_on_the_way_is_refused(tmp_path):
    begin(tmp_path)
    again = go_on(tmp_path, **TINY.as_dict() | {"timesteps": 5 * ROLLOUT})  # the same command, and more of them
    assert again.settings == replace(TINY, out=tmp_path, timesteps=5 * ROLLOUT)
    message = "has --learning-rate .* cannot go on with 0.25: only --timesteps and --minutes may change; leave it out"
    with pytest.raises(ValueError, match=message):
        go_on(tmp_path, learning_rate=0.25)
    with pytest.raises(ValueError, match="has --against random and cannot go on with merchant: "):
        go_on(tmp_path, against="merchant")
