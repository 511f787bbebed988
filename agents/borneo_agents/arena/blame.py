"""Blame: what agents that hang or end a process lose by it, in a chunk and in those after it.

The very decision is known once an agent is asked for one game at a time: that game is lost. An agent for which this has
happened `PATIENCE` times in a chunk is not asked again in the chunk: it loses all games in which it would have to
decide. After `PATIENCE` such chunks it is asked in none that is still to come, since each of these games costs a new
worker. Nor is one that does not even answer its first call, before any game.

A process can also be ended from outside. Therefore a decision at which a process has ended costs the game only when
this has happened twice.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from borneo_agents.arena.chairs import ENDED, MAKING, TIME_OUT, WARMING_UP, Asked
from borneo_agents.arena.match import Charge, Orders

PATIENCE = 3
MOST_TROUBLES = 4 * PATIENCE  # of an agent in a chunk, whether it loses a game by them or not


@dataclass
class Task:
    """A chunk to be played, with what earlier attempts have found out."""

    deals: range
    orders: Orders = field(default_factory=Orders)
    ended: set[Asked] = field(default_factory=set)  # where a process has ended
    troubles: Counter[int] = field(default_factory=Counter)  # how often agents have hung or ended the process
    blamed: Counter[int] = field(default_factory=Counter)  # games they have lost by it
    lost_workers: int = 0

    def blame(self, asked: Asked, charge: Charge) -> None:
        """Change the orders for the next attempt."""
        agent = asked.agent
        self.troubles[agent] += 1
        if self.troubles[agent] > MOST_TROUBLES:  # it does so elsewhere in every attempt
            self._give_up(agent, max(asked.round, 0), charge)
        elif charge.kind == ENDED and asked.for_one and asked not in self.ended:
            self.ended.add(asked)  # and let us see whether it ends again: it may have been ended from outside
        elif asked.round == MAKING:
            self._give_up(agent, 0, charge)
        elif asked.for_one:
            self.orders.condemned[asked.round, asked.game] = charge
            self.blamed[agent] += 1
            if self.blamed[agent] >= PATIENCE:
                self._give_up(agent, asked.round, charge)
        else:
            self.orders.alone.add(agent)

    def _give_up(self, agent: int, round: int, charge: Charge) -> None:
        why = charge._replace(reason=f"not asked any more in this chunk: {charge.reason}")
        self.orders.given_up[agent] = min((round, why), self.orders.given_up.get(agent, (round, why)))


@dataclass
class Experience:
    """What is known of agents beyond a chunk."""

    cold: dict[int, Charge] = field(default_factory=dict)  # agents that are asked no more, and why
    hung: set[int] = field(default_factory=set)  # those that have lost a game by it
    given_up: dict[int, list[Charge]] = field(default_factory=dict)  # why, once for each chunk
    ended: Counter[int] = field(default_factory=Counter)  # how often they have ended the process when first asked

    def prepare(self, task: Task) -> None:
        """Let a chunk know what is known."""
        task.orders.given_up = {agent: (0, charge) for agent, charge in self.cold.items()} | task.orders.given_up
        task.orders.alone |= self.hung  # a call for many games that hangs may take the time limit for each of them

    def blame(self, task: Task, asked: Asked, charge: Charge) -> None:
        """Note what has happened, and change the orders for the next attempt."""
        if asked.round != WARMING_UP:
            self._blame_in_chunk(task, asked, charge)
            return
        agent = asked.agent
        self.ended[agent] += charge.kind == ENDED
        if charge.kind == TIME_OUT or self.ended[agent] > 1:  # it may have been ended from outside once
            self.cold[agent] = charge

    def _blame_in_chunk(self, task: Task, asked: Asked, charge: Charge) -> None:
        agent, before = asked.agent, set(task.orders.given_up)
        task.blame(asked, charge)
        if asked.for_one and charge.kind == TIME_OUT:
            self.hung.add(agent)
        if agent in task.orders.given_up.keys() - before:
            self._give_up(agent, charge)

    def _give_up(self, agent: int, charge: Charge) -> None:
        self.given_up.setdefault(agent, []).append(charge)
        if len(self.given_up[agent]) == PATIENCE:
            self.cold[agent] = charge._replace(reason=f"not asked any more: {charge.reason}")

    def take_in(self, other: Experience) -> None:
        """Know what others have learnt of agents in a chunk of theirs, too."""
        self.cold = other.cold | self.cold
        self.hung |= other.hung
        for agent, charges in other.given_up.items():
            for charge in charges:
                self._give_up(agent, charge)
