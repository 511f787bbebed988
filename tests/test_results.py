"""Results: every measurement is a file, and RESULTS.md is made of them."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "benchmarks" / "results.py"
LONGEST_PAGE, MOST_WORDS = 150, 4500  # lines of RESULTS.md; words of it and the log
HEADINGS = ["Question", "Setup", "Result", "Verdict"]
LONGEST_LOG = 40  # lines


@pytest.fixture(scope="module")
def results():
    spec = importlib.util.spec_from_file_location("results", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_cell(found):
    if isinstance(found, list):
        return 1 <= len(found) <= 3 and all(isinstance(one, int | float) for one in found)
    return found is None or isinstance(found, int | float | str)


@pytest.mark.parametrize("path", sorted((ROOT / "results").glob("*.json")), ids=lambda path: path.stem)
def test_every_file_is_a_measurement(path, results):
    one = json.loads(path.read_text(encoding="utf-8"))
    assert one["id"] == path.stem
    assert set(one) - {"value", "rows"} == set(results.FIELDS)
    assert all(type(one[field]) in kinds for field, kinds in results.FIELDS.items())
    assert ("value" in one) != ("rows" in one)
    assert all(is_cell(cell) for row in one.get("rows", ()) for cell in row.values())
    assert isinstance(one.get("value", []), list) and is_cell(one.get("value"))


def test_the_page_is_what_the_files_say(results):
    assert results.PAGE.read_text(encoding="utf-8") == results.made(), "python benchmarks/results.py page"
    assert len(results.made().splitlines()) <= LONGEST_PAGE
    words = re.sub("<!--.*?-->", "", (results.FOLDER / "page.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert set(re.findall(r"\d+", words)) <= {"95"}, "a figure comes from a file"


@pytest.mark.parametrize("document", ["README.md", "docs/play.md"])
def test_figures_of_other_pages_stand_there_too(document, results):
    figures = re.findall(r"\d[\d.]* ±[\d.]*\d", (ROOT / document).read_text(encoding="utf-8"))
    page = results.made()
    assert figures and not [figure for figure in figures if figure not in page]


def test_pages_of_the_log_are_short_and_alike():
    folder = ROOT / "docs" / "log"
    index, *pages = sorted(folder.glob("*.md"), key=lambda path: path.name != "index.md")
    assert set(re.findall(r"\((\w[\w-]*\.md)\)", index.read_text(encoding="utf-8"))) == {page.name for page in pages}
    for page in pages:
        lines = page.read_text(encoding="utf-8").splitlines()
        assert [line[3:] for line in lines if line.startswith("## ")] == HEADINGS, page.name
        assert len(lines) <= LONGEST_LOG, page.name
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "RESULTS.md", index, *pages)]
    assert sum(len(text.split()) for text in texts) <= MOST_WORDS


ESTIMATE = {"value": 0.5, "low": 0.4, "high": 0.7, "method": "wilson"}
EVEN = {"value": 0.5, "low": 0.4, "high": 0.59, "method": "bootstrap"}
TOLD = {  # as `borneo arena --json` prints it
    "command": "borneo arena a b", "settings": {"seed": 3}, "games": 48,
    "standings": [{"agent": "a", "win_share": EVEN, "place": ESTIMATE, "points": ESTIMATE}],
    "lone_seats": [{"agent": "a", "games": 24, "win_share": ESTIMATE}],
    "strengths": {"strengths": [{"agent": "a", "points": ESTIMATE}]},
}  # fmt: skip


def test_an_arena_becomes_rows_and_the_wins_of_one_agent_a_value(results):
    lopsided, about = [0.5, 0.4, 0.7], {"command": "borneo arena a b", "seed": 3}
    row = {"agent": "a", "wins": [50.0, 9.5], "place": lopsided, "points": lopsided, "strength": lopsided}
    assert results.of_arena(TOLD, "") == about | {"games": 48, "rows": [row]}
    assert results.of_arena(TOLD, "a") == about | {"games": 24, "value": [50.0, 40.0, 70.0]}


def test_the_script_has_help():
    done = subprocess.run([sys.executable, SCRIPT, "add", "--help"], capture_output=True, text=True, check=True)
    assert "--registered" in done.stdout
