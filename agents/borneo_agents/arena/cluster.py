"""The arena on a cluster of Ray: every chunk is a task, which Ray gives to any machine, and again if that is lost."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping
from typing import Any

from borneo_agents.arena.blame import Experience
from borneo_agents.arena.folder import Folder
from borneo_agents.arena.heartbeat import packed
from borneo_agents.arena.node import Board, Chunk, Job, play_chunk, records_into
from borneo_agents.arena.parcel import packed as parcel_of
from borneo_agents.arena.tournament import Tournament
from borneo_agents.arena.waiting import on_stderr
from borneo_agents.arena.workers import ArenaError
from borneo_agents.cluster import cores_of, joined
from borneo_env.agent import Agent
from borneo_env.engine.threads import available_cores
from borneo_env.files import on_one_line

RETRIES = 8  # of a chunk whose machine is lost
LOOK = 0.2  # seconds between two looks at the tasks
COUNT_EVERY = 5.0  # seconds between two looks at the size of the cluster: machines come and go
AHEAD = 2  # chunks that are asked for, for each core: then none waits for this process


class Nodes:
    """The machines of a cluster, for one tournament; use it as a context, which leaves the cluster."""

    def __init__(
        self,
        address: str,
        tournament: Tournament,
        agents: Mapping[str, Agent],
        folder: Folder,
        jobs: int | None,
        *,
        records: bool = False,
        warm_up_limit: float | None = None,
    ) -> None:
        self.tournament = tournament
        self.folder = folder
        self.jobs = jobs
        parcel = parcel_of(agents, tournament.isolate)
        self._job = Job(secrets.token_hex(8), json.dumps(packed(tournament)), parcel, records, warm_up_limit)
        self._cluster = joined(address, jobs or available_cores())
        self.experience = Experience()
        self._open: dict[Any, range] = {}  # the chunks that are played, by their tasks
        self._over: dict[int, int] = {}  # games that are over in them, by the first deal

    def __enter__(self) -> Nodes:
        self._ray = ray = self._cluster.__enter__()
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=False
        )
        self._board = ray.remote(num_cpus=0, scheduling_strategy=here)(Board).remote()
        self._sent = ray.put(self._job)
        self._task = ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")(play_chunk)
        return self

    def __exit__(self, *error: Any) -> None:
        for task in self._open:
            self._ray.cancel(task, force=True)
        self._ray.kill(self._board)
        self._cluster.__exit__(*error)

    def play(self, chunks: list[range]) -> Iterator[tuple[int, range | None]]:
        """Play chunks. Yields, again and again, how many games of unfinished chunks are over, and a finished chunk."""
        waiting, counted, room = list(reversed(chunks)), -COUNT_EVERY, 1
        while waiting or self._open:
            if time.monotonic() - counted > COUNT_EVERY:
                counted, room = time.monotonic(), self._room()
            while waiting and len(self._open) < room:
                self._ask_for(waiting.pop())
            done, _ = self._ray.wait(list(self._open), timeout=LOOK)
            for task in done:
                deals = self._open.pop(task)
                self._take_in(task, deals)
                yield self._games_over(), deals
            if not done:
                self._look()
                yield self._games_over(), None

    def _room(self) -> int:
        """How many chunks may be asked for at a time."""
        cores = cores_of(self._ray)
        if not cores:
            on_stderr("the cluster has no cores: waiting for machines to join it")
        return min(AHEAD * cores, self.jobs or AHEAD * cores) or 1

    def _ask_for(self, deals: range) -> None:
        known = Experience(self.experience.cold, self.experience.hung)
        task = self._task.remote(self._sent, (deals.start, deals.stop), known, self._board)
        self._open[task] = deals

    def _take_in(self, task: Any, deals: range) -> None:
        """Keep a chunk that has come back."""
        try:
            chunk: Chunk | str = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            raise ArenaError(
                f"the cluster has lost the games of deal {deals.start} and on {RETRIES} times: "
                f"{on_one_line(str(error))}"
            ) from None
        if isinstance(chunk, str):
            raise ArenaError(f"a machine of the cluster cannot play: {chunk}")
        records_into(self.folder.path, chunk.records)
        if chunk.log:
            self.folder.log(chunk.log.decode("utf-8", "replace").rstrip("\n"))
        self.folder.put(deals, chunk.games)
        self.experience.take_in(chunk.experience)

    def _look(self) -> None:
        """Hear how far the nodes are, and whom they wait for; without a board nobody says it, and games go on."""
        try:
            self._over, words = self._ray.get(self._board.read.remote())
        except self._ray.exceptions.RayError:
            return
        for line in words:
            on_stderr(line)

    def _games_over(self) -> int:
        return sum(self._over.get(deals.start, 0) for deals in self._open.values())
