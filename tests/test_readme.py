"""What the README shows, runs."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from borneo_env.cards import load_tables
from borneo_env.cli import app

README = (Path(__file__).parent.parent / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_python_examples_run():
    namespace: dict[str, object] = {}
    for block in blocks("python"):
        exec(block, namespace)


@pytest.fixture
def with_my_bot(tmp_path, monkeypatch):
    """A folder with the README's bot, and we are in it."""
    (bot,) = (block for block in blocks("python") if "class MyBot" in block)
    (tmp_path / "my_bot.py").write_text(bot)
    monkeypatch.chdir(tmp_path)


def test_borneo_commands_run(with_my_bot):
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("borneo ")]
    assert len(commands) >= 5
    for command in commands:
        command = re.sub(r"--games (20|500)\b", "--games 2", command)  # as good as many
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == 0, f"{command}: {result.output}"
    first, second = json.loads(Path("out/mine/results.json").read_text())["standings"]
    assert (first["agent"], second["agent"]) == ("my_bot:MyBot", "random")
    assert first["win_share"]["value"] > 2 * second["win_share"]["value"]


def test_card_table_example_loads(tmp_path):
    (table,) = blocks("toml")
    path = tmp_path / "my.toml"
    path.write_text(table)
    assert [port.name for port in load_tables(path).ports] == ["Makassar", "Manila", "Ternate"]


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#]+)", README))
def test_links_lead_somewhere(target):
    assert (Path(__file__).parent.parent / target).exists()
