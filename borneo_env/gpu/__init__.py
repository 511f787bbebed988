"""The same games on a CUDA card: `GpuBatch` and `GpuSeats`. The extra `gpu` installs what they need."""

from borneo_env.gpu.batch import GpuBatch
from borneo_env.gpu.device import CardFull, NoCard
from borneo_env.gpu.exchange import CardArray
from borneo_env.gpu.seats import GpuSeats

__all__ = ["CardArray", "CardFull", "GpuBatch", "GpuSeats", "NoCard"]
