"""What nobody would notice: a game's rules broken one comparison at a time, as a measure of its tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from kontor.check.elsewhere import without_a_compiler
from kontor.check.mutations import Mutant, mutants_of
from kontor.game import Game, find_game

MOST = 60  # faults that are tried
GAMES, STEPS = 24, 60  # that are played with each, of every ruleset


class TriedFault(NamedTuple):
    """A fault, and who noticed it; "" if nobody did."""

    mutant: Mutant
    noticed: str


def check_faults(
    game: Game | str,
    *,
    tests: str | Path | None = None,
    most: int = MOST,
    seed: int = 0,
    games: int = GAMES,
    note: Callable[[int, int], None] = lambda done, every: None,
) -> list[TriedFault]:
    """Put faults into a game's rules, one at a time and in memory only, and see who notices.

    With `tests` these are run with each fault, and whether they fail is all that counts. Without, the checks of this
    package play a few games, and what comes of them is compared with what came of them without the fault. A fault that
    nobody notices may be none: `<` is as good as `<=` where the two never meet.

    Arguments:
        tests: a file or folder for pytest. Tests should import the game or find it by its file.
        most: how many faults are tried at most, drawn with the seed from all there are.
        note: is told after each how many are done, and how many there are.
    """
    if not hasattr(os, "fork"):
        raise ValueError("faults are tried in forked processes, which this system does not have")
    game = find_game(game) if isinstance(game, str) else game
    mutants = mutants_of(game, most, seed)
    job = {
        "game": game.place, "seed": seed, "games": games, "steps": STEPS,
        "tests": str(tests) if tests else "", "mutants": [asdict(mutant) for mutant in mutants],
    }  # fmt: skip
    worker = subprocess.Popen(
        [sys.executable, "-m", "kontor.check.fault_worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=without_a_compiler(),
    )  # fmt: skip
    assert worker.stdin and worker.stdout
    with worker:
        worker.stdin.write(json.dumps(job))
        worker.stdin.close()
        found: list[TriedFault] = []
        for line in worker.stdout:
            found.append(TriedFault(mutants[len(found)], json.loads(line)["noticed"]))
            note(len(found), len(mutants))
    if worker.returncode:
        raise ValueError(f"{game.title} could not be played with faults; see what its process said above")
    return found
