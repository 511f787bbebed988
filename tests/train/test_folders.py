"""Folders of a training: what others keep there is left alone, and links are not followed."""

import pytest
from borneo_train.run.folders import (
    clear_folder,
    folders_by_steps,
    move_folder,
    named_by,
    refuse_others,
    remove_file,
    remove_folder,
    write_here,
)

from borneo_env.files import FileError

OURS = ("a.bin", "b.json")


def filled(folder, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(f"{folder.name}/{name}")
    return folder


def contents(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.fixture
def elsewhere(tmp_path):
    """A folder that has nothing to do with the training, but for a link to it."""
    return filled(tmp_path / "elsewhere", *OURS)


def test_folders_are_in_the_order_of_their_steps(tmp_path):
    for steps in (10**13, 300, 0, 2_000_000):
        filled(tmp_path / named_by(steps), "a.bin")
    assert [int(path.name) for path in folders_by_steps(tmp_path, OURS)] == [0, 300, 2_000_000, 10**13]
    assert folders_by_steps(tmp_path / "none", OURS) == []


@pytest.mark.parametrize("name", ["0", "000 mine", "notes", "00000000000x", "000000000001.part", "\u0661" * 12])
def test_folders_of_other_names_are_somebody_elses(name, tmp_path):
    filled(tmp_path / name, *OURS)
    filled(tmp_path / named_by(5), "notes of mine")
    (tmp_path / named_by(6)).write_text("a file")
    assert folders_by_steps(tmp_path, OURS) == []


def test_links_are_no_folders(tmp_path, elsewhere):
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / named_by(1)).symlink_to(elsewhere)
    (tmp_path / "link").symlink_to(filled(tmp_path / "target" / named_by(1), *OURS).parent)
    assert folders_by_steps(tmp_path / "ours", OURS) == folders_by_steps(tmp_path / "link", OURS) == []
    for path in (tmp_path / "ours" / named_by(1), tmp_path / "link"):
        remove_folder(path, OURS)
        with pytest.raises(FileError, match="is no folder"):
            refuse_others(path)
        with pytest.raises(FileError, match="is no folder"):
            clear_folder(path, OURS)
        with pytest.raises(FileError, match="is no folder"):
            move_folder(filled(tmp_path / "new", *OURS), path)
    assert contents(elsewhere) == set(OURS) and len(contents(tmp_path / "target")) == 3


def test_a_folder_is_removed_but_for_what_others_put_there(tmp_path, elsewhere):
    remove_folder(filled(tmp_path / "whole", *OURS), OURS)
    assert not (tmp_path / "whole").exists()
    shared = filled(tmp_path / "shared", *OURS, "notes of mine")
    (shared / "a.bin").unlink()
    (shared / "a.bin").symlink_to(elsewhere / "a.bin")
    remove_folder(shared, OURS)
    assert contents(shared) == {"notes of mine"} and contents(elsewhere) == set(OURS)
    remove_file(shared)
    assert shared.exists()
    clear_folder(shared, OURS)
    assert contents(shared) == {"notes of mine"}


def test_a_link_is_replaced_and_not_what_it_points_to(tmp_path, elsewhere):
    link = tmp_path / "curve.jsonl"
    link.symlink_to(elsewhere / "a.bin")
    write_here(link, "new")
    assert link.read_text() == "new" and not link.is_symlink()
    assert (elsewhere / "a.bin").read_text() == "elsewhere/a.bin"
    assert contents(tmp_path) == {"curve.jsonl", "elsewhere", *(f"elsewhere/{name}" for name in OURS)}


def test_files_come_to_replace_those_of_before(tmp_path, elsewhere):
    old = filled(tmp_path / "best", "b.json", "notes of mine")
    (old / "a.bin").symlink_to(elsewhere / "a.bin")
    move_folder(filled(tmp_path / "best.new", *OURS), old)
    assert contents(old) == {*OURS, "notes of mine"}
    assert (old / "a.bin").read_text() == "best.new/a.bin" and (old / "b.json").read_text() == "best.new/b.json"
    assert (elsewhere / "a.bin").read_text() == "elsewhere/a.bin" and not (tmp_path / "best.new").exists()
    move_folder(old, tmp_path / "last")
    assert not old.exists() and contents(tmp_path / "last") == {*OURS, "notes of mine"}
