"""Checkpoints bring all back; those of strangers are refused in words, and what is no checkpoint is left alone."""

import json
import os
from dataclasses import replace

import pytest
from trainings import TINY

torch = pytest.importorskip("torch")

from borneo_train.run import checkpoint  # noqa: E402  # torch may be missing
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
    checkpoint.save_all(tmp_path / "checkpoints", learner, NOTES)
    return checkpoint.newest(tmp_path / "checkpoints")


def restored(saved, learner):
    return checkpoint.restore(saved, learner, learner.settings)


def test_others_may_keep_what_they_like_beside_the_newest_two(learner, tmp_path, monkeypatch):
    folder = tmp_path / "checkpoints"
    (folder / "000000000099.safetensors").mkdir(parents=True)
    others = {"notes.safetensors", "0000.txt", "00000000000x.safetensors", "\u0661" * 12 + ".safetensors"}
    for name in others:
        (folder / name).write_text("dear diary")
    link = folder / "999999999999.safetensors"
    link.symlink_to(folder / "0000.txt")
    (folder / "000000000099.safetensors").rename(folder / "a folder")
    half_written = folder / ".borneo-0123456789abcdef"  # by a process that was killed
    half_written.touch()
    os.utime(half_written, (1, 1))
    for steps in (4, 8, 10**12, 12, 16, 16):
        monkeypatch.setattr(learner, "decisions", steps)
        checkpoint.save_all(folder, learner, NOTES)
    assert checkpoint.newest(folder).stem == str(10**12)
    names = {path.name for path in folder.iterdir()}
    assert names == others | {"a folder", link.name, "000000000016.safetensors", f"{10**12}.safetensors"}
    assert checkpoint.newest(tmp_path / "nowhere") is None


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


# ---------------------------------------------------------------- what strangers may have put into them


def changed(name, value):
    """A forgery of one tensor."""
    return lambda tensors: tensors | {name: torch.as_tensor(value)}


def without(name):
    return lambda tensors: {other: value for other, value in tensors.items() if other != name}


def said(part=None, **changes):
    """A forgery of what is told beside the tensors."""

    def forge(tensors):
        about = json.loads(bytes(tensors["about"].numpy()))
        about |= {part: about[part] | changes} if part else changes
        return tensors | {"about": torch.tensor(list(json.dumps(about).encode()), dtype=torch.uint8)}

    return forge


def with_games(size):
    def forge(tensors):
        Batch(size, players=4, seed=TINY.seed).save("games.npz")
        with open("games.npz", "rb") as file:
            return tensors | {"games.0": torch.tensor(list(file.read()), dtype=torch.uint8)}

    return forge


COUNTED, IN_PARTS = "decisions, updates, snapshots are whole numbers from 0", "progress and kl_lr_scale are numbers fr"
MOMENT = "adam.actor.last_bias.exp_avg"
FORGERIES = [
    (changed("actor.last_bias", [1.0]), "'actor.last_bias' is of another type or shape"),
    (changed("return_scale", 1), "'return_scale' is of another type or shape"),
    (changed("generator", torch.zeros(3, dtype=torch.uint8)), "'generator' is of another type"),
    (changed("return_scale", torch.nan), "'return_scale' holds numbers that are none"),
    (without("critic.last_bias"), "it is of another network: it should hold "),
    (without(MOMENT), "it is of another network"),
    (changed("adam.actor.first_bias.step", 1.0), "it is of another network"),
    (without("games.1"), "it has 1 files of games, not 2"),
    (changed("games.0", torch.zeros(9, dtype=torch.uint8)), "is not a saved batch"),
    (with_games(3), "3 games of .* cannot take the place of 6 games"),
    (without("about"), "about"),
    (changed("about", torch.tensor(list(b'{"format": ' + b"[" * 100_000), dtype=torch.uint8)), ""),
    (said(format="borneo-checkpoint/9"), "its format is 'borneo-checkpoint/9', not 'borneo-checkpoint/6'"),
    (said("learner", decisions=-1), COUNTED),
    (said("learner", updates="many"), COUNTED),
    (said("learner", progress=2), IN_PARTS),
    (said("learner", kl_lr_scale=None), IN_PARTS),
    (said("learner", luck=1), "a learner has decisions, updates, snapshots, progress, kl_lr_scale"),
]


@pytest.mark.parametrize(("forge", "told"), FORGERIES)
def test_a_forged_checkpoint_is_refused(forge, told, saved, learner, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_file(forge(load_file(saved)), saved)
    with pytest.raises(checkpoint.CheckpointError, match=f"cannot go on from this checkpoint: .*{told}"):
        restored(saved, learner)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"actor": "16x1"}, "is of another type or shape"),
        ({"actor": "8x2"}, "it is of another network"),
        ({"n_envs": 6, "batch_size": 6}, "is of another type or shape"),
        ({"players": "3"}, "cannot take the place of"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(changes, told, saved):
    other = create_learner(replace(TINY, opponent_share=0.5, **changes))
    with pytest.raises(checkpoint.CheckpointError, match=f"cannot go on from this checkpoint: .*{told}"):
        restored(saved, other)


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(2**40)


def pipe(path):
    path.unlink()
    os.mkfifo(path)


DAMAGES = {
    "text": lambda path: path.write_text("no such thing"),
    "empty": lambda path: path.write_bytes(b""),
    "pickle": lambda path: path.write_bytes(b"\x80\x04\x95" + b"\0" * 40),
    "huge": sparse,
    "missing": lambda path: path.unlink(),
    "a pipe": pipe,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_told_and_where_one_can_go_on(damage, saved, learner):
    older = saved.with_name(f"{learner.decisions - 1:012}.safetensors")
    older.touch()
    DAMAGES[damage](saved)
    told = rf"cannot go on from this checkpoint: [^\n]*; move it away, and --resume goes on from {older.name}$"
    with pytest.raises(checkpoint.CheckpointError, match=told):
        restored(saved, learner)


def noted(**changes):
    """A forgery of the notes, or of the only measurement in them."""
    curve = [{"steps": 0, "seconds": 1, "strength": [MEASURED | changes.pop("measured", {})]}]
    return said("notes", curve=curve, **changes) if "curve" not in changes else said("notes", **changes)


ANOTHER = "its curve is that of another training"
NO_NUMBER = "its curve is no list, or has a number that is none or too large"


@pytest.mark.parametrize(
    ("forge", "told"),
    [
        (said(notes=None), ""),
        (noted(curve=None), ""),
        (noted(curve={}), NO_NUMBER),
        (noted(curve=[{"steps": 0, "strength": []}]), ANOTHER),
        (noted(measured={"players": 9}), ANOTHER),
        (noted(measured={"against": "merchant"}), ANOTHER),
        (noted(measured={"measure": "luck"}), ANOTHER),
        (noted(measured={"against": []}), "unhashable"),
        (noted(measured={"luck": 1}), "luck"),
        (noted(measured={"value": "high"}), NO_NUMBER),
        (noted(curve=[{"steps": "none", "strength": [MEASURED]}]), NO_NUMBER),
        (noted(best="this one"), NO_NUMBER),
        (noted(seconds=None), NO_NUMBER),
        (noted(seconds=-1), "it has learnt for less than no time"),
        (noted(seconds=10**300), NO_NUMBER),
    ],
)
def test_notes_that_no_training_has_made_are_refused(forge, told, saved, learner):
    good = load_file(saved)
    save_file(noted(best=0.5)(good), saved)
    assert restored(saved, learner)["best"] == 0.5
    save_file(forge(good), saved)
    with pytest.raises(checkpoint.CheckpointError, match=f"cannot go on from this checkpoint: .*{told}"):
        restored(saved, learner)
