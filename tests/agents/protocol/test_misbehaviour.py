"""Bots in processes of their own that misbehave: one clear line, and one game."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from arena_games import TINY, here
from borneo_agents.arena.play import match
from borneo_agents.arena.play.calls import CRASH, ENDED, ILLEGAL, TIME_OUT
from borneo_agents.protocol.agent import Command
from borneo_agents.protocol.process import LOUDEST, BotFailed, BotProcess
from protocol_bots import ByDice, bot, gone

from borneo_env import Batch
from borneo_env.agent import Views

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")

DEEDS = {
    "json": (CRASH, "is not JSON"),
    "list": (CRASH, "no JSON object"),
    "nested": (CRASH, "nested too deeply|is not JSON"),
    "binary": (CRASH, "not text in UTF-8"),
    "nothing": (CRASH, "has no entry 'move'"),
    "illegal": (ILLEGAL, "'ship 99 9' is not legal here; legal are: "),
    "number": (ILLEGAL, "99999 is not legal here"),
    "true": (ILLEGAL, "True is not legal here"),
    "error": (CRASH, "^cannot decide$"),
    "twice": (CRASH, "more than one line|spoke without being asked"),
    "endless": (CRASH, "answered with more than 1,000 bytes: 'xxx"),
    "flood": (CRASH, "more than one line|more than 1,000 bytes|spoke without being asked"),
    "noise": (CRASH, f"more than {LOUDEST:,} bytes to stderr for one question"),
    "die": (ENDED, r"has ended \(status 3\)"),
    "signal": (ENDED, r"has ended \(Aborted\)"),
    "close": (ENDED, "has closed its output, or was killed"),
    "memory": (ENDED, r"has ended \(status 1\)"),
    "stall": (TIME_OUT, "gave no answer within 0.5 s"),
}


@cache
def good_games():
    return here({"random": "random", "bot": ByDice()}, games=6, seed=8)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("deed", DEEDS)
def test_misbehaviour_costs_that_game_only(deed, tmp_path):
    limits = {"stall": {"seconds": 0.5}, "memory": {"memory": 200}}.get(deed, {})
    played = here({"random": "random", "bot": bot(tmp_path, deed, **limits)}, games=6, seed=8)
    kind, reason = DEEDS[deed]
    lost = [fault.game for fault in played.faults]
    assert len(lost) == 2
    for fault in played.faults:
        assert (fault.agent, fault.kind) == (1, kind)
        assert re.search(reason, fault.reason)
        assert fault.reason.isprintable()
    others = [game for game in range(6) if game not in lost]
    assert played.outcomes[others].tobytes() == good_games().outcomes[others].tobytes()


def test_last_words_stand_in_place_of_a_traceback(tmp_path):
    for deed, words in {"die": "out of luck", "error": "I do not know"}.items():
        (trace,) = here({"random": "random", "bot": bot(tmp_path, deed)}, games=6, seed=8).traces
        assert trace.text == f"It wrote to stderr:\n{words}"


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("mute", r"has ended \(status 0\)"),
        ("version", "the bot speaks 'borneo-protocol/2', not borneo-protocol/1"),
        ("nameless", "the bot speaks None, not borneo-protocol/1"),
        ("wish", r"wants \['cards'\]; there are words, numbers and record"),
        ("wishes", r"wants \[\['words'\]\]; there are"),
        ("much", "batches of 1000000000; 0 to 1024 are possible"),
        ("kind", "has ends as 'yes'; it should be of type bool"),
        ("more", "an entry 'colour' that borneo-protocol/1 does not know"),
        ("unready", "answered the rules with {'ready': False}"),
    ],
)
def test_a_wrong_greeting_is_told_in_one_line(deed, reason, tmp_path):
    agent = bot(tmp_path, deed)
    with pytest.raises(BotFailed, match=reason) as caught:
        agent.prepare(TINY)
    assert str(caught.value).isprintable()
    assert agent._process is None


def test_words_that_nobody_asked_for_are_refused(tmp_path):
    agent = bot(tmp_path, "babble")
    agent.meet()
    signal.sigtimedwait([], 0.6)
    with pytest.raises(BotFailed, match="spoke without being asked: 'and then"):
        agent.prepare(TINY)


def test_who_greets_but_once_loses_its_games_and_the_run_goes_on(tmp_path):
    played = here({"random": "random", "bot": bot(tmp_path, "once")}, games=6, seed=8)
    assert len(played.faults) == 6
    assert all("has ended (status 1)" in fault.reason for fault in played.faults)
    assert "I have greeted already" in played.traces[0].text


def test_who_stalls_again_and_again_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(match, "MOST_STALLS", 1)
    text = bot(tmp_path, "stall", seconds=0.3)
    (tmp_path / "bot.py").write_text((tmp_path / "bot.py").read_text().replace("% 120 == 0", "% 1 == 0"))
    played = here({"random": "random", "bot": text}, games=6, seed=8)
    reasons = [fault.reason for fault in played.faults]
    assert len(reasons) == 6
    assert sum(reason.startswith("not asked any more in this chunk") for reason in reasons) == 5


def test_a_bot_that_does_not_read_is_stopped_in_time():
    process = BotProcess(["sleep", "600"], 1000, None, {})
    with pytest.raises(BotFailed, match=r"gave no answer within 0\.3 s"):
        process.ask(b"x" * 10**6, 0.3, 100)
    assert gone(process.number)


# ---------------------------------------------------------------- nothing is left


def first_views():
    return Views(TINY, *Batch(40, TINY, seed=3).view(np.arange(40)))


@pytest.mark.parametrize("how", ["close", "forget"])
def test_a_bot_that_is_let_go_ends(how, tmp_path):
    agent = bot(tmp_path)
    agent.act(first_views())
    number = agent._process.number
    if how == "close":
        agent.close()
    del agent
    assert gone(number)


def test_ctrl_c_ends_a_bot_in_the_middle_of_a_thought(tmp_path):
    process = BotProcess(["sleep", "600"], 1000, None, {})
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)  # raises KeyboardInterrupt
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            process.ask(b"{}\n", 60, 100)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert gone(process.number)


# Leaves processes behind that hear no signal, in sessions and groups of their own, and tells their numbers.
DAEMONS = """
import os, signal, sys, time

def left(become):
    reading, writing = os.pipe()
    if not os.fork():
        become()
        if not os.fork():  # whose parent ends at once
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
                signal.signal(number, signal.SIG_IGN)
            os.write(writing, b"%d" % os.getpid())
            os.closerange(0, 3)
            time.sleep(600)
        os._exit(0)
    return int(os.read(reading, 20))

numbers = [left(os.setsid), left(lambda: os.setpgid(0, 0)), left(lambda: None)]
sys.stdin.readline()
os.write(1, f"{[os.getpid(), *numbers]}\\n".encode())
os.kill(0, signal.SIGTERM) if sys.argv[1] == "group" else None
sys.exit(3) if sys.argv[1] == "ends" else time.sleep(600)
"""


def with_daemons(way):
    """A bot that has left processes behind, and the numbers of all of them."""
    Path("daemons.py").write_text(DAEMONS)
    process = BotProcess([sys.executable, "-I", "-S", "daemons.py", way], 1000, None, {})
    return process, json.loads(process.ask(b"{}\n", 60, 1000))


@pytest.mark.parametrize("way", ["ends", "stays", "group"])
def test_what_has_left_a_bots_group_ends_with_it(way):
    process, numbers = with_daemons(way)
    if way == "ends":
        with pytest.raises(BotFailed, match=r"status 3"):
            process.ask(b"{}\n", 60, 1000)
    else:
        process.kill()
    assert len(numbers) == 4 and all(map(gone, numbers))


def test_bots_end_when_the_playing_process_is_killed(tmp_path):
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _, numbers = with_daemons("stays")
        os.write(writing, json.dumps(numbers).encode())
        os.kill(os.getpid(), signal.SIGKILL)
    numbers = json.loads(os.read(reading, 200))
    os.waitpid(child, 0)
    assert all(map(gone, numbers))
    os.close(reading)
    os.close(writing)


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "names no program"),
        ("   ", "names no program"),
        ("./nothing", "the program './nothing' is not there"),
        ("plain.txt", "is no program: chmod"),
        ("bot 'open", "cannot be split into words: No closing quotation"),
        ("a\0b", "names no program"),
    ],
)
def test_what_is_no_command_is_refused_with_a_reason(command, reason):
    Path("plain.txt").touch()
    with pytest.raises(ValueError, match=reason) as caught:
        Command(command)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("command", ["echo hi > made", "echo $(touch made)", "echo `touch made`", "true; touch made"])
def test_no_shell_reads_a_command(command):
    with pytest.raises((BotFailed, ValueError)):
        Command(command).meet()
    assert not Path("made").exists()


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"seconds": "x"}, {"seconds": float("nan")}, {"memory": 0}])
def test_limits_are_checked(limits):
    with pytest.raises(ValueError, match=next(iter(limits))):
        Command(sys.executable, **limits)


def test_a_program_that_cannot_be_run_says_so(tmp_path):
    (tmp_path / "broken").write_bytes(b"\x7fELF")
    (tmp_path / "broken").chmod(0o755)
    with pytest.raises(BotFailed, match="status 127") as caught:
        Command("./broken").meet()
    assert "cannot be run: Exec format error" in caught.value.last_words


def test_secrets_of_the_environment_are_not_handed_on(tmp_path, monkeypatch):
    monkeypatch.setenv("A_SECRET", "value")
    process = BotProcess(["/usr/bin/env"], 1000, None, {"MORE": "1"})
    with pytest.raises(BotFailed) as caught:
        process.ask(b"", 20, 10**4)
    assert "MORE=1" in str(caught.value) or "PATH" in str(caught.value)
    assert "A_SECRET" not in str(caught.value)
