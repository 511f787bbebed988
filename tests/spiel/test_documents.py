"""What the page about OpenSpiel shows, runs."""

import json
import random
import re
from pathlib import Path

import pytest

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed; `make openspiel` runs these tests")

PROJECT = Path(__file__).parents[2]


def test_the_examples_of_the_page_run(capsys):
    page = (PROJECT / "docs" / "openspiel.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)
    assert "place red" in capsys.readouterr().out


def test_the_example_runs(monkeypatch, capsys):
    pytest.importorskip("torch", reason="torch is not installed; the example needs it")
    monkeypatch.syspath_prepend(PROJECT / "train" / "examples")
    import openspiel

    monkeypatch.setattr(openspiel, "GAMES", 2)
    monkeypatch.setattr(openspiel, "STEPS", 32)
    openspiel.main(steps=128, evaluation_games=4, simulations=1, search_games=2, seed=1, as_json=True)
    told, searched = capsys.readouterr().out.splitlines()
    assert json.loads(told)["decisions"] == 128
    assert searched.startswith("IS-MCTS with 1 simulations wins")


def test_the_table_of_the_example_is_an_honest_game(monkeypatch):
    """The learner is asked at its seat, with a choice, is shown what it may see, and is paid once for each game."""
    pytest.importorskip("torch", reason="torch is not installed; the example needs it")
    monkeypatch.syspath_prepend(PROJECT / "train" / "examples")
    import openspiel

    table = openspiel.Table(pyspiel.load_game("borneo(players=3,tables=tiny,reward=place)"), random.Random(1))
    seen, ends, rewards, seats = table.deal(), 0, [], set()
    for _ in range(300):
        state, legal = table.state, seen.observations["legal_actions"][openspiel.LEARNER]
        seats.add(table.seat)
        assert state.current_player() == table.seat and len(legal) > 1 and legal == state.legal_actions()
        assert seen.observations["info_state"][openspiel.LEARNER] == state.observation_tensor(table.seat)
        seat = table.seat
        seen, reward, over = table.play(legal[-1])
        assert over == state.is_terminal() and reward == state.returns()[seat]
        assert over == (table.state is not state)
        ends, rewards = ends + over, [*rewards, reward]
    assert ends > 5 and seats == {0, 1, 2} and min(rewards) == -1 and max(rewards) == 1
