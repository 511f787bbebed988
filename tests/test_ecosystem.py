"""What `make ecosystem` does with libraries that work and with those that do not, tried with small programs instead."""

import json
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from ecosystem import run as ecosystem
from ecosystem.run import Failure, Library, Row, Run, judge, read_libraries, try_libraries

PROJECT = Path(__file__).parents[1]
LEARNT = {"before": {"value": 0.2}, "after": {"value": 0.6, "low": 0.55, "high": 0.65}}
NOTHING_LEARNT = {"before": {"value": 0.2}, "after": {"value": 0.42, "low": 0.39, "high": 0.45}}


def learner(told):
    program = f"print('learning'); print({json.dumps(told)!r})"
    return Run("learning", f"-c {shlex.quote(program.replace('{', '{{').replace('}', '}}'))}", ("before",), ("after",))


def here(name, packages, log, limit):
    """This very Python in place of a virtual environment."""
    if name == "broken":
        raise Failure("no such package")
    return sys.executable


def tried(tmp_path, *libraries, limit=30.0):
    environments = {"good": [], "broken": []}
    return try_libraries(list(libraries), environments, tmp_path, 7, limit, lambda doing: None, here)


def library(*runs, environment="good", name="Numbers"):
    return Library(name, "numpy", environment, runs)


def test_a_library_that_fails_does_not_stop_the_others(tmp_path):
    good = library(Run("a seed", '-c "assert {seed} == 7"'), learner(LEARNT), name="Good")
    bad = library(Run("a fault", "-c \"raise SystemExit('too old')\""), Run("more", "-c pass"), name="Bad")
    rows = tried(tmp_path, library(environment="broken", name="Missing"), bad, good)
    assert [(row.library, row.run, row.passed) for row in rows] == [
        ("Missing", "installing", False),
        ("Bad", "a fault", False),
        ("Bad", "more", True),
        ("Good", "a seed", True),
        ("Good", "learning", True),
    ]
    assert rows[0].result == "no such package"
    assert rows[1].result == "exit status 1: too old"
    assert re.fullmatch(r"\d+\.\d+.*", rows[1].version)
    assert rows[4].result == "wins 20.0% → 60.0% (55.0% to 65.0%)"
    assert "too old" in (tmp_path / "bad.log").read_text()
    table = (tmp_path / "table.md").read_text().splitlines()
    assert table[-2:] == [
        f"| Good | {rows[3].version} | a seed | passed | {rows[3].seconds:.0f} |",
        f"| Good | {rows[4].version} | learning | {rows[4].result} | {rows[4].seconds:.0f} |",
    ]
    assert table[2].startswith("| Missing | ? | installing | FAILED: no such package | ")


def test_a_run_that_hangs_is_ended(tmp_path):
    hangs = f"import time; time.sleep(20); open({str(tmp_path / 'end')!r}, 'w')"
    with pytest.raises(Failure, match="not finished after 1 s"):
        ecosystem.call([sys.executable, "-c", hangs], tmp_path / "log", 1)
    assert not (tmp_path / "end").exists()


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (json.dumps(NOTHING_LEARNT), "nothing visible was learnt"),
        ("", "no shares"),
        ("{}", "no shares"),
        ("x", "no sh"),
    ],
)
def test_a_learner_must_learn_visibly(told, reason):
    with pytest.raises(Failure, match=reason):
        judge(learner(LEARNT), told)


def test_the_command_fails_if_one_library_failed(tmp_path, monkeypatch):
    outcome = [Row("A", "1.0", "games", True, "passed", 2.5)]
    monkeypatch.setattr(ecosystem, "try_libraries", lambda *_: outcome)
    for status in (0, 1):
        with pytest.raises(ecosystem.typer.Exit) as ended:
            ecosystem.main(["OpenSpiel"], out=tmp_path)
        assert ended.value.exit_code == status
        outcome.append(Row("B", "2.0", "games", False, "no", 1.0))
    with pytest.raises(ecosystem.typer.BadParameter, match="there is no library 'keras'; use one of PettingZoo,"):
        ecosystem.main(["Keras"], out=tmp_path)


def test_what_is_run_is_there():
    """Files, extras and environments of the libraries exist, and each learner's shares are looked at."""
    libraries, environments = read_libraries()
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    words = [word for packages in environments.values() for word in packages]
    asked = {extra for word in words for extra in "".join(re.findall(r"^\.\[(.*)\]$", word)).split(",") if extra}
    assert asked <= set(extras)
    assert {one.environment for one in libraries} == set(environments)
    for run in (run for one in libraries for run in one.run):
        files = [word for word in shlex.split(run.command.format(seed=1)) if "/" in word]
        assert files and all((PROJECT / file).exists() for file in files)
        assert bool(run.after) == ("learning" in run.what)
    assert len(libraries) == 7
