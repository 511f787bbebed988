"""The two compile decorators of the engine, and what is kept of what they compiled.

`@rule` marks a function over one game: it is compiled into whatever calls it. `@entry` marks a function with machine
code of its own, which is kept on disk. Python calls it, and compiled functions do: what many of them need, such as
playing a move, is an entry, so that it is compiled once.

Numba's own cache watches only the file a function stands in, so an edited rule in another file would go unnoticed. Here
machine code is kept under a digest of all that ends up in it (`digest.py`, `store.py`). Editing a comment compiles
nothing; editing a helper is never missed.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config, event
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from borneo_env.compile import store
from borneo_env.compile.digest import reached_from
from borneo_env.compile.linking import Called, Entry, Part, stand_alone
from borneo_env.compile.progress import Announcer

Function = TypeVar("Function", bound=Callable[..., Any])

INTERPRETED = bool(config.DISABLE_JIT)  # NUMBA_DISABLE_JIT=1: every rule runs as plain Python


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
            calls, parts = pickle.loads(store.read(path))  # a file of the user's own cache
            if not all(map(self._load_called, calls)):
                return None
            made = CompileResult._rebuild(context, *parts)
        except Exception:  # damaged, or gone: it is compiled anew, and the file replaced
            return None
        stand_alone(made.library, self._called(signature, made))
        return made

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep the machine code for a signature; where that is not possible, the next process compiles again."""
        path = self._path(signature, made.codegen)
        kept = path is not None and not made.lifted and not made.library.has_dynamic_globals
        data: bytes = dumps((made.library.calls, made._reduce())) if kept else b""
        stand_alone(made.library, self._called(signature, made))
        if path is not None and kept:
            store.write(path, data)

    def _called(self, signature: Any, made: Any) -> Called:
        return Called(made.fndesc.mangled_name, *store.name_of(self._dispatcher), signature)

    def _load_called(self, called: Called) -> bool:
        """Have the machine code of an entry that is called in memory; whether it goes by the name that was called."""
        for function in reached_from(self._dispatcher):
            if isinstance(function, Entry) and store.name_of(function) == (called.module, called.function):
                function.compile(called.signature)
                return bool(function.overloads[called.signature].fndesc.mangled_name == called.symbol)
        return False

    def is_kept(self) -> bool:
        folder = store.folder_of(self._dispatcher)
        return folder is not None and folder.exists()

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        return store.path_of(self._dispatcher, (signature, codegen.magic_tuple()))


def attributes(argument: Any) -> Any:
    """An argument as the rules want it: with the compiler off, records need a recarray's access by attribute."""
    if INTERPRETED and isinstance(argument, np.ndarray) and argument.dtype.names:
        return argument.view(np.recarray)
    return argument


announcer = Announcer()
if not INTERPRETED:
    event.register("numba:compile", announcer)
