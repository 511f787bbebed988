"""Rules linked into the entries that call them, and not compiled before; what is kept of entries.

Numba makes optimized machine code of every function on its own, with all that it calls, however deep: a rule at the
bottom would be compiled once for each rule above it. A rule is left as plain code until an entry takes it in. The
machine code of entries is as fast. Numba also compiles a function again for each kind of integer that it is called
with. Here small integers and constants are widened first, so that most functions are compiled once.

A rule must need nothing from Python: no exceptions with values, no printing.
"""

from __future__ import annotations

import pickle
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numba
from llvmlite.binding import parse_assembly
from numba import types
from numba.extending import lower_cast

from kontor.compile import store
from kontor.compile.digest import digest_of, reached_from
from kontor.compile.numba_private import (
    AnnotateTypes,
    CompilerBase,
    CompileResult,
    CPUDispatcher,
    DefaultPassBuilder,
    JITCodeLibrary,
    Listener,
    LoweringPass,
    NullCache,
    dumps,
    register,
    register_pass,
)
from kontor.compile.progress import progress

OPTIONS = {"nogil": True, "error_model": "numpy"}  # of everything that is compiled here


class Compiled(CPUDispatcher):  # type: ignore[misc]  # Numba has no types
    """A function that takes integers of any size as the largest, and arrays inside records as arrays."""

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        widened = {name: _widened(kind) for name, kind in keywords.items()}
        return super().get_call_template(tuple(map(_widened, arguments)), widened)

    def is_kept(self) -> bool:
        """Whether there is machine code of it on disk."""
        return False


def _widened(kind: Any) -> Any:
    kind = types.unliteral(kind)
    if isinstance(kind, types.Integer) and kind.signed:
        return types.int64
    if isinstance(kind, types.NestedArray):
        return types.Array(kind.dtype, kind.ndim, "C")
    return kind


@lower_cast(types.NestedArray, types.Array)  # type: ignore[untyped-decorator]
def _as_array(context: Any, builder: Any, nested: Any, array: Any, value: Any) -> Any:
    """Once it is taken from its record, such an array is like any other."""
    return value


class RuleDispatcher(Compiled):
    """A function that is taken into the compiled functions that call it. If Python calls it, it gets its own code."""

    def __init__(self, function: Any) -> None:
        bare = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions={"nopython": True, **OPTIONS, **bare}, pipeline_class=_RuleCompiler)

    @cached_property
    def whole(self) -> Any:
        return numba.njit(**OPTIONS)(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        return self.whole(*arguments)


class EntryDispatcher(Compiled):
    """A function with machine code of its own, which Python calls, and compiled functions too."""

    def __init__(self, function: Any) -> None:
        targetoptions = {"nopython": True, **OPTIONS, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions=targetoptions, pipeline_class=_EntryCompiler)
        self._cache = _Cache(self)

    def is_kept(self) -> bool:
        return bool(self._cache.is_kept())


# ---------------------------------------------------------------- what is linked into what


class Called(NamedTuple):
    """The name of machine code in memory, and what it was made of."""

    symbol: str
    module: str
    function: str
    signature: Any


def stand_alone(library: Any, called: Called) -> None:
    """From now on, the machine code of an entry is called where it is: nobody takes in a copy."""
    library.called = called
    library._get_module_for_linking = lambda: parse_assembly(NOT_KEPT)


# What functions get that are compiled by Numba's own decorators and call an entry: a sign by which Numba knows that
# their machine code cannot be kept. In another process the entry may not be there.
NOT_KEPT = "@numba.dynamic.globals.entry = weak global i8 0"


class EntryLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that takes in the rules it calls. Entries are called where they are."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.calls: set[Called] = set()

    def add_linking_library(self, library: Any) -> None:
        if hasattr(library, "called"):
            self.calls.add(library.called)
        elif isinstance(library, _RuleLibrary):
            self.calls |= library.calls
            self._linking_libraries.append(_Linked(library))
        else:
            super().add_linking_library(library)


class _NoEnvironments:
    """Stands for Numba's code generator where it would tell a function about Python."""

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _RuleLibrary(EntryLibrary):
    """Code that is linked into others and never run by itself."""

    codegen = _NoEnvironments()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def _get_module_for_linking(self) -> Any:
        module = super()._get_module_for_linking()
        if self.calls:
            module = module.clone()
            module.link_in(parse_assembly(NOT_KEPT))
        return module


class _Linked:
    """A rule as entries take it in."""

    def __init__(self, rule: _RuleLibrary) -> None:
        rule._ensure_finalized()
        self._rule, self._reload_init = rule, rule._reload_init

    def _get_module_for_linking(self) -> Any:
        return super(_RuleLibrary, self._rule)._get_module_for_linking()


# ---------------------------------------------------------------- how Numba is told


class _Pass(LoweringPass):  # type: ignore[misc]
    def __init__(self) -> None:
        LoweringPass.__init__(self)


@register_pass(mutates_CFG=False, analysis_only=True)
class _AsRule(_Pass):
    _name = "as_rule"

    def run_pass(self, state: Any) -> bool:
        state.library = _RuleLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _AsEntry(_Pass):
    _name = "as_entry"

    def run_pass(self, state: Any) -> bool:
        state.library = EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        identity = state.func_ir.func_id
        identity.unique_id = digest_of(identity.func) or identity.unique_id  # the same name in every process
        return False


class _RuleCompiler(CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        return [_nopython_pipeline(self.state, _AsRule)]


class _EntryCompiler(CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        return [_nopython_pipeline(self.state, _AsEntry)]


def _nopython_pipeline(state: Any, library: type[_Pass]) -> Any:
    passes = DefaultPassBuilder.define_nopython_pipeline(state)
    passes.add_pass_after(library, AnnotateTypes)
    passes.finalize()
    return passes


# ---------------------------------------------------------------- what is kept of it


class _Cache(NullCache):  # type: ignore[misc]
    """The machine code of one entry on disk, a file for each signature. What is damaged is compiled anew."""

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
            if isinstance(function, EntryDispatcher) and store.name_of(function) == (called.module, called.function):
                function.compile(called.signature)
                return bool(function.overloads[called.signature].fndesc.mangled_name == called.symbol)
        return False

    def is_kept(self) -> bool:
        folder = store.folder_of(self._dispatcher)
        return folder is not None and folder.exists()

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        return store.path_of(self._dispatcher, (signature, codegen.magic_tuple()))


rule, entry = RuleDispatcher, EntryDispatcher


class _Heard(Listener):  # type: ignore[misc]
    """Hears of every function that Numba compiles."""

    def on_start(self, compilation: Any) -> None:
        if isinstance(compilation.data["dispatcher"], Compiled):
            progress.started(compilation.data["dispatcher"])

    def on_end(self, compilation: Any) -> None:
        if isinstance(compilation.data["dispatcher"], Compiled):
            progress.finished(compilation.data["dispatcher"])


register("numba:compile", _Heard())
