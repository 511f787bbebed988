"""The manual, which is the environments' docstring, says what the tables say."""

from pathlib import Path

import pytest
from rich.console import Console

import borneo_env
from borneo_env import cli, console
from borneo_env.commands import describe
from borneo_env.manual import manual, trace


def test_the_committed_manual_is_current():
    committed = Path(borneo_env.__file__).with_name("MANUAL.md").read_text(encoding="utf-8")
    assert committed == manual(), "renew it: borneo manual > borneo_env/MANUAL.md"
    assert borneo_env.env.__doc__ == borneo_env.raw_env.__doc__ == committed


def test_the_turn_shown_has_a_contest_and_a_distribution():
    """What the text above the trace says of it."""
    rows = [line.split("   ") for line in trace().splitlines()]
    moves = [[part.strip() for part in row if part.strip()] for row in rows]
    agents, phases = [row[0] for row in moves], [row[1] for row in moves]
    assert moves[0][3] == "contract none" and moves[1][3].startswith("attack")
    assert phases.count("commit") == 3, "two cards, and done"
    assert {agent for agent, phase in zip(agents, phases, strict=True) if phase != "take"} == {"player_0", "player_1"}
    assert agents[phases.index("yield")] == "player_1" and moves[phases.index("yield")][3] != "yield slot"
    assert len({agent for agent, phase in zip(agents, phases, strict=True) if phase == "take"}) == 3


def test_the_command_prints_the_manual(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["borneo", "manual"])
    with pytest.raises(SystemExit):
        cli.main()
    assert capsys.readouterr().out == borneo_env.env.__doc__


def test_in_a_terminal_the_manual_is_laid_out(capsys, monkeypatch):
    monkeypatch.setattr(console, "out", Console(force_terminal=True, width=100))
    describe.manual()
    shown = capsys.readouterr().out
    assert "# Borneo" not in shown and "`RULES.md`" not in shown and "| --- |" not in shown
    assert "Borneo" in shown and "RULES.md" in shown and "\x1b[" in shown
