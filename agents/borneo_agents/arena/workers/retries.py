"""What follows from the faults of agents that hang or end a process: for the next attempt at a chunk, and beyond it.

The very decision is known once an agent is asked for one game at a time: that game is forfeited. After `PATIENCE`
forfeits in a chunk the agent is disqualified in it: it loses all games in which it would have to decide. After
`PATIENCE` such chunks it is disqualified in all that are still to come, since each of these games costs a new worker.
So is one that does not even answer its first call, before any game.

A process can also be ended from outside. Therefore a decision at which a process has ended costs the game only when
this has happened twice.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from borneo_agents.arena.play.calls import ENDED, MAKING, TIME_OUT, WARMING_UP, Call, Fault
from borneo_agents.arena.play.match import RetryPlan

PATIENCE = 3
MOST_FAULTS = 4 * PATIENCE  # of an agent in a chunk, whether it loses a game by them or not


@dataclass
class ChunkTask:
    """A chunk to be played, with what earlier attempts have found out."""

    deals: range
    plan: RetryPlan = field(default_factory=RetryPlan)
    ended: set[Call] = field(default_factory=set)  # where a process has ended
    faults: Counter[int] = field(default_factory=Counter)  # how often agents have hung or ended the process
    forfeits: Counter[int] = field(default_factory=Counter)  # games they have lost by it
    lost_workers: int = 0

    def note(self, call: Call, fault: Fault) -> None:
        """Change the plan for the next attempt."""
        agent = call.agent
        self.faults[agent] += 1
        if self.faults[agent] > MOST_FAULTS:  # it does so elsewhere in every attempt
            self._disqualify(agent, max(call.round, 0), fault)
        elif fault.kind == ENDED and call.for_one and call not in self.ended:
            self.ended.add(call)  # the next attempt shows whether it ends again: it may have been ended from outside
        elif call.round == MAKING:
            self._disqualify(agent, 0, fault)
        elif call.for_one:
            self.plan.forfeits[call.round, call.game] = fault
            self.forfeits[agent] += 1
            if self.forfeits[agent] >= PATIENCE:
                self._disqualify(agent, call.round, fault)
        else:
            self.plan.alone.add(agent)

    def _disqualify(self, agent: int, round: int, fault: Fault) -> None:
        since = round, fault.because("not asked any more in this chunk")
        self.plan.disqualified[agent] = min(since, self.plan.disqualified.get(agent, since))


@dataclass
class FaultHistory:
    """What is known of agents beyond a chunk."""

    disqualified: dict[int, Fault] = field(default_factory=dict)  # agents that are asked no more, and why
    hung: set[int] = field(default_factory=set)  # those that have lost a game by it
    in_chunks: dict[int, list[Fault]] = field(default_factory=dict)  # why, for each chunk they were disqualified in
    ended: Counter[int] = field(default_factory=Counter)  # how often they have ended the process when first asked

    def prepare(self, task: ChunkTask) -> None:
        """Put what is known into the plan of a chunk."""
        everywhere = {agent: (0, fault) for agent, fault in self.disqualified.items()}
        task.plan.disqualified = everywhere | task.plan.disqualified
        task.plan.alone |= self.hung  # a call for many games that hangs may take the time limit for each of them

    def note(self, task: ChunkTask, call: Call, fault: Fault) -> None:
        """Note a fault in a chunk, and change the plan for its next attempt."""
        agent = call.agent
        if call.round == WARMING_UP:
            self.ended[agent] += fault.kind == ENDED
            if fault.kind == TIME_OUT or self.ended[agent] > 1:  # it may have been ended from outside once
                self.disqualified[agent] = fault
            return
        before = set(task.plan.disqualified)
        task.note(call, fault)
        if call.for_one and fault.kind == TIME_OUT:
            self.hung.add(agent)
        if agent in task.plan.disqualified.keys() - before:
            self._note_chunk(agent, fault)

    def _note_chunk(self, agent: int, fault: Fault) -> None:
        self.in_chunks.setdefault(agent, []).append(fault)
        if len(self.in_chunks[agent]) == PATIENCE:
            self.disqualified[agent] = fault.because("not asked any more")

    def merge(self, other: FaultHistory) -> None:
        """Take in what has been learnt of agents in a chunk that was played elsewhere."""
        self.disqualified = other.disqualified | self.disqualified
        self.hung |= other.hung
        for agent, faults in other.in_chunks.items():
            for fault in faults:
                self._note_chunk(agent, fault)
