"""What the crew and its workers share: the notes of whom a worker is asking, and a tournament as text."""

from __future__ import annotations

import mmap
import struct
from dataclasses import asdict
from pathlib import Path
from typing import Any

from borneo_agents.arena.tournament import Tournament
from borneo_env.cards import read_tables
from borneo_env.record import RULESET_KEYS
from borneo_env.ruleset import Ruleset

# What a worker writes into memory it shares with its parent: how many notes there were (odd while an agent is asked),
# the agent, the decision, the game of the chunk if it is asked alone, the number of games asked for, the games over.
NOTE = struct.Struct("6q")


class Board:
    """Notes in shared memory."""

    def __init__(self, path: str | Path) -> None:
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), NOTE.size)
        self._count = 0
        self._over = 0

    def asking(self, agent: int, decision: int, game: int, views: int) -> None:
        self._count += 1
        NOTE.pack_into(self._memory, 0, self._count, agent, decision, game, views, self._over)

    def answered(self, games_over: int) -> None:
        self._count += 1
        self._over = games_over
        NOTE.pack_into(self._memory, 0, self._count, -1, 0, 0, 0, games_over)

    def read(self) -> tuple[int, ...]:
        return NOTE.unpack_from(self._memory)


def packed(tournament: Tournament) -> dict[str, Any]:
    """A tournament as JSON can hold it."""
    rules = tournament.ruleset
    fields = {name: value for name, value in vars(tournament).items() if name in Tournament.__dataclass_fields__}
    return fields | {"ruleset": {key: getattr(rules, key) for key in RULESET_KEYS}, "tables": asdict(rules.tables)}


def unpacked(fields: dict[str, Any]) -> Tournament:
    tables = read_tables(fields.pop("tables"), "tables")
    ruleset = Ruleset(**fields.pop("ruleset"), tables=tables)
    return Tournament(**fields | {"ruleset": ruleset, "agents": tuple(fields["agents"])})
