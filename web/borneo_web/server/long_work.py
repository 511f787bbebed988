"""LongWork: what takes long is done one after the other beside the pages, once for all who ask the same.

So many may wait for it, and so many of them may be one person's; the others are told to come again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from typing import Any, Protocol

from borneo_web.server.live_game import Refused


class Worker(Protocol):
    """Does jobs, one after the other: `BackgroundProcess`, or in tests a thread."""

    def submit(self, job: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """The result of a job to come."""


class LongWork:
    """The work of one kind. All of it is asked for in the event loop.

    Arguments:
        what: who is busy when too many ask: "The coach".
        most, each: how many jobs of all people, and of one, may wait or be done.
        kept: how many results stay, so that nobody waits for them again.
    """

    def __init__(self, worker: Worker, what: str, *, most: int, each: int, kept: int) -> None:
        self._worker, self._what, self._most, self._each, self._kept = worker, what, most, each, kept
        self._places: Counter[str] = Counter()
        self._results: dict[Hashable, asyncio.Future[Any]] = {}

    async def do(self, who: str, key: Hashable, job: Callable[..., Any], *arguments: Any) -> Any:
        """What a job gives; that of the same key, if it was asked for before. Refused if too many wait."""
        if key not in self._results:
            self._begin(who, key, job, arguments)
        try:
            return await asyncio.shield(self._results[key])  # others may wait for it too
        except BrokenExecutor:
            raise Refused(503, f"{self._what} was interrupted: ask again.") from None

    def find(self, key: Hashable) -> Any:
        """What the job of this key has given, if it is still kept."""
        found = self._results.get(key)
        return found.result() if found and found.done() else None

    @contextmanager
    def place(self, who: str) -> Iterator[None]:
        """A place among those who wait, for somebody whose job is still to come; Refused if there is none."""
        self._take(who)
        try:
            yield
        finally:
            self._leave(who)

    def _take(self, who: str) -> None:
        if self._places[who] >= self._each:
            raise Refused(429, f"{self._what} is busy with what you have asked before: ask again in a moment.")
        if self._places.total() >= self._most:
            raise Refused(503, f"{self._what} is busy: ask again in a moment.")
        self._places[who] += 1

    def _leave(self, who: str) -> None:
        self._places -= Counter([who])

    def _begin(self, who: str, key: Hashable, job: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        def ended(result: asyncio.Future[Any]) -> None:
            self._leave(who)
            if result.cancelled() or result.exception():
                del self._results[key]
            old = [other for other, found in self._results.items() if found.done()]
            for other in old[: max(0, len(old) - self._kept)]:
                del self._results[other]

        self._take(who)
        try:
            self._results[key] = asyncio.wrap_future(self._worker.submit(job, *arguments))
        except BaseException:
            self._leave(who)
            raise
        self._results[key].add_done_callback(ended)
