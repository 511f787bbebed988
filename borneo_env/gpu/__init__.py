"""The same games on a CUDA card: `GpuBatch` and `GpuSeats`. The extra `gpu` installs what they need."""

from borneo_env.engine.game import BORNEO
from borneo_env.ruleset import Ruleset
from kontor.gpu import CardArray, CardFull, NoCard, batch, cuda_private, device, exchange, kernels, seats

__all__ = ["CardArray", "CardFull", "GpuBatch", "GpuSeats", "NoCard", "cuda_private", "device", "exchange", "kernels"]


class GpuBatch(batch.GpuBatch):
    __doc__ = batch.GpuBatch.__doc__
    plays = BORNEO
    ruleset: Ruleset


class GpuSeats(seats.GpuSeats):
    __doc__ = seats.GpuSeats.__doc__
    plays = BORNEO
    ruleset: Ruleset
