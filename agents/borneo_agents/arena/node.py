"""A node: what a machine of a cluster does for an arena. It plays chunks as `Workers` do, in a folder of its own.

Agents do not run in the processes of Ray, but in a worker beside each of these, as in any arena: one that hangs or
crashes costs what it costs there. The worker goes on from chunk to chunk, and ends with the process of Ray.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from borneo_agents.arena import parcel
from borneo_agents.arena.blame import Experience, Task
from borneo_agents.arena.folder import CHUNKS, LOG, RECORDS, Folder
from borneo_agents.arena.heartbeat import unpacked
from borneo_agents.arena.parcel import Parcel
from borneo_agents.arena.waiting import Notices
from borneo_agents.arena.workers import SOON, Worker, Workers
from borneo_env.files import write_file

PREFIX = "borneo-node-"  # of the folder of a process, whose number follows
LONGEST_LOG = 2**20  # bytes of what agents print in a chunk
TOLD_EVERY = 0.5  # seconds between two words about how far a chunk is


@dataclass(frozen=True)
class Job:
    """What a node must know to play chunks of a tournament."""

    name: str  # no other run has it
    tournament: str  # as JSON
    parcel: Parcel
    records: bool
    warm_up_limit: float | None


@dataclass
class Chunk:
    """The games of a chunk on their way back."""

    games: bytes
    records: dict[str, bytes]  # compressed, by their paths
    log: bytes  # what agents have printed
    experience: Experience = field(default_factory=Experience)  # what this chunk has taught


class Player:
    """Plays chunks of a job, one after another, in one worker."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.tournament = unpacked(json.loads(job.tournament))
        self.worker: Worker | None = None
        _sweep()
        self.folder = Folder(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        (self.folder.path / CHUNKS).mkdir()
        try:
            parcel.unpack(job.parcel, self.folder.path / "files")
            parcel.check(job.parcel)
        except BaseException:
            self.end()
            raise
        self.workers = Workers(
            self.tournament, self.folder, 1, records=job.records, warm_up_limit=job.warm_up_limit, scratch=True
        )

    def play(self, deals: range, known: Experience, tell: Callable[[int, str], None]) -> Chunk:
        """Play a chunk; `tell` is told how many games are over, and whom it waits for."""
        self.workers.experience = Experience(dict(known.cold), set(known.hung))
        self.workers.notices = Notices(self.tournament.agents, lambda words: tell(self._games_over(), words))
        self._begin(Task(deals))
        assert self.worker
        told = time.monotonic()
        while not self.worker.finished():
            self.worker = self.workers.attended(self.worker)
            if time.monotonic() - told > TOLD_EVERY:
                tell(self._games_over(), "")
                told = time.monotonic()
            time.sleep(SOON)
        return Chunk(self.folder.take(deals), self._records(), self._log(), self.workers.experience)

    def end(self) -> None:
        """End the worker, and remove what was laid out for it; a worker does so itself when this process has gone."""
        if self.worker:
            self.worker.end()
        shutil.rmtree(self.folder.path, ignore_errors=True)

    def _begin(self, task: Task) -> None:
        if self.worker:
            self.workers.give(self.worker, task)
        else:
            self.worker = self.workers.start(task)

    def _games_over(self) -> int:
        return self.worker.beat().games_over if self.worker else 0

    def _records(self) -> dict[str, bytes]:
        """The records of the chunk, which are here no longer."""
        found = {}
        for file in sorted((self.folder.path / RECORDS).rglob("*.jsonl")):
            found[str(file.relative_to(self.folder.path))] = zlib.compress(file.read_bytes(), 1)
            file.unlink()
        return found

    def _log(self) -> bytes:
        """The last of what agents have printed in the chunk."""
        with open(self.folder.path / LOG, "r+b") as log:
            log.seek(-min(LONGEST_LOG, log.seek(0, os.SEEK_END)), os.SEEK_END)
            words = log.read()
            log.truncate(0)
        return words


def _sweep() -> None:
    """Remove what processes have left that have gone: where Ray ends ours with its own, nobody else does."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdecimal() and not Path("/proc", pid).exists() and Path("/proc/self").exists():
            shutil.rmtree(folder, ignore_errors=True)


class Players:
    """The player of this process: a process of Ray plays for one job at a time."""

    def __init__(self) -> None:
        self._player: Player | None = None

    def of(self, job: Job) -> Player:
        if self._player is None or self._player.job.name != job.name:
            if self._player:
                self._player.end()
                self._player = None
            self._player = Player(job)
        return self._player


PLAYERS = Players()


def play_chunk(job: Job, deals: tuple[int, int], known: Experience, board: Any) -> Chunk | str:
    """A chunk played in this process of Ray; or in words why this machine cannot."""

    def tell(games: int, words: str) -> None:
        board.tell.remote(deals[0], games, words)

    try:
        return PLAYERS.of(job).play(range(*deals), known, tell)
    except (ValueError, OSError) as error:
        return f"{platform.node()}: {error}"


class Board:
    """Where nodes tell how far they are."""

    def __init__(self) -> None:
        self._games: dict[int, int] = {}
        self._words: list[str] = []

    def tell(self, chunk: int, games: int, words: str) -> None:
        self._games[chunk] = games
        self._words += [words] if words else []

    def read(self) -> tuple[dict[int, int], list[str]]:
        """Games over, by the first deal of a chunk; and what is to be said, once."""
        words, self._words = self._words, []
        return self._games, words


def records_into(folder: Path, found: dict[str, bytes]) -> None:
    """Write records that have come from a node."""
    for path, content in found.items():
        if Path(path).parts[0] != RECORDS or ".." in Path(path).parts:
            raise ValueError(f"a node has sent a record to {path!r}")
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_file(folder / path, zlib.decompress(content), sync=False)
