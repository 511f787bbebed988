"""Plays a game with one fault after another, each in a process of its own, as plain Python.

`python -m kontor.check.fault_worker`, with NUMBA_DISABLE_JIT=1 and a job as JSON on stdin; a line of JSON for each
fault goes to stdout: who noticed it. A process is forked for each, so that a fault that goes on for ever, or that ends
the process, is only one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib.machinery import SourceFileLoader
from importlib.util import decode_source
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

import kontor.check.run  # all that is needed is imported before the forks, but the game
from kontor.check.chance import check_sources, draws_of
from kontor.check.elsewhere import told_of
from kontor.check.mutations import Mutant, mutated
from kontor.check.play import check_play
from kontor.check.report import FAILED, Trial
from kontor.check.secrets import check_secrets
from kontor.game import Game, find_game

PATIENCE = 30  # seconds of a process; a fault that takes longer is noticed
SLOWER = 10  # times as long as the true game

NOBODY_NOTICED, UNPLAYABLE = "", "it cannot be played"


def main() -> None:
    job = json.load(sys.stdin)
    true = in_a_fork(lambda: transcript(find_game(job["game"]), job), PATIENCE * SLOWER)
    if not true or true.startswith(UNPLAYABLE):
        sys.exit(f"the game itself cannot be played: {true}")
    if job["tests"] and (failing := in_a_fork(lambda: _failing_tests(job["tests"]), PATIENCE * SLOWER)):
        sys.exit(f"the tests fail without a fault: {failing}")
    for number, one in enumerate(job["mutants"]):
        mutant = Mutant(**one)
        noticed = in_a_fork(lambda mutant=mutant: noticed_by(job, mutant, true), PATIENCE)  # type: ignore[misc]
        print(json.dumps({"mutant": number, "noticed": noticed}), flush=True)


def in_a_fork(do: Callable[[], str], patience: int) -> str:
    """What a function returns in a process of its own; an error or no answer in words."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(patience)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1), os.dup2(silence, 2)
        try:
            told = do()
        except BaseException as error:
            told = f"{UNPLAYABLE}: {type(error).__name__}: {error}"
        os.write(writing, told.encode()[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    return told if not status else f"{UNPLAYABLE}: it went on for ever, or ended the process"


def transcript(game: Game, job: dict[str, Any]) -> str:
    """A digest of all that some random games come to, of every ruleset: a golden transcript in short."""
    digest = sha256()
    for ruleset in game.Ruleset.every():
        for values in told_of(ruleset, job["seed"], job["games"], job["steps"]).values():
            digest.update(np.ascontiguousarray(values).tobytes())
        for one in draws_of(Trial(ruleset, job["games"], job["seed"])):
            digest.update(one.outcomes.tobytes() + one.weights.tobytes())
    return digest.hexdigest()


def noticed_by(job: dict[str, Any], mutant: Mutant, true: str) -> str:
    """Who notices a fault: the author's tests if there are some, else the checks or the transcript; "" if nobody."""
    put_in(mutant)
    if job["tests"]:
        return _failing_tests(job["tests"])
    game = find_game(job["game"])
    for ruleset in game.Ruleset.every():
        trial = Trial(ruleset, job["games"], job["seed"])
        for finding in quick_checks(trial):
            if finding.verdict == FAILED:
                return f"check: {finding.check}"
    return "transcript" if transcript(game, job) != true else NOBODY_NOTICED


def quick_checks(trial: Trial) -> Iterator[Any]:
    yield from check_play(trial)
    yield check_sources(trial)
    yield from check_secrets(trial, dealing=False)


def put_in(mutant: Mutant) -> None:
    """Let the file of a fault be imported with it, whoever imports it."""
    original = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        if Path(path).resolve() != Path(mutant.file).resolve():
            return original(self, fullname)
        return compile(mutated(decode_source(Path(path).read_bytes()), mutant), path, "exec")

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


def _failing_tests(tests: str) -> str:
    import pytest

    loaded = "ignore::pytest.PytestAssertRewriteWarning"  # this process plays by Kontor, whose plug-in pytest loads
    answer = pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "-W", loaded, tests])
    return NOBODY_NOTICED if answer == 0 else f"tests: pytest ended with {int(answer)}"


if __name__ == "__main__":
    assert kontor.check.run
    main()
