"""Calls of agents' code: whatever that does in the moments it is given (`call_agent`), the arena goes on."""

from __future__ import annotations

import bdb
import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from borneo_agents.protocol.messages import IllegalAnswer
from borneo_agents.protocol.process import BotFailed, Died, Stalled
from borneo_env.bot import NotAnOption
from borneo_env.console import let_raise
from borneo_env.engine.state import NOBODY
from kontor.files import on_one_line
from kontor.traces import current_folder, printable, traceback_of

CRASH, ILLEGAL, TIME_OUT, ENDED = "crash", "illegal move", "time-out", "ended the process"
FAULTS = (CRASH, ILLEGAL, TIME_OUT, ENDED)
OF_PROCESSES: dict[type[BotFailed], str] = {Stalled: TIME_OUT, Died: ENDED, IllegalAnswer: ILLEGAL}  # all else: CRASH
LONGEST_REASON = 300  # characters
WARMING_UP, MAKING, LEAVING = -1, -2, -3  # stand for the round of a call

Answer = TypeVar("Answer")


class Fault(NamedTuple):
    """What an agent has done wrong."""

    kind: str  # one of FAULTS
    reason: str
    trace: str = ""

    def because(self, words: str) -> Fault:
        """The same fault as the reason for something else."""
        return self._replace(reason=f"{words}: {self.reason}")


class CallFailed(Exception):
    """An agent did not answer as it should."""

    def __init__(self, fault: Fault, stalled: bool = False) -> None:
        super().__init__(fault.reason)
        self.fault = fault
        self.stalled = stalled  # whether there was no answer at all, for as long as it may take


class Call(NamedTuple):
    """Whose code is running."""

    agent: int
    round: int  # or WARMING_UP, MAKING, LEAVING
    game: int = NOBODY  # of the chunk, if the call is for this one alone
    views: int = 1

    @property
    def for_one(self) -> bool:
        """Whether a fault is that of this very decision, or of getting ready for any."""
        return self.game != NOBODY or self.round < 0


class Heartbeat:
    """Where a match notes what it is doing; here nothing comes of it."""

    debugging = False  # whether the first fault of an agent ends the match, and is raised as it is

    def asking(self, call: Call) -> None:
        """An agent's code is running from now on."""

    def answered(self) -> None:
        """The agent has answered."""

    def games_over(self, games: int) -> None:
        """So many games of the chunk are over."""

    def stopped(self) -> bool:
        """Whether the user has pressed Ctrl-C; if not, a KeyboardInterrupt is the agent's own."""
        return False


def call_agent(heartbeat: Heartbeat, call: Call, code: Callable[..., Answer], *arguments: Any) -> Answer:
    """What an agent's code returns; all it raises is a CallFailed, but for the user's Ctrl-C and in a debugger."""
    folder, depth = current_folder(), sys.getrecursionlimit()
    heartbeat.asking(call)
    try:
        return code(*arguments)
    except BaseException as error:
        if heartbeat.debugging:
            let_raise(error)
            raise
        if isinstance(error, BotFailed):
            raise _failure_of_process(error) from None
        kind = ILLEGAL if isinstance(error, NotAnOption) else CRASH
        raise CallFailed(Fault(kind, error_words(error), traceback_of(error, folder))) from None
    finally:
        sys.setrecursionlimit(depth)
        if folder is not None and current_folder() != folder:
            with contextlib.suppress(OSError):  # it may have removed it
                os.chdir(folder)
        heartbeat.answered()
        if heartbeat.stopped():
            raise KeyboardInterrupt


def _failure_of_process(error: BotFailed) -> CallFailed:
    """What a bot in a process of its own has done, with its last words in place of a traceback."""
    words = printable(f"It wrote to stderr:\n{error.last_words}") if error.last_words else ""
    reason = on_one_line(str(error), LONGEST_REASON)
    return CallFailed(Fault(OF_PROCESSES.get(type(error), CRASH), reason, words), isinstance(error, Stalled))


def error_words(error: BaseException) -> str:
    """An error in one printable line; even its words are an agent's code."""
    name = type(error).__name__
    if isinstance(error, bdb.BdbQuit):
        return f"{name}: a breakpoint needs --debug"
    try:
        words = " ".join(str(error)[: 4 * LONGEST_REASON].split())
    except BaseException:
        words = ""
    return on_one_line(f"{name}: {words}" if words else name, LONGEST_REASON)
