"""Bots that decide one game at a time, and the one that `borneo new-bot` writes."""

import json
import subprocess
import sys

import numpy as np
import pytest
from borneo_agents.arena import play_arena
from playing import RULESETS

from borneo_env import Batch, Bot, Ruleset, cli
from borneo_env.agent import Agent, Views
from borneo_env.commands.new_bot import TEXTS


class Last(Bot):
    def decide(self, view, options):
        return options[-1]


def ask(bot, games=3):
    batch = Batch(games, Ruleset(), seed=3)
    batch.play_random(20)
    return bot.act(Views(batch.ruleset, *batch.view(np.arange(games)))), batch


def test_a_bot_is_an_agent_and_answers_for_each_game():
    assert isinstance(Last(), Agent)
    actions, batch = ask(Last())
    assert actions.tolist() == [np.flatnonzero(mask)[-1] for mask in batch.mask]


class Nothing(Bot):
    def decide(self, view, options):
        return None


class Text(Bot):
    def decide(self, view, options):
        return options[0].text


class Old(Bot):
    def decide(self, view, options):
        self.first = getattr(self, "first", options[0])
        return self.first


@pytest.mark.parametrize(("bot", "answer"), [(Nothing, "None"), (Text, "'ship 9 0'"), (Old, "Option(")])
def test_an_answer_that_is_no_option_is_refused_with_the_options(bot, answer):
    with pytest.raises(ValueError, match=r"none of the Option objects it was given: [a-z]") as refused:
        ask(bot())
    assert str(refused.value).startswith(f"{bot.__name__}.decide returned {answer}")


def test_a_bot_without_a_decision():
    with pytest.raises(NotImplementedError, match="Bot has no method decide"):
        ask(Bot())


@pytest.fixture
def new_bot(tmp_path, monkeypatch, capsys):
    """Runs `borneo new-bot` in a folder of its own; returns status and output."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["borneo", "new-bot", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        return left.value.code or 0, *capsys.readouterr()

    return run


def test_a_new_bot_and_its_test(new_bot, tmp_path):
    status, out, _ = new_bot("sly_fox.py")
    assert (status, out.splitlines()[:2]) == (0, ["wrote sly_fox.py", "wrote test_sly_fox.py"])
    assert "borneo arena sly_fox:SlyFox random" in out
    result = play_arena(["sly_fox:SlyFox", "random"], games=1, seed=1, jobs=0)
    assert not result.faults
    compile((tmp_path / "test_sly_fox.py").read_text(), "test_sly_fox.py", "exec")


@pytest.mark.soak
def test_the_test_of_a_new_bot_passes(new_bot, tmp_path):
    new_bot("my_bot.py")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_new_bot_replaces_nothing(new_bot, tmp_path):
    (tmp_path / "test_my_bot.py").write_text("mine")
    status, _, err = new_bot()
    assert status == 2
    assert "test_my_bot.py is there already: take another name, or remove it" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["test_my_bot.py"]


@pytest.mark.parametrize("name", ["3bot.py", "my-bot.py", "class.py"])
def test_a_name_that_cannot_be_imported_is_refused(new_bot, tmp_path, name):
    status, _, err = new_bot(name)
    assert (status, list(tmp_path.iterdir())) == (2, [])
    assert "take a name such as my_bot.py" in err


def test_json(new_bot):
    written = json.loads(new_bot("my_bot", "--json")[1])
    assert written == {"files": ["my_bot.py", "test_my_bot.py"], "agent": "my_bot:MyBot"}


def shipped():
    space = {}
    exec((TEXTS / "bot.py.txt").read_text(), space)
    return space["MyBot"]()


def win_share(games, **settings):
    agents = {"mine": shipped(), "random": "random"}
    result = play_arena(agents, lineups="challenge", games=games, chunk=games, seed=1, jobs=0, **settings)
    assert not result.faults
    return next(row.win_share for row in result.standings if row.agent == "mine")


@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_new_bot_plays_every_ruleset(ruleset):
    assert not play_arena({"mine": shipped(), "random": "random"}, ruleset, games=1, seed=1, jobs=0).faults


@pytest.mark.parametrize("edition", ["board", pytest.param("card", marks=pytest.mark.soak)])
def test_the_new_bot_beats_random_players(edition):
    assert win_share(24, edition=edition).value > 0.5


@pytest.mark.soak
@pytest.mark.parametrize("edition", ["board", "card"])
def test_the_new_bot_wins_sixty_percent_of_a_thousand_games_against_three_random_players(edition, capsys):
    share = win_share(1000, edition=edition)
    with capsys.disabled():
        print(f"\n{edition}: {100 * share.value:.1f} % ({100 * share.low:.1f} to {100 * share.high:.1f})")
    assert share.low > 0.6
