"""Checkpoints: those of strangers are refused in words, and what is no checkpoint is left alone."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from borneo_train import checkpoint  # noqa: E402  # torch may be missing
from borneo_train.ppo import Training, check_notes  # noqa: E402
from borneo_train.settings import Settings  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

TINY = Settings(
    games=8, horizon=4, minibatch=16, epochs=1, actor="8x1", critic="8x1", steps=64, seed=3, against="random",
    evaluation_games=4, players="4", opponents="self",
).filled()  # fmt: skip
NOTES = {"curve": [], "best": None, "seconds": 1.5, "next_evaluation": 8, "next_member": 8, "league": []}
MEASURED = {
    "measure": "win share", "against": "random", "players": 4, "games": 4, "seed": 1, "value": 0.5, "low": 0.1,
    "high": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    """A training before its first rollout, whose optimiser has something to remember."""
    training = Training(replace(TINY, out=tmp_path_factory.mktemp("training")), "borneo train")
    learner = training.learner
    learner._last_obs, learner._last_episode_starts = training.games.reset(), np.ones(8, bool)
    for parameter in learner.policy.parameters():
        parameter.grad = torch.ones_like(parameter)
    learner.policy.optimizer.step()
    return training


@pytest.fixture
def saved(training, tmp_path):
    return checkpoint.save(tmp_path / "checkpoints", training.learner, training.games, NOTES)


def restored(saved, training):
    return checkpoint.restore(saved, training.learner, training.games)


# ---------------------------------------------------------------- where checkpoints are kept


def test_others_may_keep_what_they_like_beside_the_checkpoints(training, tmp_path):
    folder = tmp_path / "checkpoints"
    (folder / "000 mine").mkdir(parents=True)
    (folder / "000 mine" / "notes").write_text("dear diary")
    (folder / "0000.txt").write_text("a file")
    (folder / "zzz").mkdir()
    (folder / "999999999999").symlink_to(folder / "000 mine")
    for steps in (4, 8, 12, 16, 16):
        training.learner.num_timesteps = steps
        checkpoint.save(folder, training.learner, training.games, NOTES)
        assert int(checkpoint.newest(folder).name) == steps
    (checkpoint.newest(folder) / "why.txt").write_text("the best so far")
    assert sorted(path.name for path in folder.iterdir()) == [
        "000 mine", "0000.txt", "000000000012", "000000000016", "999999999999", "zzz",
    ]  # fmt: skip
    checkpoint.clear(folder)
    assert {str(path.relative_to(folder)) for path in folder.rglob("*")} == {
        "000 mine", "000 mine/notes", "0000.txt", "zzz", "999999999999", "000000000016", "000000000016/why.txt",
    }  # fmt: skip
    assert checkpoint.newest(folder) is None


def test_a_checkpoint_that_was_not_finished_is_written_anew(training, saved):
    part = saved.rename(saved.with_name(saved.name + checkpoint.PART))
    assert checkpoint.newest(saved.parent) is None
    (part / checkpoint.NOTES).unlink()
    assert checkpoint.save(saved.parent, training.learner, training.games, NOTES) == saved
    assert [path.name for path in saved.parent.iterdir()] == [saved.name] and restored(saved, training) == NOTES


# ---------------------------------------------------------------- what strangers may have put into them


@pytest.mark.parametrize("opponents", ["self", "nobody"])
def test_a_checkpoint_brings_all_back(opponents, tmp_path):
    settings = replace(TINY, out=tmp_path, opponents=opponents, trials=int(opponents == "nobody"))
    training = Training(settings, "borneo train")
    training.learner._last_obs, training.learner._last_episode_starts = training.games.reset(), np.ones(8, bool)
    saved = checkpoint.save(tmp_path, training.learner, training.games, NOTES)
    masks = training.games.action_masks()
    training.games.step(masks.argmax(1))
    assert restored(saved, training) == NOTES
    assert np.array_equal(training.games.action_masks(), masks)


def changed(name, value):
    """A forgery of one tensor."""
    return lambda tensors: tensors | {name: torch.as_tensor(value)}


def without(name):
    return lambda tensors: {other: value for other, value in tensors.items() if other != name}


MOMENT = "optimizer.0.exp_avg"
FORGERIES = {
    "a seat that is none": (changed("seat.4", [7] * 8), "a learner sits in none of the seats 0 to 3"),
    "seats below": (changed("seat.4", [-1] * 8), "a learner sits in none of the seats 0 to 3"),
    "too few seats": (changed("seat.4", [0]), "another type or shape"),
    "seats of another type": (changed("seat.4", [0.0] * 8), "another type or shape"),
    "opponents that are none": (changed("seated.4", [[-9] * 4] * 8), "others at a table than the learner"),
    "nobody seated": (without("seated.4"), "seated.4"),
    "too few starts": (changed("starts", [1]), "one start for each of 8 games"),
    "moments of another shape": (changed(MOMENT, [1.0]), "what the optimiser remembers of parameter 0 does not fit"),
    "a moment too few": (without(MOMENT), "what the optimiser remembers of parameter 0 does not fit"),
    "moments of nothing": (changed("optimizer.9999.step", 1.0), "list index out of range"),
    "no random numbers": (changed("random.torch", torch.zeros(3, dtype=torch.uint8)), "size to be 3"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_checkpoint_is_refused(forgery, saved, training):
    forge, told = FORGERIES[forgery]
    save_file(forge(load_file(saved / checkpoint.TENSORS)), saved / checkpoint.TENSORS)
    with pytest.raises(checkpoint.CheckpointError, match=f"cannot go on from this checkpoint: .*{told}"):
        restored(saved, training)


def test_a_policy_of_no_numbers_is_refused(saved, training):
    tensors = load_file(saved / checkpoint.TENSORS)
    name = next(name for name in tensors if name.startswith("policy.") and tensors[name].is_floating_point())
    save_file(tensors | {name: torch.full_like(tensors[name], torch.nan)}, saved / checkpoint.TENSORS)
    with pytest.raises(checkpoint.CheckpointError, match="of the policy holds numbers that are none"):
        restored(saved, training)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": "borneo-checkpoint/9"}, "its format is 'borneo-checkpoint/9', not 'borneo-checkpoint/2'"),
        ({"steps": -1}, "-1 steps and 0 updates are no numbers from 0"),
        ({"steps": 1.5}, "1.5 steps and 0 updates are no numbers from 0"),
        ({"updates": "many"}, "0 steps and 'many' updates are no numbers from 0"),
        ({"random": {"bit_generator": "MT19937"}}, "state must be for a PCG64"),
    ],
)
def test_forged_notes_are_refused(change, told, saved, training):
    about = json.loads((saved / checkpoint.NOTES).read_text()) | {"steps": 0, "updates": 0}
    (saved / checkpoint.NOTES).write_text(json.dumps(about | change))
    with pytest.raises(checkpoint.CheckpointError, match=f"cannot go on from this checkpoint: .*{told}"):
        restored(saved, training)


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(2**40)


def pipe(path):
    path.unlink()
    os.mkfifo(path)


DAMAGES = {
    "deep": lambda path: path.write_text('{"format": ' + "[" * 100_000),
    "text": lambda path: path.write_text("no such thing"),
    "empty": lambda path: path.write_bytes(b""),
    "pickle": lambda path: path.write_bytes(b"\x80\x04\x95" + b"\0" * 40),
    "huge": sparse,
    "missing": lambda path: path.unlink(),
    "a pipe": pipe,
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", [checkpoint.TENSORS, checkpoint.NOTES, "games-4.npz"])
def test_damaged_files_are_told(damage, name, saved, training):
    DAMAGES[damage](saved / name)
    with pytest.raises(checkpoint.CheckpointError, match="cannot go on from this checkpoint: ") as told:
        restored(saved, training)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "change",
    [
        {"curve": None},
        {"curve": [{"steps": 0, "strength": []}]},
        {"curve": [{"steps": 0, "strength": [MEASURED | {"players": 9}]}]},
        {"curve": [{"steps": 0, "strength": [MEASURED | {"players": 3}]}]},
        {"curve": [{"steps": 0, "strength": [MEASURED | {"against": "merchant"}]}]},
        {"curve": [{"steps": 0, "strength": [MEASURED | {"against": []}]}]},
        {"curve": [{"steps": 0, "strength": [MEASURED | {"value": "high"}]}]},
        {"curve": [{"steps": 0, "strength": [MEASURED | {"measure": "luck"}]}]},
        {"curve": [{"steps": 0, "strength": [{"value": 1}]}]},
        {"curve": [{"steps": "none", "strength": [MEASURED]}]},
        {"best": "this one"},
        {"seconds": None},
        {"next_evaluation": [1]},
        {"next_member": 10**300},
        {"league": [1, 2]},
        {"league": 3},
    ],
)
def test_notes_that_no_training_has_made_are_refused(change, tmp_path):
    good = NOTES | {"curve": [{"steps": 0, "seconds": 1, "strength": [MEASURED]}], "best": 0.5}
    check_notes(tmp_path, good, TINY)
    with pytest.raises(checkpoint.CheckpointError, match="cannot go on from this checkpoint: its notes: "):
        check_notes(tmp_path, good | change, TINY)
    with pytest.raises(checkpoint.CheckpointError, match="its notes: "):
        check_notes(tmp_path, None, TINY)
