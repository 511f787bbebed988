"""What others get: an archive with all that `make test` needs, and packages whose types mypy sees."""

import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NEEDED = (
    "Makefile",
    "constraints.txt",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "mkdocs.yml",
    ".github/workflows/test.yml",
    "borneo_env/py.typed",
)
FOLDERS = ("borneo_env", "agents", "train", "web", "benchmarks", "tests", "notebooks", "docs", "results", "recipes")

OUTSIDE = """
from borneo_agents.arena import play_arena
from borneo_bench.speed import Speed
from borneo_env import Batch, Ruleset
from borneo_train.run.config import Settings

reveal_type(Batch(4, Ruleset()).step_game)
reveal_type(play_arena)
reveal_type(Settings().timesteps)
reveal_type(Speed.per_second)
"""


def run(*command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout


@pytest.mark.soak
def test_the_archive_holds_all_that_the_tests_need(tmp_path):
    pytest.importorskip("build")
    run(sys.executable, "-m", "build", "--sdist", "--outdir", tmp_path, ROOT, folder=tmp_path)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    wanted = set(run("git", "ls-files", *FOLDERS, folder=ROOT).splitlines())
    assert not ({*NEEDED, *wanted} - names)


def test_the_wheel_has_every_file_that_is_not_code():
    """Styles, scripts, cards, models and texts: what hatchling would pack, asked of itself."""
    wheel = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(ROOT))
    packed = {file.distribution_path for file in wheel.recurse_included_files()}
    folders = wheel.config.packages
    ours = run("git", "ls-files", *folders, folder=ROOT).splitlines()
    wanted = {str(Path(file).relative_to(Path(folder).parent)) for file in ours for folder in folders
              if Path(file).is_relative_to(folder)}  # fmt: skip
    assert {"borneo_web/server/static/style.css", "borneo_web/replay/page.html"} <= wanted
    assert not wanted - packed


@pytest.mark.soak
def test_mypy_sees_our_types_from_outside(tmp_path):
    pytest.importorskip("build")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, ROOT, folder=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", folder=tmp_path)
    (packages,) = (tmp_path / "venv").glob("lib/*/site-packages")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", packages, wheel, folder=tmp_path)
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))  # numpy and the like
    (tmp_path / "outside.py").write_text(OUTSIDE)
    python = tmp_path / "venv" / "bin" / "python"
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "outside.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    told = [line for line in done.stdout.splitlines() if "Revealed type" in line]
    assert len(told) == 4 and not any('"Any"' in line for line in told), done.stdout
    assert "missing library stubs or py.typed" not in done.stdout
