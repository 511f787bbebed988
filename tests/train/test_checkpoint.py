"""Checkpoints: those of strangers are refused in words, and what is no checkpoint is left alone."""

import json
import os
from dataclasses import replace

import pytest
from trainings import TINY

torch = pytest.importorskip("torch")

from borneo_train.run import checkpoint  # noqa: E402  # torch may be missing
from borneo_train.run.checks import check_notes  # noqa: E402
from borneo_train.run.learner import create_learner  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from borneo_env import Batch  # noqa: E402

NOTES = {"curve": [], "best": None, "seconds": 1.5}
MEASURED = {
    "measure": "win share", "against": "random", "players": 4, "games": 4, "seed": 1, "value": 0.5, "low": 0.1,
    "high": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def learner(games_are_hardly_played_before):
    """One after its first update: its optimiser has something to remember."""
    learner = create_learner(replace(TINY, opponent_share=0.5))
    learner.collect()
    learner.update()
    return learner


@pytest.fixture
def saved(learner, tmp_path):
    return checkpoint.save(tmp_path / "checkpoints", learner, NOTES)


def restored(saved, learner):
    return checkpoint.restore(saved, learner)


# ---------------------------------------------------------------- where checkpoints are kept


def test_others_may_keep_what_they_like_beside_the_checkpoints(learner, tmp_path, monkeypatch):
    folder = tmp_path / "checkpoints"
    (folder / "000 mine").mkdir(parents=True)
    (folder / "000 mine" / "notes").write_text("dear diary")
    (folder / "0000.txt").write_text("a file")
    (folder / "zzz").mkdir()
    (folder / "999999999999").symlink_to(folder / "000 mine")
    for steps in (4, 8, 12, 16, 16):
        monkeypatch.setattr(learner, "decisions", steps)
        checkpoint.save(folder, learner, NOTES)
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


def test_a_checkpoint_that_was_not_finished_is_written_anew(learner, saved):
    part = saved.rename(saved.with_name(saved.name + checkpoint.PART))
    assert checkpoint.newest(saved.parent) is None
    (part / checkpoint.NOTES).unlink()
    assert checkpoint.save(saved.parent, learner, NOTES) == saved
    assert [path.name for path in saved.parent.iterdir()] == [saved.name] and restored(saved, learner) == NOTES


# ---------------------------------------------------------------- what strangers may have put into them


def test_a_checkpoint_brings_all_back(learner, saved):
    tensors = {name: tensor.clone() for name, tensor in learner.tensors().items()}
    known = learner.games.state[:, : learner.games.width]
    state, numbers = known.clone(), learner.numbers()
    learner.collect()
    learner.update()
    learner.opponents.snapshot(learner.networks)
    learner.episode_return += 1
    assert learner.numbers() != numbers and not torch.equal(known, state)
    changed = {name for name, tensor in learner.tensors().items() if not torch.equal(tensor, tensors[name])}
    assert changed == set(tensors)
    assert restored(saved, learner) == NOTES
    assert learner.numbers() == numbers and torch.equal(known, state)
    assert all(torch.equal(tensor, tensors[name]) for name, tensor in learner.tensors().items())


def changed(name, value):
    """A forgery of one tensor."""
    return lambda tensors: tensors | {name: torch.as_tensor(value)}


def without(name):
    return lambda tensors: {other: value for other, value in tensors.items() if other != name}


MOMENT = "adam.actor.last_bias.exp_avg"
FORGERIES = {
    "a network of another shape": (changed("actor.last_bias", [1.0]), "'actor.last_bias' is of another type or shape"),
    "of another type": (changed("return_scale", 1), "'return_scale' is of another type or shape"),
    "no network": (without("critic.last_bias"), "it is of another network: it should hold "),
    "moments of another shape": (changed(MOMENT, [1.0]), "is of another type or shape"),
    "a moment too few": (without(MOMENT), "it is of another network"),
    "moments of nothing": (changed("adam.actor.first_bias.step", 1.0), "it is of another network"),
    "no numbers": (changed("return_scale", torch.nan), "'return_scale' holds numbers that are none"),
    "numbers without end": (changed("return_scale", torch.inf), "'return_scale' holds numbers that are none"),
    "too few random numbers": (
        changed("generator", torch.zeros(3, dtype=torch.uint8)),
        "'generator' is of another type",
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_checkpoint_is_refused(forgery, saved, learner):
    forge, told = FORGERIES[forgery]
    save_file(forge(load_file(saved / checkpoint.TENSORS)), saved / checkpoint.TENSORS)
    with pytest.raises(checkpoint.CheckpointError, match=f"cannot go on from this checkpoint: .*{told}"):
        restored(saved, learner)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"decisions": -1}, "decisions, updates, snapshots are whole numbers from 0"),
        ({"snapshots": 1.5}, "decisions, updates, snapshots are whole numbers from 0"),
        ({"updates": "many"}, "decisions, updates, snapshots are whole numbers from 0"),
        ({"progress": 2}, "progress and kl_lr_scale are numbers from 0 to 1"),
        ({"kl_lr_scale": None}, "progress and kl_lr_scale are numbers from 0 to 1"),
        ({"luck": 1}, "a learner has decisions, updates, snapshots, progress, kl_lr_scale"),
    ],
)
def test_forged_numbers_are_refused(change, told, saved, learner):
    about = json.loads((saved / checkpoint.NOTES).read_text())
    (saved / checkpoint.NOTES).write_text(json.dumps(about | {"learner": about["learner"] | change}))
    with pytest.raises(checkpoint.CheckpointError, match=f"cannot go on from this checkpoint: .*{told}"):
        restored(saved, learner)


def test_another_format_is_refused(saved, learner):
    about = json.loads((saved / checkpoint.NOTES).read_text())
    (saved / checkpoint.NOTES).write_text(json.dumps(about | {"format": "borneo-checkpoint/9"}))
    with pytest.raises(
        checkpoint.CheckpointError, match="its format is 'borneo-checkpoint/9', not 'borneo-checkpoint/5'"
    ):
        restored(saved, learner)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"actor": "16x1"}, "is of another type or shape"),
        ({"actor": "8x2"}, "it is of another network"),
        ({"n_envs": 6, "batch_size": 6}, "is of another type or shape"),
        ({"players": "3"}, "games-3.npz: is no file"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(changes, told, saved):
    other = create_learner(replace(TINY, opponent_share=0.5, **changes))
    with pytest.raises(checkpoint.CheckpointError, match=f"cannot go on from this checkpoint: .*{told}"):
        restored(saved, other)


def test_fewer_games_than_there_should_be_are_refused(saved, learner):
    Batch(3, learner.games.groups[0].ruleset, seed=1).save(saved / "games-4.npz")
    with pytest.raises(checkpoint.CheckpointError, match=r"cannot go on from this checkpoint: .*3 games"):
        restored(saved, learner)


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
def test_damaged_files_are_told(damage, name, saved, learner):
    DAMAGES[damage](saved / name)
    with pytest.raises(checkpoint.CheckpointError, match="cannot go on from this checkpoint: ") as told:
        restored(saved, learner)
    assert "\n" not in str(told.value)


def test_a_damaged_checkpoint_says_where_one_can_go_on(saved, learner):
    older = saved.with_name(f"{learner.decisions - 1:012}")
    older.mkdir()
    older.joinpath(checkpoint.NOTES).write_text("{}")
    DAMAGES[next(iter(DAMAGES))](saved / checkpoint.TENSORS)
    with pytest.raises(checkpoint.CheckpointError, match=f"; move it away, and --resume goes on from {older.name}$"):
        restored(saved, learner)


@pytest.mark.parametrize(
    "change",
    [
        {"curve": None},
        {"curve": {}},
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
        {"seconds": -1},
        {"seconds": 10**300},
    ],
)
def test_notes_that_no_training_has_made_are_refused(change, tmp_path):
    good = NOTES | {"curve": [{"steps": 0, "seconds": 1, "strength": [MEASURED]}], "best": 0.5}
    check_notes(tmp_path, good, TINY)
    with pytest.raises(checkpoint.CheckpointError, match="cannot go on from this checkpoint: its notes: "):
        check_notes(tmp_path, good | change, TINY)
    with pytest.raises(checkpoint.CheckpointError, match="its notes: "):
        check_notes(tmp_path, None, TINY)
