"""The objects that agents are made into for a chunk of games, and the questions they are asked.

A deal is played many times, from all seats. An object that saw two games of a deal, or two seats of a game, could pool
what it sees there. Therefore an agent that is given by name has many *instances*. An instance has one seat of one
game in each deal; so there are as many instances as a block has seats. This keeps agents honest that remember what they
have seen. It is no wall: agents of a process that mean to talk to each other can. An agent whose class says
`memoryless = True` promises to decide each view by itself and to remember nothing. It has one instance, which is asked
for all its games at once: that is much quicker.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.arena.design.tournament import Tournament
from borneo_agents.arena.play.calls import (
    ILLEGAL,
    LEAVING,
    MAKING,
    TIME_OUT,
    WARMING_UP,
    Call,
    CallFailed,
    Fault,
    Heartbeat,
    call_agent,
    error_words,
)
from borneo_agents.arena.play.isolated import instantiate_agent
from borneo_agents.protocol.agent import ProcessAgent
from borneo_env.agent import Agent, Views
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import NOBODY
from kontor.engine.arguments import whole_numbers
from kontor.engine.batch_state import LAST_NUMBER
from kontor.files import counted, in_short


class AgentSeats:
    """The instances of agents in a chunk, by game and seat."""

    def __init__(
        self, tournament: Tournament, deals: range, agents: Sequence[str | Agent], heartbeat: Heartbeat
    ) -> None:
        self.agents = agents
        self.ruleset, self.isolate = tournament.ruleset, tournament.isolate
        self.heartbeat = heartbeat
        self.time_limit = inf if heartbeat.debugging else tournament.time_limit  # a breakpoint takes long
        self.seconds = np.zeros(len(agents))  # how long each agent has thought
        self.instance_at, self.agent_of = tournament.instances(deals)
        for number, agent in enumerate(agents):
            if not isinstance(agent, str):  # an object is one instance: its owner wants it to be one object
                own = np.flatnonzero(self.agent_of == number)
                self.instance_at[self.agent_of[self.instance_at] == number] = own[0]
        self._objects: dict[int, Agent | CallFailed] = {}  # by instance

    def fill(self, left_out: Collection[int]) -> None:
        """Make the instances of all agents but those left out, which are not asked anyway."""
        for number in sorted(set(range(len(self.agents))) - set(left_out)):
            first, *others = np.unique(self.instance_at[self.agent_of[self.instance_at] == number]).tolist()
            self._make(first)
            if _memoryless(self._objects[first]):
                self.instance_at[np.isin(self.instance_at, others)] = first
            else:
                for instance in others:
                    self._make(instance)

    def _make(self, instance: int) -> None:
        number = int(self.agent_of[instance])
        try:
            made = call_agent(self.heartbeat, Call(number, MAKING), self._instantiated, number)
            self._objects[instance] = made
        except CallFailed as failure:
            self._objects[instance] = CallFailed(failure.fault.because("cannot be made"))

    def _instantiated(self, number: int) -> Agent:
        agent = instantiate_agent(self.agents[number], self.isolate)
        if isinstance(agent, ProcessAgent):  # before the clock runs
            agent.seconds = min(agent.seconds, self.time_limit)
            agent.prepare(self.ruleset)
        return agent

    def clear(self) -> None:
        """Delete all instances. That runs their code, too."""
        for instance in list(self._objects):
            with contextlib.suppress(CallFailed):
                call = Call(int(self.agent_of[instance]), LEAVING)
                call_agent(self.heartbeat, call, self._objects.__delitem__, instance)

    def game_over(self, instance: int, game: int, seat: int, *standing: Any) -> None:
        """Send the end of a game of the chunk to a bot in a process of its own."""
        agent = self._objects.get(instance)
        if isinstance(agent, ProcessAgent):
            agent.game_over(game, seat, *standing)

    def ask(self, instance: int, views: Views, round: int, games: NDArray[np.intp]) -> NDArray[np.int64]:
        """An action for each view of games of the chunk, legal or not; raises CallFailed if there is none in time."""
        agent, number = self._objects[instance], int(self.agent_of[instance])
        if isinstance(agent, CallFailed):
            raise CallFailed(agent.fault)
        alone = int(games[0]) if len(games) == 1 else NOBODY
        began = time.perf_counter()
        try:
            call = Call(number, round, alone, len(views))
            answer = call_agent(self.heartbeat, call, _actions, agent, views, games)
        finally:
            took = time.perf_counter() - began
            self.seconds[number] += took
        if took > len(views) * self.time_limit:
            limit = f"not {self.time_limit:g} s at most"
            raise CallFailed(Fault(TIME_OUT, f"{took / len(views):.1f} s for a decision, {limit}"))
        if isinstance(answer, str):
            raise CallFailed(Fault(ILLEGAL, answer))
        return answer


def _memoryless(agent: Agent | CallFailed) -> bool:
    """Whether an agent promises to decide each view by itself: by its class, or by what its process has said."""
    if isinstance(agent, ProcessAgent):
        return agent.memoryless
    return getattr(type(agent), "memoryless", False) is True


def _actions(agent: Agent, views: Views, games: NDArray[np.intp]) -> NDArray[np.int64] | str:
    """An agent's answer as actions of our own, or what is wrong with it."""
    answer = agent.decide(views, games.tolist()) if isinstance(agent, ProcessAgent) else agent.act(views)
    try:
        actions = whole_numbers(answer)  # which may run its code, too
    except Exception as error:
        return f"its answer is no array: {error_words(error)}"
    if actions.shape != (len(views),) or actions.dtype != np.int64:
        return (
            f"its answer for {counted(len(views), 'game')} is {in_short(answer)} ({actions.dtype} of shape "
            f"{actions.shape}), not an array with a whole number for each"
        )
    return actions


def warm_up(
    tournament: Tournament, agents: Sequence[str | Agent], heartbeat: Heartbeat, left_out: Collection[int] = ()
) -> None:
    """Ask each agent once before any clock runs: compiling and loading are not thinking.

    Objects are left out, too. An agent that fails here will fail in a game.
    """
    never_played = Batch(1, tournament.ruleset, seed=tournament.seed, first=LAST_NUMBER - 1, threads=1)
    for number, agent in enumerate(agents):
        if isinstance(agent, str) and number not in left_out:
            views = Views(tournament.ruleset, *never_played.view(np.array([0])))
            with contextlib.suppress(CallFailed):
                call_agent(heartbeat, Call(number, WARMING_UP), _first_answer, agent, tournament.isolate, views)


def _first_answer(name: str, isolate: bool, views: Views) -> None:
    """Ask an agent; one with a process of its own gets ready when its instances are made."""
    agent = instantiate_agent(name, isolate)
    if not isinstance(agent, ProcessAgent):
        agent.act(views)
