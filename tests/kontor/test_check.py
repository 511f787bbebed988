"""`check_game`: right games pass every check, and each check finds the mistake that it is for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kontor.check import Failed, Finding, Report, check_game
from kontor.check.report import as_dict
from kontor.check.statistics import differ, survival, unlikely
from kontor.check.texts import check_ids
from kontor.engine.batch import Batch
from kontor.game import find_game

sys.path.insert(0, str(Path(__file__).parent))
from wrong_kuhn import MISTAKES, RIGHT

GAMES, FEW = 250, 60
NEVER = {"failed", "warned"}


@pytest.mark.parametrize("game", ["examples/kuhn.py:KUHN", "examples/leduc.py:LEDUC"])
def test_a_right_game_passes_every_check(game):
    report = check_game(game, GAMES, card="kuhn" in game)
    assert not [str(finding) for finding in report if finding.verdict in NEVER]
    skipped = {finding.check for finding in report if finding.verdict == "skipped"}
    assert skipped == {"ids as in the file"}
    assert any(finding.sentence.startswith("exactly, in ") for finding in report)
    report.raise_if_failed()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """What is found in every wrong game, and in one that is right."""
    folder = tmp_path_factory.mktemp("wrong")
    places = {}
    for number, (name, mistake) in enumerate([*MISTAKES.items(), ("right", RIGHT)]):
        file = folder / f"wrong_{number}.py"
        file.write_text(mistake.text(), encoding="utf-8")
        places[name] = f"{file}:KUHN"
    script = str(Path(__file__).with_name("checked_games.py"))
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, script, str(FEW), *places.values()], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return {name: told[place] for name, place in places.items()}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_and_named(reports, name):
    mistake = MISTAKES[name]
    found = [one for one in reports[name]["findings"] if one["check"] == mistake.check]
    assert [one["verdict"] for one in found] == [mistake.verdict]
    assert mistake.words in found[0]["sentence"]
    assert reports[name]["ok"] == (mistake.verdict != "failed")


def test_rejection_agrees_with_a_right_game_that_its_rules_deal(reports):
    found = {one["check"]: one for one in reports["right"]["findings"]}
    assert reports["right"]["ok"], [one for one in reports["right"]["findings"] if one["verdict"] == "failed"]
    assert RIGHT.words in found[RIGHT.check]["sentence"]


def test_a_finding_names_the_game_so_that_it_can_be_played_again(reports):
    found = reports["a field out of its range"]["findings"]
    wrong = next(one for one in found if one["check"] == "every field in its range")
    kuhn = find_game("examples/kuhn.py:KUHN")
    batch = Batch(1, game=kuhn, seed=wrong["seed"], first=wrong["number"], finished="hold", skip_forced=False)
    batch.play_random(wrong["decisions"])
    again = as_dict(batch.games[0])
    assert {name: again[name] for name in ("moves", "player")} == {
        name: wrong["record"][name] for name in ("moves", "player")
    }


def test_ids_are_written_once_and_compared_then(tmp_path):
    kuhn, file = find_game("examples/kuhn.py:KUHN"), tmp_path / "ids.json"
    assert [one.verdict for one in check_ids(kuhn, file)] == ["ok"]
    assert [one.sentence for one in check_ids(kuhn, file)] == [f"all as in {file}"]
    file.write_text(file.read_text(encoding="utf-8").replace('"bet"', '"raise"'), encoding="utf-8")
    (wrong,) = check_ids(kuhn, file)
    assert wrong.verdict == "failed"
    assert "action 1 was raise" in wrong.sentence


def test_a_report_raises_what_failed():
    report = Report("Chess", 0, 1, [Finding("games end", "failed", "one did not", "chess-2", 7, 3, 5)])
    with pytest.raises(Failed, match=r"games end: one did not \(chess-2, seed 7, game 3, after 5 decisions\)"):
        report.raise_if_failed()
    assert report.failed_checks() == ["games end"]


def test_the_chi_square_test_is_the_one_of_the_tables():
    assert survival(3.841459, 1) == pytest.approx(0.05, abs=1e-6)
    assert survival(18.307038, 10) == pytest.approx(0.05, abs=1e-6)
    assert survival(59.50, 20) == pytest.approx(8.2e-6, rel=0.1)
    assert not unlikely([480, 520], [0.5, 0.5], 1e-6)
    assert unlikely([400, 600], [0.5, 0.5], 1e-6)
    assert unlikely([10, 0, 1], [0.5, 0.5, 0], 1e-6)
    assert not differ([100, 50, 1, 0], [210, 95, 0, 2], 1e-6)
    assert differ([100, 50], [50, 100], 1e-6)


def test_a_right_coin_is_hardly_ever_called_wrong():
    heads = np.random.default_rng(0).binomial(1000, 0.5, 20_000)
    assert sum(unlikely([n, 1000 - n], [0.5, 0.5], 1e-3) for n in heads) <= 45
