"""What an arena prints: at 80 columns and fewer every name stays in one piece, and every figure whole."""

import io
import re

import pytest
from borneo_agents.arena.report.terminal import Fitted, cut
from rich.console import Console

NAMES = ["ismcts:budget=200", "policy:out/run/best:budget=0", "command:./my_bot --flag", "merchant", "random",
         "policy:out/long/folder/of/mine/best:budget=2000", "climber", "contractor"]  # fmt: skip


def drawn(shown, width=80):
    console = Console(file=io.StringIO(), width=width)
    console.print(shown)
    lines = console.file.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    return "\n".join(lines)


@pytest.mark.parametrize("count", range(3, 9))
@pytest.mark.parametrize("width", [60, 80])
def test_standings_leave_out_columns_but_break_no_name(count, width):
    heads = ["agent", "wins, %", "max, %", "place", "points", "strength", "ms"]
    rows = [[name, "100.0 ±12.3", "66.7", "1.23 ±0.12", "12.3 ±1.0", "+259 ±22", "0.123"] for name in NAMES[:count]]
    least = ["ms", "points", "place", "max, %", "strength"]
    shown = drawn(Fitted(heads, rows, least), width)
    assert all(name in shown for name in NAMES[:count] if len(name) < 30)
    assert shown.count("100.0 ±12.3") == count and len(shown.splitlines()) <= count + 4, "a line for each"
    left_out = [head for head in least if head not in shown]
    assert left_out == least[: len(left_out)] and "ms" in left_out
    assert all(row in drawn(Fitted(heads, rows, least), 200) for row in heads)


@pytest.mark.parametrize("count", range(3, 9))
def test_agents_that_have_no_room_as_columns_are_numbered(count):
    names = NAMES[:count]
    shown = drawn(Fitted(["", *names], [[name, *["12.3 ±10.2"] * count] for name in names], agents=True))
    assert "1 ismcts:budget=200 · 2 policy" in shown
    assert len(re.findall("12.3 ±10.2", shown)) == count * count
    assert re.findall(r"^ +(\d(?: +\d)*) *$", shown, re.MULTILINE), "numbers for names"


def test_few_agents_keep_their_names_as_columns():
    shown = drawn(Fitted(["", "merchant", "random"], [["merchant", "", "99.0"], ["random", "1.0", ""]], agents=True))
    assert shown.split()[:2] == ["merchant", "random"]


def test_a_name_is_cut_in_its_middle():
    assert [cut("policy:out/best:budget=0", room) for room in (24, 12, 2)] == [
        "policy:out/best:budget=0",
        "policy…get=0",
        "p…",
    ]
