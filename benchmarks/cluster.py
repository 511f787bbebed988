"""What a cluster of Ray costs on one machine: `python benchmarks/cluster.py`. Needs the extra `ray`.

The same arena is played by our own worker processes and by `--cluster local`, in turns: a short run, which is mostly
the start of processes, and a long one. The difference of the two is what games cost. By the wall clock, figures depend
on what else the machine does. So there are two: seconds of the clock, and of the processor, all processes together.
"""

from __future__ import annotations

import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from time import monotonic
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from borneo_env.console import progress_bar

MARK = "BORNEO_BENCHMARK"  # a variable by which all processes of a run are known
LOOK = 0.2  # seconds between two looks at them
TICKS = os.sysconf("SC_CLK_TCK")
WAYS = {"own workers": [], "--cluster local": ["--cluster", "local"]}


class Cost(NamedTuple):
    """Seconds of a run."""

    wall: float
    processor: float


def used(mark: str, known: dict[int, float]) -> None:
    """Note the processor's seconds of all processes of a run, by number; those that have gone keep their last."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int(folder.name) in known or mark.encode() in (folder / "environ").read_bytes():
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                known[int(folder.name)] = (int(fields[11]) + int(fields[12])) / TICKS
        except (OSError, ValueError):
            continue


def cost(arguments: list[str]) -> tuple[Cost, bytes]:
    """What a run of the arena costs, and its games."""
    mark, known, over = secrets.token_hex(8), dict[int, float](), threading.Event()

    def look() -> None:
        while not over.wait(LOOK):
            used(mark, known)

    with tempfile.TemporaryDirectory() as folder:
        watcher = threading.Thread(target=look)
        watcher.start()
        began = monotonic()
        subprocess.run(
            [sys.executable, "-m", "borneo_env.cli", "arena", *arguments, "--out", folder],
            env={**os.environ, MARK: mark}, capture_output=True, check=True,
        )  # fmt: skip
        wall = monotonic() - began
        over.set()
        watcher.join()
        return Cost(wall, sum(known.values())), (Path(folder) / "games.csv").read_bytes()


def main(
    agents: Annotated[str, typer.Option(help="Who plays, with commas between them.")] = "ismcts:budget=50,merchant",
    games: Annotated[int, typer.Option(help="Games of the long run; the short one has one chunk for each core.")] = 480,
    chunk: int = 20,
    jobs: int = 2,
    rounds: Annotated[int, typer.Option(help="Runs of each kind; their medians count.")] = 3,
    seed: int = 1,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Compare our own workers with a cluster of one machine."""
    sizes = {"short": chunk * jobs, "long": games}
    runs: dict[tuple[str, str], list[Cost]] = {(way, size): [] for way in WAYS for size in sizes}
    with progress_bar() as progress:
        for _ in progress.track(range(rounds), description="rounds"):
            for size, number in sizes.items():
                settings = ["--games", str(number), "--chunk", str(chunk), "--jobs", str(jobs), "--seed", str(seed)]
                found = {way: cost([*agents.split(","), *settings, *more]) for way, more in WAYS.items()}
                for way, (one, _) in found.items():
                    runs[way, size].append(one)
                if len({games for _, games in found.values()}) > 1:
                    raise SystemExit("the games are not the same")
    _tell(
        {key: Cost(*(statistics.median(part) for part in zip(*all, strict=True))) for key, all in runs.items()}, as_json
    )


def _tell(medians: dict[tuple[str, str], Cost], as_json: bool) -> None:
    own, cluster = WAYS
    told: list[tuple[str, ...]] = []
    for kind in ("wall", "processor"):
        short, long = ({way: getattr(medians[way, size], kind) for way in WAYS} for size in ("short", "long"))
        more = {way: long[way] - short[way] for way in WAYS}
        for name, seconds in (("short run", short), ("long run", long), ("long less short", more)):
            ratio = seconds[cluster] / seconds[own]
            told.append((kind, name, f"{seconds[own]:.1f}", f"{seconds[cluster]:.1f}", f"{ratio:.2f}"))
    load = f"{os.getloadavg()[1]:.1f}"
    if as_json:
        print(json.dumps({"rows": told, "load": load}))
        return
    table = Table("seconds of", "what", own, cluster, "ratio", title=f"load of the machine meanwhile: {load}")
    for row in told:
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
