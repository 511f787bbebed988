"""Games played in another process: as plain Python, or in Numba's simulator of a card. `same.py` compares them.

`python -m kontor.check.elsewhere GAME OUT SEED GAMES STEPS CARD`, with NUMBA_DISABLE_JIT=1, and for a card
NUMBA_ENABLE_CUDASIM=1. What goes wrong in a rule is told with its file and line.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kontor.engine.batch import Batch
from kontor.engine.games import redact, resample
from kontor.game import Game, find_game
from kontor.ruleset import Ruleset

PATIENCE = 300  # seconds; a rule that takes longer goes on for ever
OURS = str(Path(__file__).parents[1])

Told = dict[str, NDArray[Any]]


class CannotPlay(RuntimeError):
    """What went wrong elsewhere, in a sentence."""


def told_of(ruleset: Ruleset, seed: int, games: int, steps: int) -> Told:
    """What a few games come to here, at their deal, on the way and later."""
    batch = Batch(games, ruleset, seed=seed, finished="hold", skip_forced=False)
    told: Told = {}
    for stage, more in enumerate(stages(steps)):
        batch.play_random(more)
        told |= {f"games {stage}": batch.games.copy(), f"masks {stage}": batch.mask.copy()}
        told |= {f"observations {stage}": batch.observe(), f"states {stage}": batch.state(0)}
        told |= {f"scores {stage}": batch.scores(), f"views {stage}": redact(ruleset, batch.games, 0)}
        if not ruleset.game.cannot_resample():
            told[f"resampled games {stage}"] = resample(ruleset, batch.games, 0, np.random.default_rng(seed))
    return told


def told_of_a_card(ruleset: Ruleset, seed: int, games: int, steps: int) -> Told:
    """The same on a card."""
    from kontor.gpu import GpuBatch

    batch = GpuBatch(games, ruleset, seed=seed, finished="hold", skip_forced=False)
    told: Told = {}
    for stage, more in enumerate(stages(steps)):
        batch.play_random(more)
        told |= {f"games {stage}": batch.games.numpy(), f"masks {stage}": batch.mask.numpy()}
        told |= {f"observations {stage}": batch.observe().numpy(), f"states {stage}": batch.state(0).numpy()}
        told |= {
            f"scores {stage}": np.asarray(batch.results().scores),
            f"views {stage}": batch.redact(0).numpy(),
        }
        if not ruleset.game.cannot_resample():
            twins = batch.copy()
            twins.resample(0, np.random.default_rng(seed))
            told[f"resampled games {stage}"] = twins.games.numpy()
    return told


def stages(steps: int) -> tuple[int, int, int]:
    """After how many decisions each it is looked at the games."""
    return 0, 2, max(steps - 2, 0)


def played_elsewhere(game: Game, seed: int, games: int, steps: int, card: bool = False) -> Told:
    """What the games of every ruleset come to in a process without a compiler; raises CannotPlay."""
    environment = without_a_compiler()
    if card:
        environment["NUMBA_ENABLE_CUDASIM"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "told.npz")
        numbers = map(str, (seed, games, steps, int(card)))
        command = [sys.executable, "-m", "kontor.check.elsewhere", game.place, out, *numbers]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise CannotPlay(
                f"games did not come to an end in {PATIENCE} seconds: does a rule go on for ever?"
            ) from None
        if done.returncode:
            raise CannotPlay((done.stderr.strip().splitlines() or ["the process died"])[-1])
        with np.load(out) as told:
            return dict(told)


def without_a_compiler() -> dict[str, str]:
    """The environment of a process that plays plain Python and imports what this one can."""
    return os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def what_went_wrong(error: BaseException) -> str:
    """An error of an author's rule in a sentence, with the place in the rule rather than in the library."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((OURS, sys.prefix, sys.base_prefix, "<frozen"))]
    where = f"{own[-1].name}, {own[-1].filename}:{own[-1].lineno}: " if own else ""
    return f"{where}{type(error).__name__}: {_in_short(str(error))[:500]}"


def _in_short(message: str) -> str:
    """A message on one line; of the compiler's what it did not understand, and where, without the way there."""
    lines = [" ".join(line.split()) for line in re.sub(r"\x1b\[[0-9;]*m", "", message).splitlines()]
    reasons = [line for line in lines if line and not line.startswith(("Failed in nopython", "During: ", "- Resol"))]
    places = [line for line in lines if line.startswith("File ") and OURS not in line]
    if len(reasons) == len([line for line in lines if line]):
        return " ".join(reasons)
    return " ".join([*reasons[:3], *places[:1]])


def _all_told(arguments: list[str]) -> Iterator[tuple[str, NDArray[Any]]]:
    place, _, *numbers = arguments
    seed, games, steps, card = map(int, numbers)
    for ruleset in find_game(place).Ruleset.every():
        try:
            told = (told_of_a_card if card else told_of)(ruleset, seed, games, steps)
        except Exception as error:
            raise CannotPlay(f"{ruleset.name}: {what_went_wrong(error)}") from error
        yield from ((f"{ruleset.name} {name}", values) for name, values in told.items())


def main() -> None:
    try:
        np.savez(sys.argv[2], **dict(_all_told(sys.argv[1:])))  # type: ignore[arg-type]
    except Exception as error:
        sys.exit(str(error) if isinstance(error, CannotPlay) else what_went_wrong(error))


if __name__ == "__main__":
    main()
