"""The Agent protocol, and agents by name.

An agent decides for a batch: `act(views)` gets the games as their deciding players see them, and returns an action for
each. What it is handed tells nothing hidden, and writing into it changes nothing. That is no wall against a hostile
agent: it runs in this process and can reach its memory.

Names are those of the entry-point group `borneo.agents`; `package.module:Class` names any other class, in the current
folder too. Arguments follow after colons: `ismcts:budget=500`. Finding an agent runs its code, so a name that stands in
a file must be registered (`trusted=False`): its arguments are numbers and texts, and `policy:PATH` reads a model, which
is checked, wherever it lies. Agents that run a program which their arguments name have an entry-point group of their
own, `borneo.programs`: they have short names, but no file may name them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.actions import action_table
from borneo_env.engine.batch import Batch
from borneo_env.engine.games import observe
from borneo_env.engine.hiding import resample
from borneo_env.engine.state import GAME, make_box, slots_of
from borneo_env.ruleset import Ruleset
from borneo_env.traces import OF_AGENT, current_folder, traceback_of
from kontor.compile import attributes
from kontor.engine.arguments import whole_numbers
from kontor.files import counted, in_short, on_one_line
from kontor.templates.dice import HALF, LOW

SEPARATOR = r":(?!(?<=[:=][A-Za-z]:)[\\/])"  # of the parts of a name; the colon of a drive is none: policy:C:\runs
GROUP = "borneo.agents"
PROGRAMS = "borneo.programs"  # agents that run a program: only for people, who may run what they like
RANDOM = "random"
LONGEST_NAME = 1000  # characters, with all arguments


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

    def check(self) -> None:
        """Refuse views that are none, in one clear sentence."""
        ruleset, size = self.ruleset, len(self)
        shape = (size, len(action_table(slots_of(ruleset))))
        if (self.games.dtype, self.mask.shape, self.dice.shape) != (GAME, shape, (size,)):
            raise ValueError(
                f"views of {size} games of {ruleset.name} have masks of shape {shape}, not {self.mask.shape}, and dice "
                f"for each, not of shape {self.dice.shape}: give views the ruleset of their batch"
            )
        if (self.player.astype(np.uint8) >= ruleset.players).any():  # -1, for nobody, becomes the highest
            raise ValueError(f"nobody of {ruleset.name} decides in one of the views: it is over, or of another ruleset")

    def arrays(self) -> tuple[Any, NDArray[Any], NDArray[np.uint64]]:
        """The cards, games and dice for compiled rules, which check nothing."""
        self.check()
        games = attributes(np.ascontiguousarray(self.games))
        return attributes(make_box(self.ruleset)), games, np.ascontiguousarray(self.dice)

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

    memoryless = True

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
    """The names agents are found by, in files and in requests too."""
    return sorted({RANDOM, *_registered(GROUP).names})


def program_agents() -> list[str]:
    """The names of agents that run a program which their arguments name. In a file they are refused."""
    return sorted(_registered(PROGRAMS).names - set(known_agents()))


def is_registered(agent: str) -> bool:
    """Whether a name, with its arguments, is that of an installed agent."""
    return _parts(agent)[0] in known_agents()


@cache
def _registered(group: str) -> EntryPoints:
    """The registered agents of a group, looked up once: that takes longer than making most of them."""
    return entry_points(group=group)


def find_agent(agent: str | Agent, *, trusted: bool = True) -> Agent:
    """An agent from its name, such as `random`, `ismcts:budget=500` or `my_bots:Greedy`; an agent is taken as it is.

    A name from a file is not `trusted`: only registered agents are found by it.
    """
    if not isinstance(agent, str):
        if isinstance(agent, type) or not isinstance(agent, Agent):
            raise UnknownAgent(f"an agent is a name or has a method act(views), not {in_short(agent)}")
        return agent
    if not trusted:
        check_registered(agent)
    kind, arguments = agent_class(agent)
    return _make(agent, kind, arguments)


def agent_class(agent: str) -> tuple[type[Agent], list[str]]:
    """The class of an agent by its name, and the arguments that are given in it."""
    name, *rest = _parts(agent)
    points = _registered(GROUP).select(name=name) or _registered(PROGRAMS).select(name=name)
    if name == RANDOM:
        kind: Any = Random
    elif points:
        with _code_of(agent, "cannot be imported"):
            kind = next(iter(points)).load()
    elif rest:
        kind = _load(agent, name, rest.pop(0))
    else:
        near = _near(name, (*known_agents(), *program_agents()))
        raise UnknownAgent(f"there is no agent {in_short(agent)}{near}; {_own_file(name) or _known()}")
    return _checked(agent, kind), rest


def check_registered(agent: str) -> None:
    """Refuse a name, with its arguments, that would import something else than a registered agent; imports nothing."""
    if not is_registered(agent):
        raise UnknownAgent(
            f"there is no registered agent {in_short(agent)}, and a file may name no other, whose code would be run; "
            f"known are: {', '.join(known_agents())}"
        )


def _parts(agent: str) -> list[str]:
    if len(agent) > LONGEST_NAME:
        raise UnknownAgent(f"there is no agent {in_short(agent)}: a name has at most {LONGEST_NAME} characters")
    return re.split(SEPARATOR, agent)


def _known() -> str:
    return f"known are: {', '.join((*known_agents(), *program_agents()))}, or package.module:Class"


def _own_file(name: str) -> str:
    """How a bot of one's own is named, if this is its file; else nothing."""
    file = Path(name).with_suffix(".py") if name.isprintable() and Path(name).name else Path()
    return f"a bot in {file.name} is named with its class: {file.stem}:MyBot" if file.is_file() else ""


def _load(agent: str, module: str, name: str) -> Any:
    """A class from a module, which may lie in the current folder."""
    if not all(part.isidentifier() for part in (*module.split("."), name)):
        raise UnknownAgent(f"there is no agent {in_short(agent)}: it is no package.module:Class; {_known()}")
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
            raise UnknownAgent(f"there is no agent {in_short(agent)}: {missing}; {_known()}") from None
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


def _make(agent: str, kind: type[Agent], arguments: Sequence[str]) -> Agent:
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
    ours = _parts(agent)[0] in (*known_agents(), *program_agents())  # they say what is wrong with their arguments
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
                error.add_note(f"{name} raised this when it was asked for {counted(len(mine), 'game')}")
                if not type(error).__module__.startswith("borneo_"):  # whose errors have a remedy in them
                    setattr(error, OF_AGENT, True)
                raise
            actions[mine] = _legal(batch, rows[mine], answer, name)
    return actions


def are_legal(mask: NDArray[np.bool_], actions: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Which of some whole numbers, one for each row of the masks, are legal actions."""
    inside = (actions >= 0) & (actions < mask.shape[1])
    legal: NDArray[np.bool_] = inside & mask[np.arange(len(mask)), np.where(inside, actions, 0)]
    return legal


def _legal(batch: Batch, rows: NDArray[np.intp], answer: Any, name: str) -> NDArray[np.int64]:
    """An agent's answer, if it is a legal action for each game."""
    try:
        actions = whole_numbers(answer)
    except ValueError:
        raise WrongAnswer(f"{name} answered {answer!r}, which is no array") from None
    if actions.shape != rows.shape or actions.dtype != np.int64:
        raise WrongAnswer(
            f"{name} answered with {actions.dtype} of shape {actions.shape} for {counted(len(rows), 'game')}"
        )
    wrong = np.flatnonzero(~are_legal(batch.mask[rows], actions))
    if len(wrong):
        row, action = int(rows[wrong[0]]), int(actions[wrong[0]])
        move, legal = batch.actions.text(action, batch.phase_name(row)), ", ".join(batch.legal_moves(row))
        raise WrongAnswer(f"{name} answered {move!r} in game {row}, which is not legal; legal are: {legal}")
    return actions
