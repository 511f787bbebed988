"""Machine code on disk: a file for each function, version of it, and types of its arguments."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import uuid
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from kontor.compile.digest import digest_of

KEEP_VERSIONS = 4  # of the machine code of a function
KEEP_DAYS = 60  # machine code of functions unused for longer is removed


def path_of(function: Any, which: Any) -> Path | None:
    """The file for the machine code of a function for these types and processor; None if it cannot be kept."""
    folder = folder_of(function)
    return None if folder is None else folder / hashlib.sha256(repr(which).encode()).hexdigest()[:16]


def folder_of(function: Any) -> Path | None:
    """The folder of the present version of a function."""
    digest = _digest_once(function)
    name = re.sub(r"[^\w.]", "", ".".join(name_of(function)))
    return None if digest is None else place("compiled") / name / digest


def name_of(function: Any) -> tuple[str, str]:
    plain = getattr(function, "py_func", function)
    return plain.__module__, plain.__qualname__


def read(path: Path) -> bytes:
    """What was written to a file; ValueError if it is damaged."""
    checksum, data = path.read_bytes().split(b"\n", 1)
    if checksum != _checksum(data):
        raise ValueError(f"{path} is damaged")
    with suppress(OSError):
        for used in (path.parent, path.parent.parent):
            os.utime(used)
    return data


def write(path: Path, data: bytes) -> None:
    """Keep machine code; where that is not possible, the next process compiles again."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(uuid.uuid4().hex)
        beside.write_bytes(_checksum(data) + b"\n" + data)
        beside.replace(path)  # at once: another process may be writing or reading the same
        _forget_the_unused(path.parent)


_digest_once = cache(digest_of)  # when it is first asked for, all that it calls has been defined


def place(name: str) -> Path:
    """A folder of the user's cache."""
    return Path(os.environ.get("BORNEO_CACHE_DIR") or user_cache_path("borneo-env")) / name


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _forget_the_unused(folder: Path) -> None:
    """Remove older versions of a function's machine code than the last few, and functions nobody has used for long."""
    versions = sorted((f for f in folder.parent.iterdir() if f != folder), key=lambda f: f.stat().st_mtime)
    newest = folder.stat().st_mtime
    functions = folder.parent.parent.iterdir()
    unused = [f for f in functions if newest - f.stat().st_mtime > KEEP_DAYS * 86_400]
    for old in (*versions[: -(KEEP_VERSIONS - 1)], *unused):
        shutil.rmtree(old, ignore_errors=True)
