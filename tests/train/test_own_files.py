"""Trainings and what is not theirs: other people's files, links to elsewhere, and code that a file names."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from borneo_agents.policy.model import write_model
from networks import network
from trainings import TINY, begin, go_on

pytest.importorskip("torch")

from borneo_train.run.tasks import Evaluation  # torch may be missing
from borneo_train.run.training import FILES, FOLDERS, Training

pytestmark = pytest.mark.usefixtures("games_are_hardly_played_before")


@pytest.fixture(scope="module")
def settings_kept(tmp_path_factory, games_are_hardly_played_before):
    """What a training that has just begun has written."""
    folder = tmp_path_factory.mktemp("begun")
    begin(folder)
    return (folder / "settings.json").read_text()


@pytest.fixture
def begun(settings_kept, tmp_path):
    """The folder of such a training."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "settings.json").write_text(settings_kept)
    return folder


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
def test_folders_that_are_links_are_refused(name, fresh, elsewhere, begun):
    """Else an older checkpoint would be removed from elsewhere."""
    before = sorted(elsewhere.rglob("*"))
    (begun / name).symlink_to(elsewhere)
    with pytest.raises(ValueError, match=rf"{name}: is no folder \(a link is none\).*move it, or give another --out"):
        if fresh:
            Training.create(replace(TINY, out=begun), "borneo train", fresh=True)
        else:
            go_on(begun)
    assert sorted(elsewhere.rglob("*")) == before


def test_files_that_are_links_are_replaced_and_not_what_they_point_to(elsewhere, tmp_path):
    training = begin(tmp_path / "out")
    for name in FILES:
        (tmp_path / "out" / name).unlink(missing_ok=True)
        (tmp_path / "out" / name).symlink_to(elsewhere / "settings.json")
    measured = Evaluation("win share", "random", 4, 4, 1, 0.5, 0.1, 0.9)
    training.curve = [{"steps": 0, "seconds": 1, "strength": [asdict(measured)]}]
    training.write_curve()
    training.keep_settings()
    training._end()
    assert (elsewhere / "settings.json").read_text() == "mine"
    assert not any((tmp_path / "out" / name).is_symlink() for name in FILES)


def test_fresh_removes_what_a_training_wrote_and_nothing_else(tmp_path):
    training = begin(tmp_path)
    kept = ["notes.txt", "best/notes.txt", "checkpoints/000/mine.txt", "tensorboard/notes.txt"]
    for name in (*kept, "curve.jsonl", "curve.png", "tensorboard/events.out.tfevents.1.here.2.0"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    for name in ("best", "last"):
        write_model(tmp_path / name, network(width=4))
    training._checkpoint(network(width=4))
    Training.create(replace(TINY, out=tmp_path), "borneo train", fresh=True)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {*kept, "settings.json"}


@pytest.mark.parametrize("fresh", [False, True])
def test_a_folder_with_something_else_of_these_names_is_refused(fresh, tmp_path):
    (tmp_path / "curve.jsonl").write_text("mine")
    (tmp_path / "best").mkdir()
    with pytest.raises(ValueError, match=r"holds no training, but curve.jsonl, best: give another --out"):
        Training.create(replace(TINY, out=tmp_path), "borneo train", fresh=fresh)
    assert (tmp_path / "curve.jsonl").read_text() == "mine"


# ---------------------------------------------------------------- settings of strangers


def edited(folder, **changes):
    """Somebody has changed the settings that are kept."""
    path = Path(folder) / "settings.json"
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"settings": kept["settings"] | changes}))


@pytest.mark.parametrize("name", ["against", "opponent"])
def test_settings_in_a_file_name_no_code(name, begun, tmp_path, monkeypatch):
    """A class in a module is found only for those who give its name themselves."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_bot_of_strangers.py").write_text(
        "from pathlib import Path\nPath('run').touch()\nfrom borneo_env.agent import Random\n"
    )
    edited(begun, **{name: "my_bot_of_strangers:Random"})
    with pytest.raises(
        ValueError, match=rf"settings.json: there is no registered agent .*resume with --{name} and its"
    ):
        go_on(begun)
    assert not (tmp_path / "run").exists()
    again = go_on(begun, **{name: "my_bot_of_strangers:Random"})
    assert getattr(again.settings, name) == "my_bot_of_strangers:Random" and (tmp_path / "run").exists()


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "3", '{"settings": []}', '{"settings": {"x": 1}}', "\udcff"])
def test_settings_that_are_none_are_told(text, begun):
    (begun / "settings.json").write_text(text, errors="surrogateescape")
    with pytest.raises(ValueError, match="there is no training to go on with"):
        go_on(begun)
