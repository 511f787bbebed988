"""AgentServer: a process that speaks the protocol for an agent by its name, such as `my_bot:MyBot`.

`borneo arena --isolate` starts it for every agent. The agent finds its input empty, and what it prints goes to stderr.
"""

from __future__ import annotations

import contextlib
import os
import sys
from base64 import b64decode
from collections.abc import Callable, Sequence
from typing import Any, TextIO

import numpy as np

from borneo_agents.arena.store.sources import digest_of
from borneo_agents.protocol.messages import LARGEST_BATCH, PROTOCOL, RECORD, Message, line_of
from borneo_env.agent import Agent, Views, find_agent
from borneo_env.cards import read_tables
from borneo_env.engine.actions import action_table
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import GAME, slots_of
from borneo_env.ruleset import Ruleset
from kontor.files import on_one_line, parse_json
from kontor.traces import current_folder, traceback_of

LONGEST_ERROR = 300  # characters


class AgentServer:
    """An agent that answers the messages of the protocol."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._agent: Agent | None = None
        self._ruleset: Ruleset | None = None

    def answer(self, message: Message) -> Message | None:
        """The answer to a message, or None; what the agent raises becomes an error."""
        answers: dict[str, Callable[[Message], Message]] = {
            "hello": self._introduce, "rules": self._get_ready, "batch": self._decide,
        }  # fmt: skip
        if message["type"] not in answers:
            return None
        try:
            return answers[message["type"]](message)
        except BaseException as error:
            print(traceback_of(error, current_folder()), file=sys.stderr)
            return {"error": on_one_line(f"{type(error).__name__}: {_text(error)}".removesuffix(": "), LONGEST_ERROR)}

    def _introduce(self, message: Message) -> Message:
        self._agent = find_agent(self._name)
        memoryless = getattr(type(self._agent), "memoryless", False) is True
        return {
            "protocol": PROTOCOL, "wants": [RECORD], "batch": LARGEST_BATCH, "memoryless": memoryless,
            "version": digest_of(self._agent),
        }  # fmt: skip

    def _get_ready(self, message: Message) -> Message:
        """Answer once in a game that nobody plays: compiling and loading are not thinking."""
        self._ruleset = Ruleset(**message["ruleset"], tables=read_tables(message["tables"], "tables"))
        never_played = Batch(1, self._ruleset, threads=1)
        with contextlib.suppress(Exception):  # it will be found out in a game
            self._act(Views(self._ruleset, *never_played.view(np.array([0]))))
        return {"ready": True}

    def _decide(self, message: Message) -> Message:
        return {"moves": self._act(self._views(message["decisions"]))}

    def _act(self, views: Views) -> Any:
        assert self._agent
        return np.asarray(self._agent.act(views)).tolist()

    def _views(self, decisions: Sequence[Message]) -> Views:
        assert self._ruleset
        games = np.frombuffer(b"".join(b64decode(one[RECORD]) for one in decisions), GAME).copy()
        mask = np.zeros((len(games), len(action_table(slots_of(self._ruleset)))), np.bool_)
        for row, one in zip(mask, decisions, strict=True):
            row[one["actions"]] = True
        return Views(self._ruleset, games, mask, np.array([int(one["dice"], 16) for one in decisions], np.uint64))


def _text(error: BaseException) -> str:
    """The words of an error; even they are an agent's code."""
    try:
        return " ".join(str(error).split())
    except BaseException:
        return ""


def talk(name: str, questions: TextIO, answers: int) -> None:
    """Answer what is asked until there is nothing more."""
    server = AgentServer(name)
    for line in questions:
        message = parse_json(line)
        if message["type"] == "quit":
            return
        answer = server.answer(message)
        if answer is not None:
            os.write(answers, line_of(answer))


def main() -> None:
    questions, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what the agent prints
    talk(sys.argv[1], questions, answers)


if __name__ == "__main__":
    main()
