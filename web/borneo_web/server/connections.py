"""Connections: of those that send slowly, none waits for ever, and no crowd of them keeps others out."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from itertools import islice
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0  # seconds until all of a request is there, or so many bytes more of it
ENOUGH = 2**16  # bytes, so that a slow line can send a record
MOST_UNFINISHED, MOMENT = 256, 2.0  # requests that are being sent; seconds in which whoever is honest has sent it


def connections() -> type[Connection]:
    """The class of the connections of one server."""

    class Own(Connection):
        unfinished: ClassVar[OrderedDict[Connection, float]] = OrderedDict()

    return Own


class Connection(H11Protocol):
    """A connection that is closed when its request does not come, so that what it has sent of it does nothing.

    When too many are being sent at once, those that have waited longest are closed.
    """

    unfinished: ClassVar[OrderedDict[Connection, float]]  # those of the server, by the time of their last sign of life
    _late: asyncio.TimerHandle | None = None
    _received = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what was sent; a request that is whole is waited for no more."""
        super().data_received(data)
        self._received += len(data)
        if self._is_whole():
            self._stop()
        elif self._late is None or self._received >= ENOUGH:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._stop()
        super().connection_lost(exc)

    def _is_whole(self) -> bool:
        state = self.conn.their_state
        return state is not h11.SEND_BODY and not (state is h11.IDLE and self.conn.trailing_data[0])

    def _wait(self) -> None:
        self._stop()
        self._late = self.loop.call_later(PATIENCE, self._end)
        now = self.loop.time()
        self.unfinished[self] = now
        for other in [*islice(self.unfinished, max(0, len(self.unfinished) - MOST_UNFINISHED))]:
            if self.unfinished[other] <= now - MOMENT:
                other._end()

    def _stop(self) -> None:
        self._received = 0
        self.unfinished.pop(self, None)
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _end(self) -> None:
        self._stop()
        self.transport.abort()  # what it was sending is not waited for
