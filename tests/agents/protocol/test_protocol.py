"""The protocol: what bots are sent, what they answer, and that their games are those of the same bot in-process."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from arena_games import TINY, here, same_games
from borneo_agents.arena import play_arena
from borneo_agents.arena.play.calls import CRASH
from borneo_agents.arena.report.words import isolation_words
from borneo_agents.arena.workers.agent_server import AgentServer
from borneo_agents.human.game import Game, SaveError
from borneo_agents.protocol import agent as agent_module
from borneo_agents.protocol.agent import Command
from borneo_agents.protocol.messages import NUMBERS, RECORD, WORDS, decisions, line_of, question_of, rules_of
from borneo_agents.protocol.words import in_words
from borneo_train.run.config import Settings
from borneo_web.server.live_game import Refused
from borneo_web.server.live_games import LiveGames
from bot_games import play
from playing import SEVERAL_RULESETS
from protocol_bots import ByDice, bot

from borneo_env import Batch, resample
from borneo_env.agent import UnknownAgent, Views, find_agent, is_registered, known_agents, program_agents
from borneo_env.engine.state import ATTACK, DEFENCE
from borneo_env.view import View

PROJECT = Path(__file__).parents[3]
EXAMPLES = PROJECT / "agents" / "examples"
ALL = (WORDS, NUMBERS, RECORD)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# ---------------------------------------------------------------- what is sent


def lines(batch, seed=0):
    """All that is sent to the players who decide, with the same dice."""
    games, mask, _ = batch.view(np.arange(len(batch)))
    views = Views(batch.ruleset, games, mask, np.random.default_rng(seed).integers(2**63, size=len(batch), dtype="u8"))
    return [decision.text for decision in decisions(views, None, ALL)]


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_what_is_sent_tells_nothing_hidden(ruleset):
    batch = Batch(12, ruleset, seed=4)
    for turn in range(8):
        batch.play_random(15)
        twin = batch.copy()
        twin.games[:] = resample(batch.games, batch.player, np.random.default_rng(turn))
        twin.refresh()
        assert (twin.games["place"] != batch.games["place"]).any(), "a comparison of equals would be empty"
        assert lines(twin) == lines(batch)


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_words_are_those_of_a_view(ruleset):
    batch = Batch(24, ruleset, seed=5)
    contests = 0
    for _ in range(8):
        batch.play_random(24)
        games, mask, dice = batch.view(np.arange(24))
        for i, words in enumerate(json.loads(json.dumps([*in_words(ruleset, games)]))):
            view = View(ruleset, games[i], mask[i], int(dice[i]))
            assert words["hand"] == [card.number for card in view.hand]
            assert words["discards"] == [card.number for card in view.discards]
            assert words["ladders"] == {name: list(seats) for name, seats in view.ladders.items()}
            assert words["warehouses"] == [vars(one) for one in view.warehouses]
            assert words["contracts_left"] == {one.kind: one.left for one in view.contracts}
            assert words["contest"] == (vars(view.contest) if view.contest else None)
            assert (words["scores"], words["hand_sizes"]) == (list(view.scores), list(view.hand_sizes))
            assert (words["turn"], words["ports_left"]) == (view.turn, view.ports_left)
            for port, told in zip(view.ports, words["ports"], strict=True):
                for name in ("place", "name", "spice", "limit", "monopoly", "flags"):
                    assert told[name] == getattr(port, name)
                assert told["cards"] == [card.number for card in port.cards]
            assert words["attack"] == [card.number for card in view.cards_at(ATTACK)]
            assert words["defence"] == [card.number for card in view.cards_at(DEFENCE)]
            contests += words["contest"] is not None
    assert contests


def test_a_decision_has_its_moves_both_ways_and_what_was_asked_for():
    batch = Batch(5, TINY, seed=2)
    views = Views(TINY, *batch.view(np.arange(5)))
    for i, (text, *moves) in enumerate(decisions(views, [7, 8, 9, 7, 8], [NUMBERS])):
        message = json.loads(text)
        assert moves == [message["moves"], message["actions"]]
        assert message["moves"] == batch.legal_moves(i)
        assert message["actions"] == np.flatnonzero(batch.mask[i]).tolist()
        assert message["numbers"] == views.observe()[i].tolist()
        assert (message["game"], message["seat"]) == ([7, 8, 9, 7, 8][i], batch.player[i])
        assert int(message["dice"], 16) == views.dice[i]
        assert "words" not in message and "record" not in message
    assert sum(np.prod(one["shape"], dtype=int) for one in rules_of(TINY)["observation"]) == views.observe().shape[1]


# ---------------------------------------------------------------- the same games


@pytest.mark.parametrize("deed", ["well", "batch", "all", "ends"])
def test_a_process_plays_the_games_of_the_same_bot_in_this_process(deed, tmp_path):
    mine = here({"random": "random", "bot": ByDice()}, games=6)
    theirs = here({"random": "random", "bot": bot(tmp_path, deed)}, games=6)
    assert same_games(mine, theirs)
    assert not theirs.faults


def test_a_bot_is_told_the_ends_of_its_games_if_it_likes(tmp_path):
    played = here({"random": "random", "bot": bot(tmp_path, "ends")}, games=6)
    told = [json.loads(line) for line in Path("ends").read_text().splitlines()]
    ends = [(tuple(one["scores"]), tuple(one["places"]), one["seat"], one["lost_by"]) for one in told]
    wanted = [
        (tuple(row["scores"].tolist()), tuple(row["places"].tolist()), seat, None)
        for row in played.outcomes
        for seat in np.flatnonzero(row["seats"] == 1).tolist()
    ]
    assert sorted(ends) == sorted(wanted)
    assert {one["game"] for one in told} == set(range(6))


def test_a_bot_plays_in_worker_processes_by_its_name(tmp_path, forks, monkeypatch):
    bot(tmp_path)
    name = f"command:{sys.executable} -I -S bot.py well"
    settings = {"games": 6, "seed": 3, "chunk": 6}
    there = play_arena(["random", name], TINY, jobs=1, **settings, out="run")
    assert same_games(there, here({"random": "random", "bot": ByDice()}, games=6))
    report = Path("run/report.html").read_text(encoding="utf-8")
    assert "Isolated: command:" in report and "which was sent what its seat may know and nothing else" in report
    Path("bot.py").write_text(Path("bot.py").read_text() + "# changed")
    with pytest.raises(ValueError, match=r"the code of command:.* has changed since"):
        play_arena(["random", name], TINY, jobs=1, **settings, out="run")


def test_a_transcript_holds_the_conversation(tmp_path):
    agent = bot(tmp_path, "error", transcript="talk.txt")
    here({"random": "random", "bot": agent}, games=6, seed=8)
    number = agent._process.number
    agent.close()
    said = [line.split(" ", 2) for line in Path("talk.txt").read_text().splitlines()]
    mine = [(sign, words) for process, sign, words in said if int(process) == number]
    signs = "".join(sign for sign, _ in mine)
    assert re.fullmatch(r"><><(>!?<)+>", signs)
    assert json.loads(mine[0][1]) == {"type": "hello", "protocol": "borneo-protocol/1"}
    assert mine[3] == ("<", '{"ready": true}')
    assert ("!", "I do not know") in mine
    assert json.loads(mine[-1][1]) == {"type": "quit"}


# ---------------------------------------------------------------- isolated agents


def test_what_a_hosted_agent_raises_is_its_answer(bots, capsys):
    (bots / "raising.py").write_text(
        "class Raising:\n    def act(self, views):\n        raise SystemExit('no\\nmore')\n"
    )
    host = AgentServer("raising:Raising")
    host.answer({"type": "hello"})
    host.answer(json.loads(line_of(rules_of(TINY))))
    views = Views(TINY, *Batch(1, TINY).view(np.arange(1)))
    answer = host.answer(json.loads(question_of(decisions(views, None, [RECORD]), batch=True)))
    assert answer == {"error": "SystemExit: no more"}
    assert 'File "raising.py", line 3, in act' in capsys.readouterr().err
    assert AgentServer("nowhere:Bot").answer({"type": "hello"})["error"].startswith("UnknownAgent: there is no agent")


CRASHING = """
class Crashing:
    memoryless = True

    def act(self, views):
        if (views.dice % 120 == 0).any():
            raise RuntimeError("lost the thread")
        return views.mask.argmax(1)
"""


def test_isolated_agents_play_the_same_games(bots):
    (bots / "crashing.py").write_text(CRASHING)
    agents = ["random", "crashing:Crashing"]
    settings = {"games": 6, "seed": 3, "chunk": 6, "jobs": 0}
    apart, together = (play_arena(agents, TINY, isolate=isolate, **settings) for isolate in (True, False))
    assert same_games(apart, together)
    assert {fault.kind for fault in apart.faults} == {CRASH}
    assert 'File "crashing.py", line 7, in act' in apart.traces[0].text
    assert isolation_words(apart.tournament).startswith("Every agent was isolated")
    assert isolation_words(together.tournament) == ""
    assert apart.as_dict()["settings"]["isolate"] is True


# ---------------------------------------------------------------- names in files


@pytest.mark.parametrize("name", ["command", "command:./bot", "command:true:seconds=1"])
def test_no_file_may_name_a_program(name, tmp_path):
    assert "command" in program_agents() and "command" not in known_agents()
    assert not is_registered(name)
    with pytest.raises(UnknownAgent, match="a file may name no other"):
        find_agent(name, trusted=False)
    game = Game(TINY, ["random"] * 3, 1)
    game.lines[0]["agents"][0] = name
    with pytest.raises(SaveError, match="if you trust the file"):
        Game.of_lines(game.lines)


def test_requests_may_not_name_a_program(tmp_path):
    games = LiveGames(tmp_path)
    with pytest.raises(Refused, match="There is no agent 'command'"):
        games.begin(TINY, ["human", "command", "random"], ["me"], 1)


def test_trainings_may_not_name_a_program(tmp_path):
    checks = pytest.importorskip("borneo_train.run.checks")
    with pytest.raises(UnknownAgent, match="a file may name no other"):
        checks.refuse_code(tmp_path, Settings(opponent="command:./bot"), {})


def test_where_there_is_no_posix_modules_load_and_agents_say_so(monkeypatch):
    """`resource` and the like are not there on Windows: only what becomes a bot imports them."""
    monkeypatch.setattr(agent_module, "os", SimpleNamespace(name="nt"))
    with pytest.raises(ValueError, match="need POSIX"):
        Command(sys.executable)
    for file in Path(agent_module.__file__).parent.glob("*.py"):
        assert not re.search(r"^import (resource|fcntl|pwd|termios)", file.read_text(), re.M)


# ---------------------------------------------------------------- the examples


def example(language, folder):
    """The command of an example; skips, saying so, where its language is not."""
    tool = {"c": "cc", "js": "node", "py": "python3"}[language]
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool} here: the example bot.{language} is not tried")
    source = EXAMPLES / f"bot.{language}"
    if language == "c":
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", folder / "my_bot", source], check=True)
        return "./my_bot"
    return f"{tool} {source}"


@pytest.mark.parametrize("language", ["c", "js", "py"])
def test_the_examples_are_short_and_play_every_edition(language, tmp_path):
    assert len((EXAMPLES / f"bot.{language}").read_text(encoding="utf-8").splitlines()) < 60
    agent = Command(example(language, tmp_path), seconds=60)
    for ruleset in (TINY, Batch(1, edition="card", players=3).ruleset):
        assert (play([agent, find_agent("random")], ruleset, games=2).player == -1).all()
    assert agent.meet().name.startswith("example in ")
    agent.close()


@pytest.mark.parametrize("language", ["js", "py"])
def test_the_examples_that_think_beat_random_players(language, tmp_path):
    agents = {"example": Command(example(language, tmp_path), seconds=60), "random": "random"}
    first, second = play_arena(agents, players=3, games=24, chunk=24, seed=1, jobs=0).standings
    assert first.agent == "example" and first.win_share.value > 1.3 * second.win_share.value


# ---------------------------------------------------------------- the document


def test_the_conversation_of_the_document_is_held(tmp_path):
    """In the document, `...` stands for what is left out of a line."""
    page = (PROJECT / "docs" / "protocol.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(> .*?)^```$", page, re.MULTILINE | re.DOTALL)
    agent = Command(f"{sys.executable} -I -S {EXAMPLES / 'bot.py'}", seconds=60, transcript="talk.txt")
    batch = Batch(1, players=3, seed=1)
    for _ in range(2):
        batch.step(agent.act(Views(batch.ruleset, *batch.view(np.arange(1)))))
    agent.close()
    held = [line.split(" ", 1)[1] for line in Path("talk.txt").read_text().splitlines()]
    for told, said in zip(shown.splitlines(), held, strict=True):
        assert re.fullmatch(".*".join(map(re.escape, told.split("..."))), said), f"{told}\n{said}"
