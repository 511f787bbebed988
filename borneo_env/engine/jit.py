"""The two compile decorators of the engine, and the store of what they compiled.

`@rule` marks a function over one game: it is compiled into whatever calls it. `@entry` marks a function that Python
calls: its machine code is kept on disk. Numba's own cache watches only the file a function stands in, so an edited
rule in another file would go unnoticed. Here machine code is kept under a digest of all that ends up in it: the
byte code of the function and of every function it can reach, in whatever package, and the values of the constants they
use. Editing a comment compiles nothing; editing a helper is never missed.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config, event
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps
from platformdirs import user_cache_path

from borneo_env.engine.parts import OPTIONS, Part

Function = TypeVar("Function", bound=Callable[..., Any])

INTERPRETED = bool(config.DISABLE_JIT)  # NUMBA_DISABLE_JIT=1: every rule runs as plain Python
KEEP_VERSIONS = 4  # of the machine code of a function
KEEP_DAYS = 60  # machine code of functions unused for longer is removed
COMPILE_SECONDS = 40  # about what a first use takes on a slow machine; for the announcement only
SETTINGS = (numba.__version__, np.__version__, sys.version_info[:2], config.BOUNDSCHECK, config.OPT)
FOREIGN = {"numba", "numpy", *sys.stdlib_module_names}  # packages whose version says what is in them
PLAIN = (bool, int, float, complex, str, bytes, np.generic, np.dtype, np.ufunc, numba.types.Type, type(None))

_OURS: set[int] = set()


def rule(function: Function) -> Function:
    """Compile a function over one game record; it becomes part of the entry that calls it."""
    part: Any = function if INTERPRETED else Part(function)
    _OURS.add(id(part))
    return part  # type: ignore[no-any-return]


def entry(function: Function) -> Function:
    """Compile a function that Python calls, and keep its machine code on disk."""
    dispatcher: Any = numba.njit(**OPTIONS)(function)
    _OURS.add(id(dispatcher))
    if not INTERPRETED:
        dispatcher._cache = _Kept(dispatcher)
    return dispatcher  # type: ignore[no-any-return]


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


# ---------------------------------------------------------------- what machine code is made of


def digest_of(function: Any) -> str | None:
    """Names what machine code is made of: it changes with any edit that can change it. None if that cannot be told."""
    digest, reached, waiting = hashlib.sha256(repr(SETTINGS).encode()), {id(function)}, [function]
    while waiting:
        try:
            text, others = _ingredients(waiting.pop())
        except _Unknown:
            return None
        digest.update(text)
        waiting += [other for other in others if id(other) not in reached]
        reached |= set(map(id, others))
    return digest.hexdigest()[:16]


class _Unknown(Exception):
    """A constant whose value cannot be written down."""


@cache
def _ingredients(function: Any) -> tuple[bytes, list[Any]]:
    """The byte code of a function with the values of its constants, and the functions that it names."""
    plain = function.py_func if isinstance(function, Dispatcher) else function
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
    if isinstance(value, Dispatcher) or (isinstance(value, FunctionType) and not _is_foreign(value)):
        functions.append(value)
    elif isinstance(value, tuple | list):
        yield f"{type(value).__qualname__} of {len(value)} {getattr(value, '_fields', '')}"
        for one in value:
            yield from _value(one, functions)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype.descr} {value.shape} {value.tobytes().hex()}"
    elif isinstance(value, PLAIN):
        yield f"{type(value).__qualname__} {value!r}"
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, type) or (callable(value) and _is_foreign(value)):
        yield f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    else:
        raise _Unknown


def _is_foreign(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] in FOREIGN


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
            made = CompileResult._rebuild(context, *pickle.loads(data))  # a file of the user's own cache
        except Exception:  # damaged, or gone: it is compiled anew, and the file replaced
            return None
        with suppress(OSError):
            for used in (path.parent, path.parent.parent):
                os.utime(used)
        return made

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep the machine code for a signature; where that is not possible, the next process compiles again."""
        path = self._path(signature, made.codegen)
        if path is None or made.lifted or made.library.has_dynamic_globals:
            return
        data: bytes = dumps(made._reduce())
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(uuid.uuid4().hex)
            beside.write_bytes(_checksum(data) + b"\n" + data)
            beside.replace(path)  # at once: another process may be writing or reading the same
            _forget_the_unused(path.parent)

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        digest = _digest_once(self._dispatcher)
        if digest is None:
            return None
        function = self._dispatcher.py_func
        name = re.sub(r"[^\w.]", "", f"{function.__module__}.{function.__qualname__}")
        which = hashlib.sha256(repr((signature, codegen.magic_tuple())).encode()).hexdigest()[:16]
        return _root() / name / digest / which


_digest_once = cache(digest_of)  # when it is first asked for, all that it calls has been defined


def _root() -> Path:
    return Path(os.environ.get("BORNEO_CACHE_DIR") or user_cache_path("borneo-env")) / "compiled"


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
