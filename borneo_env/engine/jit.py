"""The two compile decorators of the engine, and the cache of what they compiled.

`@rule` marks a function over one game: it is compiled into whatever calls it. `@entry` marks a function that Python
calls: its machine code is kept on disk. Numba watches only the file a cached function stands in, so an edited rule in
another file would go unnoticed; therefore the cache folder is named by a digest of all sources that can end up in
machine code: those of the engine, and those of the package that compiles a function on top of it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config, event
from platformdirs import user_cache_path

from borneo_env.engine.parts import OPTIONS, Part

Function = TypeVar("Function", bound=Callable[..., Any])

INTERPRETED = bool(config.DISABLE_JIT)  # NUMBA_DISABLE_JIT=1: every rule runs as plain Python
KEEP_CACHES = 12  # folders of other versions and settings that are left in place
COMPILE_SECONDS = 40  # about what a first use takes on a slow machine; for the announcement only


PACKAGE = Path(__file__).parent.parent
COMPILED = ("engine", "cards", "ruleset.py")  # the parts of this package whose functions and constants are compiled


def _sources(package: Path) -> list[Path]:
    """The Python files whose edits change the machine code of functions in a package."""
    parts = [PACKAGE / part for part in COMPILED]
    if package != PACKAGE:
        parts.append(package)
    return sorted(path for part in parts for path in ([part] if part.is_file() else part.rglob("*.py")))


def _digest(package: Path) -> str:
    """Names this version of the sources together with the settings that change the machine code."""
    digest = hashlib.sha256()
    for path in _sources(package):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    settings = (numba.__version__, np.__version__, sys.version_info[:2], config.BOUNDSCHECK, config.OPT)
    digest.update(repr(settings).encode())
    return digest.hexdigest()[:16]


@cache
def _cache_folder(package: Path) -> Path | None:
    """The folder for a package's machine code, or None; folders of versions long unused are removed."""
    root = Path(os.environ.get("BORNEO_CACHE_DIR") or user_cache_path("borneo-env")) / "compiled"
    folder = root / _digest(package)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        (folder / "writable").touch()
        others = sorted((f for f in root.iterdir() if f != folder), key=lambda f: f.stat().st_mtime, reverse=True)
        for old in others[KEEP_CACHES:]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError:
        return None
    return folder


_OURS: set[int] = set()


def rule(function: Function) -> Function:
    """Compile a function over one game record; it becomes part of the entry that calls it."""
    part: Any = function if INTERPRETED else _remember(Part(function))
    return part  # type: ignore[no-any-return]


def entry(function: Function) -> Function:
    """Compile a function that Python calls, and keep its machine code on disk."""
    folder = _cache_folder(_package_of(function))
    if folder is None:  # a read-only home: compile anew in each process, since Numba's own places miss edits
        return rule(function)
    shared = config.CACHE_DIR
    config.CACHE_DIR = str(folder)  # read by Numba while it decorates; other packages keep their own
    try:
        dispatcher: Function = _remember(numba.njit(cache=True, **OPTIONS)(function))
        return dispatcher
    finally:
        config.CACHE_DIR = shared


def _package_of(function: Callable[..., Any]) -> Path:
    """The folder of the package, or the single file, that a function belongs to."""
    file = Path(function.__code__.co_filename)
    depth = function.__module__.count(".")
    return file.parents[depth - 1] if depth else file


def _remember(dispatcher: Any) -> Any:
    _OURS.add(id(dispatcher))
    return dispatcher


def attributes(argument: Any) -> Any:
    """An argument as the rules want it: with the compiler off, records need a recarray's access by attribute."""
    if INTERPRETED and isinstance(argument, np.ndarray) and argument.dtype.names:
        return argument.view(np.recarray)
    return argument


class _Announcer(event.Listener):  # type: ignore[misc]  # Numba has no types
    """Says once, on stderr, that a first use compiles."""

    announced = False

    def on_start(self, compilation: Any) -> None:
        if not self.announced and id(compilation.data["dispatcher"]) in _OURS:
            self.announced = True
            note = f"borneo_env: compiling the rules for this machine, about {COMPILE_SECONDS} s, once per version ..."
            print(note, file=sys.stderr, flush=True)

    def on_end(self, compilation: Any) -> None:
        pass


if not INTERPRETED:
    event.register("numba:compile", _Announcer())
