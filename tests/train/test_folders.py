"""Folders of a training: what others keep there is left alone, and links are not followed."""

import pytest
from borneo_train.run.folders import keep_model, refuse_others, remove_file, remove_folder, write_here
from networks import network

from kontor.files import FileError

OURS = ("card.json", "model.safetensors")


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


def test_links_are_no_folders(tmp_path, elsewhere):
    link = tmp_path / "link"
    link.symlink_to(elsewhere)
    remove_folder(link, OURS)
    for refuse in (lambda: refuse_others(link), lambda: keep_model(link, network(width=4))):
        with pytest.raises(FileError, match="is no folder"):
            refuse()
    assert contents(elsewhere) == set(OURS) and (elsewhere / OURS[0]).read_text() == f"elsewhere/{OURS[0]}"


def test_a_folder_is_removed_but_for_what_others_put_there(tmp_path, elsewhere):
    remove_folder(filled(tmp_path / "whole", *OURS), OURS)
    assert not (tmp_path / "whole").exists()
    shared = filled(tmp_path / "shared", *OURS, "notes of mine")
    (shared / OURS[0]).unlink()
    (shared / OURS[0]).symlink_to(elsewhere / OURS[0])
    remove_folder(shared, OURS)
    remove_file(shared)
    assert contents(shared) == {"notes of mine"} and contents(elsewhere) == set(OURS)


def test_links_are_replaced_and_not_what_they_point_to(tmp_path, elsewhere):
    own = filled(tmp_path / "own", "notes of mine")
    for name in OURS:
        (own / name).symlink_to(elsewhere / name)
    write_here(own / OURS[0], "new")
    assert (own / OURS[0]).read_text() == "new"
    keep_model(own, network(width=4))
    assert contents(own) == {*OURS, "notes of mine"} and not any(path.is_symlink() for path in own.iterdir())
    assert all((elsewhere / name).read_text() == f"elsewhere/{name}" for name in OURS)
