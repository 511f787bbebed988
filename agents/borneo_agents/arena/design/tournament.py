"""Tournament: who plays whom, in which seats and on which deals, and nothing about what comes of it.

All games of a deal together are a *block*. In a block every agent sits in every seat equally often, and every block
has the same line-ups, so that no agent has better cards or better seats than another. Deal k is game k of the seed.

A line-up is a circle of agents, shuffled for each deal so that neighbours change; each stretch of as many agents as
there are seats is a game. A circle as large as the table is played in all its rotations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.arena.design.config import ArenaConfig, TournamentError
from borneo_agents.arena.design.lineups import MIXED, Circle, block_of, circles, suitable_lineups
from borneo_env.ruleset import Ruleset
from kontor.files import in_short

CHUNK = 1000  # games played side by side: more are hardly faster, and fewer are slower, since calls are for few games
CHUNKS = 16  # so many at least, in long runs: what is not yet finished is lost if a run is stopped


@dataclass(frozen=True)
class Tournament:
    """The settings that decide what is played; made by `tournament`, which checks them."""

    agents: tuple[str, ...]
    ruleset: Ruleset
    seed: int
    lineups: str
    deals: int
    chunk: int  # deals played side by side
    time_limit: float  # seconds for a decision
    isolate: bool = False  # whether every agent has a process of its own

    @cached_property
    def circles(self) -> list[Circle]:
        """The line-ups of every block, as indices of agents."""
        return circles(self.lineups, len(self.agents), self.ruleset.players)

    @property
    def block(self) -> int:
        """Games of a deal."""
        return sum(map(len, self.circles))

    @property
    def games(self) -> int:
        return self.deals * self.block

    @property
    def chunks(self) -> list[range]:
        """The deals of each chunk. What is in a chunk does not depend on how many deals there are."""
        return [range(first, min(first + self.chunk, self.deals)) for first in range(0, self.deals, self.chunk)]

    def seats(self, deals: Sequence[int]) -> NDArray[np.int16]:
        """(games, players): the agent of each seat, for all games of these deals, block after block."""
        table = np.array([game for deal in deals for game in self._block(deal)], np.int16)
        return table.reshape(-1, self.ruleset.players)

    def instances(self, deals: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.int16]]:
        """(games, players): the instance at each seat; and (instances,): the agent it is made of.

        An instance has one seat of one game in each deal. An agent has equally many instances in all deals.
        """
        seats = self.seats(deals).reshape(len(deals), -1)
        order = seats.argsort(1, kind="stable")
        return order.argsort(1).reshape(-1, self.ruleset.players), np.sort(seats[0])

    def lineup_names(self) -> list[str]:
        """The line-up of each game of a block, in words."""
        names = []
        for circle in self.circles:
            copies = Counter(self.agents[agent] for agent in circle)
            name = " + ".join(f"{n} {agent}" if n > 1 else agent for agent, n in copies.items())
            names += [MIXED if self.lineups == MIXED else name] * len(circle)
        return names

    def dice(self, deals: Sequence[int]) -> NDArray[np.uint64]:
        """(games,): random bits for each game, to seed the dice of its agents."""
        bits = [_random_bits(self.seed, deal, 2 * self.block)[self.block :] for deal in deals]
        return np.concatenate(bits)

    def _block(self, deal: int) -> list[NDArray[Any]]:
        bits = _random_bits(self.seed, deal, self.block)
        games, used = [], 0
        for circle in self.circles:
            shuffled = np.array(circle)[bits[used : used + len(circle)].argsort(kind="stable")]
            used += len(circle)
            games += [np.roll(shuffled, -turn)[: self.ruleset.players] for turn in range(len(circle))]
        return games


def _random_bits(seed: int, deal: int, count: int) -> NDArray[np.uint64]:
    bits: NDArray[np.uint64] = np.random.Philox(key=np.array([seed, deal], np.uint64)).random_raw(count)
    return bits


def tournament(agents: Sequence[str], config: ArenaConfig, deals_per_chunk: int | None = None) -> Tournament:
    """A tournament of at least so many games: whole blocks, with line-ups that suit the agents if none are named."""
    if len(agents) < 2:
        raise TournamentError("an arena needs two agents at least")
    for name in agents:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise TournamentError(f"the name of an agent is printable text, not {in_short(name)}")
    ruleset = config.ruleset
    lineups = config.lineups or suitable_lineups(len(agents), ruleset.players)
    block = block_of(lineups, len(agents), ruleset.players)
    deals = ceil(config.games / block)
    if deals_per_chunk is None or config.chunk is not None:
        deals_per_chunk = max(1, (config.chunk or min(CHUNK, ceil(deals * block / CHUNKS))) // block)
    return Tournament(
        tuple(agents), ruleset, config.seed, lineups, deals, deals_per_chunk, config.time_limit, config.isolate
    )
