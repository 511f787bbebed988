"""Compiled and interpreted rules are the same rules; machine code is kept, and never outlives an edit."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest
from copies import Copy
from llvmlite import ir
from numba.core.unsafe.refcount import get_refcount

import borneo_env
from borneo_env import Batch, Ruleset, redact, resample
from kontor.compile.digest import digest_of, reached_from
from kontor.compile.store import KEEP_DAYS, KEEP_VERSIONS

PACKAGE = Path(borneo_env.__file__).parent
SETTINGS = ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK", "NUMBA_CACHE_DIR")

# Plays games of rulesets to the end and prints a digest of records, masks, resampled games and states on the way.
PLAY = """
import hashlib, sys
import numpy as np
from borneo_env import Batch, every_ruleset, resample

games, steps, *names = sys.argv[1:]
digest, rng = hashlib.sha256(), np.random.default_rng(0)
for ruleset in every_ruleset():
    if names and ruleset.name not in names:
        continue
    batch = Batch(int(games), ruleset, seed=5, finished="hold", skip_forced=False)
    moment = 0
    while (batch.player >= 0).any():
        batch.play_random(int(steps))
        digest.update(batch.games.tobytes() + batch.mask.tobytes())
        if moment % 8 == 0:
            digest.update(resample(batch.games, batch.player, rng).tobytes())
            digest.update(batch.observe().tobytes() + batch.state(batch.player).tobytes())
        moment += 1
    digest.update(batch.scores().tobytes() + batch.places().tobytes())
print(digest.hexdigest())
"""


def run_python(script, *arguments, folder=PACKAGE.parent, **environment):
    """Run a script with warnings as errors on the package in a folder; returns its stdout and stderr."""
    inherited = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *map(str, arguments)],
        env=inherited | {"PYTHONPATH": str(folder)} | environment,
        cwd=Path(sys.executable).parent,  # not the repository: its package would come first
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip(), run.stderr


def compiled_digest(monkeypatch, capsys, *arguments):
    """What the script prints here, where rules are compiled."""
    monkeypatch.setattr(sys, "argv", ["play", *map(str, arguments)])
    exec(PLAY, {})
    return capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    "arguments",
    [
        (1, 1, "board-5-blackbeard", "card-3"),
        pytest.param((2, 1), marks=pytest.mark.soak),
    ],
    ids=["several rulesets", "every ruleset"],
)
def test_interpreted_and_compiled_rules_play_the_same_games(arguments, monkeypatch, capsys):
    interpreted, said = run_python(PLAY, *arguments, NUMBA_DISABLE_JIT="1")
    assert interpreted == compiled_digest(monkeypatch, capsys, *arguments)
    assert said == ""


# Prints whether this process checks the bounds.
ASK_BEYOND = """
from kontor.compile import rule
@rule
def read(array, i):
    return array[i]
@rule
def ask(array, i):
    return read(array, i)
try:
    print(ask(np.zeros(3), 3))
except IndexError:
    print("checked")
"""


@pytest.mark.soak
def test_no_index_is_out_of_bounds_in_thousands_of_games(monkeypatch, capsys):
    """Machine code reads and writes where a wrong index points, unless it checks, as this one does."""
    said, _ = run_python(PLAY + ASK_BEYOND, 200, 20, NUMBA_BOUNDSCHECK="1")
    assert said.splitlines() == [compiled_digest(monkeypatch, capsys, 200, 20), "checked"]


# The cache of machine code


# A bot of somebody's own: an entry that calls a rule of another package, which uses a constant of a third, and a step
# in the compiler's own words.
CONSTANTS = "FACTOR = 2  # a factor"
HELPER = """
from llvmlite import ir
from numba.extending import intrinsic
from kontor.compile import rule
from constants import FACTOR

MORE = 100
SHIFT = 0
WHOLE = ir.IntType(64)

@intrinsic
def shifted(context, x):
    def generate(context, builder, signature, arguments):
        return builder.add(arguments[0], WHOLE(SHIFT))
    return x(x), generate

@rule
def doubled(x):
    return FACTOR * shifted(x)
"""
BOT = """
import helper
from kontor.compile import entry
from helper import doubled

@entry
def answer(x):
    return doubled(x) + helper.MORE
"""
COMPILED, KEPT = True, False


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Imports somebody's own bot as a new process would, and asks it; also tells whether it was compiled for that."""
    monkeypatch.setenv("BORNEO_CACHE_DIR", str(tmp_path))

    def answer(*edit):
        for name, text in (("constants", CONSTANTS), ("helper", HELPER), ("bot", BOT)):
            module = ModuleType(name)
            monkeypatch.setitem(sys.modules, name, module)
            exec(text.replace(*edit) if edit else text, vars(module))
        return module.answer(4), bool(module.answer.stats.cache_misses)

    return answer


def kept_file(folder):
    (path,) = (path for path in folder.rglob("*") if path.is_file())
    return path


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("FACTOR * shifted(x)", "FACTOR * shifted(x) + 1", 109),
        ("MORE = 100", "MORE = 200", 208),
        ("FACTOR = 2", "FACTOR = 3", 112),
        ("+ helper.MORE", "- helper.MORE", -92),
        ("WHOLE(SHIFT)", "WHOLE(SHIFT + 5)", 118),
        ("SHIFT = 0", "SHIFT = 1", 110),
    ],
    ids=[
        "a rule of another package",
        "a constant of another package",
        "a constant of a third",
        "the entry itself",
        "a step in the compiler's words",
        "a constant of that",
    ],
)
def test_no_edit_is_missed_wherever_it_is_made(ask, old, new, answer):
    assert ask() == (108, COMPILED)
    assert ask() == (108, KEPT)
    assert ask(old, new) == (answer, COMPILED)
    assert ask() == (108, KEPT), "the old machine code is still there"


def test_no_edit_is_missed_where_the_cache_folder_cannot_be_made(ask, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("a file where the folder should be")
    monkeypatch.setenv("BORNEO_CACHE_DIR", str(tmp_path / "file"))
    assert [ask(), ask(), ask("FACTOR = 2", "FACTOR = 3")] == [(108, COMPILED), (108, COMPILED), (112, COMPILED)]


@pytest.mark.parametrize(("old", "new"), [("  # a factor", ""), ("MORE = 100", "LESS = 7\n\nMORE = 100")])
def test_an_edit_that_changes_no_machine_code_compiles_nothing(ask, old, new):
    assert ask() == (108, COMPILED)
    assert ask(old, new) == (108, KEPT)


def test_the_words_of_a_type_and_the_steps_of_numba_are_written_down():
    def uses(type_of_numbers):
        def function():
            return get_refcount, type_of_numbers

        assert list(reached_from(function)) == [function], "the version of Numba says what is in its own"
        return digest_of(function)

    assert None not in (uses(ir.IntType(32)), uses(ir.IntType(64)))
    assert uses(ir.IntType(32)) == uses(ir.IntType(32)) != uses(ir.IntType(64))


def test_what_has_a_constant_nobody_can_write_down_is_not_kept(ask):
    unknown = "import helper", "import helper\nhelper.MORE = type('Number', (), {})()"
    with pytest.raises(numba.TypingError):
        ask(*unknown)
    bot = sys.modules["bot"]
    assert digest_of(bot.answer) is None


@pytest.mark.parametrize(
    "damaged",
    [lambda whole: b"", lambda whole: b"nonsense", lambda whole: whole[:-100], lambda whole: whole[:-1] + b"?"],
    ids=["empty", "nonsense", "cut off", "changed"],
)
def test_damaged_machine_code_is_compiled_anew(ask, tmp_path, damaged):
    ask()
    path = kept_file(tmp_path)
    path.write_bytes(damaged(path.read_bytes()))
    assert ask() == (108, COMPILED)
    assert ask() == (108, KEPT)


def test_a_folder_where_machine_code_should_be_is_survived(ask, tmp_path):
    ask()
    path = kept_file(tmp_path)
    path.unlink()
    path.mkdir()
    assert ask() == (108, COMPILED)


def test_processes_that_compile_at_once_agree(ask, tmp_path, monkeypatch):
    for name, text in (("constants", CONSTANTS), ("helper", HELPER), ("bot", BOT)):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setenv("BORNEO_CACHE_DIR", str(tmp_path / "cache"))
    script = "import bot; print(bot.answer(4))"
    processes = [Copy(script, place=tmp_path, folders=[tmp_path]) for _ in range(2)]
    assert [process.said() for process in processes] == [("108", "")] * 2
    assert ask() == (108, KEPT)


def test_old_versions_and_functions_long_unused_are_removed(ask, tmp_path):
    functions = tmp_path / "compiled"
    old, recent = functions / "old.function" / "version", functions / "recent.function" / "version"
    versions = [functions / "bot.answer" / f"version {age}" for age in range(1, KEEP_VERSIONS + 2)]
    for age, folder in enumerate((*versions, recent), start=1):
        folder.mkdir(parents=True)
        os.utime(folder, times=(time.time() - age,) * 2)
    old.mkdir(parents=True)
    os.utime(old.parent, times=(time.time() - (KEEP_DAYS + 1) * 86_400,) * 2)
    ask()
    assert not old.exists()
    assert recent.exists()
    assert [folder for folder in versions if folder.exists()] == versions[: KEEP_VERSIONS - 1]
    assert len(list((functions / "bot.answer").iterdir())) == KEEP_VERSIONS


# An entry that calls another through a rule.
CALLS = """
from kontor.compile import entry, rule

@entry
def inner(number):
    return number + 1

@rule
def between(number):
    return inner(number)

@entry
def outer(number):
    return 10 * between(number)
"""


@pytest.fixture
def call(tmp_path):
    """Calls the outer entry in a new process; tells the answer, and how many entries were not found on disk."""
    (tmp_path / "calls.py").write_text(CALLS)
    script = "import calls; print(calls.outer(4), *(len(f.stats.cache_misses) for f in (calls.outer, calls.inner)))"

    def run():
        return Copy(script, place=tmp_path, folders=[tmp_path], BORNEO_CACHE_DIR=str(tmp_path)).said()[0]

    return run


def test_an_entry_from_disk_calls_another_from_disk_and_what_is_lost_is_compiled_anew(call, tmp_path):
    assert [call(), call()] == ["50 1 1", "50 0 0"]
    shutil.rmtree(tmp_path / "compiled" / "calls.inner")
    assert call() == "50 0 1"
    shutil.rmtree(tmp_path / "compiled" / "calls.outer")
    assert call() == "50 1 0"


def test_an_entry_that_is_called_by_another_name_is_compiled_anew(ask, tmp_path, monkeypatch):
    """A jump to a name that is not there would end the process."""
    counted_names = "kontor.compile.linking.digest_of", lambda function: None  # as Numba does by itself
    monkeypatch.setattr(*counted_names)
    found = []
    for _ in range(2):
        module = ModuleType("calls")
        monkeypatch.setitem(sys.modules, "calls", module)
        exec(CALLS, vars(module))
        found.append((module.outer(4), len(module.outer.stats.cache_misses)))
        shutil.rmtree(tmp_path / "compiled" / "calls.inner")
    assert found == [(50, 1), (50, 1)]


# What importing and playing leaves alone


DOUBLE = "\nimport numba\n@numba.njit\ndef double(x):\n    return 2 * x\nprint(double(4))\n"


def test_importing_the_package_loads_nothing_heavy_and_announces_nothing_for_functions_of_others(tmp_path):
    """The modules are put where Python would find them, whether or not they are installed."""
    heavy = ("torch", "matplotlib", "pandas", "pygame", "stable_baselines3")
    for name in heavy:
        (tmp_path / f"{name}.py").write_text("")
    tell = f"\nprint([name for name in {heavy} if name in sys.modules])"

    def said(script):
        return Copy("import sys\n" + script, place=tmp_path, folders=[tmp_path], anew=True, without=heavy).said()

    assert said("import borneo_env" + tell + DOUBLE) == ("[]\n8", "")
    assert said("import torch" + tell)[0] == "['torch']"


def test_playing_does_not_touch_the_global_random_generators():
    before = np.random.get_state(legacy=False), random.getstate()  # noqa: NPY002  # the global one is meant
    batch = Batch(4, Ruleset(tables="tiny"), seed=5)
    batch.step(batch.sample())
    batch.play_random(200)
    resample(redact(batch.games, 0), 0, np.random.default_rng(0))
    after = np.random.get_state(legacy=False), random.getstate()  # noqa: NPY002
    assert repr(after) == repr(before)
    assert np.array_equal(after[0]["state"]["key"], before[0]["state"]["key"])
