"""Folders of a training: only files that a training writes, known by their names, are replaced or removed there.

Others may have put theirs beside them, and links to what is elsewhere: those stay, and no link is followed. Only one
process trains in a folder at a time.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from borneo_agents.policy.model import CARD, WEIGHTS, Model, write_model

from kontor.files import FileError, FolderLock, remove_half_written, write_file

NAMED_BY_STEPS = re.compile("[0-9]{12,}")
MODEL_FILES = (CARD, WEIGHTS)


def named_by(steps: int) -> str:
    """The name of what there is after so many steps."""
    return f"{steps:012}"


@contextmanager
def owned(folder: Path, owner: str) -> Iterator[None]:
    """Let nobody else train in a folder meanwhile; one that was not there and stays empty is removed."""
    new = not os.path.lexists(folder)
    try:
        with FolderLock(folder, owner, "give another --out"):
            yield
    finally:
        if new:
            with suppress(OSError):  # there is something in it
                folder.rmdir()


def is_folder(path: Path) -> bool:
    """Whether there is a folder, and no link to one."""
    return path.is_dir() and not path.is_symlink()


def refuse_others(path: Path) -> None:
    """Complain about what is no folder where a training needs one."""
    if os.path.lexists(path) and not is_folder(path):
        raise FileError(
            path, "is no folder (a link is none): a training writes one there; move it, or give another --out"
        )


def write_here(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all; a link of its name is replaced, and not what it points to."""
    if path.is_symlink():
        path.unlink()
    write_file(path, content)


def keep_model(folder: Path, model: Model) -> None:
    """Write a model into a folder, instead of the one that is there."""
    refuse_others(folder)
    folder.mkdir(parents=True, exist_ok=True)
    remove_half_written(folder, time.time())
    for path in (folder / name for name in MODEL_FILES):
        if path.is_symlink():
            path.unlink()
    write_model(folder, model)


def remove_folder(path: Path, files: Iterable[str]) -> None:
    """Remove these files from a folder, and the folder too unless there is more in it."""
    if is_folder(path):
        for name in files:
            remove_file(path / name)
        with suppress(OSError):  # there is more in it
            path.rmdir()


def remove_file(path: Path) -> None:
    """Remove a file, or a link; a folder stays."""
    if not is_folder(path):
        path.unlink(missing_ok=True)
