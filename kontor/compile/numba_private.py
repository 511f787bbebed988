"""All that is used of Numba's private parts. Each is looked up here, when this module is imported, and nowhere else.

Any release of Numba may move or drop one of them. `MISSING` then names it, and functions are compiled the plain way.
"""

from __future__ import annotations

from typing import Any

from kontor.compile.lookup import Private, look_up_all

PRIVATE = (
    Private("numba.core.registry", "CPUDispatcher", "0.49", "rules and entries are such dispatchers"),
    Private("numba.core.dispatcher", "Dispatcher.get_call_template", "0.49", "small integers are widened there"),
    Private("numba.core.dispatcher", "Dispatcher.__init__._cache", "0.49", "entries put their own store there"),
    Private("numba.core.compiler", "CompilerBase", "0.49", "compilers of rules and of entries"),
    Private("numba.core.compiler", "DefaultPassBuilder.define_nopython_pipeline", "0.49", "their passes"),
    Private("numba.core.compiler_machinery", "LoweringPass", "0.49", "the pass that chooses a code library"),
    Private("numba.core.compiler_machinery", "register_pass", "0.49", "the same"),
    Private("numba.core.typed_passes", "AnnotateTypes", "0.49", "the pass before it"),
    Private("numba.core.codegen", "JITCodeLibrary", "0.49", "code libraries of rules and of entries"),
    Private("numba.core.codegen", "CodeLibrary.enable_object_caching", "0.49", "machine code that is kept"),
    Private("numba.core.codegen", "CodeLibrary._ensure_finalized", "0.49", "a rule's code is complete"),
    Private("numba.core.codegen", "CodeLibrary._finalized", "0.49", "the same"),
    Private("numba.core.codegen", "JITCodeLibrary.__init__._reload_init", "0.63", "what runs when it is loaded"),
    Private("numba.core.codegen", "JITCodeLibrary.__init__._linking_libraries", "0.54", "rules are linked in"),
    Private("numba.core.codegen", "CPUCodeLibrary._get_module_for_linking", "0.54", "entries are not"),
    Private("numba.core.codegen", "CPUCodeLibrary._optimize_final_module", "0.54", "left out for rules"),
    Private("numba.core.codegen", "CPUCodeLibrary._finalize_final_module", "0.54", "left out for rules"),
    Private("numba.core.codegen", "CodeLibrary.has_dynamic_globals", "0.49", "what must not be kept"),
    Private("numba.core.caching", "NullCache", "0.49", "the store takes the place of such a one"),
    Private("numba.core.compiler", "CompileResult._reduce", "0.49", "machine code as bytes"),
    Private("numba.core.compiler", "CompileResult._rebuild", "0.49", "and back"),
    Private("numba.core.serialize", "dumps", "0.51", "the same"),
    Private("numba.core.event", "Listener", "0.53", "who hears of every function that is compiled"),
    Private("numba.core.event", "register", "0.53", "the same"),
)
_FOUND, MISSING = look_up_all(PRIVATE)


def __getattr__(name: str) -> Any:
    if name in _FOUND:
        return _FOUND[name]
    raise AttributeError(f"{name} is not among the private parts of Numba in {__name__}")
