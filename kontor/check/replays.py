"""Whether records of games lead to the same games again."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kontor.chance import DrawsInRules
from kontor.check.report import WARNED, Finding, Trial, counted
from kontor.record import RecordError, record_games, verify

REPLAYS = "records replay"
MOST_RECORDED = 50


def check_replays(trial: Trial) -> Iterator[Finding]:
    """Record random games, read the lines back, and play them again."""
    games = min(trial.games, MOST_RECORDED)
    try:
        records = record_games(trial.ruleset, games, seed=trial.seed, legal=True)
    except DrawsInRules as error:
        yield trial.found(REPLAYS, WARNED, f"{error}; or say how records tell of it (`deals` in `Game.instead`)")
        return
    for number, record in enumerate(records):
        lines = json.loads(json.dumps(record))
        try:
            verify(lines, trial.game)
        except RecordError as error:
            yield trial.failed(REPLAYS, f"the record of game {number} is wrong in {error}")
            return
        if lines != record:
            yield trial.failed(REPLAYS, f"the record of game {number} is not read back as it was written")
            return
    yield trial.passed(REPLAYS, f"{counted(games, 'game')}, each line checked")
