"""The catalogue of agents; extras that are missing, told at once with the remedy; bots that raise in any command."""

import json
import re
import sys

import pytest

from borneo_env import cli
from borneo_env.agent import known_agents, program_agents
from borneo_env.catalogue import REQUIRED, Argument, catalogue, entry

MY_BOT = '''
class Base:
    """A base.

    Arguments:
        depth: how far it looks.
    """


class MyBot(Base):
    """Looks ahead,
    and around.

    Arguments:
        depth: how far it looks ahead, in turns that
            begin.

    More words: that are no argument.
    """

    def __init__(self, depth, width=3, **more):
        raise AssertionError("it is not made")

    def act(self, views): ...
'''


def run(capsys, monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["borneo", *words])
    with pytest.raises(SystemExit) as left:
        cli.main()
    return left.value.code, *capsys.readouterr()


def test_every_agent_has_an_idea_and_every_argument_a_meaning():
    found = catalogue()
    assert [one.name for one in found] == [*known_agents(), *program_agents()]
    for one in found:
        assert re.fullmatch(r"[A-Z].*\.", one.idea), one
        assert all(argument.meaning for argument in one.arguments), one
    assert [argument.name for argument in entry("policy").arguments] == ["path", "sample", "budget", "milliseconds"]


def test_names_by_strength_say_whom_they_stand_for():
    ideas = {one.name: one.idea for one in catalogue()}
    assert [ideas[name] for name in ("easy", "hard")] == ["Another name for climber.", "Another name for ismcts."]
    assert "Another name" not in ideas["climber"]


def test_a_file_in_place_of_a_bot_is_answered_with_how_bots_are_named(capsys, monkeypatch, tmp_path):
    (tmp_path / "described.py").write_text(MY_BOT)
    monkeypatch.chdir(tmp_path)
    for name in ("described", "described.py"):
        _, _, err = run(capsys, monkeypatch, "agents", name)
        assert "a bot in described.py is named with its class: described:MyBot" in err
    for name in ("nowhere", ".", ""):
        assert "known are: climber" in run(capsys, monkeypatch, "agents", name)[2]


def test_a_bot_of_ones_own_is_described_and_not_made(tmp_path, monkeypatch):
    (tmp_path / "described.py").write_text(MY_BOT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    found = entry("described:MyBot")
    assert found.idea == "Looks ahead, and around."
    assert found.arguments == (
        Argument("depth", REQUIRED, "how far it looks ahead, in turns that begin."),
        Argument("width", "3", ""),
    )


def test_the_command_lists_them(capsys, monkeypatch):
    _, out, _ = run(capsys, monkeypatch, "agents")
    assert "ismcts\n  Searches a tree" in out
    assert "  budget=1000  playouts for each decision.\n" in out
    _, out, _ = run(capsys, monkeypatch, "agents", "ismcts", "--json")
    (ismcts,) = json.loads(out)
    assert ismcts["arguments"][0] == {"name": "budget", "default": "1000", "meaning": "playouts for each decision."}
    status, out, err = run(capsys, monkeypatch, "agents", "genius")
    assert (status, out) == (2, "") and "there is no agent 'genius'" in err


def test_a_vector_environment_without_its_extra_says_how_to_get_it(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("stable_baselines3")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    monkeypatch.delitem(sys.modules, "borneo_train.vec_env", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"training needs stable_baselines3.*: pip install '\.\[train\]'"):
        import borneo_train.vec_env  # noqa: F401


def test_what_a_bot_raises_in_another_command_is_told_from_its_first_line_on(capsys, monkeypatch, tmp_path):
    (tmp_path / "raising.py").write_text("class MyBot:\n    def act(self, views):\n        return {}['x']\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    status, out, err = run(capsys, monkeypatch, "record", "--agents", "raising:MyBot", "--players", "3")
    assert (status, out) == (2, "")
    first, _, second, *_, last = err.splitlines()
    assert (first, second) == ("error: KeyError: 'x'", '  File "raising.py", line 3, in act')
    assert last == "agent 1 of 3 (MyBot) raised this when it was asked for 1 game"
