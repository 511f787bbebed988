"""Arrays on the card, handed to torch and CuPy and taken from them without a copy, as `__cuda_array_interface__` says.

Arrays of others are taken by DLPack, too (JAX).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from kontor.gpu import kernels
from kontor.gpu.device import SIMULATED, callers_stream, configured, copy_into, new_array, numba_stream

CUDA_DEVICE = 2  # DLPack's number
DEFAULT_STREAM = 1  # how both protocols call the stream with address 0


class CardArray:
    """An array on the card. Others share its memory: `torch.as_tensor(array, device="cuda")`, `np.asarray` copies it.

    What a batch hands out is for reading: it is the batch's own memory, written to by its next step.
    """

    def __init__(self, raw: Any, stream: int = 0) -> None:
        self.raw = raw  # Numba's
        self._stream = stream

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.raw.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        kind: np.dtype[Any] = np.dtype(self.raw.dtype)
        return kind

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<CardArray of {self.shape}, {self.dtype}>"

    def numpy(self) -> NDArray[Any]:
        """A copy in the computer's own memory."""
        if SIMULATED or self.raw.is_c_contiguous():
            return on_host(self.raw, self._stream)
        values = self.raw if len(self.shape) == 2 else _as_column(self.raw)
        out = new_array(values.shape, self.dtype, self._stream)
        blocks = -(-len(self) // kernels.THREADS)
        configured(kernels.copy_values, blocks, kernels.THREADS, self._stream)(values, out)
        return on_host(out, self._stream).reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array on the card cannot be used by NumPy without a copy")
        return self.numpy() if dtype is None else self.numpy().astype(dtype, copy=False)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        described: dict[str, Any] = self.raw.__cuda_array_interface__
        return {**described, "version": 3, "stream": self._stream or DEFAULT_STREAM}


def on_host(raw: Any, stream: int) -> NDArray[Any]:
    """A copy in the computer's own memory, when the card is done with it."""
    own = numba_stream(stream)
    host = raw.copy_to_host(stream=own)
    if own:
        own.synchronize()
    return np.array(host.view(np.ndarray))


def field(records: Any, name: str, stream: int) -> CardArray:
    """A field of an array of records, in place."""
    if SIMULATED:
        return CardArray(type(records)(np.asarray(records._ary)[name]), stream)
    kind, offset = records.dtype.fields[name][:2]
    described = records.__cuda_array_interface__
    inner = np.empty(kind.shape, kind.base).strides
    described = {
        "version": 3,
        "shape": (len(records), *kind.shape),
        "strides": (records.dtype.itemsize, *inner),
        "typestr": kind.base.str,
        "data": (described["data"][0] + offset, False),
    }
    return CardArray(cuda.from_cuda_array_interface(described, owner=records, sync=False), stream)


def is_on_card(given: Any) -> bool:
    """Whether an array lies on the card already."""
    if isinstance(given, CardArray):
        return True
    if SIMULATED:
        return False
    if hasattr(given, "__cuda_array_interface__"):
        return True
    return hasattr(given, "__dlpack_device__") and int(given.__dlpack_device__()[0]) == CUDA_DEVICE


def taken(given: Any, stream: int) -> Any:
    """Somebody's array as Numba's; where it is on the card already, without a copy, and when it has been written."""
    if not is_on_card(given):
        return _copied(np.asarray(given), stream)
    if isinstance(given, CardArray):
        wait_for(given._stream, stream)
        return given.raw
    if not hasattr(given, "__cuda_array_interface__"):
        return _from_dlpack(given, stream)
    if given.__cuda_array_interface__.get("stream") is None:  # such as torch's, on the stream it works on
        wait_for(callers_stream(), stream)
    return cuda.as_cuda_array(given)


def _copied(array: NDArray[Any], stream: int) -> Any:
    to = new_array(array.shape, array.dtype, stream)
    copy_into(to, np.ascontiguousarray(array), stream)
    return to


def _from_dlpack(given: Any, stream: int) -> Any:
    from cuda.core.utils import StridedMemoryView

    seen = StridedMemoryView.from_dlpack(given, stream_ptr=stream or DEFAULT_STREAM)
    size = seen.dtype.itemsize
    described = {
        "version": 3,
        "shape": seen.shape,
        "strides": seen.strides and tuple(size * stride for stride in seen.strides),
        "typestr": seen.dtype.str,
        "data": (seen.ptr, False),
    }
    return cuda.from_cuda_array_interface(described, owner=seen, sync=False)


def _as_column(raw: Any) -> Any:
    """A row of values as a table of one column."""
    described = {
        **raw.__cuda_array_interface__,
        "shape": (len(raw), 1),
        "strides": (raw.strides[0], raw.dtype.itemsize),
    }
    return cuda.from_cuda_array_interface(described, owner=raw, sync=False)


def wait_for(first: int, then: int | None) -> None:
    """Let a stream wait for what another is doing; -1 wants no waiting."""
    if then not in (-1, first) and not SIMULATED:
        done = cuda.event(timing=False)
        done.record(stream=numba_stream(first))
        done.wait(stream=numba_stream(then or 0))
