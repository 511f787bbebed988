"""Tries the game with other people's libraries, each in a virtual environment, and tells which version does what.

The libraries are data: `libraries.toml` beside this file says what is installed and what is run. A library that fails
does not stop the others. What each run prints is in a log; the table is also written as Markdown.

    python tests/ecosystem/run.py --only torchrl
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
ENVIRONMENTS = PROJECT / ".venv-ecosystem"
PAR = 0.25  # how often one of four equal players wins
LEARNT = 0.4  # a learner that wins less often than this, by the low end of the interval, has learnt nothing visible
VERSION = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")


class Failure(Exception):
    """Something that was run did not do what it should: the message says what."""


@dataclass(frozen=True)
class Run:
    """Something to run with a library. `before` and `after` say where in its JSON the shares of wins are."""

    what: str
    command: str
    before: tuple[str | int, ...] = ()
    after: tuple[str | int, ...] = ()


@dataclass(frozen=True)
class Library:
    name: str
    package: str
    environment: str
    run: tuple[Run, ...]


@dataclass(frozen=True)
class Row:
    """What became of one run."""

    library: str
    version: str
    run: str
    passed: bool
    result: str
    seconds: float


def read_libraries(path: Path = HERE / "libraries.toml") -> tuple[list[Library], dict[str, list[str]]]:
    """The libraries, and what is installed for them: words for pip by the name of an environment."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    libraries = [Library(**one | {"run": tuple(Run(**run) for run in one["run"])}) for one in data["library"]]
    return libraries, data["environments"]


def call(command: list[str], log: Path, limit: float) -> str:
    """What a command prints. All that it says is added to the log; its process group ends with it."""
    pipes = {"stdout": subprocess.PIPE, "text": True, "start_new_session": True}
    with log.open("a", encoding="utf-8") as out:
        out.write(f"$ {shlex.join(command)}\n")
        out.flush()
        with subprocess.Popen(command, cwd=PROJECT, stderr=out, **pipes) as process:
            try:
                printed, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                raise Failure(f"not finished after {limit:.0f} s") from None
            finally:
                with suppress(ProcessLookupError):  # nobody is left
                    os.killpg(process.pid, signal.SIGKILL)
        out.write(printed)
    if process.returncode:
        last_line = log.read_text(encoding="utf-8").strip().splitlines()[-1]
        raise Failure(f"exit status {process.returncode}: {last_line[:100]}")
    return printed


def install(name: str, packages: list[str], log: Path, limit: float) -> str:
    """The Python of a virtual environment, which is made if it is not there or is not whole."""
    folder = ENVIRONMENTS / name
    python, whole = str(folder / "bin" / "python"), folder / "installed"
    if not whole.exists() or whole.read_text(encoding="utf-8") != shlex.join(packages):
        shutil.rmtree(folder, ignore_errors=True)
        call([sys.executable, "-m", "venv", str(folder)], log, limit)
        call([python, *PIP, *packages], log, limit)
        whole.write_text(shlex.join(packages), encoding="utf-8")
    return python


def share_of(told: Any, where: tuple[str | int, ...]) -> dict[str, float]:
    for step in where:
        told = told[step]
    return dict(told)


def judge(run: Run, printed: str) -> str:
    """What a run came to, in a few words; raises Failure if a learner has learnt nothing visible."""
    if not run.after:
        return "passed"
    try:
        told = json.loads(printed.strip().splitlines()[-1])
        after = share_of(told, run.after)
        came_from = f"{share_of(told, run.before)['value']:.1%} → " if run.before else ""
        result = f"wins {came_from}{after['value']:.1%} ({after['low']:.1%} to {after['high']:.1%})"
        low = float(after["low"])
    except (ValueError, LookupError, TypeError) as error:
        raise Failure(f"it printed no shares of wins: {type(error).__name__}: {error}") from None
    if low < LEARNT:
        raise Failure(f"{result}: nothing visible was learnt; par is {PAR:.0%}")
    return result


def attempt(doing: Callable[..., str], *given: Any) -> tuple[bool, str, float]:
    """Whether something passed, what it came to or why it failed, and its seconds."""
    begun = time.monotonic()
    try:
        passed, result = True, doing(*given)
    except (Failure, OSError) as failure:
        passed, result = False, f"{failure}"
    return passed, result, round(time.monotonic() - begun, 1)


def try_libraries(
    libraries: list[Library],
    environments: dict[str, list[str]],
    out: Path,
    seed: int,
    limit: float,
    told: Callable[[str], None],
    make: Callable[[str, list[str], Path, float], str] = install,
) -> list[Row]:
    """A row for each run of each library; one row that says why where a library could not be installed."""
    out.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    for library in libraries:
        log = out / f"{library.name.lower()}.log"
        log.unlink(missing_ok=True)
        told(f"{library.name}: its virtual environment, {library.environment}")
        begun = time.monotonic()
        try:
            python = make(library.environment, environments[library.environment], log, limit)
            rows += play(library, python, log, seed, limit, told)
        except (Failure, OSError) as failure:
            rows.append(Row(library.name, "?", "installing", False, f"{failure}", round(time.monotonic() - begun, 1)))
        write(rows, out)  # after each, so that a run that is broken off leaves what it has found
    return rows


def play(library: Library, python: str, log: Path, seed: int, limit: float, told: Callable[[str], None]) -> list[Row]:
    """Everything that is run with a library, in order."""
    version = call([python, "-c", VERSION, library.package], log, limit).strip()
    rows = []

    def tried(run: Run) -> str:
        return judge(run, call([python, *shlex.split(run.command.format(seed=seed))], log, limit))

    for run in library.run:
        told(f"{library.name} {version}: {run.what}")
        rows.append(Row(library.name, version, run.what, *attempt(tried, run)))
    return rows


def write(rows: list[Row], out: Path) -> None:
    """The table for the documents."""
    lines = ["| library | version | what was run | result | seconds |", "| --- | --- | --- | --- | ---: |"]
    lines += [f"| {row.library} | {row.version} | {row.run} | {verdict(row)} | {row.seconds:.0f} |" for row in rows]
    (out / "table.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def verdict(row: Row) -> str:
    return row.result if row.passed else f"FAILED: {row.result}"


def show(rows: list[Row], console: Console) -> None:
    table = Table("library", "version", "what was run", "result")
    table.add_column("seconds", justify="right")
    for row in rows:
        table.add_row(row.library, row.version, row.run, verdict(row), f"{row.seconds:.0f}")
    console.print(table)


def main(
    only: Annotated[list[str] | None, typer.Option(help="Only this library; may be given again.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Make the virtual environments anew.")] = False,
    seed: Annotated[int, typer.Option(help="Of games and learners.")] = 1,
    limit: Annotated[float, typer.Option(min=1, help="Seconds until a run is taken to hang.")] = 3600,
    out: Annotated[Path, typer.Option(help="Where logs and the table go.")] = PROJECT / "out" / "ecosystem",
) -> None:
    """Install other people's libraries, try the game with them, and print what works with which version."""
    libraries, environments = read_libraries()
    wanted = {name.lower() for name in only or ()}
    if unknown := wanted - {library.name.lower() for library in libraries}:
        names = ", ".join(library.name for library in libraries)
        raise typer.BadParameter(f"there is no library {min(unknown)!r}; use one of {names}", param_hint="--only")
    chosen = [library for library in libraries if not wanted or library.name.lower() in wanted]
    if fresh:
        for library in chosen:
            shutil.rmtree(ENVIRONMENTS / library.environment, ignore_errors=True)
    console = Console()
    rows = try_libraries(chosen, environments, out, seed, limit, console.print)
    show(rows, console)
    console.print(f"logs, and the table as Markdown: {out}")
    raise typer.Exit(not all(row.passed for row in rows))


if __name__ == "__main__":
    typer.run(main)
