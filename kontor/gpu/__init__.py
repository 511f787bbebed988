"""The same games on a CUDA card: `GpuBatch` and `GpuSeats`. The extra `gpu` installs what they need."""

from kontor.gpu.batch import GpuBatch
from kontor.gpu.device import CardFull, NoCard
from kontor.gpu.exchange import CardArray
from kontor.gpu.seats import GpuSeats

__all__ = ["CardArray", "CardFull", "GpuBatch", "GpuSeats", "NoCard"]
