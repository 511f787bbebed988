"""Functions compiled and kept by Numba alone, with none of its private parts: slower at first use.

Numba's cache watches only the file a function stands in. So the folder it gets is named by a digest of all sources of
the packages that have compiled functions by then: any edit of them compiles everything anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba

from kontor.compile.digest import SETTINGS
from kontor.compile.store import place

OPTIONS = {"nogil": True, "error_model": "numpy"}
KEEP_FOLDERS = 12  # of other versions and packages

_packages: set[Path] = set()


def rule(function: Any) -> Any:
    """Compile a function as Numba does by itself."""
    _packages.add(_package_of(function))
    return numba.njit(**OPTIONS)(function)


def entry(function: Any) -> Any:
    """The same, and Numba keeps the machine code, where that is possible."""
    _packages.add(_package_of(function))
    folder = _folder(frozenset(_packages))
    if folder is None:
        return numba.njit(**OPTIONS)(function)
    shared = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)  # read by Numba while it decorates; other packages keep their own
    try:
        return numba.njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # of a function that stands in no file
        return numba.njit(**OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = shared


def _package_of(function: Any) -> Path:
    """The folder of the package that a function belongs to; of a function in none, the folder of its file."""
    file = Path(function.__code__.co_filename)
    depth = function.__module__.count(".")
    return file.parents[depth - 1] if 0 < depth <= len(file.parents) else file.parent


@cache
def _folder(packages: frozenset[Path]) -> Path | None:
    """The folder for machine code of these packages as they are now; None if there can be none."""
    digest = hashlib.sha256(repr(SETTINGS).encode())
    for file in sorted(file for package in packages for file in _sources(package)):
        digest.update(f"{file}\0".encode() + file.read_bytes())
    folder = place("plain") / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        (folder / "writable").touch()
    except OSError:
        return None
    _forget_the_unused(folder)
    return folder


def _sources(package: Path) -> list[Path]:
    """What a package is made of, tables included; of a folder that is no package, only the files in it."""
    if not (package / "__init__.py").exists():
        return list(package.glob("*.py"))
    return [file for file in package.rglob("*") if file.suffix in (".py", ".toml")]


def _forget_the_unused(folder: Path) -> None:
    with suppress(OSError):
        folders = sorted(folder.parent.iterdir(), key=lambda one: one.stat().st_mtime)
        for old in folders[:-KEEP_FOLDERS]:
            shutil.rmtree(old, ignore_errors=True)
