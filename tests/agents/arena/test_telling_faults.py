"""What a bot's author is told: tracebacks of faults, whom the arena waits for, and headlines that are right."""

from __future__ import annotations

import faulthandler
import io
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from arena_games import TINY, Faulty, First, Last, Raising, crash, here
from borneo_agents.arena import ArenaConfig, play_arena
from borneo_agents.arena.design.tournament import tournament
from borneo_agents.arena.play.calls import CRASH, ENDED, TIME_OUT, WARMING_UP, Call
from borneo_agents.arena.report.page import report
from borneo_agents.arena.report.sections import fault_rows, least_share, standings_rows
from borneo_agents.arena.report.tables import GamesNeeded
from borneo_agents.arena.report.terminal import print_result
from borneo_agents.arena.report.words import fault_lines, headline
from borneo_agents.arena.workers import pool
from rich.console import Console

from borneo_env import cli
from borneo_env.agent import WrongAnswer
from borneo_env.outcomes import points_words
from borneo_env.ruleset import Ruleset
from kontor.traces import LONGEST_TRACE, traceback_of, where_it_was

BUGGY = """
class Buggy:
    def act(self, views):
        return self.choose(views)

    def choose(self, views):
        raise KeyError("no \\x1b[2J <b>")


class Illegal:
    def act(self, views):
        return views.mask.argmin(1)


class Leaves:
    def act(self, views):
        raise SystemExit(4)
"""


@pytest.fixture
def buggy(bots):
    (bots / "buggy.py").write_text(BUGGY)
    return bots


def command(capsys, monkeypatch, line):
    """What `borneo` prints, on both channels, and its status."""
    monkeypatch.setattr("sys.argv", ["borneo", *line.split()])
    monkeypatch.setattr("sys.excepthook", sys.excepthook)  # put back afterwards
    with pytest.raises(BaseException) as left:
        cli.main()
    printed = capsys.readouterr()
    return left.value, printed.out, printed.err


# ---------------------------------------------------------------- tracebacks


def test_the_first_traceback_of_a_kind_is_told_everywhere(buggy, forks, capsys, monkeypatch):
    line = "arena random climber buggy:Buggy --players 3 --tables tiny --games 12 --chunk 6 --jobs 1 --out kept"
    line += " --lineups one-vs"
    _, out, _ = command(capsys, monkeypatch, line)
    page, log = Path("kept/report.html").read_text(), Path("kept/agents.log").read_text()
    assert out.startswith("buggy:Buggy lost 12 of 12 games by a crash\n18 games of "), "above the standings"
    assert "<h1>buggy:Buggy lost 12 of 12 games by a crash</h1>" in page
    for text in (out, log):
        assert text.count("Traceback (most recent call last):") == 1
        trace = text[text.index("buggy:Buggy, crash, first in game") :]
        assert '\n  File "buggy.py", line 4, in act\n    return self.choose(views)\n' in trace
        assert r"KeyError: 'no \x1b[2J <b>'" in trace
        assert "\x1b" not in trace
        assert "borneo_agents" not in trace, "none of our lines"
    assert "line 7, in choose" in page and "&lt;b&gt;" in page and "<b>" not in page


def test_where_nothing_was_measured_there_are_no_standings():
    shown = io.StringIO()
    print_result(Console(width=200, file=shown), here({"random": "random", "it": Raising(ValueError("x"))}, games=6))
    assert shown.getvalue().startswith("it lost 6 of 6 games by a crash\nNo game was played to its end")
    assert "wins, %" not in shown.getvalue()


def test_tracebacks_are_kept_with_the_games(buggy):
    played = play_arena(["random", "buggy:Buggy"], TINY, games=12, chunk=6, jobs=0, out="kept")
    (trace,) = played.traces
    assert (trace.agent, trace.kind) == (1, CRASH)
    assert [row[-1] for row in fault_rows(played)] == [f"game {trace.game}: {played.faults[0].reason}"]
    assert play_arena(["random", "buggy:Buggy"], TINY, games=12, chunk=6, jobs=0, out="kept").traces == (trace,)
    assert played.as_dict()["tracebacks"] == [trace._asdict() | {"agent": "buggy:Buggy"}]


def test_a_traceback_is_short_and_printable_whatever_is_raised():
    class Unspeakable(Exception):
        def __str__(self):
            raise KeyboardInterrupt

    assert "Unspeakable" in traceback_of(Unspeakable())
    for words in ("x" * 100_000, "line\n" * 1000, "\x1b[2J\t\r"):
        told = traceback_of(ValueError(words))
        assert len(told) <= LONGEST_TRACE
        assert told.replace("\n", "").isprintable()


def test_a_stack_is_told_from_the_agents_first_line_on():
    with tempfile.TemporaryFile("w+") as file:
        faulthandler.dump_traceback(file, all_threads=False)
        file.seek(0)
        stack = file.read()
    assert "in test_a_stack_is_told" in where_it_was(stack).splitlines()[-2]
    ours = f'  File "{Path(pool.__file__)}", line 3 in play\n'
    theirs = '  File "/bots/my_bot.py", line 5 in act\n'
    told = where_it_was(f"Current thread 0x1 (most recent call first):\n{theirs}{ours}", "/bots")
    assert told == 'It was here (most recent call last):\n  File "my_bot.py", line 5, in act'
    assert where_it_was(ours) == where_it_was("") == ""


def test_a_hang_says_where_it_was_and_an_end_says_how(bots, forks, monkeypatch):
    monkeypatch.setattr(pool, "GRACE", 0.5)
    bad = "arena_bots:Rarely:hang:one_in=150"
    settings = {"games": 12, "seed": 3, "jobs": 1, "chunk": 12, "time_limit": 2.0}  # nothing else takes as long
    played = play_arena(["random", bad], TINY, **settings)
    assert re.fullmatch(r"no answer within 2\.5 s at decision \d+", played.faults[0].reason)
    assert re.search(r'File "arena_bots.py", line \d+, in act\n    time.sleep', played.traces[0].text)


def test_who_never_answers_is_asked_in_no_chunk(bots, forks):
    (bots / "hanging.py").write_text(
        "class Hanging:\n    def act(self, views):\n        while True:\n            pass\n"
        "class Ending:\n    def act(self, views):\n        __import__('os')._exit(3)\n"
    )
    settings = {"games": 12, "jobs": 1, "chunk": 6, "warm_up_limit": 0.3}
    played = play_arena(["random", "hanging:Hanging", "hanging:Ending"], TINY, **settings)
    faults = {(fault.agent, fault.kind, fault.reason) for fault in played.faults}
    assert {fault[:2] for fault in faults} == {(1, TIME_OUT), (2, ENDED)}
    assert all("at its first call, before any game" in fault[2] for fault in faults)
    assert (played.outcomes["offender"] >= 0).all()


def test_the_first_call_has_more_time_with_a_longer_limit_and_where_code_may_be_compiled():
    def limit(agent, time_limit):
        config = ArenaConfig(ruleset=TINY, games=6, time_limit=time_limit)
        return pool.WorkerPool(tournament(["random", agent], config), None, config)._limit(Call(1, WARMING_UP))

    assert limit("my_bot:MyBot", 1) < limit("my_bot:MyBot", 5) < limit("my_bot:MyBot", 60)
    assert limit("merchant", 5) > 2 * limit("my_bot:MyBot", 5)


# ---------------------------------------------------------------- waiting


def test_it_is_said_once_whom_the_arena_waits_for(capsys):
    config = ArenaConfig(ruleset=TINY, games=6)
    one = pool.WorkerPool(tournament(["random", "my_bot:MyBot"], config), None, config)
    for call, seconds in ((None, 9), (Call(1, 7), 4.9), (Call(1, 7), 5.2), (Call(1, 8), 5.9), (Call(0, WARMING_UP), 7)):
        one._stuck(SimpleNamespace(running=lambda now=(call, seconds): now))
    assert capsys.readouterr().err.splitlines() == [
        "waiting for my_bot:MyBot: 5 s at decision 7; it has 6 s",
        "waiting for random: 7 s at its first call, before any game; it has 690 s",
    ]


# ---------------------------------------------------------------- a debugger


def test_debug_lets_the_first_fault_raise_in_this_process(buggy, capsys, monkeypatch):
    line = "arena random buggy:Buggy --players 3 --tables tiny --games 12 --debug"
    error, out, _ = command(capsys, monkeypatch, line)
    assert type(error) is KeyError, "as it is, for a debugger"
    assert out == ""
    sys.excepthook(type(error), error, error.__traceback__)
    shown = capsys.readouterr().err
    assert shown.startswith('Traceback (most recent call last):\n  File "buggy.py", line 4, in act\n')


def test_debug_names_an_illegal_answer_and_shows_an_exit(buggy, capsys, monkeypatch):
    line = "arena random buggy:Illegal --players 3 --tables tiny --games 12 --debug"
    error, _, err = command(capsys, monkeypatch, line)
    assert (error.code, err.count("\n")) == (2, 1)
    assert "error: buggy:Illegal, in game" in err and "is not legal here; legal are: place " in err
    error, _, err = command(capsys, monkeypatch, line.replace("Illegal", "Leaves"))
    assert error.code == 1
    assert err.endswith("    raise SystemExit(4)\nSystemExit: 4\n")


def test_debug_limits_no_time():
    assert here(["random", First()], games=6, debug=True, time_limit=1e-9).faults == ()
    with pytest.raises(WrongAnswer, match=r"Faulty, in game \d+ at decision \d+: its answer for 1 game is None"):
        here(["random", Faulty(lambda views, actions, now: None)], games=6, debug=True)


def test_a_breakpoint_without_debug_says_what_it_needs():
    import bdb

    played = here({"random": "random", "it": Raising(bdb.BdbQuit())}, games=6)
    assert played.faults[0].reason == "BdbQuit: a breakpoint needs --debug"


def test_a_syntax_error_shows_the_bots_line_and_none_of_ours(bots, capsys, monkeypatch):
    (bots / "typo.py").write_text("class MyBot:\n    def act(self, views):\n        return (1\n")
    error, _, err = command(capsys, monkeypatch, "arena random typo:MyBot")
    assert error.code == 2
    first, *rest = err.splitlines()
    assert first.startswith("error: the agent 'typo:MyBot' cannot be imported: SyntaxError: '(' was never closed")
    assert rest[0] == '  File "typo.py", line 3'
    assert len(rest) == 4


# ---------------------------------------------------------------- headlines and tables


def test_the_highest_possible_share_stands_beside_par():
    played = here({"random": "random", "first": First()}, games=12)
    assert {row.highest for row in played.standings} == {2 / 3}, "two seats in half of the games, of three"
    assert all(row.win_share.high <= 2 / 3 for row in played.standings)
    assert standings_rows(played)[0] == ["agent", "wins, %", "max, %", "place", "points"]
    assert re.search(r"wins [\d.]+ % of its seats, where 66.7 % are possible|Nobody is ahead", headline(played))
    shown = io.StringIO()
    print_result(Console(width=200, file=shown), played)
    assert "33.3 % is par" in shown.getvalue()
    alone = here({"random": "random", "first": First(), "last": Last()}, games=12)
    assert {row.highest for row in alone.standings} == {1.0}
    assert standings_rows(alone)[0] == ["agent", "wins, %", "place", "points"]
    assert re.search(r" wins [\d.]+ % of its games$|Nobody is ahead", headline(alone))


def test_faults_that_are_the_exception_are_no_headline():
    played = here({"random": "random", "good": First(), "third": Faulty(crash, one_in=400)}, games=60)
    lost = len(played.faults)
    assert 0 < lost < 30
    assert fault_lines(played) == [f"third lost {lost} of 60 games by a crash"]
    assert "lost" not in headline(played)
    page = report(played)
    assert f"<p>third lost {lost} of 60 games by a crash.</p>" in page


def test_what_is_not_in_a_ruleset_is_not_told():
    assert "pirates" not in points_words(Ruleset())
    assert "pirates" in points_words(Ruleset(players=4, blackbeard=True))
    assert "each-1, 1 of each spice, " in points_words(Ruleset())
    assert "same-4, 4 of one spice, " in points_words(Ruleset())


def test_one_is_not_many():
    played = here(["random", First()], games=6)
    assert ": 1 deal, 6 games each" in repr(played)


def test_intervals_of_seats_and_profile_are_in_the_report():
    page = report(here({"random": "random", "last": Last()}, games=120))
    for row in ("cargo cards", "turns, all players together", "start player"):
        cells = re.search(rf"<tr><td>{row}</td>(.*)</tr>", page).group(1)
        assert "±" in cells or " to " in cells


def test_few_games_tell_nothing():
    needed = GamesNeeded("a", "b", 0.043, {"0.01": 1000})
    assert [least_share(replace(needed, told=told)) for told in (0.043, 0.56)] == ["54.3 %", "nothing"]


def test_in_80_columns_names_and_figures_are_whole():
    shown, long_name = io.StringIO(), "my_bots.careful:CarefulBot:depth=3"
    played = here({"random": "random", long_name: First(), "policy:out/run/best": First()}, lineups="one-vs", games=18)
    print_result(Console(width=80, file=shown), played)
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= 80 and "…" not in shown.getvalue()
    assert "Placed before the agent of the column, %" in lines
    for row in played.standings:
        figures = (row.agent, row.win_share.words(".1f", 0.01))
        assert any(all(figure in line for figure in figures) for line in lines), figures


def test_the_lines_of_a_traceback_are_as_long_as_they_are():
    shown = io.StringIO()
    print_result(
        Console(width=80, file=shown), here({"random": "random", "it": Raising(ValueError("x " * 60))}, games=6)
    )
    assert "ValueError: " + "x " * 59 + "x" in [line.rstrip() for line in shown.getvalue().splitlines()]


# ---------------------------------------------------------------- files


def test_a_result_writes_in_python_what_the_command_writes(tmp_path):
    played = here(["random", First()], games=6, out=tmp_path / "kept")
    names = {file.name for file in (tmp_path / "kept").iterdir()}
    assert {"report.html", "results.json", "games.csv"} <= names
    path = played.report(tmp_path / "new" / "mine.html")
    assert path.read_text() == (tmp_path / "kept" / "report.html").read_text()


def test_a_plot_shows_itself():
    played = here(["random", First()], games=6)
    drawn = played.plot("strengths")
    assert drawn._repr_svg_().startswith("<svg")
    assert len(repr(drawn)) < 60
    with pytest.raises(ValueError, match="no plot 'wins'; known are: strengths, "):
        played.plot("wins")
