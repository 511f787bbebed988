"""Trainings and what is not theirs: other people's files, links to elsewhere, and code that a file names."""

import json
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from borneo_agents.policy.model import read_model, write_model
from networks import network

pytest.importorskip("torch")

from borneo_train.ppo import FILES, FOLDERS, Training, keep_model  # torch may be missing
from borneo_train.settings import Settings
from borneo_train.tasks import Measurement

TINY = Settings(
    games=8, horizon=4, minibatch=16, epochs=1, actor="8x1", critic="8x1", steps=64, seed=3, against="random",
    evaluation_games=4, players="4",
)  # fmt: skip


def begin(folder):
    return Training.begun(replace(TINY, out=Path(folder)), "borneo train")


# ---------------------------------------------------------------- files of others


@pytest.fixture
def elsewhere(tmp_path):
    """Somebody else's folder, named as ours are."""
    folder = tmp_path / "elsewhere"
    write_model(folder / "000000000001", network(width=4))
    (folder / "settings.json").write_text("mine")
    return folder


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("fresh", [False, True], ids=["resume", "fresh"])
def test_folders_that_are_links_are_refused(name, fresh, elsewhere, tmp_path):
    """Else what a league has too many of, or an older checkpoint, would be removed from elsewhere."""
    before = sorted(elsewhere.rglob("*"))
    begin(tmp_path / "out")
    (tmp_path / "out" / name).symlink_to(elsewhere)
    with pytest.raises(ValueError, match=rf"{name}: is no folder \(a link is none\).*move it, or give another --out"):
        if fresh:
            Training.begun(replace(TINY, out=tmp_path / "out"), "borneo train", fresh=True)
        else:
            Training.taken_up(Settings(out=tmp_path / "out"))
    assert sorted(elsewhere.rglob("*")) == before


def test_files_that_are_links_are_replaced_and_not_what_they_point_to(elsewhere, tmp_path):
    training = begin(tmp_path / "out")
    for name in FILES:
        (tmp_path / "out" / name).unlink(missing_ok=True)
        (tmp_path / "out" / name).symlink_to(elsewhere / "settings.json")
    measured = Measurement("win share", "random", 4, 4, 1, 0.5, 0.1, 0.9)
    training.curve = [{"steps": 0, "seconds": 1, "strength": [asdict(measured)]}]
    training._write_curve()
    training.keep_settings()
    training.stopping = True
    training._report()
    keep_model(tmp_path / "out" / "best", network(width=4))
    weights = tmp_path / "out" / "best" / "model.safetensors"
    weights.unlink()
    weights.symlink_to(elsewhere / "settings.json")
    keep_model(tmp_path / "out" / "best", network(width=4))
    assert (elsewhere / "settings.json").read_text() == "mine"
    assert [name for name in FILES if (tmp_path / "out" / name).is_symlink()] == ["report.json"]  # not written here
    assert not weights.is_symlink() and read_model(tmp_path / "out" / "best").card.edition == "board"


def test_fresh_removes_what_a_training_wrote_and_nothing_else(tmp_path):
    training = begin(tmp_path)
    kept = ["notes.txt", "league/notes.txt", "league/000 mine/card.json", "best/notes.txt", "checkpoints/000/mine.txt",
            "tensorboard/notes.txt"]  # fmt: skip
    for name in (*kept, "curve.jsonl", "curve.png", "report.json", "tensorboard/events.out.tfevents.1.here.2.0"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    for name in ("best", "last", "league/000000000384", "league/000000000768.new"):
        write_model(tmp_path / name, network(width=4))
    training.learner._last_obs, training.learner._last_episode_starts = training.games.reset(), np.ones(8, bool)
    training.began = time.monotonic()
    training._checkpoint()
    Training.begun(replace(TINY, out=tmp_path), "borneo train", fresh=True)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {*kept, "settings.json"}


@pytest.mark.parametrize("fresh", [False, True])
def test_a_folder_with_something_else_of_these_names_is_refused(fresh, tmp_path):
    (tmp_path / "curve.jsonl").write_text("mine")
    (tmp_path / "best").mkdir()
    with pytest.raises(ValueError, match=r"holds no training, but curve.jsonl, best: give another --out"):
        Training.begun(replace(TINY, out=tmp_path), "borneo train", fresh=fresh)
    assert (tmp_path / "curve.jsonl").read_text() == "mine"


# ---------------------------------------------------------------- settings of strangers


def edited(folder, **changes):
    """Somebody has changed the settings that are kept."""
    path = Path(folder) / "settings.json"
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"settings": kept["settings"] | changes}))


def test_settings_in_a_file_name_no_code(tmp_path, monkeypatch):
    """A class in a module is found only for those who give its name themselves."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_bot_of_strangers.py").write_text(
        "from pathlib import Path\nPath('run').touch()\nfrom borneo_env.agent import Random\n"
    )
    begin(tmp_path / "out")
    edited(tmp_path / "out", against="my_bot_of_strangers:Random")
    with pytest.raises(
        ValueError, match=r"settings.json: there is no registered agent .*resume with --against and its"
    ):
        Training.taken_up(Settings(out=tmp_path / "out"))
    assert not (tmp_path / "run").exists()
    again = Training.taken_up(Settings(out=tmp_path / "out", against="my_bot_of_strangers:Random"))
    assert again.settings.against == "my_bot_of_strangers:Random" and (tmp_path / "run").exists()


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "3", '{"settings": []}', '{"settings": {"x": 1}}', "\udcff"])
def test_settings_that_are_none_are_told(text, tmp_path):
    begin(tmp_path)
    (tmp_path / "settings.json").write_text(text, errors="surrogateescape")
    with pytest.raises(ValueError, match="there is no training to go on with"):
        Training.taken_up(Settings(out=tmp_path))
