"""How rules are compiled: as parts of the entries that call them, and not before.

Numba makes optimized machine code of every function on its own, with all that it calls, however deep: a rule at the
bottom would be compiled once for each rule above it. A part is left as plain code until an entry takes it in, which
saves half of the time that a first use takes. The machine code of entries is as fast.

A part must need nothing from Python: no exceptions with values, no printing. No rule does.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import AnnotateTypes

OPTIONS = {"nogil": True, "error_model": "numpy"}  # of everything that is compiled here


class Part(CPUDispatcher):  # type: ignore[misc]  # Numba has no types
    """A function that compiled functions call. If Python calls it, it gets machine code of its own."""

    def __init__(self, function: Any) -> None:
        bare = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions={"nopython": True, **OPTIONS, **bare}, pipeline_class=_PartCompiler)

    @cached_property
    def whole(self) -> Any:
        return numba.njit(**OPTIONS)(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        return self.whole(*arguments)


class _NoEnvironments:
    """Stands for Numba's code generator where it would tell a function about Python."""

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into others and never run by itself."""

    codegen = _NoEnvironments()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


@register_pass(mutates_CFG=False, analysis_only=True)
class _AsPart(LoweringPass):  # type: ignore[misc]
    _name = "as_part"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return False


class _PartCompiler(CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_AsPart, AnnotateTypes)
        passes.finalize()
        return [passes]
