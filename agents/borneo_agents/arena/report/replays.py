"""Replays: a page for a browser for every recorded game of an arena, which its report links to.

Who makes pages is found by the entry-point group `borneo.replays`, since that stands above the arena.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from borneo_agents.arena.store.folder import RECORDS, REPLAYS, UNFINISHED
from kontor.files import make_folder

GROUP = "borneo.replays"
NAME = re.compile(r"game(\d{7,})")

Track = Callable[[list[Path]], Iterable[Path]]


def write_replays(folder: Path, track: Track = iter) -> None:
    """Write a page for each record of a folder that has none yet. One takes some seconds: `track` sees them go by."""
    make = _maker()
    make_folder(folder / REPLAYS)
    pages = {record: folder / REPLAYS / f"{record.stem}.html" for record in _records(folder)}
    for record in track([record for record, page in pages.items() if not page.exists()]):
        make(record, pages[record])


def game_links(folder: Path) -> dict[int, str]:
    """The recorded games by their numbers, as links from a file of the folder: their pages, or else their records."""
    files = [*_records(folder), *sorted((folder / REPLAYS).glob("*.html"))]
    return {
        int(found[1]): file.relative_to(folder).as_posix() for file in files if (found := NAME.fullmatch(file.stem))
    }


def _records(folder: Path) -> list[Path]:
    return sorted([*(folder / RECORDS).glob("*.jsonl"), *(folder / RECORDS / UNFINISHED).glob("*.jsonl")])


def _maker() -> Any:
    for found in entry_points(group=GROUP):
        return found.load()
    raise ValueError("replays are made by the package borneo_web, which is not installed: install this project whole")
