"""Crew: worker processes that play chunks, and the eye on them.

A worker that hangs is ended, and one that ends by itself is missed. Either way its last note says whom it was asking.
Its chunk is played again by a new worker, which asks this agent for one game at a time at this point. Then the very
decision is known, and that game is lost by it. An agent for which this has happened `PATIENCE` times in a chunk is not
asked again in the chunk: it loses all games in which it would have to decide.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from borneo_agents.arena.folder import LOG, Folder
from borneo_agents.arena.match import ENDED, TIME_OUT, WARMING_UP, Orders
from borneo_agents.arena.notes import NOTE, Board, packed
from borneo_agents.arena.tournament import Tournament

PATIENCE = 3
GRACE = 1.0  # seconds a call may take beyond its limit until the worker is ended: it may yet answer, too late
SOON = 0.05  # seconds between two looks at the workers
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class ArenaError(ValueError):
    """The arena itself failed, not an agent."""


class Crew:
    """So many workers for one tournament; use it as a context, which ends them."""

    def __init__(
        self, tournament: Tournament, folder: Folder, jobs: int, *, records: bool = False, warm_up_limit: float
    ) -> None:
        self.tournament = tournament
        self.folder = folder
        self.jobs = jobs
        self.records = records
        self.warm_up_limit = warm_up_limit
        self.cold: set[int] = set()  # agents that hung when they were first asked
        self.workers: list[_Worker] = []

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.end()

    def play(self, chunks: list[range]) -> Iterator[tuple[int, range | None]]:
        """Play chunks. Yields, again and again, how many games of unfinished chunks are over, and a finished chunk."""
        waiting = chunks[::-1]
        self.workers = [self._hire() for _ in range(min(self.jobs, len(chunks)))]
        busy = len(chunks)
        while busy:
            for i, worker in enumerate(self.workers):
                if worker.deals is None and waiting:
                    worker.give(waiting.pop(), Orders())
                finished = worker.look()
                if finished:
                    busy -= 1
                    yield self.games_over(), finished
                elif worker.stuck(self.tournament.time_limit, self.warm_up_limit) or worker.gone():
                    self.workers[i] = self._replace(worker)
            yield self.games_over(), None
            time.sleep(SOON)

    def games_over(self) -> int:
        return sum(worker.note()[5] for worker in self.workers if worker.deals is not None)

    def _hire(self) -> _Worker:
        return _Worker(self.tournament, self.folder, self.records, sorted(self.cold))

    def _replace(self, worker: _Worker) -> _Worker:
        """A new worker for the chunk of one that hangs or has gone, with orders about the agent it was asking."""
        gone = worker.gone()
        worker.end()
        count, agent, decision, game, _, _ = worker.note()
        asking = count % 2 == 1  # if not, it has answered at the last moment
        if gone and not asking:
            raise ArenaError(f"a worker has ended, and no agent was to blame; see {self.folder.path / LOG}")
        if asking and decision == WARMING_UP:
            self.cold.add(agent)
        elif asking:
            worker.blame(agent, decision, game, ENDED if gone else TIME_OUT)
        successor = self._hire()
        if worker.deals is not None:
            successor.give(worker.deals, worker.orders, worker.blamed)
        return successor


class _Worker:
    def __init__(self, tournament: Tournament, folder: Folder, records: bool, cold: list[int]) -> None:
        self.deals: range | None = None
        self.orders = Orders()
        self.blamed: Counter[int] = Counter()
        handle, name = tempfile.mkstemp(prefix="borneo-arena-")
        os.write(handle, bytes(NOTE.size))
        os.close(handle)
        self._notes = Path(name)
        self._board = Board(name)
        self._seen = (-1, time.monotonic())  # the last count, and when it was first seen
        self._answers: queue.Queue[str] = queue.Queue()
        with open(folder.path / LOG, "ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "borneo_agents.arena.worker", str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                env=_environment(),
                start_new_session=True,  # so that Ctrl-C reaches the parent alone
            )
        self._ear = threading.Thread(target=_listen, args=(self._process.stdout, self._answers), daemon=True)
        self._ear.start()
        self._say({
            "tournament": packed(tournament), "folder": str(folder.path.resolve()), "notes": name,
            "records": records, "cold": cold,
        })  # fmt: skip

    def give(self, deals: range, orders: Orders, blamed: Counter[int] | None = None) -> None:
        """Have it play a chunk."""
        self.deals, self.orders, self.blamed = deals, orders, blamed or Counter()
        self._say({
            "deals": [deals.start, deals.stop],
            "alone": sorted(orders.alone),
            "condemned": [[*which, kind] for which, kind in orders.condemned.items()],
            "given_up": list(orders.given_up.items()),
        })  # fmt: skip

    def look(self) -> range | None:
        """The chunk it has finished, if it has."""
        try:
            answer = json.loads(self._answers.get_nowait())
        except queue.Empty:
            return None
        if "error" in answer:
            raise ArenaError(f"a worker failed:\n{answer['error']}")
        finished, self.deals = self.deals, None
        return finished

    def note(self) -> tuple[int, ...]:
        return self._board.read()

    def stuck(self, time_limit: float, warm_up_limit: float) -> bool:
        """Whether it has been asking somebody for too long."""
        count, _, decision, _, views, _ = self.note()
        if count != self._seen[0]:
            self._seen = (count, time.monotonic())
        limit = warm_up_limit if decision == WARMING_UP else views * time_limit + GRACE
        return count % 2 == 1 and time.monotonic() - self._seen[1] > limit

    def gone(self) -> bool:
        return self._process.poll() is not None and not self._ear.is_alive() and self._answers.empty()

    def blame(self, agent: int, decision: int, game: int, kind: str) -> None:
        """Change the orders for the next attempt at its chunk."""
        self.orders.alone.add((decision, agent))
        if game >= 0:
            self.orders.condemned[decision, game] = kind
            self.blamed[agent] += 1
        if self.blamed[agent] >= PATIENCE:
            self.orders.given_up[agent] = min(decision, self.orders.given_up.get(agent, decision))

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._ear.join()
        for pipe in filter(None, (self._process.stdin, self._process.stdout)):
            with contextlib.suppress(BrokenPipeError):  # what it was last told and never read
                pipe.close()
        self._notes.unlink(missing_ok=True)

    def _say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):  # it will be missed soon
            print(json.dumps(message), file=self._process.stdin, flush=True)


def _listen(answers: IO[str] | None, heard: queue.Queue[str]) -> None:
    for line in answers or ():
        heard.put(line)


def _environment() -> dict[str, str]:
    """This process's environment, with the same import paths, and one thread for each worker: they fill the cores."""
    paths = os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path)
    return {**os.environ, "PYTHONPATH": paths, **dict.fromkeys(ONE_THREAD, "1")}
