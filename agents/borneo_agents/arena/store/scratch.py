"""Scratch folders, for games that nobody keeps: removed at the end or, if the process was killed, by a later one."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from borneo_agents.arena.store.folder import CHUNKS, Folder
from kontor.files import FileError, FolderLock, make_folder

PREFIX = "borneo-scratch-"
YOUNG = 60.0  # seconds in which a new one may not be locked yet
LOCKING = "an arena", "wait for its end"


@contextmanager
def scratch_folder() -> Iterator[Folder]:
    """A new folder, which goes at the end, as do those of processes that have not lived to remove theirs."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError, FileError):  # of another user, or in use
            if time.time() - left.lstat().st_mtime > YOUNG and not left.is_symlink():
                with FolderLock(left, *LOCKING):
                    shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as place, FolderLock(place, *LOCKING):
        make_folder(Path(place) / CHUNKS)
        yield Folder(place)
