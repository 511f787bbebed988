"""Folder: where an arena keeps its games, so that a run that was stopped can go on.

settings.json   what is played: a run with other settings is refused here
chunks/         the finished games, chunk by chunk, as plain .npz files
records/        a record of each game, if asked for; unfinished/ has the games lost by a fault, up to there
agents.log      what agents have printed
results.json, games.csv, report.html            once all is played
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from borneo_agents.arena.match import Fault, Played, outcome_type
from borneo_agents.arena.tournament import Tournament
from borneo_env.record import RULESET_KEYS

SETTINGS, CHUNKS, RECORDS, UNFINISHED, LOG = "settings.json", "chunks", "records", "unfinished", "agents.log"
RESULTS, GAMES, REPORT = "results.json", "games.csv", "report.html"


class FolderError(ValueError):
    """A folder that holds another run."""


def settings_of(tournament: Tournament, sources: dict[str, str], records: bool) -> dict[str, Any]:
    """What must not change between the parts of a run. The number of games may: a run can go on to more."""
    cards = json.dumps(asdict(tournament.ruleset.tables), sort_keys=True)
    return {
        "borneo-env": version("borneo-env"),
        "agents": list(tournament.agents),
        "sources": sources,
        **{key: getattr(tournament.ruleset, key) for key in RULESET_KEYS},
        "cards": hashlib.sha256(cards.encode()).hexdigest()[:16],
        "seed": tournament.seed,
        "lineups": tournament.lineups,
        "deals per chunk": tournament.chunk,
        "time limit": tournament.time_limit,
        "records": records,
    }


class Folder:
    """The folder of one run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def clear(self) -> None:
        """Remove what an earlier run has left here, and nothing else."""
        for name in (CHUNKS, RECORDS):
            shutil.rmtree(self.path / name, ignore_errors=True)
        for name in (SETTINGS, LOG, RESULTS, GAMES, REPORT):
            (self.path / name).unlink(missing_ok=True)

    def saved_settings(self) -> dict[str, Any] | None:
        """The settings of the run that is kept here, if there is one."""
        try:
            settings = json.loads((self.path / SETTINGS).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise FolderError(f"{self.path / SETTINGS} cannot be read: {error}; start anew with --fresh") from None
        if not isinstance(settings, dict):
            raise FolderError(f"{self.path / SETTINGS} holds no settings; start anew with --fresh")
        return settings

    def open(self, settings: dict[str, Any]) -> None:
        """Begin a run here, or go on with one that has the same settings."""
        saved = self.saved_settings()
        if saved is None:
            (self.path / CHUNKS).mkdir(parents=True, exist_ok=True)
            self.write(SETTINGS, json.dumps(settings, indent=2) + "\n")
            return
        now = json.loads(json.dumps(settings))
        other = [
            f"{key} was {saved.get(key)!r} and is {now.get(key)!r}"
            for key in {**saved, **now}
            if saved.get(key) != now.get(key)
        ]
        if other:
            raise FolderError(
                f"{self.path} holds a run with other settings: {'; '.join(other)}. "
                "Use another --out, or --fresh to remove that run"
            )

    def write(self, name: str, text: str) -> None:
        """Write a whole file or, if the process ends meanwhile, none."""
        unfinished = self.path / f".{name}.{os.getpid()}"
        unfinished.write_text(text, encoding="utf-8", newline="")
        unfinished.replace(self.path / name)

    def save(self, deals: range, played: Played) -> None:
        """Keep a finished chunk."""
        unfinished = self.path / CHUNKS / f".{deals.start}.{os.getpid()}"
        faults = np.array(json.dumps([list(fault) for fault in played.faults]))
        with open(unfinished, "wb") as file:
            np.savez_compressed(file, outcomes=played.outcomes, faults=faults, seconds=played.seconds)
        unfinished.replace(self._chunk(deals))

    def load(self, tournament: Tournament, deals: range) -> Played | None:
        """A finished chunk; None if there is none, or only a damaged one or one of other deals."""
        try:
            with open(self._chunk(deals), "rb") as opened, np.load(opened, allow_pickle=False) as file:
                outcomes, seconds = file["outcomes"], file["seconds"]
                faults = [Fault(*fault) for fault in json.loads(str(file["faults"]))]
        except Exception:  # a damaged archive can raise nearly anything
            return None
        wanted = np.arange(deals.start * tournament.block, deals.stop * tournament.block)
        if outcomes.dtype != outcome_type(tournament.ruleset.players) or not np.array_equal(outcomes["game"], wanted):
            return None
        return Played(outcomes, faults, seconds, [])

    def _chunk(self, deals: range) -> Path:
        return self.path / CHUNKS / f"{deals.start:09}.npz"
