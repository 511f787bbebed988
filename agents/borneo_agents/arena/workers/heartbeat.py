"""The heartbeat of a worker: memory that it shares with its parent, and in which it notes whom it is asking."""

from __future__ import annotations

import mmap
import signal
from typing import NamedTuple

import numpy as np

from borneo_agents.arena.play.calls import Call, Heartbeat

NOTES, CALL, OVER, FINISHED = 0, slice(1, 1 + len(Call._fields)), -2, -1  # places of numbers in it
SIZE = 8 * (len(Call._fields) + 3)  # bytes
WRITE_STACK = getattr(signal, "SIGUSR1", signal.SIGINT)  # upon which a worker writes down where it is


class HeartbeatState(NamedTuple):
    """What a worker is doing."""

    notes: int  # how many there were: their number is odd while an agent's code is running
    call: Call | None  # the one that is running, if one is
    games_over: int  # of its chunk
    finished: int  # chunks


class SharedHeartbeat(Heartbeat):
    """A heartbeat in the memory of an open file. (Workers ignore Ctrl-C.)"""

    def __init__(self, file: int) -> None:
        self._numbers = np.frombuffer(mmap.mmap(file, SIZE), np.int64)

    def asking(self, call: Call) -> None:
        self._numbers[CALL] = call
        self._numbers[NOTES] += 1

    def answered(self) -> None:
        self._numbers[NOTES] += 1

    def games_over(self, games: int) -> None:
        self._numbers[OVER] = games

    def finished(self) -> None:
        """A chunk is in the folder."""
        self._numbers[OVER] = 0
        self._numbers[FINISHED] += 1

    def read(self) -> HeartbeatState:
        notes, *call, over, finished = self._numbers.tolist()
        return HeartbeatState(notes, Call(*call) if notes % 2 else None, over, finished)
