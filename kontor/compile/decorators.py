"""The two decorators of functions that are compiled, and their machine code for whoever calls it often.

`@rule` marks a function that is compiled into whatever calls it. `@entry` marks a function with machine code of its
own, which is kept on disk. Python calls it, and compiled functions do: what many of them need, such as playing a move,
is an entry, so that it is compiled once.

Numba's own cache watches only the file a function stands in, so an edited rule in another file would go unnoticed. Here
machine code is kept under a digest of all that ends up in it (`digest.py`, `store.py`). Editing a comment compiles
nothing; editing a helper is never missed. That takes private parts of Numba (`linking.py`). Where one is missing, or
BORNEO_COMPILE=plain, Numba compiles and keeps all by itself (`plain.py`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

INTERPRETED = bool(numba.config.DISABLE_JIT)  # NUMBA_DISABLE_JIT=1: every rule runs as plain Python


def rule(function: Function) -> Function:
    """Compile a function; it becomes part of the entry that calls it."""
    return _compiled(function, "rule")


def entry(function: Function) -> Function:
    """Compile a function that Python or many compiled functions call, and keep its machine code on disk."""
    return _compiled(function, "entry")


def _compiled(function: Function, kind: str) -> Function:
    function.compiled_as = kind  # type: ignore[attr-defined]  # by which a binder knows it, with the compiler off too
    compiled: Function = function if INTERPRETED else getattr(_way(), kind)(function)
    return compiled


@cache
def _way() -> Any:
    """The module whose `rule` and `entry` compile here."""
    if os.environ.get("BORNEO_COMPILE") != "plain":
        from kontor.compile import numba_private

        if not numba_private.MISSING:
            from kontor.compile import linking

            return linking
        missing = " and ".join(numba_private.MISSING)
        print(
            f"kontor: Numba {numba.__version__} has no {missing}: it compiles the plain way, which takes "
            "minutes at first use",
            file=sys.stderr,
        )
        os.environ["BORNEO_COMPILE"] = "plain"  # processes that are started from here need not say it again
    from kontor.compile import plain

    return plain


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


def attributes(argument: Any) -> Any:
    """An argument as the rules want it: with the compiler off, records need a recarray's access by attribute."""
    if INTERPRETED and isinstance(argument, np.ndarray) and argument.dtype.names:
        return argument.view(np.recarray)
    return argument
