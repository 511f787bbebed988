"""The heartbeat of a worker: memory that it shares with its parent, and in which it notes whom it is asking."""

from __future__ import annotations

import mmap
import signal
import struct
from typing import NamedTuple

from borneo_agents.arena.play.calls import Call

COUNT = struct.Struct("q")  # of notes: odd while an agent's code is running
CALL = struct.Struct(f"{len(Call._fields)}q")
PROGRESS = struct.Struct("2q")  # games of the chunk that are over; chunks that are finished
CALL_AT, PROGRESS_AT = COUNT.size, COUNT.size + CALL.size
SIZE = PROGRESS_AT + PROGRESS.size
WRITE_STACK = getattr(signal, "SIGUSR1", signal.SIGINT)  # upon which a worker writes down where it is


class HeartbeatState(NamedTuple):
    """What a worker is doing."""

    notes: int  # how many there were
    call: Call | None  # the one that is running, if one is
    games_over: int
    finished: int


class SharedHeartbeat:
    """A heartbeat in the memory of an open file."""

    debugging = False

    def __init__(self, file: int) -> None:
        self._memory = mmap.mmap(file, SIZE)
        self._count = self._over = self._finished = 0

    def asking(self, call: Call) -> None:
        self._count += 1
        CALL.pack_into(self._memory, CALL_AT, *call)
        COUNT.pack_into(self._memory, 0, self._count)

    def answered(self) -> None:
        self._count += 1
        COUNT.pack_into(self._memory, 0, self._count)

    def games_over(self, games: int) -> None:
        self._over = games
        PROGRESS.pack_into(self._memory, PROGRESS_AT, self._over, self._finished)

    def finished(self) -> None:
        """A chunk is in the folder."""
        self._finished += 1
        self.games_over(0)

    def stopped(self) -> bool:
        return False  # workers ignore Ctrl-C

    def read(self) -> HeartbeatState:
        (count,) = COUNT.unpack_from(self._memory)
        call = Call(*CALL.unpack_from(self._memory, CALL_AT)) if count % 2 else None
        return HeartbeatState(count, call, *PROGRESS.unpack_from(self._memory, PROGRESS_AT))
