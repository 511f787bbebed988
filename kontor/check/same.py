"""Whether the same seed gives the same bytes: on threads, alone, copied, saved, as plain Python and on a card."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kontor.check.elsewhere import CannotPlay, Told, played_elsewhere, told_of
from kontor.check.report import OK, SKIPPED, Finding, Trial, counted
from kontor.compile.decorators import INTERPRETED
from kontor.engine.batch import Batch

THREADS = 4
GAMES, ALONE = 2_000, 25
STEPS = 400  # decisions of a game; more than that shows nothing new
PLAIN_GAMES, PLAIN_STEPS = 24, 60  # shared out among the rulesets
CARD_GAMES, CARD_STEPS = 2, 6

ON_THREADS = "same bytes on any number of threads"
BY_THEMSELVES = "same bytes alone and beside others"
AFTER_COPY = "same bytes after copy, save and load"
AS_PYTHON = "plain Python plays the same"
ON_A_CARD = "the simulated card plays the same"


def check_same(trial: Trial) -> Iterator[Finding]:
    games = min(trial.games, GAMES)
    batch = _batch(trial, games, threads=1)
    batch.play_random(STEPS)
    other = _batch(trial, games, threads=THREADS)
    other.play_random(STEPS)
    yield _compared(trial, ON_THREADS, batch, other, f"1 thread and {THREADS}")
    yield _alone(trial, batch)
    yield _after_copy(trial)


def _batch(trial: Trial, games: int, first: int = 0, threads: int | None = None) -> Batch:
    return Batch(
        games, trial.ruleset, seed=trial.seed, first=first, finished="hold", skip_forced=False, threads=threads
    )


def _compared(trial: Trial, check: str, batch: Batch, other: Batch, between: str) -> Finding:
    for name, one, two in (("games", batch.games, other.games), ("masks", batch.mask, other.mask)):
        if one.tobytes() != two.tobytes():
            row = next(row for row in range(len(batch)) if one[row].tobytes() != two[row].tobytes())
            field = different_field(batch.games[row], other.games[row]) if name == "games" else "the mask"
            return trial.failed(check, f"{field} differs between {between}", batch.games[row])
    return trial.passed(check, f"{counted(len(batch), 'game')}, {between}")


def different_field(one: np.void, two: np.void) -> str:
    """The first field in which two records differ, with both values."""
    assert one.dtype.names is not None
    for name in one.dtype.names:
        if one[name].tobytes() != two[name].tobytes():
            return f"{name} ({one[name].tolist()} and {two[name].tolist()})"
    return "nothing"


def _alone(trial: Trial, batch: Batch) -> Finding:
    for number in range(min(ALONE, len(batch))):
        alone = _batch(trial, 1, first=number)
        alone.play_random(STEPS)
        if alone.games.tobytes() != batch.games[number : number + 1].tobytes():
            field = different_field(batch.games[number], alone.games[0])
            return trial.failed(BY_THEMSELVES, f"{field} differs beside others and alone", batch.games[number])
    return trial.passed(BY_THEMSELVES, counted(min(ALONE, len(batch)), "game"))


def _after_copy(trial: Trial) -> Finding:
    batch = _batch(trial, min(trial.games, ALONE))
    batch.play_random(2)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "games.npz"
        batch.save(file)
        others = {"a batch and its copy": batch.copy(), "a batch and its file": Batch.load(file, game=trial.game)}
    batch.play_random(STEPS)
    for between, other in others.items():
        other.play_random(STEPS)
        finding = _compared(trial, AFTER_COPY, batch, other, between)
        if finding.verdict != OK:
            return finding
    return trial.passed(AFTER_COPY, counted(len(batch), "game"))


def check_elsewhere(trials: list[Trial], card: bool = False) -> Iterator[Finding]:
    """Play a few games as plain Python, or on a simulated card, and here. The first finds what may not be compiled:
    machine code reads and writes beyond arrays without a word."""
    check = ON_A_CARD if card else AS_PYTHON
    game, seed = trials[0].game, trials[0].seed
    games = CARD_GAMES if card else max(3, PLAIN_GAMES // len(trials))
    steps = CARD_STEPS if card else PLAIN_STEPS
    if INTERPRETED and not card:
        yield Finding(check, SKIPPED, "this is plain Python: NUMBA_DISABLE_JIT is set")
        return
    try:
        told = played_elsewhere(game, seed, games, steps, card)
    except CannotPlay as error:
        yield trials[0].found(check, "failed", str(error))
        return
    except TypeError as error:  # a game that stands in no module
        yield trials[0].found(check, SKIPPED, str(error))
        return
    for trial in trials:
        here = told_of(trial.ruleset, seed, games, steps)
        yield _differences(trial, check, here, told) or (
            trial.passed(check, f"{counted(games, 'game')}, {steps} decisions each")
        )


def _differences(trial: Trial, check: str, here: Told, there: Told) -> Finding | None:
    for name, one in here.items():
        two = there[f"{trial.ruleset.name} {name}"]
        if one.tobytes() == two.tobytes():
            continue
        row = next(row for row in range(len(one)) if one[row].tobytes() != two[row].tobytes())
        which = different_field(one[row], two[row]) if one.dtype.names else name.rpartition(" ")[0]
        game = here[f"games {name.rpartition(' ')[2]}"][row]
        return trial.failed(check, f"{which} differs: {name.rpartition(' ')[0]} here and there", game)
    return None
