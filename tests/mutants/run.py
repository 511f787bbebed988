"""Tries the suite with deliberate faults: each is put into a copy of the project, and its tests must notice it.

The faults are data: one TOML file for each layer beside this one. A fault has a name, a file, the `old` text (there
exactly once) and the `new` one, and the tests that must fail. `interpreted` runs the rules as plain Python, so that a
fault in compiled code takes seconds; above the first fault it holds for the whole layer.

    python tests/mutants/run.py --layer rules
"""

from __future__ import annotations

import fcntl
import os
import queue
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

FAULTS = Path(__file__).parent
PROJECT = FAULTS.parent.parent
WORKSHOP = PROJECT / "out" / "mutants"  # always the same folder, so that machine code is compiled once and found again
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "out", "build", "dist", "*.egg-info", "*.ipynb")

WHICH = "not soak and not gpu and not ray"  # tests that are named: those in a browser, too
PASSED, FAILED, STOPPED = 0, 1, 2  # what pytest exits with; STOPPED: a test file could not be loaded
CAUGHT, HUNG, SURVIVED, NOT_TRIED = "caught", "hung", "survived", "not tried"


@dataclass(frozen=True)
class Fault:
    layer: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    interpreted: bool

    def put_into(self, source: str) -> str:
        """The source with the fault; ValueError if the old text is not there exactly once."""
        if source.count(self.old) != 1:
            raise ValueError(f"{self.old!r} is {source.count(self.old)} times in {self.file}; it should be there once")
        return source.replace(self.old, self.new)


@dataclass(frozen=True)
class Verdict:
    """What became of a fault; a fault that makes its tests run for ever is caught, too."""

    layer: str
    name: str
    outcome: str
    reason: str  # the test that noticed it, or why it could not be tried


class Run(NamedTuple):
    """A run of pytest: its exit code, None past the time limit, and its output."""

    code: int | None
    output: str


def read_faults() -> list[Fault]:
    """All faults, layer by layer."""
    faults = []
    for path in sorted(FAULTS.glob("*.toml")):
        layer = tomllib.loads(path.read_text(encoding="utf-8"))
        interpreted = layer.get("interpreted", False)
        for fault in layer["fault"]:
            tests = tuple(fault.pop("tests"))
            faults.append(Fault(layer=path.stem, tests=tests, **{"interpreted": interpreted, **fault}))
    return faults


@contextmanager
def workshop() -> Iterator[None]:
    """The folder of the copies, for this run alone."""
    WORKSHOP.mkdir(parents=True, exist_ok=True)
    with open(WORKSHOP / "in-use", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise typer.BadParameter(f"another run is under way in {WORKSHOP}; wait for it") from None
        yield


def copy_project(job: int) -> Path:
    """A fresh copy of the working tree."""
    folder = WORKSHOP / f"project-{job}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PROJECT, folder, ignore=NOT_COPIED)
    return folder


def run_tests(
    folder: Path, tests: Iterable[str], *, interpreted: bool, limit: float, writes_bytecode: bool = False
) -> Run:
    """Run tests of a copy up to the first failure."""
    paths = [folder, *(folder / name for name in ("agents", "train", "web", "benchmarks"))]
    cache = "interpreted" if interpreted else "compiled"
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "BORNEO_CACHE_DIR": str(WORKSHOP / cache),
        "NUMBA_DISABLE_JIT": "1" if interpreted else "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "" if writes_bytecode else "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-m", WHICH, *tests]
    with open(folder / "pytest-output.txt", "w+", encoding="utf-8") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=env, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return Run(code, output.read())


@contextmanager
def faulty(folder: Path, fault: Fault) -> Iterator[None]:
    """Puts a fault into a copy for as long as it is tried; the time of the file is kept: caches go by it."""
    path = folder / fault.file
    source, stat = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(fault.put_into(source), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(source, encoding="utf-8")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def try_fault(folder: Path, fault: Fault, limit: float) -> Verdict:
    """Whether the fault's tests notice it."""
    try:
        with faulty(folder, fault):
            run = run_tests(folder, fault.tests, interpreted=fault.interpreted, limit=limit)
    except (ValueError, OSError) as error:
        return Verdict(fault.layer, fault.name, NOT_TRIED, str(error))
    outcome = {PASSED: SURVIVED, FAILED: CAUGHT, STOPPED: CAUGHT, None: HUNG}.get(run.code, NOT_TRIED)
    return Verdict(fault.layer, fault.name, outcome, what_failed(run))


def what_failed(run: Run) -> str:
    """The line of pytest's output that names the test that failed, or its last one."""
    lines = run.output.strip().splitlines() or [""]
    return next((line for line in lines if line.startswith(("FAILED", "ERROR"))), lines[-1])


def keep_machine_code() -> None:
    """Mark the project's machine code as just used: faults leave folders of their own, and the oldest are removed."""
    for folder in (WORKSHOP / "compiled" / "compiled").glob("*"):
        os.utime(folder)


def check_without_faults(folder: Path, faults: Sequence[Fault]) -> str:
    """Run all tests named without any fault; returns the output of those that fail, else nothing."""
    for interpreted in (True, False):
        tests = sorted({test for fault in faults if fault.interpreted == interpreted for test in fault.tests})
        if tests:
            run = run_tests(folder, tests, interpreted=interpreted, limit=3600, writes_bytecode=True)
            if run.code != PASSED:
                return run.output
    keep_machine_code()
    return ""


def try_all(
    folders: Sequence[Path], faults: Sequence[Fault], limit: float, tell: Callable[[Verdict], None]
) -> list[Verdict]:
    """Try every fault, one at a time in each copy."""
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for folder in folders:
        free.put(folder)

    def attempt(fault: Fault) -> Verdict:
        folder = free.get()
        try:
            verdict = try_fault(folder, fault, limit)
        finally:
            free.put(folder)
        tell(verdict)
        return verdict

    with ThreadPoolExecutor(len(folders)) as pool:
        try:
            return list(pool.map(attempt, faults))
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)  # those under way are tried to their ends, and taken out again
            raise


def report(console: Console, verdicts: Sequence[Verdict]) -> None:
    """A table by layer, then the faults that were not caught, by name."""
    table = Table("layer", "faults", "caught", "hung", "survived", "not tried")
    for layer in [*dict.fromkeys(verdict.layer for verdict in verdicts), "together"]:
        mine = [verdict for verdict in verdicts if layer in (verdict.layer, "together")]
        count = Counter(verdict.outcome for verdict in mine)
        numbers = [len(mine), *(count[outcome] for outcome in (CAUGHT, HUNG, SURVIVED, NOT_TRIED))]
        table.add_row(layer, *map(str, numbers))
    console.print(table)
    for verdict in verdicts:
        if verdict.outcome != CAUGHT:
            console.print(f"{verdict.outcome}: {verdict.layer}: {verdict.name}", markup=False)
            console.print(f"    {verdict.reason}", markup=False, style="dim")


def try_them(console: Console, faults: Sequence[Fault], jobs: int, limit: float) -> list[Verdict]:
    """What becomes of the faults, with a bar that shows how far it is; nothing if their tests fail without them."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with workshop(), Progress(*columns, console=console) as progress:
        task = progress.add_task("their tests without a fault", total=None)
        folders = [copy_project(job) for job in range(jobs)]
        for folder in folders:
            if failed := check_without_faults(folder, faults):
                console.print(failed, "Without any fault these tests must pass; no fault was tried.", markup=False)
                return []
        progress.update(task, description="faults", total=len(faults))

        def tell(verdict: Verdict) -> None:
            progress.advance(task)
            if verdict.outcome != CAUGHT:
                console.print(f"{verdict.outcome}: {verdict.layer}: {verdict.name}", markup=False)

        return try_all(folders, faults, limit, tell)


def main(
    layer: Annotated[list[str] | None, typer.Option(help="Only this layer; may be given again.")] = None,
    only: Annotated[str, typer.Option(help="Only faults with this text in their name or file.")] = "",
    jobs: Annotated[int, typer.Option(min=1, help="How many faults to try at a time.")] = 1,
    limit: Annotated[float, typer.Option(min=1, help="Seconds until a fault's tests are taken to hang.")] = 300,
) -> None:
    """Put deliberate faults into a copy of the project one by one; fails if the tests do not notice one of them."""
    faults = [f for f in read_faults() if (not layer or f.layer in layer) and (only in f.name or only in f.file)]
    if not faults:
        raise typer.BadParameter("no fault has this layer or text; the layers are the TOML files beside this script")
    console = Console()
    verdicts = try_them(console, faults, jobs, limit)
    if not verdicts:
        raise typer.Exit(1)
    report(console, verdicts)
    if any(verdict.outcome in (SURVIVED, NOT_TRIED) for verdict in verdicts):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
