"""Agents that fail in the arena: whatever they do, they lose that game, and the run goes on."""

from __future__ import annotations

import asyncio
import re
import signal
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from arena_games import TINY, Faulty, First, Raising, alive, crash, here, same_games
from borneo_agents.arena import ArenaConfig, ArenaStopped, play_arena
from borneo_agents.arena.design.tournament import tournament
from borneo_agents.arena.play import agent_seats
from borneo_agents.arena.play.calls import CRASH, ENDED, ILLEGAL, MAKING, TIME_OUT, WARMING_UP, Call, Fault
from borneo_agents.arena.store.folder import Folder
from borneo_agents.arena.workers import pool, retries
from borneo_agents.arena.workers.pool import ArenaError
from borneo_agents.arena.workers.retries import MOST_CHUNKS, MOST_FAULTS, ChunkTask, FaultHistory

from borneo_env import Bot


def leave(views, actions, now):
    if now.any():
        raise SystemExit(1)
    return actions


def cheat(views, actions, now):
    views.mask[:] = True
    return np.where(now, 9999, actions)


def beside(views, actions, now):
    illegal = (~views.mask).argmax(1)
    return np.where(now, illegal, actions)


def negative(views, actions, now):
    return np.where(now, -1, actions)


def huge(views, actions, now):
    return np.where(now, np.uint64(2**64 - 1), actions.astype(np.uint64))


def too_few(views, actions, now):
    return actions[:-1] if now.any() else actions


def no_numbers(views, actions, now):
    return actions.astype(float) if now.any() else actions


def nothing(views, actions, now):
    return None if now.any() else actions


FAULTS = {
    crash: (CRASH, "ValueError: cannot decide"), leave: (CRASH, "SystemExit: 1"), cheat: (ILLEGAL, "action 9999"),
    beside: (ILLEGAL, "action"), negative: (ILLEGAL, "action -1"), huge: (ILLEGAL, "action 9223372036854775807"),
    too_few: (ILLEGAL, r"shape \(0,\)"), no_numbers: (ILLEGAL, "float64"), nothing: (ILLEGAL, "object of shape"),
}  # fmt: skip


class Texts(Bot):
    def decide(self, view, options):
        return options[0].text


def test_an_answer_that_is_no_option_is_an_illegal_move():
    assert {fault.kind for fault in here({"random": "random", "texts": Texts()}, games=2).faults} == {ILLEGAL}


GOOD = {"random": "random", "good": First()}


@cache
def good_games():
    """Those of two good agents and of a third."""
    return here(GOOD | {"third": First()})


@pytest.mark.parametrize("deed", FAULTS, ids=lambda deed: deed.__name__)
def test_a_fault_loses_this_game_and_no_other(deed):
    good = good_games()
    played = here(GOOD | {"third": Faulty(deed)})
    lost = {fault.game for fault in played.faults}
    assert 3 < len(lost) < 21
    kind, reason = FAULTS[deed]
    for fault in played.faults:
        assert (fault.agent, fault.kind) == (2, kind)
        assert re.search(reason, fault.reason)
        game = played.outcomes[fault.game]
        assert (game["game"], game["offender"], game["seats"][fault.seat]) == (fault.game, fault.seat, 2)
        assert game["places"].tolist() == [3 if seat == fault.seat else 1 for seat in range(3)]
    others = [game for game in range(24) if game not in lost]
    assert played.outcomes[others].tobytes() == good.outcomes[others].tobytes()
    assert (played.outcomes["offender"][others] == -1).all()
    assert played.profiles[2].faults == len(lost)
    shares = {row.agent: row.win_share.value for row in played.standings}
    assert sum(shares.values()) == pytest.approx(1), "the others share what it loses"


def test_a_failed_call_is_repeated_game_by_game():
    calls = []

    class Crashing(First):
        def act(self, views):
            crashes = (views.dice % np.uint64(30) == 0).any()
            calls.append((len(views), crashes))
            if crashes:
                raise RuntimeError("lost the thread")
            return super().act(views)

    here({"random": "random", "good": First(), "crashing": Crashing()}, games=60, chunk=60)
    failed = [(i, games) for i, (games, crashes) in enumerate(calls) if crashes and games > 1]
    assert failed
    for i, games in failed:
        assert [one for one, _ in calls[i + 1 : i + 1 + games]] == [1] * games


def test_who_thinks_too_long_loses_even_if_the_answer_comes(monkeypatch):
    seconds = 0.0
    monkeypatch.setattr(agent_seats, "time", SimpleNamespace(perf_counter=lambda: seconds))

    def slow(views, actions, now):
        nonlocal seconds
        seconds += 0.4 * now.any()
        return actions

    played = here({"random": "random", "slow": Faulty(slow, 60)}, games=12, time_limit=0.06, chunk=3)
    assert played.faults
    assert {fault.kind for fault in played.faults} == {TIME_OUT}
    assert {fault.agent for fault in played.faults} == {1}
    assert here({"random": "random", "slow": Faulty(slow, 60)}, games=12, time_limit=10, chunk=3).faults == ()


@pytest.mark.parametrize(("deed", "kind"), [("hang", TIME_OUT), ("end", ENDED)])
def test_an_agent_that_hangs_or_ends_the_process_loses_that_game(deed, kind, bots, forks, monkeypatch):
    monkeypatch.setattr(pool, "GRACE", 0.2)
    bad, good = f"arena_bots:Rarely:{deed}:one_in=150", "arena_bots:Rarely:nothing"
    settings = {"games": 12, "seed": 3, "jobs": 1, "chunk": 12, "time_limit": 0.2}
    played = play_arena(["random", bad], TINY, **settings)
    lost = [fault.game for fault in played.faults]
    assert {(fault.agent, fault.kind) for fault in played.faults} == {(1, kind)}
    assert 1 <= len(lost) <= 2, "few enough not to be given up"
    untroubled = play_arena(["random", good], TINY, **settings | {"jobs": 0})
    others = [game for game in range(12) if game not in lost]
    assert played.outcomes[others].tobytes() == untroubled.outcomes[others].tobytes()


def test_an_agent_that_always_hangs_is_given_up(bots, forks, monkeypatch):
    monkeypatch.setattr(retries, "MOST_FAULTS", 1)
    monkeypatch.setattr(pool, "GRACE", 0.2)
    bad = "arena_bots:Rarely:hang:one_in=1"
    settings = {"games": 6, "jobs": 1, "chunk": 6, "time_limit": 0.2, "warm_up_limit": 0.2}
    played = play_arena(["random", bad], TINY, **settings)
    assert (played.outcomes["offender"] >= 0).all()
    assert {fault.agent for fault in played.faults} == {1}
    assert {fault.kind for fault in played.faults} == {TIME_OUT}
    assert sum("not asked any more in this chunk: no answer within" in fault.reason for fault in played.faults) >= 5


@pytest.mark.parametrize("jobs", [0, 1])
def test_getting_ready_is_not_thinking(jobs, bots, forks, monkeypatch):
    (bots / "late.py").write_text(
        "import time\nready = False\nclass Late:\n    def act(self, views):\n        global ready\n"
        "        time.sleep(0 if ready else 0.8)\n        ready = True\n        return views.mask.argmax(1)\n"
    )
    monkeypatch.setattr(pool, "GRACE", 0.2)
    assert play_arena(["random", "late:Late"], TINY, games=6, chunk=6, jobs=jobs, time_limit=0.3).faults == ()


def test_an_agent_that_cannot_be_made_loses_its_games(bots, forks):
    (bots / "once.py").write_text(
        "from pathlib import Path\nclass Once:\n    def __init__(self):\n        Path('made').mkdir()\n"
        "    def act(self, views):\n        return views.mask.argmax(1)\n"
    )
    played = play_arena(["random", "once:Once"], TINY, games=6, jobs=1)
    assert {(fault.agent, fault.kind) for fault in played.faults} == {(1, CRASH)}
    assert len(played.faults) == 6
    assert "cannot be made: FileExistsError" in played.faults[0].reason


def test_an_agent_that_ends_the_process_when_it_is_made_is_given_up(bots, forks):
    (bots / "ending.py").write_text(
        "import os\nmade = 0\nclass Ending:\n    def __init__(self):\n        global made\n        made += 1\n"
        "        if made > 1 and 'worker' in str(os.sys.argv):\n            os._exit(1)\n"
        "    def act(self, views):\n        return views.mask.argmax(1)\n"
    )
    played = play_arena(["random", "ending:Ending"], TINY, games=6, jobs=1)
    assert [(fault.agent, fault.kind) for fault in played.faults] == [(1, ENDED)] * 6
    assert re.search(r"the process has ended \(.*\) in its __init__", played.faults[0].reason)


def test_what_agents_print_is_kept_apart(bots):
    (bots / "chatty.py").write_text(
        "class Chatty:\n    def act(self, views):\n        print('{\"done\": 0}')\n        return views.mask.argmax(1)"
    )
    played = play_arena(["random", "chatty:Chatty"], TINY, games=6, jobs=1, out="kept")
    assert len(played.outcomes) == 6
    assert '{"done": 0}' in Path("kept/agents.log").read_text()


# ---------------------------------------------------------------- answers of any kind, errors of any kind


@pytest.mark.parametrize("kind", ["int16", "int32", "uint16", "uint64", list])
def test_an_answer_may_be_of_any_whole_number(kind):
    def answer(views, actions, now):
        return actions.tolist() if kind is list else actions.astype(kind)

    assert same_games(here(GOOD | {"third": Faulty(answer)}), good_games())


NUMBERS_TOO_LARGE = [lambda n: [2**70] * n, lambda n: [-(2**70)] * n, lambda n: [2**63] * n]


@pytest.mark.parametrize("answer", [lambda n: np.ones(n, bool), lambda n: [True] * n, *NUMBERS_TOO_LARGE])
def test_what_is_no_whole_number_is_no_action(answer):
    played = here({"random": "random", "it": Faulty(lambda views, actions, now: answer(len(views)))}, games=6)
    assert [(fault.agent, fault.kind) for fault in played.faults] == [(1, ILLEGAL)] * 6


class Unspeakable(Exception):
    def __str__(self):
        raise KeyboardInterrupt


ERRORS = {
    "KeyboardInterrupt": KeyboardInterrupt(),
    "CancelledError": asyncio.CancelledError(),
    "GeneratorExit": GeneratorExit(),
    "ValueError": ValueError(),
    "Unspeakable": Unspeakable(),
    r"ValueError: half \ud83d of it": ValueError("half \ud83d of it"),
    r"ValueError: \x1b[2J": ValueError("\x1b[2J"),
}


@pytest.mark.parametrize("words", ERRORS)
def test_an_error_of_any_kind_loses_the_game(words, tmp_path):
    played = here({"random": "random", "it": Raising(ERRORS[words])}, games=6, out=tmp_path)
    assert [(fault.agent, fault.kind, fault.reason) for fault in played.faults] == [(1, CRASH, words)] * 6
    assert words in played.games_csv().encode("utf-8").decode()
    assert same_games(here({"random": "random", "it": First()}, games=6, out=tmp_path), played), "it was kept"


def test_a_run_in_which_nobody_gets_anywhere_has_its_files(tmp_path):
    here({"random": "random", "it": Raising(ValueError())}, games=6, out=tmp_path)
    assert "ValueError" in (tmp_path / "report.html").read_text()


@pytest.fixture
def ctrl_c_is_heard():
    """A shell in the background ignores it."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("ctrl_c_is_heard")
@pytest.mark.parametrize("patient", [False, True])
def test_ctrl_c_stops_the_run_whatever_an_agent_makes_of_it(patient):
    def press(views, actions, now):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if not patient:
                raise RuntimeError("woken up") from None
        return actions

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ArenaStopped) as stopped:
        here(["random", Faulty(press)], games=6)
    assert stopped.value.result is None
    assert signal.getsignal(signal.SIGINT) is before


def test_who_fails_at_the_first_question_only_has_failed_in_no_game(bots):
    (bots / "shy.py").write_text(
        "asked = 0\nclass Shy:\n    def act(self, views):\n        global asked\n        asked += 1\n"
        "        if asked == 1:\n            raise GeneratorExit\n        return views.mask.argmax(1)\n"
    )
    assert play_arena(["random", "shy:Shy"], TINY, games=6, jobs=0).faults == ()


# ---------------------------------------------------------------- workers


# Each does what First does, and something else.
STRANGE = """
import multiprocessing, os, sys, threading, time

class Reads:
    def act(self, views):
        assert sys.stdin.read() == ""
        assert os.read(0, 1) == b""
        return views.mask.argmax(1)

class Writes:
    def act(self, views):
        os.write(1, b"x" * 1000)
        print("{}", flush=True)
        return views.mask.argmax(1)

class Wanders:
    def act(self, views):
        assert os.getcwd() != "/"
        os.chdir("/")
        return views.mask.argmax(1)

class Shallow:
    def act(self, views):
        sys.setrecursionlimit(60)
        return views.mask.argmax(1)

class LeavesThreads:
    def act(self, views):
        if threading.active_count() < 10:
            threading.Thread(target=time.sleep, args=(1e6,)).start()
        return views.mask.argmax(1)

class Pools:
    pool = None

    def act(self, views):
        if Pools.pool is None:
            Pools.pool = multiprocessing.get_context("fork").Pool(1)
            with open("child", "a") as file:
                print(Pools.pool.apply(os.getpid), file=file)
        return views.mask.argmax(1)

class LeavesDaemons:
    left = False  # in a session of its own, one whose parent ends at once

    def act(self, views):
        if not LeavesDaemons.left and not os.fork():
            os.setsid()
            if not os.fork():
                with open("child", "a") as file:
                    print(os.getpid(), file=file)
                time.sleep(1e6)
            os._exit(0)
        LeavesDaemons.left = True
        return views.mask.argmax(1)
"""


def test_strange_habits_do_no_harm(bots):
    (bots / "strange.py").write_text(STRANGE)
    kinds = ("Reads", "Writes", "LeavesDaemons", "Wanders", "Shallow", "LeavesThreads", "Pools")
    played = play_arena([f"strange:{kind}" for kind in kinds], TINY, games=12, chunk=6, jobs=1, seed=3, out="kept")
    assert played.faults == ()
    plain = here({kind: First() for kind in kinds}, games=12)
    assert played.outcomes.tobytes() == plain.outcomes.tobytes()
    assert not any(alive(process) for process in Path("child").read_text().split()), "no process is left"
    assert len(Path("child").read_text().split()) >= 2
    assert not Path("/kept").exists()


def test_an_answer_that_never_comes_is_a_time_out(bots, forks, monkeypatch):
    monkeypatch.setattr(pool, "GRACE", 0.2)
    (bots / "promising.py").write_text(
        "import time\nfrom arena_bots import Rarely\n"
        "class Promise:\n    def __array__(self, *_, **__):\n        time.sleep(1e6)\n"
        "class Promising(Rarely):\n    def act(self, views):\n        now = self.now(views).any()\n"
        "        return Promise() if now else views.mask.argmax(1)\n"
    )
    bad = "promising:Promising:nothing:one_in=150"
    played = play_arena(["random", bad], TINY, games=12, seed=3, jobs=1, chunk=12, time_limit=0.2)
    assert 1 <= len(played.faults) <= 3
    assert {(fault.agent, fault.kind) for fault in played.faults} == {(1, TIME_OUT)}


def test_a_process_that_was_ended_once_costs_no_game(bots, forks):
    (bots / "struck.py").write_text(
        "import os, signal\nfrom pathlib import Path\nfrom borneo_env.engine.state import SHIP\n"
        "class Struck:\n    def act(self, views):\n"
        "        if (views.games['phase'] == SHIP).any() and not Path('struck').exists():\n"
        "            Path('struck').touch()\n"
        "            if not (daemon := os.fork()):\n                os.setsid()\n                signal.pause()\n"
        "            Path('struck').write_text(str(daemon))\n            os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return views.mask.argmax(1)\n"
    )
    played = play_arena(["random", "struck:Struck"], TINY, games=6, jobs=1, seed=3)
    assert not alive(Path("struck").read_text()), "what it had started outlives it"
    assert same_games(played, here({"random": "random", "struck:Struck": First()}, games=6))


def a_worker(folder):
    config = ArenaConfig(ruleset=TINY, games=6, seed=3, jobs=1, warm_up_limit=600)
    plan = tournament(["random", "arena_bots:First"], config)
    return plan, pool.WorkerPool(plan, folder, config)


def test_a_worker_that_ends_while_no_agent_is_asked_is_replaced(bots, forks):
    folder = Folder(bots / "kept")
    folder.path.mkdir()
    chunks = folder.path / "chunks"
    chunks.touch()  # no folder: games cannot be saved
    plan, one = a_worker(folder)
    with one:
        for _ in one.play(plan.chunks):
            if chunks.is_file() and "Traceback" in (folder.path / "agents.log").read_text():
                chunks.unlink()
                chunks.mkdir()
    assert folder.load(plan, plan.chunks[0]).faults == []


def test_workers_that_always_end_end_the_run(bots, forks, monkeypatch):
    monkeypatch.setattr(pool, "RETRIES", 1)
    folder = Folder(bots / "kept")
    folder.path.mkdir()
    (folder.path / "chunks").touch()
    plan, one = a_worker(folder)
    with one, pytest.raises(ArenaError, match=r"no agent is to blame(?s:.*)cannot be written"):
        list(one.play(plan.chunks))
    assert (folder.path / "agents.log").read_text().count("Traceback") == 2


# ---------------------------------------------------------------- what follows for the next attempt

MANY, HERE, THERE, MAKING_IT, AT_FIRST = (
    Call(1, 30, views=3), Call(1, 30, game=2), Call(1, 31, game=5), Call(1, MAKING), Call(1, WARMING_UP)
)  # fmt: skip
ELSEWHERE = [(ENDED, Call(1, round, game=2)) for round in range(MOST_FAULTS)]
HANGS = [(TIME_OUT, Call(1, 30, game=game)) for game in range(3)]


@pytest.mark.parametrize(
    ("faults", "alone", "forfeits", "since", "everywhere"),
    [
        ([(TIME_OUT, MANY)], {1}, [], None, False),
        ([(ENDED, MANY)], {1}, [], None, False),
        ([(TIME_OUT, HERE)], {1}, [(30, 2)], None, False),
        ([(ENDED, HERE)], set(), [], None, False),  # from outside, perhaps
        ([(ENDED, HERE), (ENDED, HERE)], set(), [(30, 2)], None, False),
        ([(ENDED, HERE), (ENDED, THERE)], set(), [], None, False),
        (HANGS, {1}, [(30, 0), (30, 1), (30, 2)], 30, False),
        (ELSEWHERE[:-1], set(), [], None, False),
        (ELSEWHERE, set(), [], MOST_FAULTS - 1, False),
        ([(TIME_OUT, AT_FIRST)], {1}, [], 0, True),
        ([(ENDED, AT_FIRST)], set(), [], None, False),
        ([(ENDED, AT_FIRST), (ENDED, AT_FIRST)], set(), [], 0, True),
        ([(ENDED, MAKING_IT), (ENDED, MAKING_IT)], set(), [], 0, True),
    ],
)
def test_what_follows_from_faults(faults, alone, forfeits, since, everywhere):
    history, task = FaultHistory(), ChunkTask(range(1))
    for kind, call in faults:
        history.note(task, call, Fault(kind, "for a reason"))
    history.prepare(task)
    plan = task.plan
    assert (plan.alone, list(plan.forfeits)) == (alone, forfeits)
    assert {agent: round for agent, (round, _) in plan.disqualified.items()} == ({} if since is None else {1: since})
    assert set(history.disqualified) == ({1} if everywhere else set())


def test_who_hangs_in_several_chunks_is_asked_in_no_other_wherever_these_are_played():
    here, there = FaultHistory(), FaultHistory()
    for chunk in range(MOST_CHUNKS):
        assert here.disqualified == {}
        there = FaultHistory(dict(here.disqualified), set(here.hung))
        task = ChunkTask(range(chunk, chunk + 1))
        there.prepare(task)
        for kind, call in HANGS:
            there.note(task, call, Fault(kind, "no answer", "It was here"))
        here.merge(there)
    last = ChunkTask(range(9, 10))
    here.prepare(last)
    charge = Fault(TIME_OUT, "not asked any more: no answer", "It was here")
    assert (last.plan.disqualified, last.plan.alone) == ({1: (0, charge)}, {1})
