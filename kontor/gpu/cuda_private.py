"""All that is used of numba-cuda's private parts. Each is looked up here, when a card is asked for the first time."""

from __future__ import annotations

from functools import cache
from typing import Any

from kontor.compile.lookup import Private, look_up_all

# Where numba-cuda looks for the version of a function for the card; it would make one with options of the CPU.
FOR_CARD = "_CUDATypingContext__dispatcher"
PRIVATE = (
    Private("numba.cuda.target", f"CUDATypingContext.resolve_value_type.{FOR_CARD}", "0.24", "rules for the card"),
    Private("numba.cuda.dispatcher", "CUDADispatcher.__init__._cache", "0.24", "kernels get a store of their own"),
    Private("numba.cuda.dispatcher", "_Kernel.__init__._codelibrary", "0.24", "which machine code is for which card"),
    Private("numba.cuda.dispatcher", "_Kernel._reduce_states", "0.24", "machine code as bytes"),
    Private("numba.cuda.dispatcher", "_Kernel._rebuild", "0.24", "and back"),
    Private("numba.cuda.serialize", "dumps", "0.24", "the same"),
    Private("numba.cuda.cudadrv.driver", "device_memset", "0.24", "arrays of zeros, made on a stream"),
)


@cache
def looked_up() -> tuple[dict[str, Any], list[str]]:
    """What the table names, and what is missing of it."""
    return look_up_all(PRIVATE)


def what_is_missing() -> str:
    """Which private parts this numba-cuda lacks, in a sentence with the remedy; empty if it has them all."""
    import numba_cuda

    missing = " and ".join(looked_up()[1])
    return missing and (
        f"numba-cuda {numba_cuda.__version__} has no {missing}, which games on a card need: "
        "install one of 0.24 to 0.30; or use Batch, on the CPU"
    )


def __getattr__(name: str) -> Any:
    if name in looked_up()[0]:
        return looked_up()[0][name]
    raise AttributeError(f"{name} is not among the private parts of numba-cuda in {__name__}")
