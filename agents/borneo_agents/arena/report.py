"""The files of a finished arena: results.json, games.csv, and report.html for people."""

from __future__ import annotations

import json
from pathlib import Path

from borneo_agents.arena.folder import GAMES, RESULTS, Folder
from borneo_agents.arena.result import ArenaResult


def write_results(path: str | Path, result: ArenaResult, command: str | None = None) -> None:
    """Write all files of a result into a folder."""
    folder = Folder(path)
    folder.write(RESULTS, json.dumps(result.as_dict(command), indent=1) + "\n")
    folder.write(GAMES, result.games_csv())
