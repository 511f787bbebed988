"""Chairs: where agents sit while a chunk is played, and how they are asked there.

A deal is played many times, from all seats. An object that saw two games of a deal, or two seats of a game, could pool
what it sees there. Therefore an agent that is given by name is made anew for every chair. A chair is one seat of one
game in each deal; so there are as many chairs as a block has seats. This keeps agents honest that remember what they
have seen. It is no wall: agents of a process that mean to talk to each other can. An agent whose class says
`memoryless = True` promises to decide each view by itself and to remember nothing. It has one chair, and is asked for
all its games at once, which is much quicker.

Whatever an agent's code does in the moments it is given (`foreign`), the arena goes on.
"""

from __future__ import annotations

import bdb
import contextlib
import os
import sys
import time
from collections.abc import Callable, Collection, Sequence
from math import inf
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from borneo_agents.arena.isolated import made
from borneo_agents.arena.tournament import Tournament
from borneo_agents.protocol.agent import ProcessAgent
from borneo_agents.protocol.messages import IllegalMove
from borneo_agents.protocol.process import BotFailed, Died, Stalled
from borneo_env.agent import Agent, Views
from borneo_env.console import let_raise
from borneo_env.engine.arguments import whole_numbers
from borneo_env.engine.batch import Batch
from borneo_env.engine.batch_state import LAST_NUMBER
from borneo_env.engine.state import NOBODY
from borneo_env.files import counted, in_short, on_one_line
from borneo_env.traces import current_folder, printable, traceback_of

CRASH, ILLEGAL, TIME_OUT, ENDED = "crash", "illegal move", "time-out", "ended the process"
FAULTS = (CRASH, ILLEGAL, TIME_OUT, ENDED)
OF_PROCESSES: dict[type[BotFailed], str] = {Stalled: TIME_OUT, Died: ENDED, IllegalMove: ILLEGAL}  # all else: CRASH
LONGEST_REASON = 300  # characters
WARMING_UP, MAKING, LEAVING = -1, -2, -3  # stand for the round in a beat

Answer = TypeVar("Answer")


class Failure(Exception):
    """An agent did not answer as it should."""

    def __init__(self, kind: str, reason: str, trace: str = "", stalled: bool = False) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.trace = trace
        self.stalled = stalled  # whether there was no answer at all, for as long as it may take


class Asked(NamedTuple):
    """Whose code is running."""

    agent: int
    chair: int
    round: int  # or WARMING_UP, MAKING, LEAVING
    game: int = NOBODY  # of the chunk, if it is asked for this one alone
    views: int = 1

    @property
    def for_one(self) -> bool:
        """Whether nothing else than this very decision, or its making, can be to blame."""
        return self.game != NOBODY or self.round == MAKING


class Heartbeat(Protocol):
    """Where a match says what it is doing."""

    debugging: bool  # whether the first fault of an agent ends the match, and is raised as it is

    def asking(self, asked: Asked) -> None:
        """An agent's code is running from now on."""

    def answered(self) -> None:
        """The agent has answered."""

    def games_over(self, games: int) -> None:
        """So many games of the chunk are over."""

    def stopped(self) -> bool:
        """Whether the user has pressed Ctrl-C; if not, a KeyboardInterrupt is the agent's own."""


class NoHeartbeat:
    """For a match nobody watches."""

    debugging = False

    def asking(self, asked: Asked) -> None: ...

    def answered(self) -> None: ...

    def games_over(self, games: int) -> None: ...

    def stopped(self) -> bool:
        return False


class Chairs:
    """The chairs of a chunk, and who sits on them."""

    def __init__(
        self, tournament: Tournament, deals: range, agents: Sequence[str | Agent], heartbeat: Heartbeat
    ) -> None:
        self.agents = agents
        self.ruleset, self.isolate = tournament.ruleset, tournament.isolate
        self.heartbeat = heartbeat
        self.time_limit = inf if heartbeat.debugging else tournament.time_limit  # a breakpoint takes long
        self.seconds = np.zeros(len(agents))  # how long each agent has thought
        self.at, self.agent = tournament.chairs(deals)
        for number, agent in enumerate(agents):
            if not isinstance(agent, str):  # an object has one chair: its owner wants it to be one object
                self.at[self.agent[self.at] == number] = np.flatnonzero(self.agent == number)[0]
        self._sitting: dict[int, Agent | Failure] = {}

    def fill(self, nobody_of: Collection[int]) -> None:
        """Make all agents, but for those that are not asked anyway."""
        for number in sorted(set(range(len(self.agents))) - set(nobody_of)):
            chairs = np.unique(self.at[self.agent[self.at] == number]).tolist()
            self._seat(chairs[0])
            if _memoryless(self._sitting[chairs[0]]):
                self.at[np.isin(self.at, chairs)] = chairs[0]
            else:
                for chair in chairs[1:]:
                    self._seat(chair)

    def _seat(self, chair: int) -> None:
        """Make the agent of a chair."""
        number = int(self.agent[chair])
        try:
            self._sitting[chair] = foreign(self.heartbeat, Asked(number, chair, MAKING), self._made, number)
        except Failure as failure:
            self._sitting[chair] = Failure(failure.kind, f"cannot be made: {failure.reason}", failure.trace)

    def _made(self, number: int) -> Agent:
        agent = made(self.agents[number], self.isolate)
        if isinstance(agent, ProcessAgent):  # before the clock runs
            agent.seconds = min(agent.seconds, self.time_limit)
            agent.prepare(self.ruleset)
        return agent

    def clear(self) -> None:
        """Let all agents go. That can be their last deed, too."""
        for chair in list(self._sitting):
            with contextlib.suppress(Failure):
                foreign(self.heartbeat, Asked(int(self.agent[chair]), chair, LEAVING), self._sitting.__delitem__, chair)

    def game_over(self, chair: int, game: int, seat: int, *standing: Any) -> None:
        """Tell a bot in a process of its own how a game of the chunk has ended."""
        sitting = self._sitting.get(chair)
        if isinstance(sitting, ProcessAgent):
            sitting.game_over(game, seat, *standing)

    def ask(self, chair: int, views: Views, round: int, games: NDArray[np.intp]) -> NDArray[np.int64]:
        """An action for each view of games of the chunk, legal or not; raises Failure if there is none in time."""
        sitting, agent = self._sitting[chair], int(self.agent[chair])
        if isinstance(sitting, Failure):
            raise Failure(sitting.kind, sitting.reason, sitting.trace)
        alone = int(games[0]) if len(games) == 1 else NOBODY
        began = time.perf_counter()
        try:
            asked = Asked(agent, chair, round, alone, len(views))
            answer = foreign(self.heartbeat, asked, _actions, sitting, views, games)
        finally:
            took = time.perf_counter() - began
            self.seconds[agent] += took
        if took > len(views) * self.time_limit:
            raise Failure(TIME_OUT, f"{took / len(views):.1f} s for a decision, not {self.time_limit:g} s at most")
        if isinstance(answer, str):
            raise Failure(ILLEGAL, answer)
        return answer


def _memoryless(agent: Agent | Failure) -> bool:
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
        return f"its answer is no array: {_words(error)}"
    if actions.shape != (len(views),) or actions.dtype != np.int64:
        return (
            f"its answer for {counted(len(views), 'game')} is {in_short(answer)} ({actions.dtype} of shape "
            f"{actions.shape}), not an array with a whole number for each"
        )
    return actions


def foreign(heartbeat: Heartbeat, asked: Asked, code: Callable[..., Answer], *arguments: Any) -> Answer:
    """What an agent's code returns; whatever it raises is a Failure, but for the user's Ctrl-C and in a debugger."""
    folder, depth = current_folder(), sys.getrecursionlimit()
    heartbeat.asking(asked)
    try:
        return code(*arguments)
    except BaseException as error:
        if heartbeat.debugging:
            let_raise(error)
            raise
        if isinstance(error, BotFailed):
            raise _failure_of_process(error) from None
        raise Failure(CRASH, _words(error), traceback_of(error, folder)) from None
    finally:
        sys.setrecursionlimit(depth)
        if folder is not None and current_folder() != folder:
            with contextlib.suppress(OSError):  # it may have removed it
                os.chdir(folder)
        heartbeat.answered()
        if heartbeat.stopped():
            raise KeyboardInterrupt


def _failure_of_process(error: BotFailed) -> Failure:
    """What a bot in a process of its own has done, with its last words in place of a traceback."""
    words = printable(f"It wrote to stderr:\n{error.last_words}") if error.last_words else ""
    reason = on_one_line(str(error), LONGEST_REASON)
    return Failure(OF_PROCESSES.get(type(error), CRASH), reason, words, isinstance(error, Stalled))


def _words(error: BaseException) -> str:
    """An error in one printable line; even its words are an agent's code."""
    name = type(error).__name__
    if isinstance(error, bdb.BdbQuit):
        return f"{name}: a breakpoint needs --debug"
    try:
        words = " ".join(str(error)[: 4 * LONGEST_REASON].split())
    except BaseException:
        words = ""
    return on_one_line(f"{name}: {words}" if words else name, LONGEST_REASON)


def warm_up(
    tournament: Tournament, agents: Sequence[str | Agent], heartbeat: Heartbeat, cold: Collection[int] = ()
) -> None:
    """Ask each agent once before any clock runs: compiling and loading are not thinking. `cold` agents are left out.

    Objects are left out, too. Who fails here will be found out in a game.
    """
    never_played = Batch(1, tournament.ruleset, seed=tournament.seed, first=LAST_NUMBER - 1, threads=1)
    for number, agent in enumerate(agents):
        if isinstance(agent, str) and number not in cold:
            views = Views(tournament.ruleset, *never_played.view(np.array([0])))
            with contextlib.suppress(Failure):
                foreign(heartbeat, Asked(number, NOBODY, WARMING_UP), _first_answer, agent, tournament.isolate, views)


def _first_answer(name: str, isolate: bool, views: Views) -> None:
    """Ask an agent; one with a process of its own gets ready in that, when it has a chair."""
    agent = made(name, isolate)
    if not isinstance(agent, ProcessAgent):
        agent.act(views)
