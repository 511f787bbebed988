"""Where Numba's private parts are missing, or nobody wants them, Numba compiles and keeps all by itself."""

import os
import subprocess
import sys
from functools import wraps
from pathlib import Path
from types import SimpleNamespace

import pytest
from copies import Copy

from kontor.compile import INTERPRETED
from kontor.compile.lookup import Private, look_up, look_up_all
from kontor.compile.numba_private import MISSING, PRIVATE

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")

ASK = """
import bot
print(bot.answer(4), len(bot.answer.stats.cache_misses))
"""
BOT = """
from kontor.compile import entry
from helper import doubled

@entry
def answer(x):
    return doubled(x) + 1
"""
HELPER = """
from kontor.compile import rule

@rule
def doubled(x):
    return 2 * x
"""
ASK_FOR_PLAIN = "import os; os.environ['BORNEO_COMPILE'] = 'plain'\n"
REMOVE = "import numba.core.typed_passes as passes; del passes.AnnotateTypes\n"


@pytest.fixture
def ask(tmp_path):
    """Asks a bot in a new process; tells the answer with how many entries were compiled, and what was complained."""
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "helper.py").write_text(HELPER)
    own = ("bot", "helper")
    return lambda before: Copy(
        before + ASK, place=tmp_path, folders=[tmp_path], anew=True, without=own, BORNEO_CACHE_DIR=str(tmp_path)
    ).said()


def test_who_asks_for_it_gets_it_and_an_edit_of_a_rule_in_another_file_is_not_missed(ask, tmp_path):
    assert ask(ASK_FOR_PLAIN) == ("9 1", "")
    assert ask(ASK_FOR_PLAIN) == ("9 0", "")
    (tmp_path / "helper.py").write_text(HELPER.replace("2 * x", "3 * x"))
    assert ask(ASK_FOR_PLAIN) == ("13 1", "")
    assert (tmp_path / "plain").is_dir() and not (tmp_path / "compiled").exists()


def test_a_missing_part_is_named_and_all_is_compiled_the_plain_way(ask, tmp_path):
    said, complaints = ask(REMOVE)
    assert said == "9 1"
    assert complaints.count("\n") == 1
    assert "has no numba.core.typed_passes.AnnotateTypes: it compiles the plain way" in complaints
    assert __import__("numba").__version__ in complaints
    assert ask(REMOVE)[0] == "9 0"


def test_processes_that_are_started_then_need_not_say_it_again(tmp_path):
    script = REMOVE + "import os, borneo_env; print(os.environ['BORNEO_COMPILE'])"
    assert Copy(script, place=tmp_path, anew=True).said()[0] == "plain"


def test_it_works_where_nothing_can_be_kept(ask, tmp_path):
    (tmp_path / "plain").write_text("a file where the folder should be")
    assert [ask(ASK_FOR_PLAIN), ask(ASK_FOR_PLAIN)] == [("9 1", "")] * 2


def test_a_function_that_stands_in_no_file_is_compiled_too(tmp_path):
    script = ASK_FOR_PLAIN + HELPER.replace("rule", "entry") + "print(doubled(4))"
    assert Copy(script, place=tmp_path, anew=True, BORNEO_CACHE_DIR=str(tmp_path)).said() == ("8", "")


def test_plain_python_needs_no_private_part(tmp_path):
    script = "import numba; numba.config.DISABLE_JIT = 1\nimport sys, borneo_env, borneo_agents.policy.agent\n"
    script += "print([name for name in sys.modules if name.startswith('kontor.compile.numba_private')])"
    assert Copy(script, place=tmp_path, anew=True).said() == ("[]", "")


def test_every_private_part_is_there_and_what_is_not_there_is_found_missing():
    assert not MISSING
    assert all(look_up(one) for one in PRIVATE)
    table = [
        Private("numba.core.nowhere", "Nothing", "0.49", ""),
        Private("numba.core.codegen", "Nothing", "0.49", ""),
        Private("numba.core.codegen", "JITCodeLibrary.nothing", "0.49", ""),
        Private("numba.core.codegen", "CodeLibrary.__init__._nothing", "0.49", ""),
    ]
    assert look_up_all(table) == ({}, [f"{one.module}.{one.name}" for one in table])


def locked(function):
    """As numba-cuda decorates the making of kernels."""

    @wraps(function)
    def under_a_lock(*given):
        return function(*given)

    return under_a_lock


class Kernel:
    @locked
    def __init__(self):
        self._library = 1


def test_what_a_decorated_function_uses_is_found(monkeypatch):
    monkeypatch.setitem(sys.modules, "card", SimpleNamespace(Kernel=Kernel))
    assert look_up(Private("card", "Kernel.__init__._library", "0.24", "")) is Kernel
    with pytest.raises(AttributeError, match="_other is missing"):
        look_up(Private("card", "Kernel.__init__._other", "0.24", ""))


# Plays golden games again; prints which are other ones.
GOLDEN = """
import test_golden
from pathlib import Path
from borneo_env.record import write_record
place = Path(__import__("sys").argv[1])
for name in ("board-4", "card-3"):
    write_record(place / name, test_golden.play(name))
    if (place / name).read_bytes() != (test_golden.GOLDEN / f"{name}.jsonl").read_bytes():
        print(name)
print("played")
"""


@pytest.mark.soak
@pytest.mark.parametrize("missing", [False, True])
def test_golden_games_are_the_same_the_plain_way(missing, tmp_path):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    if not missing:
        environment["BORNEO_COMPILE"] = "plain"
    command = [sys.executable, "-c", REMOVE * missing + GOLDEN, str(tmp_path)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1200)
    assert run.stdout.split() == ["played"], run.stderr
    assert ("AnnotateTypes" in run.stderr) == missing
