"""What the page about OpenSpiel shows, runs."""

import re
from pathlib import Path

import pytest

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed; `make openspiel` runs these tests")

PROJECT = Path(__file__).parents[2]


def test_the_examples_of_the_page_run(capsys):
    page = (PROJECT / "docs" / "openspiel.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(block, namespace)
    assert "place red" in capsys.readouterr().out


def test_the_example_runs(monkeypatch, capsys):
    pytest.importorskip("torch", reason="torch is not installed; the example needs it")
    pytest.importorskip("tree", reason="dm-tree is not installed; OpenSpiel's DQN needs it")
    monkeypatch.syspath_prepend(PROJECT / "train" / "examples")
    import openspiel

    openspiel.main(games=2, evaluation_games=1, simulations=1, search_games=2, seed=1)
    told = capsys.readouterr().out
    assert "DQN learnt from 2 games" in told
    assert "IS-MCTS with 1 simulations wins" in told
