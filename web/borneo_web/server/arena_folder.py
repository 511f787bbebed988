"""ArenaFolder: what an arena has left in its folder, for a page. Its files are read as those of strangers."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any, NamedTuple

from borneo_agents.arena.store.folder import GAMES, RECORDS, RESULTS, UNFINISHED
from borneo_agents.statistics.intervals import Estimate

from borneo_env.record import Line, read_record
from borneo_env.ruleset import PLAYER_COUNTS
from borneo_web.server.training_folder import holding, short
from kontor.files import FileError, on_one_line, parse_json, read_text

LARGEST = 64 * 2**20  # bytes of a table; 100,000 games take some 10 MB
RECORD = re.compile(r"game(\d{7,9})\.jsonl")
MEASURES = (("win_share", 0.01), ("place", 1), ("points", 1))  # of an agent, and their units: wins are in percent


class ArenaSeat(NamedTuple):
    """An agent in a game, as words."""

    agent: str
    score: str
    place: str


class ArenaGame(NamedTuple):
    """A game: what came of it, and what it was lost by."""

    number: int
    seats: list[ArenaSeat]
    fault: str


class ArenaFolder:
    """The folder of an arena; raises FileError if it is none. What is not there yet is left out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not (path / RESULTS).is_file() and not (path / RECORDS).is_dir():
            raise FileError(path, f"is no folder of an arena: there is no {RESULTS}, and no {RECORDS}")

    def standings(self) -> list[list[str]]:
        """Rows of agents, best first: name, measures with their 95 % intervals, seats; none before all is played."""
        file = self.path / RESULTS
        if not file.is_file():
            return []
        with holding(file, "results of an arena"):
            return [_standing(row) for row in parse_json(read_text(file, LARGEST))["standings"]]

    def games(self) -> list[ArenaGame]:
        """All games; before all is played, those that were recorded."""
        file = self.path / GAMES
        if not file.is_file():
            return [ArenaGame(number, [], "") for number in self.recorded()]
        with holding(file, "table of games"):
            return [_game(row) for row in csv.DictReader(read_text(file, LARGEST).splitlines())]

    def recorded(self) -> dict[int, Path]:
        """The records by the numbers of their games; those of games that were lost by a fault break off."""
        files = [*(self.path / RECORDS).glob("*.jsonl"), *(self.path / RECORDS / UNFINISHED).glob("*.jsonl")]
        found = {int(match[1]): file for file in files if (match := RECORD.fullmatch(file.name))}
        return dict(sorted(found.items()))

    def record(self, number: int) -> list[Line] | None:
        """The record of a game; None if there is none. Raises RecordError."""
        file = self.recorded().get(number)
        return None if file is None else read_record(file)


def _standing(row: dict[str, Any]) -> list[str]:
    measured = (Estimate(**row[measure]).words(".1f", unit) for measure, unit in MEASURES)
    return [short(row["agent"]), *measured, f"{int(row['seats']):,}"]


def _game(row: dict[str, str]) -> ArenaGame:
    players = range(sum(key.startswith("agent ") for key in row))  # a row longer than the heads has a key None
    if len(players) > max(PLAYER_COUNTS):
        raise ValueError("no game has so many players")
    seats = [ArenaSeat(*(short(row[f"{what} {i}"]) for what in ("agent", "score", "place"))) for i in players]
    fault = f"{row['fault']}: {row['reason']}" if row["fault"] else ""
    return ArenaGame(int(row["game"]), seats, on_one_line(fault))
