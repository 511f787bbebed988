"""Whoever waits for the compiler is told for what, and how long."""

import re
import sys
from types import SimpleNamespace

import pytest

from borneo_env.compile import INTERPRETED, entry, progress, rule
from borneo_env.compile.progress import Announcer

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
    monkeypatch.setattr(progress, "monotonic", lambda: clock.now)

    def run(announcer, seconds, times=1):
        both, functions = make_entry()
        announcer.on_start(SimpleNamespace(data={"dispatcher": both}))
        for function in (*functions[:-1] * times, both):
            if function is not both:
                announcer.on_start(SimpleNamespace(data={"dispatcher": function}))
            clock.now += seconds
            announcer.on_end(SimpleNamespace(data={"dispatcher": function}))

    return run


# Byte code in bytes, and the seconds until it was compiled, as recorded: two entries of the rules.
RECORDED = {
    "deal_games": [(1930, 1.04), (2052, 2.96), (2188, 4.01), (1560, 5.34), (2496, 6.39), (2508, 7.35), (1922, 8.63),
                   (2148, 9.66), (2996, 12.24), (1264, 12.94), (388, 13.98)],
    "observe_games": [(700, 0.48), (740, 1.21), (978, 1.81), (454, 2.14), (1056, 2.75), (898, 3.04), (152, 3.66)],
}  # fmt: skip


def estimates(monkeypatch, capsys, announcer, recorded, slower):
    """Seconds an entry takes, and pairs of what was said to be left and what was left, the first as it begins."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(progress, "monotonic", lambda: clock.now)
    monkeypatch.setattr(progress, "BETWEEN_LINES", 0.0)
    both, _ = make_entry()
    parts = [make_entry()[1][0] for _ in recorded[1:]] + [both]
    sizes = dict(zip(parts, (size for size, _ in recorded), strict=True))
    monkeypatch.setattr(progress, "_sizes_left", lambda entry: sizes)
    takes = slower * recorded[-1][1]
    announcer.on_start(SimpleNamespace(data={"dispatcher": both}))
    told = [(float(re.search(r"about (\d+) s", capsys.readouterr().err)[1]), takes)]
    for part, (_, seconds) in zip(parts, recorded, strict=True):
        clock.now = slower * seconds
        announcer.on_end(SimpleNamespace(data={"dispatcher": part}))
        told += [(float(said), takes - clock.now) for said in re.findall(r"about (\d+) s", capsys.readouterr().err)]
    return takes, told


@pytest.mark.parametrize("entry_name", RECORDED)
@pytest.mark.parametrize("slower", [0.8, 1, 4])
def test_what_is_said_to_be_left_is_right_within_a_third(entry_name, slower, monkeypatch, capsys):
    takes, told = estimates(monkeypatch, capsys, Announcer(), RECORDED[entry_name], slower)
    before, *later = told
    assert slower != 1 or abs(before[0] - takes) < takes / 3
    assert later or takes < 5
    assert all(abs(said - left) < takes / 3 for said, left in later)


def test_a_slow_machine_is_known_by_its_second_entry(monkeypatch, capsys):
    announcer = Announcer()
    estimates(monkeypatch, capsys, announcer, RECORDED["deal_games"], 4)
    takes, told = estimates(monkeypatch, capsys, announcer, RECORDED["observe_games"], 4)
    assert abs(told[0][0] - takes) < takes / 3


def test_in_a_pipe_there_is_a_line_at_first_and_then_now_and_then(compile_slowly, capsys, monkeypatch):
    monkeypatch.setitem(progress.WHAT, __name__.partition(".")[0], "the rules")
    compile_slowly(Announcer(), 8)
    first, then = capsys.readouterr().err.splitlines()
    assert first == "borneo_env: compiling the rules, about 1 s, once per version and machine"
    assert re.fullmatch(r"borneo_env: compiling the rules: \d+ %, about \d+ s left".replace(" %", "%"), then)


def test_a_function_compiled_for_several_types_counts_once(compile_slowly, capsys):
    compile_slowly(Announcer(), 8, times=3)
    shares = re.findall(r"(\d+)%", capsys.readouterr().err)
    assert len(shares) == 3 and len(set(shares)) == 1


@pytest.mark.parametrize("what", ["the rules", "the bots", "the networks", "functions"])
def test_in_a_terminal_there_is_a_bar_of_80_columns_that_is_wiped_away(what, compile_slowly, capsys, monkeypatch):
    monkeypatch.setitem(progress.WHAT, __name__.partition(".")[0], what)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    compile_slowly(Announcer(), 800)
    first, *bars = capsys.readouterr().err.split("\r\033[K")
    assert first.startswith(f"borneo_env: compiling {what}, about") and len(first.rstrip()) <= 78
    assert 0 < bars[0].count("█") < bars[1].count("█") < 24 and bars[-1] == ""
    assert all(len(bar) <= 80 and f"compiling {what}: " in bar for bar in bars[:-1])


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

    assert [function.__name__ for function in progress._sizes_left(more)] == ["more"]
