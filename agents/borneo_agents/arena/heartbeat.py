"""What workers share with their parent: heartbeats that say whom a worker is asking, and a tournament as text."""

from __future__ import annotations

import mmap
import signal
import struct
from dataclasses import asdict
from typing import Any, NamedTuple

from borneo_agents.arena.chairs import Asked
from borneo_agents.arena.tournament import Tournament
from borneo_env.cards import read_tables
from borneo_env.record import RULESET_KEYS
from borneo_env.ruleset import Ruleset

COUNT = struct.Struct("q")  # how many beats there were: odd while an agent's code is running
ASKED = struct.Struct(f"{len(Asked._fields)}q")
PROGRESS = struct.Struct("2q")  # games of the chunk that are over; chunks that are finished
ASKED_AT, PROGRESS_AT = COUNT.size, COUNT.size + ASKED.size
SIZE = PROGRESS_AT + PROGRESS.size
TELL_STACK = getattr(signal, "SIGUSR1", signal.SIGINT)  # upon which a worker writes down where it is


class Beat(NamedTuple):
    """What a worker is doing."""

    number: int  # counted from the first
    asked: Asked | None  # whose code is running, if anybody's
    games_over: int
    finished: int


class SharedHeartbeat:
    """A heartbeat in memory that a worker shares with its parent: that of an open file."""

    debugging = False

    def __init__(self, file: int) -> None:
        self._memory = mmap.mmap(file, SIZE)
        self._count = self._over = self._finished = 0

    def asking(self, asked: Asked) -> None:
        self._count += 1
        ASKED.pack_into(self._memory, ASKED_AT, *asked)
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

    def read(self) -> Beat:
        (count,) = COUNT.unpack_from(self._memory)
        asked = Asked(*ASKED.unpack_from(self._memory, ASKED_AT)) if count % 2 else None
        return Beat(count, asked, *PROGRESS.unpack_from(self._memory, PROGRESS_AT))


def packed(tournament: Tournament) -> dict[str, Any]:
    """A tournament as JSON can hold it."""
    rules = tournament.ruleset
    fields = {name: value for name, value in vars(tournament).items() if name in Tournament.__dataclass_fields__}
    return fields | {"ruleset": {key: getattr(rules, key) for key in RULESET_KEYS}, "tables": asdict(rules.tables)}


def unpacked(fields: dict[str, Any]) -> Tournament:
    tables = read_tables(fields.pop("tables"), "tables")
    ruleset = Ruleset(**fields.pop("ruleset"), tables=tables)
    return Tournament(**fields | {"ruleset": ruleset, "agents": tuple(fields["agents"])})
