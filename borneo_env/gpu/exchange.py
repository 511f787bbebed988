"""Arrays on the card, handed to torch, CuPy or JAX and taken from them without a copy.

Two protocols say where an array lies: `__cuda_array_interface__` (torch.as_tensor, CuPy, Numba), and DLPack
(torch.from_dlpack, JAX), a small C structure in a capsule.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import cuda
from numpy.typing import NDArray

from borneo_env.gpu import kernels
from borneo_env.gpu.device import SIMULATED, callers_stream, configured, copy_into, new_array, numba_stream

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

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA_DEVICE, int(cuda.current_context().device.id)

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule; the consumer's stream waits for what the batch is doing on its own."""
        if copy or dl_device not in (None, self.__dlpack_device__()) or self.dtype.kind not in _CODES:
            raise BufferError(f"DLPack shares {self!r} where it is, without a copy, and no records")
        wait_for(self._stream, 0 if stream in (None, DEFAULT_STREAM) else stream)
        return _capsule(self)


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


# ---------------------------------------------------------------- DLPack's structure


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
_NAME = b"dltensor"  # a consumer changes it, and calls the deleter when it is done
_lent: dict[int, tuple[Any, ...]] = {}  # what must live as long as somebody has it

_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_api.PyCapsule_IsValid.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = (ctypes.c_void_p, ctypes.c_char_p)


@_Deleter  # type: ignore[untyped-decorator]
def _give_back(managed: Any, lent: Any = _lent, address: Any = ctypes.addressof) -> None:
    lent.pop(address(managed.contents), None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # type: ignore[untyped-decorator]
def _forget_capsule(capsule: int, lent: Any = _lent, api: Any = _api, name: bytes = _NAME) -> None:
    if api.PyCapsule_IsValid(capsule, name):  # nobody has taken it
        lent.pop(api.PyCapsule_GetPointer(capsule, name), None)


# Somebody may give an array back when Python is about to end and this module is gone, so these stay for ever.
for kept in (_lent, _give_back, _forget_capsule):
    _api.Py_IncRef(ctypes.py_object(kept))


def _capsule(array: CardArray) -> Any:
    size, axes = array.dtype.itemsize, len(array.shape)
    shape = (ctypes.c_int64 * axes)(*array.shape)
    strides = (ctypes.c_int64 * axes)(*(stride // size for stride in array.raw.strides))
    address = array.raw.__cuda_array_interface__["data"][0]
    kind = (_CODES[array.dtype.kind], 8 * size, 1)
    tensor = _Tensor(address, *array.__dlpack_device__(), axes, *kind, shape, strides, 0)
    managed = _Managed(tensor, None, _give_back)
    _lent[ctypes.addressof(managed)] = (managed, shape, strides, array)
    return _api.PyCapsule_New(ctypes.addressof(managed), _NAME, ctypes.cast(_forget_capsule, ctypes.c_void_p))
