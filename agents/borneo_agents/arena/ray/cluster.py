"""The arena on a cluster of Ray: every chunk is a task, which Ray gives to any machine, and again if that is lost."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from typing import Any

from borneo_agents.arena.design.config import ArenaConfig
from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.ray.chunk_task import ChunkFiles, Job, play_chunk, write_files_into
from borneo_agents.arena.ray.parcel import packed
from borneo_agents.arena.store.folder import Folder
from borneo_agents.arena.workers.pool import ArenaError, on_stderr
from borneo_agents.arena.workers.retries import FaultHistory
from borneo_agents.cluster import cores_of, joined
from borneo_env.agent import Agent
from borneo_env.engine.threads import available_cores
from borneo_env.files import on_one_line

RETRIES = 8  # of a chunk whose machine is lost
LOOK = 0.2  # seconds between two looks at the tasks
COUNT_EVERY = 5.0  # seconds between two looks at the size of the cluster: machines come and go
AHEAD = 2  # chunks that are asked for, for each core: then none waits for this process


class ClusterPool:
    """The machines of a cluster, for one tournament; use it as a context, which leaves the cluster."""

    def __init__(
        self, tournament: Tournament, folder: Folder, config: ArenaConfig, agents: Mapping[str, Agent]
    ) -> None:
        assert config.cluster
        self.folder = folder
        self.jobs = config.jobs
        self._job = Job(secrets.token_hex(8), tournament, config, packed(agents, tournament.isolate))
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
