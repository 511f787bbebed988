"""Tries the project with the oldest versions that pyproject.toml promises, and with the newest that it admits.

Each lane has a virtual environment of its own, made anew. Only what is named in pyproject.toml is held at its lower
bound; what comes with it is as new as it may be, as it is for people who install today. torch is left out, since it
would take gigabytes: its bound is the version of `make test`, which tries what trains.

    python -m lanes.run --only oldest      (with tests/ on the path)
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from ecosystem.run import PIP, Row, attempt, call, verdict
from packaging.requirements import Requirement
from rich.console import Console
from rich.table import Table

PROJECT = Path(__file__).parents[2]
ENVIRONMENTS = PROJECT / ".venv-lanes"
OLDEST, NEWEST = "oldest", "newest"
EXTRAS = ("arena", "render", "web")
TOOLS = ("pytest", "hypothesis", "httpx")  # of the extra `dev`, which the tests below need
TESTS = (
    "tests/compile", "tests/rules", "tests/engine/test_batch.py", "tests/engine/test_wrong_use.py", "tests/test_aec.py",
    "tests/test_seat.py", "tests/test_vector.py",
    "tests/test_cli.py", "tests/test_record.py", "tests/test_render.py", "tests/test_ruleset.py",
    "tests/test_manual.py", "tests/agents/arena/test_telling_faults.py", "tests/agents/human/test_screen.py",
    "tests/web/test_playing.py", "tests/web/test_guard.py",
)  # fmt: skip
# Old libraries use what newer ones beside them call outdated: in this lane that is no fault.
WARNINGS = {OLDEST: "-W default --disable-warnings", NEWEST: ""}
VERSIONS = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"


def promised(pyproject: Path = PROJECT / "pyproject.toml") -> list[Requirement]:
    """What a lane installs, with the bounds as they are promised."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(text for extra in EXTRAS for text in extras[extra])]
    tools = [text for text in extras["dev"] if Requirement(text).name in TOOLS]
    return [*{(one := Requirement(text)).name: one for text in (*wanted, *tools)}.values()]


def pinned(requirement: Requirement) -> str:
    """A requirement at its lower bound."""
    (bound,) = (one.version for one in requirement.specifier if one.operator == ">=")
    return f"{requirement.name}=={bound}"


def install(lane: str, log: Path, limit: float, pre: bool) -> str:
    """Make a lane's virtual environment anew; tells of how many packages."""
    folder = ENVIRONMENTS / lane
    shutil.rmtree(folder, ignore_errors=True)
    call([sys.executable, "-m", "venv", str(folder)], log, limit)
    wanted = [pinned(one) if lane == OLDEST else str(one) for one in promised()]
    call([str(folder / "bin" / "python"), *PIP, *["--pre"] * pre, "--editable", ".", *wanted], log, limit)
    return f"{len(wanted)} packages"


def try_lane(lane: str, out: Path, limit: float, pre: bool, told: Callable[[str], None]) -> list[Row]:
    """A row for each run of a lane; only one where it could not be installed."""
    out.mkdir(parents=True, exist_ok=True)
    log = out / f"{lane}.log"
    log.unlink(missing_ok=True)
    rows: list[Row] = []
    programs = ENVIRONMENTS / lane / "bin"

    def run(what: str, doing: Callable[[], str]) -> bool:
        told(f"{lane}: {what}")
        rows.append(Row(lane, "", what, *attempt(doing)))
        return rows[-1].passed

    def versions() -> str:
        names = [one.name for one in promised()]
        found = call([str(programs / "python"), "-c", VERSIONS, *names], log, limit).split()
        return ", ".join(map(" ".join, zip(names, found, strict=True)))

    def last_line(command: str) -> str:
        program, *words = shlex.split(command)
        return call([str(programs / program), *words], log, limit).strip().splitlines()[-1][:100]

    if run("installing", lambda: install(lane, log, limit, pre)):
        run("versions", versions)
        run("compiling", lambda: last_line("borneo warm-up --json"))
        run("20 games", lambda: last_line("borneo arena random climber merchant --games 20 --seed 1"))
        run("tests", lambda: last_line(f"python -m pytest -q -rs {WARNINGS[lane]} {shlex.join(TESTS)}"))
    return rows


def show(rows: list[Row], console: Console) -> None:
    """What became of what was run."""
    table = Table("lane", "what was run", "result")
    table.add_column("seconds", justify="right")
    for row in rows:
        table.add_row(row.library, row.run, verdict(row), f"{row.seconds:.0f}")
    console.print(table)
    console.print("torch is in no lane: its bound is the version that `make test` tries.")


def main(
    only: Annotated[str | None, typer.Option(help="Only this lane: oldest or newest.")] = None,
    pre: Annotated[bool, typer.Option("--pre", help="The newest lane takes what is not released yet, too.")] = False,
    limit: Annotated[float, typer.Option(min=1, help="Seconds until a run is taken to hang.")] = 3600,
    out: Annotated[Path, typer.Option(help="Where logs go.")] = PROJECT / "out" / "lanes",
) -> None:
    """Try the project with the oldest and the newest versions that pyproject.toml admits."""
    if only not in (None, OLDEST, NEWEST):
        raise typer.BadParameter(f"there is no lane {only!r}; use {OLDEST} or {NEWEST}", param_hint="--only")
    os.environ["BORNEO_CACHE_DIR"] = str(ENVIRONMENTS / "cache")  # the user's own keeps few versions
    console = Console()
    lanes = (OLDEST, NEWEST) if only is None else (only,)
    rows = [row for lane in lanes for row in try_lane(lane, out, limit, pre and lane == NEWEST, console.print)]
    show(rows, console)
    console.print(f"logs: {out}")
    raise typer.Exit(not all(row.passed for row in rows))


if __name__ == "__main__":
    typer.run(main)
