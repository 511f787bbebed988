"""Folder: where an arena keeps its games, so that a run that was stopped can go on.

settings.json   what is played: a run with other settings is refused here
chunks/         the finished games, chunk by chunk, as plain .npz files
records/        a record of each game, if asked for; unfinished/ has the games lost by a fault, up to there
replays/        a page of each recorded game, if asked for
agents.log      what agents have printed, and the tracebacks of their faults
results.json, games.csv, report.html            once all is played
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.play.outcomes import PlayedChunk
from borneo_agents.arena.store.chunk_file import chunk_bytes, read_chunk
from borneo_agents.arena.store.sources import IN_NO_FILE, digest_of_program
from kontor.engine.batch_state import LAST_NUMBER
from kontor.files import (
    FileError,
    in_short,
    make_folder,
    on_one_line,
    parse_json,
    read_text,
    remove_half_written,
    write_file,
)

SETTINGS, CHUNKS, RECORDS, UNFINISHED, LOG = "settings.json", "chunks", "records", "unfinished", "agents.log"
REPLAYS = "replays"
RESULTS, GAMES, REPORT = "results.json", "games.csv", "report.html"
SOURCES, PROGRAM, CHUNK_SIZE = "sources", "program", "deals per chunk"
OLD = 3600  # seconds after which what is half written may go: arenas may share a folder
LARGEST_SETTINGS = 2**20  # bytes
ANEW = "start anew with --fresh"
MOST_CHANGES = 5  # that are named


class FolderError(ValueError):
    """A folder that holds another run."""


def settings_of(tournament: Tournament, sources: dict[str, str], records: bool) -> dict[str, Any]:
    """What must not change between the parts of a run. The number of games may: a run can go on to more."""
    cards = json.dumps(asdict(tournament.ruleset.tables), sort_keys=True)
    return {
        "borneo-env": version("borneo-env"),
        "agents": list(tournament.agents),
        SOURCES: sources,
        PROGRAM: digest_of_program(),
        **tournament.ruleset.choices,
        "cards": hashlib.sha256(cards.encode()).hexdigest()[:16],
        "seed": tournament.seed,
        "lineups": tournament.lineups,
        CHUNK_SIZE: tournament.chunk,
        "time limit": tournament.time_limit,
        "isolate": tournament.isolate,
        "records": records,
    }


class Folder:
    """The folder of one run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()  # agents may go elsewhere

    def clear(self) -> None:
        """Remove what an earlier run has left here, and nothing else."""
        for name in (CHUNKS, RECORDS, REPLAYS):
            shutil.rmtree(self.path / name, ignore_errors=True)
        for name in (SETTINGS, LOG, RESULTS, GAMES, REPORT):
            (self.path / name).unlink(missing_ok=True)

    def deals_per_chunk(self) -> int | None:
        """The size of the chunks of the run that is kept here, if there is one."""
        saved = self.saved_settings()
        if saved is None:
            return None
        size = saved.get(CHUNK_SIZE)
        if type(size) is not int or not 1 <= size < LAST_NUMBER:
            raise FolderError(f"{self._settings}: {CHUNK_SIZE} is no number from 1: {in_short(size)}; {ANEW}")
        return size

    def saved_settings(self) -> dict[str, Any] | None:
        """The settings of the run that is kept here, if there is one. What they name is compared, and never used."""
        if not os.path.lexists(self._settings):
            return None
        try:
            settings = parse_json(read_text(self._settings, LARGEST_SETTINGS))
        except FileError as error:
            raise FolderError(f"{error}; {ANEW}") from None
        except ValueError as error:
            raise FolderError(f"{self._settings} cannot be read: {error}; {ANEW}") from None
        if not isinstance(settings, dict):
            raise FolderError(f"{self._settings} holds no settings; {ANEW}")
        return settings

    def open(self, settings: dict[str, Any]) -> None:
        """Begin a run here, or go on with one that has the same settings."""
        saved = self.saved_settings()
        make_folder(self.path / CHUNKS)
        self._sweep()
        if saved is None:
            self.write(SETTINGS, json.dumps(settings, indent=2) + "\n")
            return
        now = json.loads(json.dumps(settings))
        other = [key for key in {**now, **saved} if saved.get(key) != now.get(key)]
        if other:
            changes = "; ".join(_change(key, saved.get(key), now.get(key)) for key in other[:MOST_CHANGES])
            raise FolderError(
                f"{self.path} holds a run with other settings: {changes}. Games of both must not be mixed: "
                "use another --out, or --fresh to remove that run"
            )

    def write(self, name: str, text: str) -> None:
        """Write a whole file or, if the process ends meanwhile, none."""
        write_file(self.path / name, text)

    def log(self, text: str) -> None:
        """Write lines into the log, beside what agents have printed."""
        with open(self.path / LOG, "a", encoding="utf-8") as log:
            print(text, file=log)

    def save(self, played: PlayedChunk) -> None:
        """Keep a finished chunk."""
        write_file(self._chunk(played.deals), chunk_bytes(played))

    def load(self, tournament: Tournament, deals: range) -> PlayedChunk | None:
        """A finished chunk; None if there is none that can be used."""
        path = self._chunk(deals)
        if not os.path.lexists(path):
            return None
        if not path.is_file():
            raise FolderError(f"{path} should be a file with games, and is no plain file: remove it, or {ANEW}")
        try:
            return read_chunk(path, tournament, deals)
        except Exception as error:  # a damaged archive can raise nearly anything
            reason = error.reason if isinstance(error, FileError) else str(error)
            print(f"{path}: {on_one_line(reason)}; its games are played again", file=sys.stderr)
            return None

    @property
    def _settings(self) -> Path:
        return self.path / SETTINGS

    def _chunk(self, deals: range) -> Path:
        return self.path / CHUNKS / f"{deals.start:09}.npz"

    def _sweep(self) -> None:
        """Remove what runs that were killed have half written here."""
        for name in ("", CHUNKS, RECORDS, f"{RECORDS}/{UNFINISHED}"):
            remove_half_written(self.path / name, time.time() - OLD)


def _change(key: str, saved: Any, now: Any) -> str:
    """What is different, in words."""
    if key == PROGRAM:
        return "borneo-env itself has changed since"
    if key == SOURCES and isinstance(saved, dict) and set(saved) == set(now):
        changed = [name for name in now if saved[name] != now[name]]
        if any(now[name].startswith(IN_NO_FILE) for name in changed):
            return f"the code of {', '.join(changed)} stands in no file, so nobody knows whether it has changed since"
        return f"the code of {', '.join(changed)}, or a file beside it or that it plays by, has changed since"
    return f"{on_one_line(str(key), 80)} was {in_short(saved)} and is {in_short(now)}"
