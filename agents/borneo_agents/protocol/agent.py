"""The agent `command`: a bot that is a program of its own."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from borneo_agents.protocol import messages
from borneo_agents.protocol.messages import Introduction, Message
from borneo_agents.protocol.process import BotFailed, BotProcess, Transcript
from borneo_env.agent import Views
from borneo_env.ruleset import Ruleset
from kontor.files import FileError, in_short, read_bytes

LARGEST_PROGRAM = 2**28  # bytes, to know again
MEMORY = 4096  # MiB

Read = TypeVar("Read")


class ProcessAgent:
    """An agent whose decisions are made by a process that speaks the protocol."""

    greeting = 60.0  # seconds for its first words, and to get ready for a game

    def __init__(self, command: list[str], seconds: float, memory: int, transcript: Transcript | None = None) -> None:
        if os.name != "posix":
            raise ValueError("bots in processes of their own need POSIX: Linux or macOS")
        self.command = command
        self.seconds = seconds  # for a decision
        self._memory = memory  # MiB
        self._transcript = transcript
        self._process: BotProcess | None = None
        self._met: Introduction | None = None
        self._prepared: Ruleset | None = None
        self._numbers: dict[int, int] = {}  # of games, in the order of their first questions

    # ------------------------------------------------------------ as an agent

    def act(self, views: Views) -> NDArray[np.int64]:
        return self.decide(views, None)

    def decide(self, views: Views, games: Sequence[int] | None) -> NDArray[np.int64]:
        """A legal action for each view; `games` tells games apart, where that is known."""
        self.prepare(views.ruleset)
        met = self.meet()
        numbers = None if games is None else [self._number(game) for game in games]
        asked = messages.decisions(views, numbers, met.wants)
        actions: list[int] = []
        for first in range(0, len(asked), met.batch or 1):
            some = asked[first : first + (met.batch or 1)]
            question = messages.question_of(some, met.batch > 0)
            answer = self._ask(question, self.seconds * len(some), messages.LONGEST_ANSWER * len(some))
            actions += self._kept(messages.chosen, answer, some, met.batch > 0)
        return np.array(actions, np.int64)

    def game_over(self, game: int, seat: int, scores: list[int], places: list[int], lost_by: int | None) -> None:
        """Tell the bot how a game has ended in which it was asked, if it likes to know."""
        if self._process and game in self._numbers and self.meet().ends:
            self._process.tell(messages.line_of(messages.over(self._numbers[game], seat, scores, places, lost_by)))

    # ------------------------------------------------------------ as a process

    def meet(self) -> Introduction:
        """What the bot says of itself; starts it if it does not run."""
        if self._process is None or self._met is None:
            self._process = BotProcess(self.command, self._memory, self._transcript, self._environment())
            self._prepared = None
            self._met = self._kept(messages.introduction, self._ask(messages.line_of(messages.HELLO), self.greeting))
        return self._met

    def prepare(self, ruleset: Ruleset) -> None:
        """Tell the bot which game is played, once it runs; it may take its time to get ready."""
        self.meet()
        if ruleset is not self._prepared:
            self._kept(messages.check_ready, self._ask(messages.line_of(messages.rules_of(ruleset)), self.greeting))
            self._prepared = ruleset

    def close(self) -> None:
        """End the bot. It starts anew when it is asked again."""
        if self._process:
            self._process.quit(messages.line_of(messages.QUIT))
        self._process = self._met = None

    @property
    def memoryless(self) -> bool:
        """Whether the bot promises to decide each view by itself."""
        return self.meet().memoryless

    @property
    def fingerprint(self) -> bytes:
        """Stands for the bot's code: its program, the files its command names, and the version it tells."""
        return b"".join(_contents(self.command)) + self.meet().version.encode()

    def _environment(self) -> dict[str, str]:
        """Variables that the bot gets beside the usual ones."""
        return {}

    def _ask(self, question: bytes, seconds: float, longest: int = messages.LONGEST_ANSWER) -> Message:
        assert self._process
        try:
            line = self._process.ask(question, seconds, longest)
        except BaseException:
            self._process = self._met = None
            raise
        return self._kept(messages.parsed, line)

    def _kept(self, read: Callable[..., Read], *what: Any) -> Read:
        """What an answer means. A move that is not legal harms nothing; any other mistake ends the process."""
        try:
            return read(*what)
        except (messages.IllegalAnswer, messages.OwnError) as failed:
            assert self._process
            failed.last_words = self._process.last_words()
            raise
        except BotFailed as failed:
            assert self._process
            self._process.kill()
            failed.last_words = self._process.last_words()
            self._process = self._met = None
            raise

    def _number(self, game: int) -> int:
        return self._numbers.setdefault(game, len(self._numbers))

    def __del__(self) -> None:
        if getattr(self, "_process", None):
            self.close()


class Command(ProcessAgent):
    """A bot in any language: a program that reads a JSON line for each decision and answers with a move.

    Arguments:
        command: the program, with its own arguments after spaces. No shell is run.
        seconds: how long it may think about a decision.
        memory: how many MiB of memory it may have.
        transcript: a file to which all that is said is added.
    """

    def __init__(
        self, command: str, seconds: float = 10.0, memory: int = MEMORY, transcript: str | None = None
    ) -> None:
        if type(seconds) not in (int, float) or not seconds > 0:
            raise ValueError(f"seconds is a number above 0, not {in_short(seconds)}")
        if type(memory) is not int or memory < 1:
            raise ValueError(f"memory is a whole number of MiB from 1, not {in_short(memory)}")
        written = None if transcript is None else Transcript(str(transcript))
        super().__init__(words_of_command(str(command)), seconds, memory, written)


def words_of_command(command: str) -> list[str]:
    """The program and its arguments, if there is such a program."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"the command {in_short(command)} cannot be split into words: {error}") from None
    if not words or "\0" in command:
        raise ValueError(f"the command {in_short(command)} names no program; it should be such as command:./my_bot")
    if shutil.which(words[0]) is None:
        there = "is no program: chmod +x makes it one" if Path(words[0]).is_file() else "is not there"
        raise ValueError(f"the program {in_short(words[0])} {there}; a command is such as command:./my_bot")
    return words


def _contents(command: Sequence[str]) -> Iterable[bytes]:
    """The files that a command names."""
    for word in (str(shutil.which(command[0])), *command[1:]):
        try:
            yield read_bytes(word, LARGEST_PROGRAM)
        except FileError:
            yield word.encode("utf-8", "replace")
