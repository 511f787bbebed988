"""Folders of a training: only files that a training writes, known by their names, are replaced or removed there.

Others may have put theirs beside them, and links to what is elsewhere: those stay, and no link is followed. Only one
process trains in a folder at a time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from borneo_env.files import FileError, FolderLock, write_file

NAMED_BY_STEPS = re.compile("[0-9]{12,}")


def named_by(steps: int) -> str:
    """The name of a folder for what there is after so many steps."""
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


def folders_by_steps(folder: Path, files: Iterable[str], ending: str = "") -> list[Path]:
    """The folders named by steps that have any of these files, those with the fewest steps first."""
    inside = [path for path in folder.iterdir() if path.name.endswith(ending)] if is_folder(folder) else []
    steps = {path: path.name.removesuffix(ending) for path in inside if is_folder(path)}
    found = [path for path, number in steps.items() if NAMED_BY_STEPS.fullmatch(number)]
    return sorted((path for path in found if _has_any(path, files)), key=lambda path: int(steps[path]))


def _has_any(path: Path, files: Iterable[str]) -> bool:
    return any(os.path.lexists(path / name) for name in files)


def write_here(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all; a link of its name is replaced, and not what it points to."""
    if path.is_symlink():
        path.unlink()
    write_file(path, content)


def clear_folder(path: Path, files: Iterable[str]) -> None:
    """Make a folder, or remove these files from the one that is there."""
    remove_folder(path, files)
    if not is_folder(path):
        refuse_others(path)
        path.mkdir(parents=True)


def move_folder(path: Path, place: Path) -> None:
    """Give a folder that is complete its name; if there is one of that name, the files replace those of before."""
    if not is_folder(place):
        refuse_others(place)
        path.rename(place)
        return
    for file in path.iterdir():
        file.replace(place / file.name)
    path.rmdir()


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


def refuse_others(path: Path) -> None:
    """Complain about what is no folder where a training needs one."""
    if os.path.lexists(path) and not is_folder(path):
        raise FileError(
            path, "is no folder (a link is none): a training writes one there; move it, or give another --out"
        )
