"""How rules are compiled for a CUDA card, kept on disk and launched; and whether there is a card."""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numba
import numpy as np
from numba import cuda
from numba.extending import is_jitted

from kontor.compile import INTERPRETED, attributes, store
from kontor.compile.digest import reached_from
from kontor.gpu import cuda_private

SIMULATED = bool(numba.config.ENABLE_CUDASIM)  # NUMBA_ENABLE_CUDASIM=1: kernels run in Python, for tests without a card
RULE_SECONDS = 0.16  # about what a rule takes to be compiled for the card
SHORT = 2.0  # seconds that need no announcement


class NoCard(RuntimeError):
    """There is no card to play on, or nothing that compiles for it."""


class CardFull(MemoryError):
    """The card has no room for more; what is on it plays on."""


@cache
def check_card() -> None:
    """Raise NoCard, with the remedy, where nothing can be played on a card."""
    if SIMULATED:
        if not INTERPRETED:
            raise NoCard("the simulator of a card runs plain Python: set NUMBA_DISABLE_JIT=1 as well")
        return
    if INTERPRETED:
        raise NoCard("NUMBA_DISABLE_JIT=1 leaves nothing to run on a card; NUMBA_ENABLE_CUDASIM=1 simulates one")
    if find_spec("numba_cuda") is None:
        raise NoCard("numba-cuda is missing: pip install '.[gpu]' in the project's folder; or use Batch, on the CPU")
    if missing := cuda_private.what_is_missing():
        raise NoCard(missing)
    if not cuda.is_available():
        raise NoCard(
            "there is no NVIDIA card here that CUDA can use (does nvidia-smi show one?); Batch needs none: it plays on "
            "the CPU"
        )


def kernel(function: Any) -> Any:
    """A kernel of the card around rules of the engine."""
    if SIMULATED or find_spec("numba_cuda") is None or cuda_private.what_is_missing():
        return cuda.jit(function)
    for rule in reached_from(function):
        if is_jitted(rule) and not hasattr(rule, cuda_private.FOR_CARD):
            setattr(rule, cuda_private.FOR_CARD, _for_card(rule))
    made = cuda.jit(function)
    made._cache = _Cache(function)
    return made


def _for_card(rule: Any) -> Any:
    kept = {name: value for name, value in rule.targetoptions.items() if not name.startswith("no_")}
    return cuda_private.CUDADispatcher(rule.py_func, kept | {"device": True, "debug": False, "opt": True})


class _Cache:
    """The machine code of a kernel on disk, under the digest of all that ends up in it."""

    def __init__(self, function: Callable[..., None]) -> None:
        self._function = function

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The kernel for a signature, or None; then it is told that it is being compiled."""
        path = self._path(signature, context.codegen())
        try:
            if path is not None:
                return cuda_private._Kernel._rebuild(**pickle.loads(store.read(path)))  # a file of the user's own cache
        except Exception:  # damaged, or not there: it is compiled
            pass
        self._announce()
        return None

    def save_overload(self, signature: Any, made: Any) -> None:
        path = self._path(signature, made._codelibrary.codegen)
        if path is not None:
            store.write(path, cuda_private.dumps(made._reduce_states()))

    def _path(self, signature: Any, codegen: Any) -> Any:
        import numba_cuda

        return store.path_of(self._function, (signature, codegen.magic_tuple(), numba_cuda.__version__))

    def _announce(self) -> None:
        seconds = RULE_SECONDS * sum(is_jitted(rule) for rule in reached_from(self._function))
        if seconds > SHORT:
            name = self._function.__name__
            print(f"kontor: compiling {name} for the card, about {seconds:.0f} s, once per version", file=sys.stderr)


def configured(kernel: Any, blocks: int, threads: int, stream: int) -> Any:
    """A kernel ready to be launched on a stream, by its address."""
    if SIMULATED:  # where a kernel keeps only its last configuration
        return kernel[blocks, threads]
    return _configured(kernel, blocks, threads, stream)


@cache
def _configured(kernel: Any, blocks: int, threads: int, stream: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small batches do not fill a card
        return kernel[blocks, threads, numba_stream(stream)]


@cache
def numba_stream(address: int) -> Any:
    return 0 if SIMULATED or not address else cuda.external_stream(address)


def address_of(stream: Any) -> int:
    """The address of a CUDA stream of torch, CuPy, Numba or anybody; the default stream's is 0."""
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    if isinstance(stream, int):
        return stream
    raise TypeError(f"a stream is one of torch or CuPy, or its address, not {stream!r}")


def callers_stream() -> int:
    """The stream that the caller's torch works on at the moment; the default one where there is no torch."""
    torch = sys.modules.get("torch")
    if torch is None or SIMULATED or not torch.cuda.is_initialized():
        return 0
    return int(torch.cuda.current_stream().cuda_stream)


def shared_memory() -> int:
    """Bytes of shared memory that a block may have on this card."""
    if SIMULATED:
        return 2**16
    capability = cuda.get_current_device().compute_capability
    if capability < (8, 0):
        return 48 * 1024
    return (163 if capability in ((8, 0), (9, 0), (10, 0)) else 99) * 1024


def new_array(shape: Any, dtype: Any, stream: int) -> Any:
    """An array of zeros on the card, made on a stream; CardFull where it has no room."""
    if SIMULATED:
        return cuda.to_device(attributes(np.zeros(shape, dtype)))
    try:
        array = cuda.device_array(shape, dtype)
        cuda_private.device_memset(array, 0, array.nbytes, stream=numba_stream(stream))
        return array
    except Exception as error:
        if "OUT_OF_MEMORY" not in str(error):
            raise
        free, total = cuda.current_context().get_memory_info()
        raise CardFull(
            f"the card has no room for an array of {shape}: {free / 2**30:.1f} of {total / 2**30:.1f} GiB are free; "
            "take fewer games, or let go of other arrays (torch keeps memory: torch.cuda.empty_cache())"
        ) from None


def copy_into(to: Any, array: Any, stream: int) -> None:
    """Copy an array of the card or of NumPy into one of the card."""
    if SIMULATED:  # whose own copies know nothing of records
        np.copyto(to._ary, getattr(array, "_ary", array))
    else:
        to.copy_to_device(array, stream=numba_stream(stream))
