"""What the documents show, runs: README, the pages of the site, and the other Markdown files of the project.

The language of a code block says how. `python` is run, page by page. `sh` is run as it stands. `console` has commands
that take long: their options are checked here, and `make soak` runs them with small sizes. `py` needs other libraries:
`make ecosystem`, `make gpu-test` and `make openspiel` run it. `toml` is read. `text` is no code.
"""

import ast
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from borneo_agents.arena import play_arena
from typer.testing import CliRunner

from borneo_env.cards import load_tables
from borneo_env.cli import app, command
from borneo_env.commands.new_bot import TEXTS
from borneo_env.rewards import REWARDS

PROJECT = Path(__file__).parent.parent
DOCUMENTS = {
    str(path.relative_to(PROJECT)): path.read_text(encoding="utf-8")
    for path in sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md"), PROJECT / "benchmarks" / "README.md"])
}
LONGEST_README = 150  # lines
BOTS = "docs/bots.md"  # the page with a bot of one's own
SLOW = ["docs/sb3.md", "docs/training.md"]  # pages whose Python `make soak` runs

# What `make soak` runs the commands of `console` blocks with: an option that is given again replaces the one before.
SMALLER = {
    "train": "--fresh --device cpu --workers 1 --n-envs 12 --n-steps 8 --batch-size 12 --timesteps 96 --evaluations 1 "
    "--evaluation-games 12 --actor 64x1 --critic 64x1",
    "imitate": "--fresh --device cpu --n-envs 12 --batch-size 12 --timesteps 96 --actor 64x1",
    "arena": "--games 12 --chunk 12 --jobs 1",
    "bench": "--seconds 0.01",
}
INPUT = {"play": "q\n"}
SERVES = ("web",)  # commands that run until somebody ends them: tests/web runs this one


class Block(NamedTuple):
    document: str
    language: str
    text: str


BLOCKS = [
    Block(document, *found)
    for document, text in DOCUMENTS.items()
    for found in re.findall(r"^```(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
]


def texts(language: str, document: str | None = None) -> list[str]:
    return [b.text for b in BLOCKS if b.language == language and document in (None, b.document)]


def documents_with(language: str) -> list[str]:
    return sorted({block.document for block in BLOCKS if block.language == language})


@pytest.fixture
def with_my_bot(tmp_path, monkeypatch):
    """A folder with the bot of the documents, and we are in it."""
    (bot,) = (text for text in texts("python", BOTS) if "class MyBot" in text)
    (tmp_path / "my_bot.py").write_text(bot, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def test_every_block_says_what_it_is():
    assert {block.language for block in BLOCKS} <= {"python", "py", "sh", "console", "toml", "text"}
    fences = sum(line.startswith("```") for text in DOCUMENTS.values() for line in text.splitlines())
    assert fences == 2 * len(BLOCKS)
    # run by tests/ecosystem/document_examples.py, tests/gpu/test_card.py and tests/spiel/test_documents.py
    assert documents_with("py") == ["docs/ecosystem.md", "docs/gpu.md", "docs/openspiel.md"]


# ---------------------------------------------------------------- Python


def slow_ones_soaked(documents: list[str]) -> list[object]:
    return [pytest.param(name, marks=pytest.mark.soak if name in SLOW else ()) for name in documents]


@pytest.mark.parametrize("document", slow_ones_soaked(documents_with("python")))
def test_python_examples_run(document, with_my_bot):
    namespace: dict[str, object] = {"__name__": "document"}  # as in a notebook, functions stand in a module
    for block in texts("python", document):
        exec(block, namespace)


def without_words(code: str) -> str:
    """Code without comments, docstrings and blank lines."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and ast.get_docstring(node):
            del node.body[0]
    return ast.unparse(tree)


@pytest.mark.parametrize("document", ["README.md", BOTS])
def test_the_bot_of_the_documents_is_the_one_that_new_bot_writes(document):
    (shown,) = (text for text in texts("python", document) if "class MyBot" in text)
    assert without_words(shown) == without_words((TEXTS / "bot.py.txt").read_text(encoding="utf-8"))
    assert len([line for line in shown.splitlines() if line]) <= 12


@pytest.mark.parametrize("edition", ["board", pytest.param("card", marks=pytest.mark.soak)])
def test_the_fast_bot_of_the_documents_wins_in_both_editions(edition, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (bot,) = (text for text in texts("python", BOTS) if "class FastBot" in text)
    (tmp_path / "my_bot_fast.py").write_text(bot, encoding="utf-8")
    settings = {"players": 3, "edition": edition, "games": 36, "chunk": 36, "seed": 1, "jobs": 0}
    result = play_arena(["my_bot_fast:FastBot", "random"], **settings)
    first, second = result.standings
    assert not result.faults
    assert first.agent == "my_bot_fast:FastBot" and first.win_share.value > 1.5 * second.win_share.value


# ---------------------------------------------------------------- commands


def run_borneo(words: list[str], given: str = "") -> None:
    result = CliRunner().invoke(app, words, input=given)
    assert result.exit_code == 0, f"borneo {shlex.join(words)}: {result.output} {result.exception}"


def check_make(words: list[str]) -> None:
    (target,) = words
    assert re.search(rf"^{target}:", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def check_pip(words: list[str]) -> None:
    """The project lies on no index, so it is installed from its folder."""
    assert words[0] == "install"
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (asked,) = re.fullmatch(r"\.(?:\[(.*)\])?", words[1]).groups("")
    assert {*asked.split(",")} <= {"", *extras}


def run_kontor(words: list[str]) -> None:
    """In the project, where the examples lie."""
    ran = subprocess.run([sys.executable, "-m", "kontor.cli", *words], cwd=PROJECT, capture_output=True, text=True)
    assert ran.returncode == 0, f"kontor {shlex.join(words)}: {ran.stdout} {ran.stderr}"


PROGRAMS: dict[str, Callable[[list[str]], None]] = {
    "borneo": run_borneo,
    "kontor": run_kontor,
    "make": check_make,
    "pip": check_pip,
}


@pytest.mark.parametrize("document", documents_with("sh"))
def test_commands_run(document, with_my_bot):
    for line in "".join(texts("sh", document)).splitlines():
        program, *words = shlex.split(line, comments=True)
        PROGRAMS[program](words)


def console_commands(document: str) -> list[list[str]]:
    """The words of each `borneo` command that is shown with a prompt; what follows a `>` is the shell's."""
    lines = "".join(texts("console", document)).replace("\\\n", " ").splitlines()
    assert all(line.startswith("$ borneo ") for line in lines)
    return [shlex.split(line.split(" > ")[0])[2:] for line in lines]


@pytest.mark.parametrize("document", documents_with("console"))
def test_long_commands_have_options_that_exist(document):
    for name, *options in console_commands(document):
        command.commands[name].make_context(name, options)  # raises where an option is unknown or has a wrong value


@pytest.mark.parametrize("recipe", sorted(PROJECT.glob("recipes/*.sh")), ids=lambda path: path.stem)
def test_recipes_have_options_that_exist(recipe):
    text = recipe.read_text(encoding="utf-8").replace("$seed", "1")
    commands = [shlex.split(line)[1:] for line in text.replace("\\\n", " ").splitlines() if line.startswith("borneo ")]
    for name, *options in commands:
        command.commands[name].make_context(name, options)
    assert commands and "\nset -eu\n" in text
    assert subprocess.run(["sh", "-n", recipe], check=False).returncode == 0


@pytest.mark.soak
@pytest.mark.parametrize("document", documents_with("console"))
def test_long_commands_run_with_small_sizes(document, with_my_bot):
    for name, *options in console_commands(document):
        if name in SERVES:
            continue
        run_borneo([name, *options, *shlex.split(SMALLER.get(name, ""))], INPUT.get(name, ""))


def test_commands_in_sentences_exist():
    named = {name for text in DOCUMENTS.values() for name in re.findall(r"`(?:\.venv/bin/)?borneo ([a-z][\w-]*)", text)}
    assert named <= set(command.commands)


# ---------------------------------------------------------------- the rest


def test_tables_can_be_read(tmp_path):
    tables = [text for text in texts("toml") if tomllib.loads(text).get("base")]
    for table in tables:
        (tmp_path / "my.toml").write_text(table, encoding="utf-8")
        assert [port.name for port in load_tables(tmp_path / "my.toml").ports] == ["Makassar", "Manila", "Ternate"]
    assert tables


def anchors(path: Path) -> set[str]:
    """What links can name in a document: its headings in lower case, with hyphens."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document):
    for target, anchor in re.findall(r"\]\((?![a-z]+:)([^)#:]*)#?([^)]*)\)", DOCUMENTS[document]):
        path = (PROJECT / document).parent / target if target else PROJECT / document
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), f"{target}#{anchor}"


def test_the_readme_names_all_extras_and_no_others():
    text = DOCUMENTS["README.md"].partition("## Installation")[2].partition("## Learning")[0]
    named = {
        *re.findall(r"pip install '\.\[(\w+)\]'", text),
        *re.findall(r"`([a-z-]+)`", text.partition("More extras:")[2]),
    }
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert named == {*extras}


def test_tables_of_what_the_code_has_are_made_for_the_site():
    """No list is kept by hand: the comment in a document becomes the table."""
    pages = runpy.run_path(str(PROJECT / "docs" / "pages.py"))
    named = {name for text in DOCUMENTS.values() for name in re.findall("<!-- (.*) -->", text)}
    assert named == {*pages["MADE"]}
    assert all(f"| `{name}` |" in pages["rewards"]() for name in REWARDS)
    assert not any(f"| `{name}` |" in DOCUMENTS["docs/environments.md"] for name in REWARDS)


def test_the_readme_is_short_and_has_the_test_command():
    lines = DOCUMENTS["README.md"].splitlines()
    assert len(lines) <= LONGEST_README
    assert any(line.startswith("make test ") for line in lines)
    assert "- run: make test\n" in (PROJECT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")


@pytest.mark.soak
def test_the_site_builds_without_a_warning_and_fetches_nothing(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    pages = {path: path.read_text(encoding="utf-8") for path in (tmp_path / "site").rglob("*.html")}
    assert len(pages) > 20
    fetched = r"<(?:script|img|iframe)[^>]*\ssrc=\"?(?:https?:)?//|<link[^>]*\shref=\"?(?:https?:)?//[^>]*>"
    assert [path.name for path, text in pages.items() if re.search(fetched, text)] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "site").rglob("*.css"))
    assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", styles)
