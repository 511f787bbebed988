"""Plays games in Numba's simulator of a card, which interprets kernels and rules, and writes what came of them.

`python tests/simulated_card.py OUT STEPS BATCH ...`, with NUMBA_ENABLE_CUDASIM=1 and NUMBA_DISABLE_JIT=1; the batches
are files of games that are going on.
"""

import sys
from collections.abc import Callable
from threading import Barrier, BrokenBarrierError, Lock
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from numba.cuda.simulator.kernel import BlockManager, BlockThread
from numba.cuda.simulator.kernelapi import FakeCUDAShared
from numba.np.numpy_support import as_dtype

from borneo_env import IllegalMove, Ruleset
from borneo_env.gpu import GpuBatch, GpuSeats

LOCK = Lock()
SEED = 7
DECISIONS = 12  # of the learner
TINY = Ruleset(players=3, tables="tiny")  # whose games are short


def play(file: str, steps: int) -> dict[str, np.ndarray]:
    """What a few games come to on the card, verb by verb."""
    batch = GpuBatch.load(file)
    games = len(batch)
    batch.play_random(steps)
    told = {"games": batch.games.numpy(), "mask": batch.mask.numpy(), "player": batch.player.numpy()}
    told |= {"observation": batch.observe().numpy(), "state": batch.state(1).numpy()}
    told["view"] = batch.redact(0).numpy()
    actions = np.asarray(batch.sample()).copy()
    try:
        batch.step([*actions[:-1], 10_000])
    except IllegalMove as error:
        told["complaint"] = np.array(str(error))
    batch.step(actions)
    told["stepped"] = batch.games.numpy()
    some = batch.take([0, 0, 1])
    some.resample(1, np.random.default_rng(SEED))
    told |= {"imagined": some.games.numpy(), "imagined_mask": some.mask.numpy()}
    batch.reset(where=np.arange(games) == 0)
    told |= {"reset": batch.games.numpy(), "reset_mask": batch.mask.numpy()}
    told["scores"] = batch.results().scores.numpy()
    return told


def sit() -> dict[str, np.ndarray]:
    """What a learner is told in short games, up to the end of some."""
    seats = GpuSeats(2, TINY, seed=SEED, reward="score")
    told = []
    for _ in range(DECISIONS):
        seats.step(seats.mask.numpy().argmax(1))
        told.append([array.numpy() for array in (seats.observation, seats.reward, seats.done, seats.seat)])
    finals = (seats.final_observation, seats.final_scores, seats.final_places, seats.final_seat)
    arrays = [*map(np.array, zip(*told, strict=True)), *(array.numpy() for array in finals)]
    return {f"learner {k}": values for k, values in enumerate(arrays)}


def refused(what: Callable[[], object]) -> str:
    """The error of something that must not be."""
    try:
        what()
    except (ValueError, TypeError, ResetNeeded, ZeroDivisionError) as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def refusals() -> list[str]:
    """What is said to wrong calls."""
    batch = GpuBatch(2, TINY, seed=SEED, finished="hold")
    batch.play_random(3)
    told = [
        refused(lambda: batch.step([0.0, 1.0])),
        refused(lambda: batch.step([0])),
        refused(lambda: batch.step(np.zeros(2, np.uint64))),
        refused(lambda: batch.play_others(-1)),
        refused(lambda: batch.observe(4)),
        refused(lambda: batch.take([[0, 1]])),
        refused(lambda: batch.take([2])),
        refused(lambda: batch.observe(out=np.zeros((2, 969), np.int8))),
        refused(lambda: GpuSeats(2, TINY, seed=SEED, opponents=lambda observation, mask: [-1, -1])),
    ]
    seats = GpuSeats(2, TINY, seed=SEED, seat="all")
    told.append(refused(lambda: seats.step([-1, -1])))
    seats.batch._launch = lambda *arguments, **options: 1 / 0
    seats.batch._take_actions = lambda *arguments, **options: None
    return [*told, refused(lambda: seats.step([1, 1])), refused(lambda: seats.step([1, 1]))]


def shared_array(shared: FakeCUDAShared, shape: Any, dtype: Any) -> np.ndarray:
    """Shared memory for all threads of a block that come to the same line; Numba's own loses it in a race."""
    frame = sys._getframe(1)
    with LOCK:
        return shared._allocations.setdefault((frame.f_code, frame.f_lineno), np.empty(shape, as_dtype(dtype)))


def run_block(manager: BlockManager, place: tuple[int, int, int], *arguments: Any) -> None:
    """Run the threads of a block. Numba's own keeps looking whether all have come to a barrier, which takes a core."""
    points = list(np.ndindex(*manager._block_dim))
    barrier = Barrier(len(points))

    def run() -> None:
        try:
            manager._f(*arguments)
        except BaseException:
            barrier.abort()
            raise

    threads = [BlockThread(run, manager, place, point, False) for point in points]
    for thread in threads:
        thread.syncthreads = barrier.wait
        thread.start()
    for thread in threads:
        thread.join()
    faults = [thread.exception for thread in threads if thread.exception]
    for error, trace in faults:
        if not isinstance(error, BrokenBarrierError):
            raise error.with_traceback(trace)


def main() -> None:
    FakeCUDAShared.array, BlockManager.run = shared_array, run_block
    out, steps, *files = sys.argv[1:]
    told = {}
    for k, file in enumerate(files):
        told |= {f"{k} {name}": values for name, values in play(file, int(steps)).items()}
    told |= sit() | {"refusals": np.array(refusals())}
    np.savez(out, **told)


if __name__ == "__main__":
    main()
