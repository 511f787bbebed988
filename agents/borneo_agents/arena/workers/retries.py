"""What follows from the faults of agents that hang or end a process: for the next attempt at a chunk, and beyond it.

| an agent hangs or ends the process | what follows |
| --- | --- |
| when it is asked for many games | it is asked for one at a time, so that the very decision is known |
| at the decision of a game | the game is forfeited |
| before any game | the agent is disqualified: it loses all games in which it would have to decide |
| `MOST_FAULTS` times in a chunk | it is disqualified in this chunk |
| so in `MOST_CHUNKS` chunks | it is disqualified in all that are still to come, since each fault costs a new worker |

A process can also be ended from outside. Therefore an end says nothing until there is another at the same call.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from borneo_agents.arena.play.calls import ENDED, TIME_OUT, Call, Fault
from borneo_agents.arena.play.match import RetryPlan

MOST_FAULTS = 6  # of an agent that is asked for one game at a time; a hang counts as two
MOST_CHUNKS = 3


@dataclass
class ChunkTask:
    """A chunk to be played, with what earlier attempts have found out."""

    deals: range
    plan: RetryPlan = field(default_factory=RetryPlan)
    ended: set[Call] = field(default_factory=set)  # where a process has ended
    faults: Counter[int] = field(default_factory=Counter)  # by agent
    lost_workers: int = 0


@dataclass
class FaultHistory:
    """What is known of agents beyond a chunk."""

    disqualified: dict[int, Fault] = field(default_factory=dict)  # agents that are asked no more, and why
    hung: set[int] = field(default_factory=set)
    in_chunks: dict[int, list[Fault]] = field(default_factory=dict)  # why, for each chunk they were disqualified in

    def prepare(self, task: ChunkTask) -> None:
        """Put what is known into the plan of a chunk."""
        everywhere = {agent: (0, fault) for agent, fault in self.disqualified.items()}
        task.plan.disqualified = everywhere | task.plan.disqualified
        task.plan.alone |= self.hung  # a call for many games that hangs may take the time limit for each of them

    def note(self, task: ChunkTask, call: Call, fault: Fault) -> None:
        """Note a fault in a chunk, and change the plan for its next attempt."""
        agent, again = call.agent, call in task.ended
        if fault.kind == TIME_OUT:
            self.hung.add(agent)
        if not call.for_one:
            task.plan.alone.add(agent)
            return
        task.faults[agent] += 1 if fault.kind == ENDED else 2  # an end must come twice
        if fault.kind == ENDED and not again:
            task.ended.add(call)
        elif call.round < 0:
            self.disqualified[agent] = fault
        else:
            task.plan.forfeits[call.round, call.game] = fault
        if task.faults[agent] >= MOST_FAULTS and agent not in task.plan.disqualified:
            task.plan.disqualified[agent] = max(call.round, 0), fault.because("not asked any more in this chunk")
            self._note_chunk(agent, fault)

    def _note_chunk(self, agent: int, fault: Fault) -> None:
        self.in_chunks.setdefault(agent, []).append(fault)
        if len(self.in_chunks[agent]) == MOST_CHUNKS:
            self.disqualified[agent] = fault.because("not asked any more")

    def merge(self, other: FaultHistory) -> None:
        """Take in what has been learnt of agents in a chunk that was played elsewhere."""
        self.disqualified = other.disqualified | self.disqualified
        self.hung |= other.hung
        for agent, faults in other.in_chunks.items():
            for fault in faults:
                self._note_chunk(agent, fault)
