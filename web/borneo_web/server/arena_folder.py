"""ArenaFolder: what an arena has left in its folder, for a page. Its files are read as those of strangers."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any, NamedTuple

from borneo_agents.arena.store.folder import GAMES, RECORDS, RESULTS, UNFINISHED
from borneo_agents.statistics.intervals import Estimate

from borneo_env.files import FileError, on_one_line, parse_json, read_text
from borneo_env.record import Line, read_record
from borneo_env.render.scene import NUMBER_WORDS

LARGEST = 64 * 2**20  # bytes of a table; 100,000 games take some 10 MB
RECORD = re.compile(r"game(\d{7,9})\.jsonl")
MOST_SEATS = max(NUMBER_WORDS)
LONGEST_NAME = 80  # characters of an agent's name that are shown


class Ranked(NamedTuple):
    """An agent over all games: means with their 95 % intervals, as words; wins are in percent."""

    agent: str
    wins: str
    place: str
    points: str
    seats: str


class Played(NamedTuple):
    """A game: who sat where, points and places by seat, and what it was lost by."""

    number: int
    agents: list[str]
    scores: list[str]
    places: list[str]
    fault: str


class ArenaFolder:
    """The folder of an arena; raises FileError if it is none. What is not there yet is left out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not (path / RESULTS).is_file() and not (path / RECORDS).is_dir():
            raise FileError(path, f"is no folder of an arena: there is no {RESULTS}, and no {RECORDS}")

    def standings(self) -> list[Ranked]:
        """The standings, best first; none before all is played."""
        if not (self.path / RESULTS).is_file():
            return []
        try:
            results = parse_json(read_text(self.path / RESULTS, LARGEST))
            return [_standing(row) for row in results["standings"]]
        except FileError:
            raise
        except Exception:  # what is no table of ours can raise nearly anything
            raise FileError(self.path / RESULTS, "holds no results of an arena") from None

    def games(self) -> list[Played]:
        """All games; before all is played, those that were recorded."""
        if not (self.path / GAMES).is_file():
            return [Played(number, [], [], [], "") for number in self.recorded()]
        rows = csv.DictReader(read_text(self.path / GAMES, LARGEST).splitlines())
        try:
            return [_played(row) for row in rows]
        except Exception:
            raise FileError(self.path / GAMES, "is no table of games") from None

    def recorded(self) -> dict[int, Path]:
        """The records by the numbers of their games; those of games that were lost by a fault break off."""
        files = [*(self.path / RECORDS).glob("*.jsonl"), *(self.path / RECORDS / UNFINISHED).glob("*.jsonl")]
        found = {int(match[1]): file for file in files if (match := RECORD.fullmatch(file.name))}
        return dict(sorted(found.items()))

    def record(self, number: int) -> list[Line] | None:
        """The record of a game; None if there is none. Raises RecordError."""
        file = self.recorded().get(number)
        return None if file is None else read_record(file)


def _standing(row: dict[str, Any]) -> Ranked:
    wins, place, points = (Estimate(**row[key]).words(".1f", unit)
                           for key, unit in (("win_share", 0.01), ("place", 1), ("points", 1)))  # fmt: skip
    return Ranked(_short(row["agent"]), wins, place, points, f"{int(row['seats']):,}")


def _played(row: dict[str, str]) -> Played:
    seats = range(sum(key.startswith("agent ") for key in row))  # a row longer than the heads has a key None
    if len(seats) > MOST_SEATS:
        raise ValueError("no game has so many players")
    agents, scores, places = ([_short(row[f"{what} {seat}"]) for seat in seats] for what in ("agent", "score", "place"))
    fault = f"{row['fault']}: {row['reason']}" if row["fault"] else ""
    return Played(int(row["game"]), agents, scores, places, on_one_line(fault))


def _short(name: Any) -> str:
    return on_one_line(str(name), LONGEST_NAME)
