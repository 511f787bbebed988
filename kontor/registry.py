"""Agents by name.

Names are those of entry points: `kontor.agents` has agents for any game, and each game has a group of its own, such as
`kuhn.agents`. `package.module:Class` names any other class, in the current folder too. Arguments follow after colons:
`ismcts:budget=500`. Finding an agent runs its code, so a name that stands in a file must be registered
(`trusted=False`): its arguments are numbers and texts, and `policy:PATH` reads a model, which is checked, wherever it
lies. Agents that run a program which their arguments name have groups of their own (`kontor.programs`,
`kuhn.programs`): they have short names, but no file may name them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from kontor.agent import Agent, Random
from kontor.files import in_short, on_one_line
from kontor.ruleset import Ruleset
from kontor.traces import current_folder, traceback_of

SEPARATOR = r":(?!(?<=[:=][A-Za-z]:)[\\/])"  # of the parts of a name; the colon of a drive is none: policy:C:\runs
ANY_GAME = "kontor"
RANDOM = "random"
LONGEST_NAME = 1000  # characters, with all arguments


class UnknownAgent(ValueError):
    """A name that no agent has, or arguments it does not take."""


class Registry:
    """The agents that play a game, by their names: its own, and those that play any game."""

    def __init__(self, game: str) -> None:
        self.game = game

    def known(self) -> list[str]:
        """The names agents are found by, in files and in requests too."""
        return sorted({RANDOM, *self._agents})

    def programs(self) -> list[str]:
        """The names of agents that run a program which their arguments name. In a file they are refused."""
        return sorted(self._programs.keys() - set(self.known()))

    @property
    def _agents(self) -> dict[str, EntryPoint]:
        return _registered(ANY_GAME, "agents") | _registered(self.game, "agents")

    @property
    def _programs(self) -> dict[str, EntryPoint]:
        return _registered(ANY_GAME, "programs") | _registered(self.game, "programs")

    def is_registered(self, agent: str) -> bool:
        """Whether a name, with its arguments, is that of an installed agent."""
        return _parts(agent)[0] in self.known()

    def find(self, agent: str | Agent, *, trusted: bool = True) -> Agent:
        """An agent from its name, such as `random`, `ismcts:budget=500` or `my_bots:Greedy`; an agent is taken as it
        is.

        A name from a file is not `trusted`: only registered agents are found by it.
        """
        if not isinstance(agent, str):
            if isinstance(agent, type) or not isinstance(agent, Agent):
                raise UnknownAgent(f"an agent is a name or has a method act(views), not {in_short(agent)}")
            return agent
        if not trusted:
            self.check_registered(agent)
        kind, arguments = self.class_of(agent)
        ours = _parts(agent)[0] in (*self.known(), *self.programs())  # they say what is wrong with their arguments
        return _make(agent, kind, arguments, ours)

    def class_of(self, agent: str) -> tuple[type[Agent], list[str]]:
        """The class of an agent by its name, and the arguments that are given in it."""
        name, *rest = _parts(agent)
        point = self._agents.get(name) or self._programs.get(name)
        if name == RANDOM:
            kind: Any = Random
        elif point:
            with _code_of(agent, "cannot be imported"):
                kind = point.load()
        elif rest:
            kind = _load(agent, name, rest.pop(0), self._told())
        else:
            near = _near(name, (*self.known(), *self.programs()))
            raise UnknownAgent(f"there is no agent {in_short(agent)}{near}; {_own_file(name) or self._told()}")
        return _checked(agent, kind), rest

    def check_registered(self, agent: str) -> None:
        """Refuse a name, with its arguments, that would import something else than a registered agent; imports
        nothing."""
        if not self.is_registered(agent):
            raise UnknownAgent(
                f"there is no registered agent {in_short(agent)}, and a file may name no other, whose code would be "
                f"run; known are: {', '.join(self.known())}"
            )

    def opponents(self, opponents: Any, players: int) -> list[Agent]:
        """The opponents of one seat, in turn order from its left: one for all, or one for each.

        A name for all makes an agent for each seat, so that none can remember what another's hand was. An object for
        all is one agent with all these hands, as the caller wishes.
        """
        if isinstance(opponents, str):
            return [self.find(opponents) for _ in range(players - 1)]
        if not isinstance(opponents, Sequence):
            return [self.find(opponents)] * (players - 1)
        if len(opponents) != players - 1:
            raise UnknownAgent(f"{len(opponents)} opponents given; a game of {players} has {players - 1}")
        return [self.find(opponent) for opponent in opponents]

    def _told(self) -> str:
        return f"known are: {', '.join((*self.known(), *self.programs()))}, or package.module:Class"


@cache
def agents_of(game: str) -> Registry:
    """The agents that play a game, by the game's name."""
    return Registry(game)


@cache
def _registered(game: str, group: str) -> dict[str, EntryPoint]:
    """The registered agents of a group, looked up once: that takes longer than making most of them."""
    return {point.name: point for point in entry_points(group=f"{game}.{group}")}


def _parts(agent: str) -> list[str]:
    if len(agent) > LONGEST_NAME:
        raise UnknownAgent(f"there is no agent {in_short(agent)}: a name has at most {LONGEST_NAME} characters")
    return re.split(SEPARATOR, agent)


def _own_file(name: str) -> str:
    """How a bot of one's own is named, if this is its file; else nothing."""
    file = Path(name).with_suffix(".py") if name.isprintable() and Path(name).name else Path()
    return f"a bot in {file.name} is named with its class: {file.stem}:MyBot" if file.is_file() else ""


def _load(agent: str, module: str, name: str, known: str) -> Any:
    """A class from a module, which may lie in the current folder."""
    if not all(part.isidentifier() for part in (*module.split("."), name)):
        raise UnknownAgent(f"there is no agent {in_short(agent)}: it is no package.module:Class; {known}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    with _code_of(agent, "cannot be imported"):
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if not f"{module}.".startswith(f"{error.name}."):  # it imports another one that is missing
                raise
            missing = on_one_line(str(error))
            raise UnknownAgent(f"there is no agent {in_short(agent)}: {missing}; {known}") from None
        kind = getattr(found, name, None)
        classes = [one for one, held in vars(found).items() if isinstance(held, type)]
    if kind is None:
        near = _near(name, classes)
        raise UnknownAgent(f"there is no agent {in_short(agent)}: the module {module} has no {name}{near}")
    return kind


@contextmanager
def _code_of(agent: str, deed: str, told: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Has code of an agent run, which may do anything, leave the program too; what is `told` well enough is raised."""
    clear: tuple[type[Exception], ...] = (UnknownAgent, *told)
    try:
        yield
    except clear:
        raise
    except (Exception, SystemExit) as error:
        unknown = UnknownAgent(f"the agent {in_short(agent)} {deed}: {on_one_line(f'{type(error).__name__}: {error}')}")
        unknown.add_note(traceback_of(error, current_folder()))
        raise unknown from error


def _make(agent: str, kind: type[Agent], arguments: Sequence[str], ours: bool) -> Agent:
    """An agent of a class with the arguments given in its name: `key=value`, or a value alone."""
    values = [_value(argument) for argument in arguments if "=" not in argument]
    pairs = [argument.split("=", 1) for argument in arguments if "=" in argument]
    keywords = {key: _value(value) for key, value in pairs}
    with _code_of(agent, "does not say which arguments it takes"):
        signature = inspect.signature(kind)
    try:
        _check_names(list(keywords), signature)
        signature.bind(*values, **keywords)
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "none"
        raise UnknownAgent(f"{in_short(agent)}: {on_one_line(str(error))}; its arguments are: {takes}") from None
    with _code_of(agent, "cannot be made", (ValueError, OSError) if ours else ()):
        made = kind(*values, **keywords)
        if not isinstance(made, Agent):  # its __new__ may give anything
            raise UnknownAgent(f"{in_short(agent)} is no agent: making one gives {in_short(made)}")
    return made


def _check_names(given: list[str], signature: inspect.Signature) -> None:
    """Refuse an argument that is not known, before one is missed that was only misspelt."""
    takes = signature.parameters.values()
    names = [one.name for one in takes if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None and not any(one.kind is one.VAR_KEYWORD for one in takes):
        raise TypeError(f"no argument {in_short(unknown)}{_near(unknown, names)}")


def _near(written: str, names: Iterable[str]) -> str:
    """The name that was probably meant, as an end to a sentence; nothing if none is alike."""
    alike = {name.casefold(): name for name in names}
    found = get_close_matches(written.casefold(), alike, 1, cutoff=0.75)  # clever is no climber
    return f", did you mean {in_short(alike[found[0]])}?" if found else ""


def _checked(agent: str, kind: Any) -> type[Agent]:
    """A class with the method of an agent: nothing else is ever called."""
    if not isinstance(kind, type):
        raise UnknownAgent(f"{in_short(agent)} is no agent: it is no class")
    with _code_of(agent, "cannot be imported"):
        act = getattr(kind, "act", None)
    if not callable(act):
        raise UnknownAgent(f"{in_short(agent)} is no agent: it has no method act(views)")
    if act is Agent.act or inspect.isabstract(kind) or getattr(kind, "_is_protocol", False):
        raise UnknownAgent(
            f"{in_short(agent)} is no agent but a form for some: name a class that has its own act(views)"
        )
    return kind


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


def check_agents(agents: Mapping[str, Agent], ruleset: Ruleset) -> None:
    """Refuse an agent that cannot play such a game, before it is dealt: a policy was trained for some rulesets."""
    for name, agent in agents.items():
        with _code_of(name, "does not say whether it can play", (ValueError,)):
            try:
                if hasattr(agent, "check_ruleset"):
                    agent.check_ruleset(ruleset)
            except ValueError as error:
                error.args = (f"{in_short(name)} cannot play: {error}",)  # of whatever kind it is
                raise
