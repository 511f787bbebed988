"""The two compile decorators of the engine, and the store of what they compiled.

`@rule` marks a function over one game: it is compiled into whatever calls it. `@entry` marks a function with machine
code of its own, which is kept on disk. Python calls it, and compiled functions do: what many of them need, such as
playing a move, is an entry, so that it is compiled once.

Numba's own cache watches only the file a function stands in, so an edited rule in another file would go unnoticed. Here
machine code is kept under a digest of all that ends up in it (`digest.py`). Editing a comment compiles nothing; editing
a helper is never missed.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config, event
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from platformdirs import user_cache_path

from borneo_env.engine.announce import Announcer
from borneo_env.engine.digest import digest_of, reached_from
from borneo_env.engine.parts import Called, Entry, Part, stand_alone

Function = TypeVar("Function", bound=Callable[..., Any])

INTERPRETED = bool(config.DISABLE_JIT)  # NUMBA_DISABLE_JIT=1: every rule runs as plain Python
KEEP_VERSIONS = 4  # of the machine code of a function
KEEP_DAYS = 60  # machine code of functions unused for longer is removed


def rule(function: Function) -> Function:
    """Compile a function over one game record; it becomes part of the entry that calls it."""
    return function if INTERPRETED else Part(function)


def entry(function: Function) -> Function:
    """Compile a function that Python or many compiled functions call, and keep its machine code on disk."""
    return function if INTERPRETED else Entry(function, _Kept)


def machine_code(function: Any, *like: Any) -> Any:
    """The machine code of an entry for arguments of the types of these.

    Calling it saves Numba's look at the types, which takes most of the time of a short call. So nobody notices
    arguments of other types: it is for arrays that the caller has made.
    """
    if INTERPRETED:
        return function
    signature = tuple(map(numba.typeof, like))
    function.compile(signature)
    return function.get_overload(signature)


# ---------------------------------------------------------------- what is kept of it


class _Kept(NullCache):  # type: ignore[misc]  # Numba has no types
    """The machine code of one function on disk, a file for each signature. What is damaged is compiled anew."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The machine code for a signature, or None."""
        context.refresh()
        path = self._path(signature, context.codegen())
        if path is None:
            return None
        try:
            checksum, data = path.read_bytes().split(b"\n", 1)
            if checksum != _checksum(data):
                return None
            calls, parts = pickle.loads(data)  # a file of the user's own cache
            if not all(map(self._load_called, calls)):
                return None
            made = CompileResult._rebuild(context, *parts)
        except Exception:  # damaged, or gone: it is compiled anew, and the file replaced
            return None
        stand_alone(made.library, self._called(signature, made))
        with suppress(OSError):
            for used in (path.parent, path.parent.parent):
                os.utime(used)
        return made

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep the machine code for a signature; where that is not possible, the next process compiles again."""
        path = self._path(signature, made.codegen)
        kept = path is not None and not made.lifted and not made.library.has_dynamic_globals
        data: bytes = dumps((made.library.calls, made._reduce())) if kept else b""
        stand_alone(made.library, self._called(signature, made))
        if path is not None and kept:
            _write(path, data)

    def _called(self, signature: Any, made: Any) -> Called:
        return Called(made.fndesc.mangled_name, *_name(self._dispatcher), signature)

    def _load_called(self, called: Called) -> bool:
        """Have the machine code of an entry that is called in memory; whether it goes by the name that was called."""
        for function in reached_from(self._dispatcher):
            if isinstance(function, Entry) and _name(function) == (called.module, called.function):
                function.compile(called.signature)
                return bool(function.overloads[called.signature].fndesc.mangled_name == called.symbol)
        return False

    def is_kept(self) -> bool:
        folder = self._folder()
        return folder is not None and folder.exists()

    def _folder(self) -> Path | None:
        digest = _digest_once(self._dispatcher)
        name = re.sub(r"[^\w.]", "", ".".join(_name(self._dispatcher)))
        return None if digest is None else _root() / name / digest

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        folder = self._folder()
        which = hashlib.sha256(repr((signature, codegen.magic_tuple())).encode()).hexdigest()[:16]
        return None if folder is None else folder / which


_digest_once = cache(digest_of)  # when it is first asked for, all that it calls has been defined


def _root() -> Path:
    return Path(os.environ.get("BORNEO_CACHE_DIR") or user_cache_path("borneo-env")) / "compiled"


def _name(function: Any) -> tuple[str, str]:
    return function.py_func.__module__, function.py_func.__qualname__


def _write(path: Path, data: bytes) -> None:
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(uuid.uuid4().hex)
        beside.write_bytes(_checksum(data) + b"\n" + data)
        beside.replace(path)  # at once: another process may be writing or reading the same
        _forget_the_unused(path.parent)


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


def attributes(argument: Any) -> Any:
    """An argument as the rules want it: with the compiler off, records need a recarray's access by attribute."""
    if INTERPRETED and isinstance(argument, np.ndarray) and argument.dtype.names:
        return argument.view(np.recarray)
    return argument


announcer = Announcer()
if not INTERPRETED:
    event.register("numba:compile", announcer)
