"""How fast a game is: information for its author, no verdict."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from kontor.check.report import SKIPPED, Finding, Trial
from kontor.compile.decorators import INTERPRETED
from kontor.engine.batch import Batch

SLICE = 0.3  # seconds that are measured
GAMES, STEPS = 4096, 20

SPEED = "speed"


def check_speed(trial: Trial, compiled_in: float) -> Iterator[Finding]:
    if INTERPRETED:
        yield trial.found(SPEED, SKIPPED, "this is plain Python: NUMBA_DISABLE_JIT is set")
        return
    batch = Batch(GAMES, trial.ruleset, seed=trial.seed, threads=1)
    start, played = perf_counter(), 0
    while perf_counter() - start < SLICE:
        played += batch.play_random(STEPS)
    rate = played / (perf_counter() - start)
    yield trial.passed(
        SPEED, f"{rate / 1e6:.2f} M random decisions a second on one core; first game after {compiled_in:.1f} s"
    )
