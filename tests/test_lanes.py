"""What `make lanes` installs, and what it tells of lanes that work and of those that do not."""

import io
import tomllib

import pytest
from ecosystem.run import Failure
from lanes import run as lanes
from packaging.requirements import Requirement
from rich.console import Console


@pytest.fixture
def broken(monkeypatch, tmp_path):
    def install(lane, log, limit, pre):
        raise Failure("no such version")

    monkeypatch.setattr(lanes, "install", install)
    return lambda: lanes.try_lane(lanes.OLDEST, tmp_path, 30, False, lambda doing: None)


def test_every_promise_has_a_lower_bound_to_try():
    pins = {one.name: lanes.pinned(one) for one in lanes.promised()}
    assert {"numpy", "numba", "gymnasium", "typer", "starlette", "pytest"} <= set(pins)
    assert not {"torch", "stable-baselines3"} & set(pins), "a lane takes minutes, not gigabytes"


def test_no_older_torch_is_promised_than_the_one_that_is_tried():
    extras = tomllib.loads((lanes.PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    promised = [one for texts in extras.values() for one in map(Requirement, texts) if one.name == "torch"]
    (tried,) = [
        Requirement(line)
        for line in (lanes.PROJECT / "constraints.txt").read_text().splitlines()
        if line.startswith("torch==")
    ]
    assert len(promised) == 2
    assert {f"{lanes.pinned(one)}.0" for one in promised} == {str(tried)}


def test_bounds_are_read_where_they_are_promised(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = ["numpy>=2.0,<9"]\n[project.optional-dependencies]\narena = ["matplotlib>=3.9"]\n'
        'render = []\nweb = ["uvicorn>=0.30"]\ndev = ["matplotlib>=3.9", "pytest>=8", "ruff>=0.9"]\n'
    )
    pins = list(map(lanes.pinned, lanes.promised(tmp_path / "pyproject.toml")))
    assert pins == ["numpy==2.0", "matplotlib==3.9", "uvicorn==0.30", "pytest==8"]


def test_a_lane_that_cannot_be_installed_says_so(broken):
    rows = broken()
    assert [(row.run, row.passed, row.result) for row in rows] == [("installing", False, "no such version")]
    shown = io.StringIO()
    lanes.show(rows, Console(file=shown, width=120))
    assert "FAILED: no such version" in shown.getvalue() and "torch" in shown.getvalue()


def test_all_that_a_lane_runs_is_there():
    assert all((lanes.PROJECT / path).exists() for path in lanes.TESTS)
