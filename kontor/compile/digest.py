"""What machine code is made of, as a digest: it changes with any edit that can change the machine code.

It takes in the byte code of a function and of every function it can reach, in whatever package, and the values of the
constants they use.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite.ir
import numba
import numpy as np
from numba.extending import is_jitted

SETTINGS = (
    numba.__version__,
    llvmlite.__version__,
    np.__version__,
    sys.version_info[:2],
    numba.config.BOUNDSCHECK,
    numba.config.OPT,
)
FOREIGN = {"numba", "llvmlite", "numpy", *sys.stdlib_module_names}  # packages whose version says what is in them
PLAIN = (bool, int, float, complex, str, bytes, np.generic, np.dtype, np.ufunc, numba.types.Type, type(None))


def digest_of(function: Any) -> str | None:
    """The digest of a function; None if it uses a constant that cannot be written down."""
    digest = hashlib.sha256(repr(SETTINGS).encode())
    try:
        for one in reached_from(function):
            digest.update(_ingredients(one)[0])
    except UnknownConstant:
        return None
    return digest.hexdigest()[:16]


def reached_from(function: Any, stop: Callable[[Any], bool] = lambda one: False) -> Iterator[Any]:
    """A function and all that it can call, but not what is called by those where to stop."""
    reached, waiting = {id(function)}, [function]
    while waiting:
        one = waiting.pop()
        yield one
        if stop(one):
            continue
        _, others = _ingredients(one)
        waiting += [other for other in others if id(other) not in reached]
        reached |= set(map(id, others))


class UnknownConstant(Exception):
    """A constant whose value cannot be written down."""


@cache
def _ingredients(function: Any) -> tuple[bytes, list[Any]]:
    """The byte code of a function with the values of its constants, and the functions that it names."""
    plain = function.py_func if is_jitted(function) else function
    cells = [cell.cell_contents for cell in plain.__closure__ or ()]
    others: list[Any] = []
    texts = [plain.__module__, plain.__qualname__, repr(getattr(function, "targetoptions", ""))]
    texts += _code(plain.__code__)
    for value in (plain.__defaults__, plain.__kwdefaults__, *cells, *_globals(plain)):
        texts += _value(value, others)
    return "\0".join(texts).encode("utf-8", "surrogatepass"), others


def _code(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(constant)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _globals(function: FunctionType) -> Iterator[Any]:
    """The global names a function uses, each with its value; of a module, what may be used of it."""
    names = sorted(set(_names(function.__code__)))
    waiting = [(name, function.__globals__[name]) for name in names if name in function.__globals__]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in FOREIGN:
            waiting += [(f"{name}.{part}", vars(value)[part]) for part in names if part in vars(value)]
        else:
            yield name
            yield value


def _value(value: Any, functions: list[Any]) -> Iterator[str]:
    """A constant in words; functions are added to the list instead."""
    if is_jitted(value) or (isinstance(value, FunctionType) and not _is_foreign(value)):
        functions.append(value)
    elif isinstance(getattr(value, "__wrapped__", None), FunctionType) and not _is_foreign(value):
        functions.append(value.__wrapped__)  # of an intrinsic
    elif isinstance(value, tuple | list):
        yield f"{type(value).__qualname__} of {len(value)} {getattr(value, '_fields', '')}"
        for one in value:
            yield from _value(one, functions)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype.descr} {value.shape} {value.tobytes().hex()}"
    elif hasattr(value, "open_name"):
        yield f"open: {value.open_name}"  # what a game fills in stands in the game's own copy
    elif isinstance(value, PLAIN):
        yield f"{type(value).__qualname__} {value!r}"
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, llvmlite.ir.Type):
        yield str(value)
    elif isinstance(value, type) or (callable(value) and _is_foreign(value)):
        yield f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    else:
        raise UnknownConstant


def _is_foreign(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] in FOREIGN
