"""Whoever waits for the compiler is told for what, and how long."""

import sys
from types import SimpleNamespace

import pytest

from borneo_env.engine import announce
from borneo_env.engine.announce import Announcer
from borneo_env.engine.jit import INTERPRETED, entry, rule

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


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


@pytest.fixture
def compile_slowly(monkeypatch):
    """Tells an announcer that an entry is compiled in which each function takes some seconds."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(announce, "monotonic", lambda: clock.now)

    def run(announcer, seconds, times=1):
        both, functions = make_entry()
        announcer.on_start(SimpleNamespace(data={"dispatcher": both}))
        for function in (*functions[:-1] * times, both):
            if function is not both:
                announcer.on_start(SimpleNamespace(data={"dispatcher": function}))
            clock.now += seconds
            announcer.on_end(SimpleNamespace(data={"dispatcher": function}))

    return run


def test_in_a_pipe_there_is_a_line_at_first_and_then_now_and_then(compile_slowly, capsys):
    compile_slowly(Announcer(), 8)
    assert capsys.readouterr().err.splitlines() == [
        "borneo_env: compiling both for this machine, about 1 s, once per version",
        "borneo_env: compiling both: 2 of 3 functions, about 14 s left",
    ]


def test_a_function_compiled_for_several_types_counts_once(compile_slowly, capsys):
    compile_slowly(Announcer(), 8, times=3)
    assert [line.split(":")[2] for line in capsys.readouterr().err.splitlines()[1:]] == [
        " 2 of 3 functions, about 14 s left",
        " 2 of 3 functions, about 28 s left",
        " 2 of 3 functions, about 42 s left",
    ]


def test_in_a_terminal_there_is_a_bar_that_is_wiped_away(compile_slowly, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    compile_slowly(Announcer(), 8)
    first, *bars = capsys.readouterr().err.split("\r\033[K")
    assert first.startswith("borneo_env: compiling both")
    assert [bar.count("█") for bar in bars] == [6, 13, 0]
    assert bars[0].endswith("compiling both: 1 of 3 functions, about 22 s left")
    assert bars[-1] == ""


def test_what_is_short_is_announced_only_at_first(compile_slowly, capsys):
    announcer = Announcer()
    for _ in range(3):
        compile_slowly(announcer, 0.1)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_somebody_else_may_tell_it(compile_slowly, capsys):
    announcer, heard = Announcer(), []
    announcer.heard = heard.append
    compile_slowly(announcer, 8)
    assert (heard, capsys.readouterr().err) == (["first", "second", "both"], "")


def test_what_is_on_disk_is_not_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("BORNEO_CACHE_DIR", str(tmp_path))
    both, _ = make_entry()
    both(1)

    @entry
    def more(number):
        return both(number)

    assert announce._functions_left(more) == 1
