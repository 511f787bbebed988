"""How much faster several workers learn: `python benchmarks/workers.py`. Prints decisions a second, by two clocks.

Trainings with one and with more workers alternate, each with as many cores as workers. Decisions in a second of the
wall clock are those of learning alone, without evaluations. They depend on what else the machine does. Decisions in a
second of the processor do not: they are those of a long training less those of a short one, all processes together.
With `--grow` each worker has as many games and decisions of a minibatch as one alone; else all have as many together.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from borneo_train.run.config import CPU, PRESETS, option

from borneo_env.console import progress_bar

SHORT = 50_000  # decisions of a training that is mostly its start


def trained(workers: int, timesteps: int, cluster: str | None, seed: int, times: int) -> tuple[int, float, float]:
    """Decisions of a training with so many times the usual games, seconds of learning, and of the processor in all."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        given = ["--workers", str(workers), "--timesteps", str(timesteps), "--seed", str(seed), "--players", "4"]
        given += ["--evaluations", "1", "--evaluation-games", "4", "--against", "random", "--device", "cpu"]
        for name in ("n_envs", "batch_size"):
            given += [option(name), str(PRESETS[CPU][name] * times)]
        given += ["--cluster", cluster] if cluster else []
        command = [sys.executable, "-m", "borneo_env.cli", "train", *given, "--out", f"{folder}/training"]
        cores = sorted(os.sched_getaffinity(0))[:workers]
        subprocess.run(["taskset", "-c", ",".join(map(str, cores)), *command], check=True, capture_output=True)
        last = json.loads(Path(folder, "training", "curve.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return last["steps"], last["seconds"], used


def main(
    workers: Annotated[str, typer.Option(help="Numbers of workers, with commas between them.")] = "1,2",
    timesteps: Annotated[int, typer.Option(help="Decisions of each training.")] = 500_000,
    rounds: Annotated[int, typer.Option(help="Trainings of each kind; their medians count.")] = 3,
    cluster: Annotated[
        str | None, typer.Option(help="Train on a cluster of Ray; processors are not timed then.")
    ] = None,
    grow: Annotated[bool, typer.Option(help="Let games and minibatches grow with the workers.")] = False,
    seed: int = 1,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Compare numbers of workers."""
    found: dict[int, list[tuple[float, float]]] = {int(count): [] for count in workers.split(",")}
    with progress_bar() as progress:
        for _ in progress.track(range(rounds), description="rounds"):
            for count, speeds in found.items():
                times = count if grow else 1
                few, _, start = trained(count, SHORT, cluster, seed, times)
                steps, seconds, used = trained(count, timesteps, cluster, seed, times)
                speeds.append((steps / seconds, (steps - few) / (used - start)))
    rows = {count: [statistics.median(part) for part in zip(*speeds, strict=True)] for count, speeds in found.items()}
    load = os.getloadavg()[1]
    if as_json:
        print(json.dumps({"rows": rows, "load": load}))
        return
    for count, (wall, processor) in rows.items():
        of_processor = "" if cluster else f", {processor:,.0f} in a second of the processor"
        print(f"{count} workers: {wall:,.0f} decisions a second{of_processor}")
    print(f"The load of the machine was {load:.1f}.")


if __name__ == "__main__":
    typer.run(main)
