"""Agents by name: what is found, how arguments are read, and what is refused; and the agents the engine asks."""

import gc
import re
import sys
from pathlib import Path
from types import FunctionType, ModuleType

import numpy as np
import pytest
from borneo_agents.arena import ArenaConfig
from borneo_agents.arena.design.tournament import tournament
from borneo_agents.arena.play.match import Match

import borneo_env
from borneo_env import GAME, Batch, Ruleset, Seats, redact
from borneo_env.agent import (
    Random,
    UnknownAgent,
    Views,
    ask,
    check_agents,
    find_agent,
    find_opponents,
    known_agents,
    seat_names,
)

MY_BOTS = """
import abc

class Greedy:
    def __init__(self, depth=1, name="greedy"):
        self.depth, self.name = depth, name

    def act(self, views):
        return views.mask.argmax(1)


class Lazy:
    pass


class Broken:
    def __init__(self):
        raise KeyError("depth")

    def act(self, views):
        return views.mask.argmax(1)


class Wrong(Broken):
    def __init__(self):
        raise ValueError("a mistake of its own")


class Needy(Broken):
    def __init__(self, needed):
        pass


class Abstract(abc.ABC):
    @abc.abstractmethod
    def act(self, views):
        pass


class Number(Broken):
    def __new__(cls):
        return 7


class Unsure(Greedy):
    def check_ruleset(self, ruleset):
        raise RuntimeError("which?")


def factory():
    raise AssertionError("called")
"""

BAD_MODULES = {
    "my_bot_leaves": "raise SystemExit(0)",
    "my_bot_fails": "1 / 0",
    "my_bot_lacks": "import my_bot_nowhere",
    "my_bot_guesses": "def __getattr__(name): raise RuntimeError('no \x1b[2J')",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a bot of one's own, and we are in it."""
    for name, text in {"my_bots": MY_BOTS, **BAD_MODULES}.items():
        (tmp_path / f"{name}.py").write_text(text)
    known_agents()  # they are looked up once, and not in that path
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["/nowhere"])
    monkeypatch.delitem(__import__("sys").modules, "my_bots", raising=False)


def test_agents_are_found_by_name():
    assert isinstance(find_agent("random"), Random)
    assert "random" in known_agents()


def test_a_class_in_the_current_folder_is_found_with_its_arguments(here):
    agent = find_agent("my_bots:Greedy:depth=3:name=bold")
    assert (agent.depth, agent.name) == (3, "bold")
    agent = find_agent("my_bots:Greedy:7")
    assert (agent.depth, agent.name) == (7, "greedy")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("genius", "no agent 'genius'; known are: .*random.*, or package.module:Class"),
        ("Marchant", r"no agent 'Marchant', did you mean 'merchant'\?; known are: "),
        ("nowhere:Genius", "no agent 'nowhere:Genius': No module named 'nowhere'; known are: .*random"),
        ("my_bots:Genius", "the module my_bots has no Genius$"),
        ("my_bots:greedy", r"the module my_bots has no greedy, did you mean 'Greedy'\?$"),
        ("my_bots:Greedy:speed=3", "'my_bots:Greedy:speed=3': no argument 'speed'; its arguments are: depth, name"),
        ("my_bots:Greedy:dept=3", r"no argument 'dept', did you mean 'depth'\?; its arguments are: depth, name"),
        ("my_bots:Needy", "missing a required argument: 'needed'; its arguments are: needed"),
        ("my_bots:Wrong", "'my_bots:Wrong' cannot be made: ValueError: a mistake of its own"),
        ("my_bots:Lazy", r"'my_bots:Lazy' is no agent: it has no method act\(views\)"),
        ("random:3", "too many positional arguments; its arguments are: none"),
        ("my_bots:factory", "'my_bots:factory' is no agent: it is no class"),
        ("my_bots:Broken", "'my_bots:Broken' cannot be made: KeyError: 'depth'"),
        ("my_bot_leaves:Bot", "'my_bot_leaves:Bot' cannot be imported: SystemExit: 0"),
        ("my_bot_fails:Bot", "cannot be imported: ZeroDivisionError"),
        ("my_bot_lacks:Bot", "'my_bot_lacks:Bot' cannot be imported: .*No module named 'my_bot_nowhere'"),
        ("my_bot_guesses:Bot", r"cannot be imported: RuntimeError: no \\x1b\[2J\n"),
        ("sys:exit", "'sys:exit' is no agent: it is no class"),
        ("os:mkdir:made", "it is no class"),
        ("borneo_env.agent:Agent", r"'borneo_env.agent:Agent' is no agent but a form for some: name a class that has"),
        ("my_bots:Abstract", "is no agent but a form for some"),
        ("my_bots:Number", "'my_bots:Number' is no agent: making one gives 7"),
        (".my_bots:Greedy", "it is no package.module:Class; known are: "),
        (":", "it is no package.module:Class"),
        ("", "no agent ''"),
        ("x" * 5000, r"no agent 'xxx.*\.\.\.x*': a name has at most 1000 characters"),
        (Random, r"a name or has a method act\(views\), not <class"),
        (5, r"a name or has a method act\(views\), not 5"),
    ],
)
def test_what_is_no_agent_is_refused_with_a_reason(here, name, reason):
    with pytest.raises(UnknownAgent, match=reason) as caught:
        find_agent(name)
    assert str(caught.value).isprintable()
    if "form for some" in reason:
        assert not hasattr(caught.value, "__notes__")  # a sentence, and no traceback
    assert not Path("made").exists()


def test_an_agent_that_fails_to_say_what_it_can_play_is_named(here):
    with pytest.raises(UnknownAgent, match=r"'unsure' does not say whether it can play: RuntimeError: which\?"):
        check_agents({"unsure": find_agent("my_bots:Unsure")}, Ruleset())


@pytest.mark.parametrize("name", ["my_bots:Greedy", "my_bot_leaves:Bot", "os:mkdir:made", "genius", "", "human"])
def test_a_name_that_is_not_trusted_must_be_registered(here, name):
    with pytest.raises(UnknownAgent, match=r"there is no registered agent .*, and a file may name no other") as caught:
        find_agent(name, trusted=False)
    assert re.search(r"known are: .*\brandom\b", str(caught.value))
    assert not Path("made").exists()
    assert not any(module in sys.modules for module in ("my_bots", "my_bot_leaves"))


def test_registered_agents_and_agents_themselves_need_no_trust():
    assert isinstance(find_agent("random", trusted=False), Random)
    assert find_agent("policy:budget=7", trusted=False)._budget == 7
    agent = Random()
    assert find_agent(agent, trusted=False) is agent
    with pytest.raises(UnknownAgent, match="its arguments are: none"):
        find_agent("random:3", trusted=False)


def test_seats_get_one_name_for_all_or_one_each():
    assert seat_names("random", 3) == ["random"] * 3
    assert seat_names("a, b,c", 3) == ["a", "b", "c"]
    with pytest.raises(UnknownAgent, match="2 agents for 3 players"):
        seat_names("a,b", 3)


def test_one_opponent_for_all_is_one_agent():
    agent = Random()
    assert find_opponents(agent, 4) == [agent] * 3


def test_a_random_agent_plays_every_legal_action_equally_often():
    batch = borneo_env.Batch(1, seed=1)
    mask = batch.mask[0]
    many = 40_000
    dice = np.random.default_rng(1).integers(2**64, size=many, dtype=np.uint64)
    games = np.repeat(batch.games, many)
    actions = Random().act(Views(batch.ruleset, games, np.tile(mask, (many, 1)), dice))
    counts = np.bincount(actions, minlength=len(mask))
    assert not counts[~mask].any()
    share = counts[mask] / many
    assert np.abs(share - 1 / mask.sum()).max() < 5 * np.sqrt(1 / mask.sum() / many)


class Remembering:
    def __init__(self):
        self.seen = []

    def act(self, views):
        self.seen.append(views)
        return views.mask.argmax(1)


def test_each_agent_is_asked_once_for_all_its_games():
    batch = borneo_env.Batch(12, players=3, seed=1)
    batch.play_random(40)
    first, second = Remembering(), Remembering()
    seated = np.array([[0, 1, 1]] * 6 + [[1, 1, 0]] * 6)
    rows = np.arange(1, 12)
    actions = ask(batch, rows, [first, second], seated)
    assert (actions == batch.mask[rows].argmax(1)).all()
    assert len(first.seen) == len(second.seen) == 1
    theirs = (batch.player == 0) & (np.arange(12) < 6) | (batch.player == 2) & (np.arange(12) >= 6)
    assert len(first.seen[0]) == theirs[1:].sum() and len(first.seen[0]) + len(second.seen[0]) == 11
    assert (first.seen[0].player == batch.player[rows][theirs[1:]]).all()


# What an agent is handed tells nothing hidden: the real games cannot be reached from it


def reachable(thing):
    """Everything that can be reached from a thing: what it refers to, and the memory that arrays are views of.

    Modules and classes lead to the whole program; they are left out, and of functions all but what they enclose.
    """
    found, waiting = {}, [thing]
    while waiting:
        thing = waiting.pop()
        if id(thing) not in found and not isinstance(thing, ModuleType | type):
            found[id(thing)] = thing
            if isinstance(thing, FunctionType):
                waiting += [thing.__closure__, thing.__defaults__, thing.__kwdefaults__]
            elif isinstance(thing, np.ndarray):
                waiting.append(thing.base)
            else:
                waiting += [*gc.get_referents(thing), getattr(thing, "obj", None)]  # obj: of a memoryview
    return list(found.values())


def leaks(views, batch):
    """What an agent that is asked for these views could see or change of a batch, in words."""
    things = reachable(views)
    arrays = [thing for thing in things if isinstance(thing, np.ndarray)]
    theirs = [array for array in vars(batch).values() if isinstance(array, np.ndarray) and array is not batch._box]
    found = {f"a {type(thing).__name__}" for thing in things if isinstance(thing, Batch | Seats | Match)}
    if any(np.shares_memory(array, real) for array in arrays for real in theirs):
        found.add("memory of the batch")
    for games in (np.atleast_1d(array) for array in arrays if array.dtype == GAME):
        if games.tobytes() != redact(games, games["player"]).tobytes():
            found.add("secrets")
    return found


class Looking:
    """Plays the first legal action, and keeps the views it got."""

    def __init__(self):
        self.kept = []

    def act(self, views):
        self.kept.append(views)
        return views.mask.argmax(1)


class Scribbling:
    """Plays the first legal action, after it has written over everything it was given."""

    def act(self, views):
        actions = views.mask.argmax(1)
        for array in (views.games.view(np.uint8), views.mask, views.dice):
            array[...] = 1
        return actions


def opponents_of_a_seat(agent):
    """A batch in which the agent was asked for the opponents of one seat."""
    seats = Seats(6, Ruleset(players=3), opponents=agent, seat=0, seed=1)
    for _ in range(30):
        seats.step(seats.mask.argmax(1))
    return seats.batch


def a_match(agent):
    """A batch in which the agent played in the arena."""
    settings = tournament(["agent", "random"], ArenaConfig(ruleset=Ruleset(players=3), games=12, seed=1, time_limit=60))
    match = Match(settings, range(2), [agent, Random()])
    assert not match.play().faults
    return match.batch


everywhere = pytest.mark.parametrize("games_with", [opponents_of_a_seat, a_match])


@everywhere
def test_the_real_games_cannot_be_reached_from_the_views(games_with):
    agent = Looking()
    batch = games_with(agent)
    assert len(agent.kept) > 30
    for views in agent.kept:
        assert not leaks(views, batch)


@everywhere
def test_writing_into_the_views_changes_nothing(games_with):
    assert games_with(Scribbling()).games.tobytes() == games_with(Looking()).games.tobytes()
