"""Checkpoints: those of strangers are refused in words, and what is no checkpoint is left alone."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from networks import searcher
from trainings import TINY

torch = pytest.importorskip("torch")

from borneo_agents.policy.model import write_model  # noqa: E402  # torch may be missing
from borneo_train.run import checkpoint  # noqa: E402
from borneo_train.run.checks import check_notes  # noqa: E402
from borneo_train.learner import Learner  # noqa: E402
from borneo_train.run.training import Training, model_of  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

from borneo_env import Batch  # noqa: E402

NOTES = {"curve": [], "best": None, "seconds": 1.5}
MEASURED = {
    "measure": "win share", "against": "random", "players": 4, "games": 4, "seed": 1, "value": 0.5, "low": 0.1,
    "high": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def training(tmp_path_factory, games_are_hardly_played_before):
    """A training after its first update: its optimisers have something to remember."""
    training = Training(replace(TINY, out=tmp_path_factory.mktemp("training")), "borneo train")
    training.learner.collect()
    training.learner.update()
    return training


@pytest.fixture
def saved(training, tmp_path):
    return checkpoint.save(tmp_path / "checkpoints", training.learner, NOTES)


def restored(saved, training):
    return checkpoint.restore(saved, training.learner)


# ---------------------------------------------------------------- where checkpoints are kept


def test_others_may_keep_what_they_like_beside_the_checkpoints(training, tmp_path, monkeypatch):
    folder = tmp_path / "checkpoints"
    (folder / "000 mine").mkdir(parents=True)
    (folder / "000 mine" / "notes").write_text("dear diary")
    (folder / "0000.txt").write_text("a file")
    (folder / "zzz").mkdir()
    (folder / "999999999999").symlink_to(folder / "000 mine")
    for steps in (4, 8, 12, 16, 16):
        monkeypatch.setattr(training.learner, "decisions", steps)
        checkpoint.save(folder, training.learner, NOTES)
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
    assert checkpoint.save(saved.parent, training.learner, NOTES) == saved
    assert [path.name for path in saved.parent.iterdir()] == [saved.name] and restored(saved, training) == NOTES


# ---------------------------------------------------------------- what strangers may have put into them


def test_a_checkpoint_brings_all_back(training, saved):
    learner = training.learner
    tensors = {name: tensor.clone() for name, tensor in learner.tensors().items()}
    table, numbers = learner.games.table.clone(), learner.numbers_kept()
    learner.collect()
    learner.update()
    learner.freeze()
    assert learner.numbers_kept() != numbers and not torch.equal(learner.games.table, table)
    changed = {name for name, tensor in learner.tensors().items() if not torch.equal(tensor, tensors[name])}
    assert {"generator", "order", "scale", "actor.last_bias", "critic.adam.0.exp_avg", "frozen.0.weight"} <= changed
    assert restored(saved, training) == NOTES
    assert learner.numbers_kept() == numbers and torch.equal(learner.games.table, table)
    assert all(torch.equal(tensor, tensors[name]) for name, tensor in learner.tensors().items())


def changed(name, value):
    """A forgery of one tensor."""
    return lambda tensors: tensors | {name: torch.as_tensor(value)}


def without(name):
    return lambda tensors: {other: value for other, value in tensors.items() if other != name}


MOMENT = "actor.adam.0.exp_avg"
FORGERIES = {
    "a network of another shape": (changed("actor.last_bias", [1.0]), "'actor.last_bias' is of another type or shape"),
    "of another type": (changed("scale", 1), "'scale' is of another type or shape"),
    "no network": (without("critic.last_bias"), "it is of another network: it should hold "),
    "moments of another shape": (changed(MOMENT, [1.0]), "is of another type or shape"),
    "a moment too few": (without(MOMENT), "it is of another network"),
    "moments of nothing": (changed("actor.adam.9999.step", 1.0), "it is of another network"),
    "no numbers": (changed("scale", torch.nan), "'scale' holds numbers that are none"),
    "numbers without end": (changed("scale", torch.inf), "'scale' holds numbers that are none"),
    "too few random numbers": (changed("order", torch.zeros(3, dtype=torch.uint8)), "'order' is of another type"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_checkpoint_is_refused(forgery, saved, training):
    forge, told = FORGERIES[forgery]
    save_file(forge(load_file(saved / checkpoint.TENSORS)), saved / checkpoint.TENSORS)
    with pytest.raises(checkpoint.CheckpointError, match=f"cannot go on from this checkpoint: .*{told}"):
        restored(saved, training)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"decisions": -1}, "decisions and updates are whole numbers from 0"),
        ({"decisions": 1.5}, "decisions and updates are whole numbers from 0"),
        ({"updates": "many"}, "decisions and updates are whole numbers from 0"),
        ({"progress": 2}, "progress and caution are numbers from 0 to 1"),
        ({"caution": None}, "progress and caution are numbers from 0 to 1"),
        ({"luck": 1}, "a learner keeps decisions, updates, progress, caution"),
    ],
)
def test_forged_numbers_are_refused(change, told, saved, training):
    about = json.loads((saved / checkpoint.NOTES).read_text())
    (saved / checkpoint.NOTES).write_text(json.dumps(about | {"learner": about["learner"] | change}))
    with pytest.raises(checkpoint.CheckpointError, match=f"cannot go on from this checkpoint: .*{told}"):
        restored(saved, training)


def test_another_format_is_refused(saved, training):
    about = json.loads((saved / checkpoint.NOTES).read_text())
    (saved / checkpoint.NOTES).write_text(json.dumps(about | {"format": "borneo-checkpoint/9"}))
    with pytest.raises(
        checkpoint.CheckpointError, match="its format is 'borneo-checkpoint/9', not 'borneo-checkpoint/4'"
    ):
        restored(saved, training)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"actor": "16x1"}, "is of another type or shape"),
        ({"actor": "8x2"}, "it is of another network"),
        ({"n_envs": 6, "batch_size": 6}, "is of another type or shape"),
        ({"players": "3"}, "games-3.npz: is no file"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(changes, told, saved, tmp_path):
    other = Training(replace(TINY, out=tmp_path, **changes), "borneo train")
    with pytest.raises(checkpoint.CheckpointError, match=f"cannot go on from this checkpoint: .*{told}"):
        restored(saved, other)


def test_fewer_games_than_there_should_be_are_refused(saved, training):
    Batch(3, training.learner.games.groups[0].ruleset, seed=1).save(saved / "games-4.npz")
    with pytest.raises(checkpoint.CheckpointError, match=r"cannot go on from this checkpoint: .*3 games"):
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


def test_a_damaged_checkpoint_says_where_one_can_go_on(saved, training):
    older = saved.with_name(f"{training.learner.decisions - 1:012}")
    older.mkdir()
    older.joinpath(checkpoint.NOTES).write_text("{}")
    DAMAGES[next(iter(DAMAGES))](saved / checkpoint.TENSORS)
    with pytest.raises(checkpoint.CheckpointError, match=f"; move it away, and --resume goes on from {older.name}$"):
        restored(saved, training)


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


# ---------------------------------------------------------------- beginning with what another training has learnt


def test_a_training_begins_with_what_another_has_learnt(training, tmp_path):
    """Not with its games, its decisions or its chance; and with another seed and opponents."""
    checkpoint.save(tmp_path / "checkpoints", training.learner, NOTES)
    settings = replace(training.settings, start=str(tmp_path), seed=99, frozen=0.5, n_envs=2 * training.settings.n_envs)
    learner, theirs = checkpoint.made(settings), training.learner.learnt()
    assert {name: bool(tensor.any()) for name, tensor in theirs.items()}["actor.adam.0.exp_avg"]
    for name, tensor in learner.learnt().items():
        assert torch.equal(tensor, theirs[name]), name
    assert learner.decisions == 0
    assert torch.equal(learner.opponents.network[-1].bias, training.learner.actor.last_bias), "as earlier version too"
    before = float(learner.scale)
    learner.collect()
    learner.update()
    assert float(learner.scale) == pytest.approx(before, rel=0.05) and float(learner.scale) != before


def test_quick_networks_begin_anew_where_the_other_training_had_none(training, tmp_path):
    checkpoint.save(tmp_path / "checkpoints", training.learner, NOTES)
    settings = replace(training.settings, start=str(tmp_path), quick="64x1")
    learner, theirs = checkpoint.made(settings), training.learner.learnt()
    new = {name for name in learner.learnt() if name not in theirs}
    assert new and all(name.startswith("quick_") for name in new)
    checkpoint.save(tmp_path / "checkpoints", learner, NOTES)
    twin = checkpoint.made(settings)
    for name, tensor in twin.learnt().items():
        assert torch.equal(tensor, learner.learnt()[name]), name


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"actor": "128x1"}, "give --edition, --actor and --critic as it had them, or networks twice as wide"),
        ({"start": "nowhere"}, "there is no training with a checkpoint, and no policy"),
    ],
)
def test_what_cannot_be_begun_with_is_told(training, tmp_path, change, told):
    checkpoint.save(tmp_path / "checkpoints", training.learner, NOTES)
    with pytest.raises(checkpoint.CheckpointError, match=told):
        checkpoint.made(replace(training.settings, **({"start": str(tmp_path)} | change)))


def test_what_a_stranger_has_learnt_is_checked(training, tmp_path):
    path = checkpoint.save(tmp_path / "checkpoints", training.learner, NOTES)
    tensors = load_file(path / checkpoint.TENSORS)
    tensors["critic.last_bias"][0] = torch.nan
    save_file(tensors, path / checkpoint.TENSORS)
    with pytest.raises(checkpoint.CheckpointError, match="holds numbers that are none"):
        checkpoint.made(replace(training.settings, start=str(tmp_path)))
    del tensors["critic.last_bias"]
    save_file(tensors, path / checkpoint.TENSORS)
    with pytest.raises(checkpoint.CheckpointError, match="it is of another network"):
        checkpoint.made(replace(training.settings, start=str(tmp_path)))


# ---------------------------------------------------------------- beginning with a policy


@pytest.mark.parametrize("kind", ["tied", "plain"])
def test_a_training_begins_with_a_policy(kind, tmp_path):
    """It plays and values as the policy does; what the critic says has about the size of returns."""
    settings = replace(TINY, network=kind, task="win", actor="64x2", critic="64x2", out=tmp_path)
    model = model_of(Learner(settings), "")
    write_model(tmp_path, model)
    learner = checkpoint.made(replace(settings, start=str(tmp_path), seed=99, frozen=0.5))
    found = model_of(learner, "")
    for layers, wanted in ((found.layers, model.layers), (found.critic, model.critic)):
        for layer, own in zip(layers, wanted, strict=True):
            for part, other in zip(layer, own, strict=True):
                assert (part is None) == (other is None)
                assert part is None or np.allclose(part, other, atol=1e-5)
    values = learner.critic(learner.games.table[:, : learner.games.width + 5].float())
    assert 0.3 < float(values.detach().std()) < 3
    assert torch.equal(learner.opponents.network[-1].bias, learner.actor.last_bias), "as earlier version too"
    learner.collect()
    learner.update()


def test_inputs_that_the_critic_of_a_policy_lacks_have_weights_of_0(tmp_path):
    learner = Learner(replace(TINY, out=tmp_path))
    model = model_of(learner, "")
    first, *rest = model.critic
    learner.begin_with_model(replace(model, critic=[first._replace(weights=first.weights[:, :1400]), *rest]))
    weights = learner.critic.layers()[0].weight
    assert not weights[:, 1400:].any() and weights[:, :1400].all(1).any()


def test_policies_that_cannot_be_begun_with(tmp_path):
    learner = Learner(replace(TINY, out=tmp_path))
    model = model_of(learner, "")
    tied = Learner(replace(TINY, network="tied", actor="64x1", critic="64x1", out=tmp_path))
    size, loose = searcher(width=7), model_of(Learner(replace(TINY, actor="64x1", critic="64x1", out=tmp_path)), "")
    for own, other, told in (
        (learner, replace(model, critic=None), "it has no critic"),
        (learner, searcher("card"), "it is of the card edition: train with --edition card"),
        (learner, size, "it has layers of 7x1 for 969 numbers, and should have layers of "),
        (tied, loose, "its weights are not tied: train with --network plain"),
    ):
        with pytest.raises(ValueError, match=told):
            own.begin_with_model(other)
