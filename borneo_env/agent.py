"""The Agent protocol, and agents by name.

An agent decides for a batch: `act(views)` gets the games as their deciding players see them, and returns an action for
each. It never gets the real games, so it cannot cheat. Names are those of the entry-point group `borneo.agents`;
`package.module:Class` names any other class, in the current folder too. Arguments follow after colons:
`ismcts:budget=500`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.batch import Batch, observe
from borneo_env.engine.hidden import resample
from borneo_env.ruleset import Ruleset

SEPARATOR = r":(?!(?<=[:=][A-Za-z]:)[\\/])"  # of the parts of a name; the colon of a drive is none: policy:C:\runs
GROUP = "borneo.agents"
RANDOM = "random"
HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class Views:
    """Games as their deciding players see them, with the legal actions."""

    ruleset: Ruleset
    games: NDArray[np.void]  # (n,) redacted records
    mask: NDArray[np.bool_]  # (n, actions)
    dice: NDArray[np.uint64]  # (n,) 64 random bits for each decision: the same in a batch of any size

    @property
    def player(self) -> NDArray[np.int8]:
        """(n,): who decides, and whose view it is."""
        player: NDArray[np.int8] = self.games["player"]
        return player

    def observe(self) -> NDArray[np.int8]:
        """(n, length): the observations of the deciding players."""
        return observe(self.ruleset, self.games, self.player)

    def resample(self, rng: np.random.Generator) -> NDArray[np.void]:
        """Complete games, each random among those its player cannot tell from the real one."""
        games: NDArray[np.void] = resample(self.games, self.player, rng)
        return games

    def __len__(self) -> int:
        return len(self.games)


@runtime_checkable
class Agent(Protocol):
    """Whoever decides."""

    def act(self, views: Views) -> NDArray[np.integer[Any]]:
        """An action for each view."""


class Random:
    """Plays any legal action, each with the same chance."""

    def act(self, views: Views) -> NDArray[np.int64]:
        options = views.mask.sum(1).astype(np.uint64)
        nth = ((views.dice & LOW) * options) >> HALF
        action: NDArray[np.int64] = (views.mask.cumsum(1) > nth[:, None]).argmax(1)
        return action


class UnknownAgent(ValueError):
    """A name that no agent has, or arguments it does not take."""


class WrongAnswer(ValueError):
    """What an agent answered is not a legal action for each game it was asked for."""


def known_agents() -> list[str]:
    """The names agents are found by."""
    return sorted({RANDOM, *(point.name for point in entry_points(group=GROUP))})


def find_agent(agent: str | Agent) -> Agent:
    """An agent from its name, such as `random`, `ismcts:budget=500` or `my_bots:Greedy`; an agent is taken as it is."""
    if not isinstance(agent, str):
        if isinstance(agent, type) or not isinstance(agent, Agent):
            raise UnknownAgent(f"an agent is a name or has a method act(views), not {agent!r}")
        return agent
    name, *rest = re.split(SEPARATOR, agent)
    points = entry_points(group=GROUP, name=name)
    if name == RANDOM:
        kind: Any = Random
    elif points:
        kind = next(iter(points)).load()
    elif rest:
        kind = _load(agent, name, rest.pop(0))
    else:
        raise UnknownAgent(
            f"there is no agent {agent!r}; known are: {', '.join(known_agents())}, or package.module:Class"
        )
    return _make(agent, kind, rest)


def _load(agent: str, module: str, name: str) -> Any:
    """A class from a module, which may lie in the current folder."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        known = ", ".join(known_agents())
        raise UnknownAgent(
            f"there is no agent {agent!r}: {error}; known are: {known}, or package.module:Class"
        ) from None
    except AttributeError:
        raise UnknownAgent(f"there is no agent {agent!r}: the module {module} has no {name}") from None


def _make(agent: str, kind: Any, arguments: Sequence[str]) -> Agent:
    """An agent of a class with the arguments given in its name: `key=value`, or a value alone."""
    values = [_value(argument) for argument in arguments if "=" not in argument]
    pairs = [argument.split("=", 1) for argument in arguments if "=" in argument]
    keywords = {key: _value(value) for key, value in pairs}
    try:
        inspect.signature(kind).bind(*values, **keywords)
    except TypeError as error:
        takes = ", ".join(inspect.signature(kind).parameters) or "none"
        raise UnknownAgent(f"{agent!r}: {error}; its arguments are: {takes}") from None
    made = kind(*values, **keywords)
    if not isinstance(made, Agent):
        raise UnknownAgent(f"{agent!r} is no agent: it has no method act(views)")
    return made


def _value(text: str) -> Any:
    """A number, True, False or None; anything else is a text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def seat_names(agents: str, players: int) -> list[str]:
    """The agent of every seat from `random` (all seats) or `random,random,random` (one per seat)."""
    names = [name.strip() for name in agents.split(",")]
    if len(names) == 1:
        return names * players
    if len(names) != players:
        raise UnknownAgent(f"{len(names)} agents for {players} players; give one name, or one per seat")
    return names


def find_opponents(opponents: Any, players: int) -> list[Agent]:
    """The opponents of one seat, in turn order from its left: one for all, or one for each.

    A name for all makes an agent for each seat, so that none can remember what another's hand was. An object for all is
    one agent with all these hands, as the caller wishes.
    """
    if isinstance(opponents, str):
        return [find_agent(opponents) for _ in range(players - 1)]
    if not isinstance(opponents, Sequence):
        return [find_agent(opponents)] * (players - 1)
    if len(opponents) != players - 1:
        raise UnknownAgent(f"{len(opponents)} opponents given; a game of {players} has {players - 1}")
    return [find_agent(opponent) for opponent in opponents]


def ask(
    batch: Batch, rows: NDArray[np.intp], agents: Sequence[Agent], seated: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """An action for each of some games; `seated` (games, players) says which agent sits where.

    Each agent is asked once, for all its games together. WrongAnswer names one that answers with anything but a legal
    action for each of them; an error of its own gets a note with its name.
    """
    actions = np.empty(len(rows), np.int64)
    who = seated[rows, batch.player[rows]]
    for number, agent in enumerate(agents):
        mine = np.flatnonzero(who == number)
        if len(mine):
            name = f"agent {number + 1} of {len(agents)} ({type(agent).__name__})"
            try:
                answer = agent.act(Views(batch.ruleset, *batch.view(rows[mine])))
            except Exception as error:
                error.add_note(f"{name} raised this when it was asked for {len(mine)} games")
                raise
            actions[mine] = _legal(batch, rows[mine], answer, name)
    return actions


def _legal(batch: Batch, rows: NDArray[np.intp], answer: Any, name: str) -> NDArray[np.int64]:
    """An agent's answer, if it is a legal action for each game."""
    try:
        actions = np.asarray(answer)
    except ValueError:
        raise WrongAnswer(f"{name} answered {answer!r}, which is no array") from None
    if actions.shape != rows.shape or actions.dtype.kind not in "iu":
        raise WrongAnswer(f"{name} answered with {actions.dtype} of shape {actions.shape} for {len(rows)} games")
    actions = actions.astype(np.int64)
    known = (actions >= 0) & (actions < batch.mask.shape[1])
    wrong = np.flatnonzero(~known | ~batch.mask[rows, np.where(known, actions, 0)])
    if len(wrong):
        row, action = int(rows[wrong[0]]), int(actions[wrong[0]])
        move, legal = batch.actions.text(action, batch.phase_name(row)), ", ".join(batch.legal_moves(row))
        raise WrongAnswer(f"{name} answered {move!r} in game {row}, which is not legal; legal are: {legal}")
    return actions
