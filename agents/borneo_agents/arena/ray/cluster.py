"""The arena on a cluster of Ray: every chunk is a task, which Ray gives to any machine, and again if that is lost.

Agents do not run in the processes of Ray, but in a worker beside each of these, as in any arena: one that hangs or
crashes costs what it costs there. The worker goes on from chunk to chunk, and ends with the process of Ray.
"""

from __future__ import annotations

import os
import platform
import secrets
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from borneo_agents.arena.design.config import ArenaConfig
from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.ray import parcel
from borneo_agents.arena.ray.parcel import Parcel
from borneo_agents.arena.store.folder import CHUNKS, LOG, RECORDS, Folder
from borneo_agents.arena.store.scratch import scratch_folder
from borneo_agents.arena.workers.pool import ArenaError, WorkerPool, on_stderr
from borneo_agents.arena.workers.retries import FaultHistory
from borneo_agents.cluster import cores_of, joined
from borneo_env.agent import Agent
from kontor.engine.threads import available_cores
from kontor.files import on_one_line, write_file

RETRIES = 8  # of a chunk whose machine is lost
LOOK = 0.2  # seconds between two looks at the tasks
COUNT_EVERY = 5.0  # seconds between two looks at the size of the cluster: machines come and go
AHEAD = 2  # chunks that are asked for, for each core: then none waits for this process
LONGEST_LOG = 2**20  # bytes of what agents print in a chunk


@dataclass(frozen=True)
class Job:
    """What a machine must know to play chunks of a tournament."""

    name: str  # no other run has it
    tournament: Tournament
    config: ArenaConfig
    parcel: Parcel


@dataclass
class ChunkFiles:
    """A chunk on its way back."""

    files: dict[str, bytes]  # records and games, compressed, by their paths in the folder of a run
    log: bytes  # what agents have printed, and who was slow
    history: FaultHistory  # with what this chunk has taught


class ClusterPool:
    """The machines of a cluster, for one tournament; use it as a context, which leaves the cluster."""

    def __init__(
        self, tournament: Tournament, folder: Folder, config: ArenaConfig, agents: Mapping[str, Agent]
    ) -> None:
        assert config.cluster
        self.folder = folder
        self.jobs = config.jobs
        self._job = Job(secrets.token_hex(8), tournament, config, parcel.packed(agents, tournament.isolate))
        self._cluster = joined(config.cluster, config.jobs or available_cores())
        self.history = FaultHistory()
        self._open: dict[Any, range] = {}  # the chunks that are played, by their tasks

    def __enter__(self) -> ClusterPool:
        self._ray = ray = self._cluster.__enter__()
        self._sent = ray.put(self._job)
        self._task = ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")(play_chunk)
        return self

    def __exit__(self, *error: Any) -> None:
        for task in self._open:
            self._ray.cancel(task, force=True)
        self._cluster.__exit__(*error)

    def play(self, chunks: list[range]) -> Iterator[tuple[int, range | None]]:
        """Play chunks. Yields finished chunks; and, again and again, that there is none: then the caller may stop."""
        waiting, counted, most = list(reversed(chunks)), -COUNT_EVERY, 1
        while waiting or self._open:
            if time.monotonic() - counted > COUNT_EVERY:
                counted, most = time.monotonic(), self._most_tasks()
            while waiting and len(self._open) < most:
                self._ask_for(waiting.pop())
            done, _ = self._ray.wait(list(self._open), timeout=LOOK)
            for task in done:
                deals = self._open.pop(task)
                self._take_in(task, deals)
                yield 0, deals
            if not done:
                yield 0, None

    def _most_tasks(self) -> int:
        """How many chunks may be asked for at a time."""
        cores = cores_of(self._ray)
        if not cores:
            on_stderr("the cluster has no cores: waiting for machines to join it")
        return min(AHEAD * cores, self.jobs or AHEAD * cores) or 1

    def _ask_for(self, deals: range) -> None:
        known = FaultHistory(self.history.disqualified, self.history.hung)
        self._open[self._task.remote(self._sent, deals, known)] = deals

    def _take_in(self, task: Any, deals: range) -> None:
        """Keep a chunk that has come back."""
        try:
            chunk: ChunkFiles | str = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            raise ArenaError(
                f"the cluster has lost the games of deal {deals.start} and on {RETRIES} times: "
                f"{on_one_line(str(error))}"
            ) from None
        if isinstance(chunk, str):
            raise ArenaError(f"a machine of the cluster cannot play: {chunk}")
        write_files_into(self.folder.path, chunk.files)
        if chunk.log:
            self.folder.log(chunk.log.decode("utf-8", "replace").rstrip("\n"))
        self.history.merge(chunk.history)


def write_files_into(folder: Path, found: dict[str, bytes]) -> None:
    """Write games and records that have come from another machine."""
    for path, content in found.items():
        if Path(path).parts[0] not in (RECORDS, CHUNKS) or ".." in Path(path).parts:
            raise ValueError(f"a machine has sent a file to {path!r}")
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_file(folder / path, zlib.decompress(content), sync=path.startswith(CHUNKS))


# ---------------------------------------------------------------- on a machine of the cluster


class ChunkPlayer:
    """Plays chunks of a job, one after another, in one worker."""

    def __init__(self, job: Job) -> None:
        self.job = job
        with ExitStack() as stack:
            self.folder = stack.enter_context(scratch_folder())
            config = replace(job.config, jobs=1)
            self.pool = stack.enter_context(WorkerPool(job.tournament, self.folder, config, say=self.folder.log))
            parcel.unpack(job.parcel, self.folder.path / "files")
            parcel.check(job.parcel)
            self.end = stack.pop_all().close  # ends the worker, and removes the folder

    def play(self, deals: range, known: FaultHistory) -> ChunkFiles:
        """Play a chunk."""
        self.pool.history = FaultHistory(dict(known.disqualified), set(known.hung))
        for _ in self.pool.play([deals]):
            pass
        return ChunkFiles(self._files(), self._log(), self.pool.history)

    def _files(self) -> dict[str, bytes]:
        """The records of the chunk and then its games, which are here no longer."""
        found = {}
        for place in (RECORDS, CHUNKS):
            for file in sorted((self.folder.path / place).rglob("*.*")):
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


_player: ChunkPlayer | None = None  # of this process of Ray, for one job at a time


def _player_of(job: Job) -> ChunkPlayer:
    global _player
    if _player is None or _player.job.name != job.name:
        if _player:
            _player.end()
            _player = None
        _player = ChunkPlayer(job)
    return _player


def play_chunk(job: Job, deals: range, known: FaultHistory) -> ChunkFiles | str:
    """A chunk played in this process of Ray; or in words why this machine cannot."""
    try:
        return _player_of(job).play(deals, known)
    except (ValueError, OSError) as error:
        return f"{platform.node()}: {error}"
