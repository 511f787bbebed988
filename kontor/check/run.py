"""All checks of a game, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

from kontor.check.chance import check_chance
from kontor.check.elsewhere import what_went_wrong
from kontor.check.play import CHANGES, ENDS, OPTIONS, RANGES, check_play
from kontor.check.replays import check_replays
from kontor.check.report import FAILED, Finding, Report, Trial, over_rulesets
from kontor.check.same import check_elsewhere, check_same
from kontor.check.secrets import check_secrets
from kontor.check.speed import check_speed
from kontor.check.texts import check_ids, check_texts
from kontor.engine.batch import Batch
from kontor.game import Game, find_game

PLAYS = "rules run"
STOPPING = {PLAYS, RANGES, OPTIONS, CHANGES, ENDS}  # with one of these wrong, nothing else can be looked at
Check = Callable[[], Iterator[Finding]]


def check_game(
    game: Game | str,
    games: int = 10_000,
    seed: int = 0,
    *,
    ids: str | Path | None = None,
    card: bool = True,
    note: Callable[[str], None] = lambda step: None,
) -> Report:
    """Whether this is a game: every check, for every ruleset.

    Arguments:
        game: the game, or its name: of an entry point, `my_game.py:MINE` or `package.module:MINE`.
        games: how many random games of every ruleset are played; some checks take fewer.
        seed: of these games, and of all that is drawn for the checks.
        ids: a file that keeps the ids of actions: it is written if there is none, else compared with.
        card: whether the simulator of a card plays, too.
        note: is called with the name of each step as it begins.
    """
    game = find_game(game) if isinstance(game, str) else game
    report = Report(game.title, seed, games)
    trials = [Trial(ruleset, games, seed) for ruleset in game.Ruleset.every()]
    _run(report, "plain Python", note, lambda: check_elsewhere(trials))
    if report.ok:
        for trial in trials:
            _check_ruleset(report, trial, note)
        report.findings = over_rulesets(report.findings)
    _run(report, "ids", note, lambda: check_ids(game, Path(ids) if ids else None))
    if card and report.ok:
        _run(report, "the simulated card", note, lambda: check_elsewhere(trials, card=True))
    return report


def _check_ruleset(report: Report, trial: Trial, note: Callable[[str], None]) -> None:
    start = perf_counter()
    _run(report, f"{trial.ruleset.name}: first game", note, lambda: _play_once(trial), trial)
    compiled_in = perf_counter() - start
    steps: dict[str, Check] = {
        "play": lambda: check_play(trial),
        "same results": lambda: check_same(trial),
        "chance": lambda: check_chance(trial),
        "secrets": lambda: check_secrets(trial),
        "texts": lambda: check_texts(trial),
        "records": lambda: check_replays(trial),
        "speed": lambda: check_speed(trial, compiled_in),
    }
    for name, check in steps.items():
        if any(one.check in STOPPING and one.ruleset == trial.ruleset.name for one in report.of(FAILED)):
            return
        _run(report, f"{trial.ruleset.name}: {name}", note, check, trial)
    if any(one.check == PLAYS and one.ruleset == trial.ruleset.name for one in report.of(FAILED)):
        return
    report.findings.append(trial.passed(PLAYS, "all compile, and none fails"))


def _play_once(trial: Trial) -> Iterator[Finding]:
    """Compile what plays; nothing is found unless that fails."""
    batch = Batch(2, trial.ruleset, seed=trial.seed, finished="hold", skip_forced=False)
    batch.play_random(1)
    batch.observe()
    yield from ()


def _run(report: Report, step: str, note: Callable[[str], None], check: Check, trial: Trial | None = None) -> None:
    """Add what a check finds; an error in it is a finding, too."""
    note(step)
    try:
        report.findings.extend(check())
    except Exception as error:
        ruleset = trial.ruleset.name if trial else ""
        report.findings.append(Finding(PLAYS, FAILED, what_went_wrong(error), ruleset, report.seed))
