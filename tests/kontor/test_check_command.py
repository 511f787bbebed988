"""The `kontor` command, its new game, faults, and the pytest plug-in: as plain Python, which compiles nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KUHN = f"{ROOT / 'examples' / 'kuhn.py'}:KUHN"


def run(module, *arguments, folder=ROOT):
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "COLUMNS": "160"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    """A new game, as the command writes it."""
    folder = tmp_path_factory.mktemp("games")
    done = run("kontor.cli", "new-game", "dice_game.py", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["game"] == "dice_game.py:DICE_GAME"
    return folder / "dice_game.py"


def test_a_new_game_is_one_and_its_tests_pass(game):
    tests = game.with_name("test_dice_game.py")
    tests.write_text(tests.read_text(encoding="utf-8").replace("games=500", "games=10"), encoding="utf-8")
    done = run("pytest", "-q", "-p", "kontor.pytest_plugin", "-p", "no:cacheprovider", folder=game.parent)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
    again = run("kontor.cli", "new-game", game.name, folder=game.parent)
    assert again.returncode == 1
    assert "is there already" in again.stderr


def test_the_command_says_what_is_wrong_and_fails(game, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(game.read_text(encoding="utf-8").replace("options[0], options[1] = 0, 1", "options[0] = 7"))
    done = run("kontor.cli", "check", f"{wrong}:DICE_GAME", "--games", "20", "--no-card", "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    failed = [one for one in report["findings"] if one["verdict"] == "failed"]
    assert not report["ok"]
    assert failed
    assert "legal_decide" in failed[0]["sentence"] or "IndexError" in failed[0]["sentence"]
    told = run("kontor.cli", "check", f"{wrong}:DICE_GAME", "--games", "20", "--no-card")
    assert told.returncode == 1
    assert "not a game yet" in told.stdout


@pytest.mark.parametrize(("arguments", "words"), [
    (("check", "chess"), "there is no game 'chess'"),
    (("check", "nothing.py:GAME"), "there is no file nothing.py"),
    (("new-game", "my-game.py"), "take a name such as my_game.py"),
])  # fmt: skip
def test_mistakes_are_one_line(arguments, words):
    done = run("kontor.cli", *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_pytest_checks_games_and_says_what_is_wrong(game, tmp_path):
    (tmp_path / "test_nothing.py").write_text(
        f"def test_it(kontor_check):\n    assert kontor_check({f'{game}:DICE_GAME'!r}).ok\n"
    )
    wrong = tmp_path / "wrong.py"
    wrong.write_text(game.read_text(encoding="utf-8").replace("TARGET + 5), (),", "3), (),"))
    done = run(
        "pytest", "-q", "-p", "kontor.pytest_plugin", "-p", "no:cacheprovider", "--kontor-games", "10",
        "--kontor", f"{wrong}:DICE_GAME", tmp_path, folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "every field in its range: not true: heap is from 0 to 3" in done.stdout


def test_faults_are_tried_and_those_that_nobody_noticed_listed(tmp_path):
    weak = tmp_path / "test_weak.py"
    weak.write_text(
        "from kontor.game import find_game\n\n\n"
        f"def test_name():\n    assert find_game({KUHN!r}).title == 'Kuhn poker'\n"
    )
    by_checks = json.loads(run("kontor.cli", "check", KUHN, "--faults", "--most", "5", "--json").stdout)
    assert by_checks["tried"] == 5
    assert by_checks["missed"] <= 1, by_checks
    by_tests = run("kontor.cli", "check", KUHN, "--faults", "--most", "5", "--tests", weak, "--json")
    told = json.loads(by_tests.stdout)
    assert told["missed"] == 5
    assert "kuhn.py:" in told["faults"][0]["fault"]
    assert " -> " in told["faults"][0]["fault"]
