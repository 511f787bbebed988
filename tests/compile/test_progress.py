"""Whoever waits for the compiler is told of it: in a line, and in a terminal by a bar."""

import io
import re
import sys

import pytest

from kontor.compile import INTERPRETED, entry, rule
from kontor.compile import progress as module
from kontor.compile.progress import CompileProgress, _sizes_left

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")

PACKAGE = __name__.partition(".")[0]


def make_entry():
    @rule
    def first(number):
        return number + 1

    @rule
    def second(number):
        return first(number) * 2

    @entry
    def both(number):
        return first(number) + second(number)

    return both, (first, second, both)


def compile_one(progress, times=1):
    """Tell of an entry that is compiled, with functions that are compiled for several types."""
    both, functions = make_entry()
    progress.started(both)
    for function in (*functions[:-1] * times, both):
        if function is not both:
            progress.started(function)
        progress.finished(function)


def test_in_a_pipe_there_is_one_line(capsys):
    compile_one(CompileProgress())
    assert capsys.readouterr().err == f"{PACKAGE}: compiling, about 1 s, once per version and machine\n"


def test_what_is_short_is_announced_only_at_first(capsys, monkeypatch):
    progress = CompileProgress()
    for _ in range(3):
        compile_one(progress)
    assert len(capsys.readouterr().err.splitlines()) == 1
    monkeypatch.setattr(module, "BYTE_SECONDS", 10)
    compile_one(progress)
    assert re.search(r"about \d{3,} s", capsys.readouterr().err)


@pytest.mark.parametrize("times", [1, 3])
def test_in_a_terminal_there_is_a_bar_that_grows_and_is_wiped_away(times, monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    compile_one(CompileProgress(), times)
    line, *bars = re.split(r"[\r\n]+", terminal.getvalue())
    assert line.startswith(f"{PACKAGE}: compiling, about")
    shares = [int(share) for share in re.findall(r"(\d+)%", "".join(bars))]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == 100 and len(set(shares)) == 4
    assert terminal.getvalue().endswith("\x1b[2K"), "the line is empty again"


def test_it_hears_of_what_is_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("BORNEO_CACHE_DIR", str(tmp_path))
    heard = []
    monkeypatch.setattr(module.progress, "heard", heard.append)
    both, _ = make_entry()
    assert both(1) == 6
    assert heard == ["first", "second", "both"]


def test_what_is_on_disk_is_not_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("BORNEO_CACHE_DIR", str(tmp_path))
    both, _ = make_entry()
    both(1)

    @entry
    def more(number):
        return both(number)

    assert [function.__name__ for function in _sizes_left(more)] == ["more"]
