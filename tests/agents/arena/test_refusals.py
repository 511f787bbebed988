"""What an arena refuses before the first game, each time with what is wrong and the remedy."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest
from arena_games import BOTS, TINY, First, Last, here
from borneo_agents.arena import ArenaConfig, play_arena
from borneo_agents.arena.design.config import TournamentError
from borneo_agents.arena.store.folder import FolderError

from borneo_env.agent import UnknownAgent
from borneo_env.ruleset import Ruleset

TWO = ["random", First()]
NO_TOURNAMENTS = [
    (["random"], {}, "two agents at least"),
    (["random", "nobody"], {}, "no agent 'nobody'"),
    (["random", "random"], {}, "random is there twice; results could not tell the two apart"),
    *(({"random": "random", name: First()}, {}, "printable text") for name in ("", " ", "a\nb", "\x1b[31m", "\ud800")),
    (TWO, {"lineups": "fair"}, "use one of round-robin, one-vs, challenge, mixed"),
    (TWO, {"games": 0}, "1 or more"),
    (TWO, {"chunk": 0}, "a chunk has 1 game or more"),
    (TWO, {"time_limit": 0}, "above 0"),
    (TWO, {"jobs": -1}, "from 0"),
    (TWO, {"seed": -1}, "a seed is"),
    (TWO, {"effect": 0.5}, "a share between 0 and 0.5"),
    (TWO, {"alpha": 0}, "the chance of a wrong decision"),
    (TWO, {"records": True}, "need a folder: give `out`"),
    (TWO, {"debug": True, "out": "kept"}, "keeps no games: leave `out` away"),
    (TWO, {"cluster": "local"}, "a cluster plays agents by their names"),
    (TWO, {"isolate": True}, "give their names"),
    (TWO, {"until_decided": ("random", "Last")}, "two different agents of random, First"),
    (TWO, {"until_decided": ("random", "random")}, "two different agents"),
    (TWO, {"game": 3}, "there is no argument 'game'"),
    (TWO, {"ruleset": Ruleset()}, "give one ruleset, not two"),
]


@pytest.mark.parametrize(("agents", "settings", "complaint"), NO_TOURNAMENTS)
def test_what_makes_no_tournament(agents, settings, complaint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TournamentError, UnknownAgent, TypeError), match=re.escape(complaint)):
        play_arena(agents, TINY, **settings)
    assert list(tmp_path.iterdir()) == [], "nothing is begun"


def test_a_config_is_given_alone():
    with pytest.raises(TypeError, match="give either a config or settings, not both"):
        play_arena(TWO, ArenaConfig(ruleset=TINY), games=6)


# ---------------------------------------------------------------- folders of other runs

OTHER_RUNS = [
    (TWO, {"seed": 4}, r"seed was 3 and is 4.*--fresh"),
    (["random", Last()], {}, r"agents was \['random', 'First'\] and is \['random', 'Last'\]"),
    (TWO, {"lineups": "mixed"}, "lineups was 'round-robin' and is 'mixed'"),
    (TWO, {"records": True}, "records was False and is True"),
    (TWO, {"ruleset": Ruleset(players=3)}, "cards was"),
]


def test_another_run_in_a_folder_is_refused_unless_it_is_fresh(tmp_path):
    here(TWO, games=12, out=tmp_path)
    for agents, change, complaint in OTHER_RUNS:
        settings = {"ruleset": TINY, "games": 12, "chunk": 12, "seed": 3, "jobs": 0} | change
        with pytest.raises(FolderError, match=complaint):
            play_arena(agents, **settings, out=tmp_path)
    assert here(TWO, games=12, out=tmp_path, seed=4, fresh=True).tournament.seed == 4


NO_SETTINGS = {
    "cut": "{",
    "a list": "[]",
    "nested": "[" * 100_000,
    "a long number": '{"seed": ' + "9" * 5000 + "}",
    "no number": '{"deals per chunk": NaN}',
    "a word": '{"deals per chunk": "many"}',
    "a flag": '{"deals per chunk": true}',
    "none": '{"deals per chunk": 0}',
    "too many": '{"deals per chunk": 1' + "0" * 30 + "}",
    "not there": "{}",
    "half a character": '{"agents": ["\\ud800"]}',
    "large": " " * 2_000_000 + "{}",
}


@pytest.mark.parametrize("what", NO_SETTINGS)
def test_settings_that_are_none(what, tmp_path):
    (tmp_path / "settings.json").write_text(NO_SETTINGS[what])
    with pytest.raises(FolderError, match=r"settings.json.*--fresh") as refused:
        here(TWO, games=6, chunk=None, out=tmp_path)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
@pytest.mark.parametrize("file", ["settings.json", "chunks/000000000.npz"])
def test_what_is_no_plain_file_is_refused(file, make, tmp_path):
    here(TWO, games=6, out=tmp_path)
    (tmp_path / file).unlink()
    make(tmp_path / file)
    with pytest.raises(FolderError, match=rf"{file}.*(cannot be read|no plain file).*--fresh"):
        here(TWO, games=6, out=tmp_path)


def test_settings_are_compared_and_name_nothing_to_run(bots):
    here({"random": "random", "it": First()}, games=6, out="kept")
    Path("evil.py").write_text("raise SystemExit('run')")
    settings = json.loads(Path("kept/settings.json").read_text())
    settings["agents"] = ["random", "evil:Bot"]
    settings["sources"] = {"random": "0", "evil:Bot": "\x1b[2J" * 1000}
    Path("kept/settings.json").write_text(json.dumps(settings))
    with pytest.raises(FolderError, match=r"agents was \['random', 'evil:Bot'\] and is") as refused:
        here({"random": "random", "it": First()}, games=6, out="kept")
    assert "evil" not in sys.modules
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 600


# ---------------------------------------------------------------- other versions of a bot

PLAYS = "    def act(self, views):\n        return views.mask.argmax(1)\n"
THINKER = "class Thinker:\n    def act(self, views):\n        from taste import best\n        return best(views)\n"
CHANGES = {  # by what changes: the bot, its files, and the file that is changed
    "the bot": ("arena_bots:First", {}, "arena_bots.py"),
    "its package": (
        "bot_house.deep.bot:First",
        {"bot_house/__init__.py": "", "bot_house/deep/__init__.py": "", "bot_house/deep/bot.py": BOTS},
        "bot_house/weights.py",
    ),
    "what it imports later": (
        "thinker:Thinker",
        {
            "thinker.py": THINKER,
            "taste.py": "def best(views):\n    import depth\n    return views.mask.argmax(1)\n",
            "depth.py": "",
        },
        "depth.py",
    ),
    "what it is derived from": (
        "house:Child",
        {"house/__init__.py": "from arena_bots import First as Bot\nclass Child(Bot):\n    pass\n"},
        "arena_bots.py",
    ),
}


def play_in_folder(*agents, **named):
    return play_arena({**{agent: agent for agent in ("random", *agents)}, **named}, TINY, games=6, jobs=0, out="kept")


@pytest.mark.parametrize("what", CHANGES)
def test_another_version_of_a_bot_does_not_go_on(what, bots):
    agent, files, changed = CHANGES[what]
    for file, code in files.items():
        (bots / file).parent.mkdir(parents=True, exist_ok=True)
        (bots / file).write_text(code)
    play_in_folder(agent)
    (bots / "stranger.py").write_text("# has nothing to do with it\n")
    play_in_folder(agent)
    with open(bots / changed, "a") as file:
        print("# better now", file=file)
    with pytest.raises(FolderError, match=f"code of {agent}.*has changed.*use another --out, or --fresh"):
        play_in_folder(agent)


def test_another_version_of_the_program_does_not_go_on(bots, monkeypatch):
    play_in_folder("arena_bots:First")
    monkeypatch.setattr("borneo_agents.arena.store.folder.digest_of_program", lambda: "another")
    with pytest.raises(FolderError, match=r"borneo-env itself has changed since.*--fresh"):
        play_in_folder("arena_bots:First")


def test_code_in_no_file_can_be_compared_with_nothing(bots):
    space = {"__name__": "nowhere"}
    exec(f"class Bot:\n{PLAYS}", space)
    play_in_folder(bot=space["Bot"]())
    with pytest.raises(FolderError, match=r"the code of bot stands in no file.*--fresh"):
        play_in_folder(bot=space["Bot"]())
