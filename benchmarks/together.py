"""Do two workers learn like one? `python benchmarks/together.py` trains both with several seeds and draws the curves.

All trainings have the same games in all, the same decisions in each step, and the same number of steps. Trainings that
are in the folder already are not repeated.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any

import matplotlib
import typer

matplotlib.use("Agg")
from matplotlib import pyplot

COLOURS = {1: "#555555", 2: "#c0392b"}


def trained(out: Path, settings: list[str]) -> list[dict[str, Any]]:
    """The curve of a training into a folder."""
    if not (out / "report.json").exists():
        command = [sys.executable, "-m", "borneo_env.cli", "train", "--fresh", "--out", str(out), *settings]
        subprocess.run(command, check=True)
    return [json.loads(line) for line in (out / "curve.jsonl").read_text(encoding="utf-8").splitlines()]


def main(
    out: Path = Path("out/together"),
    picture: Path = Path("docs/curves/workers.png"),
    seeds: Annotated[int, typer.Option(help="Trainings of each kind.")] = 3,
    timesteps: int = 1_200_000,
    games: Annotated[int, typer.Option(help="Games of an evaluation.")] = 1000,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Train with one and with two workers, and draw win shares against random players."""
    settings = ["--players", "4", "--timesteps", str(timesteps), "--evaluations", "6", "--against", "random"]
    settings += ["--evaluation-games", str(games), "--device", "cpu"]
    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    last: dict[int, list[float]] = {1: [], 2: []}
    for workers, wins in last.items():
        for seed in range(1, seeds + 1):
            own = ["--workers", str(workers), "--seed", str(seed)]
            curve = trained(out / f"w{workers}-s{seed}", settings + own)
            values = [100 * entry["strength"][0]["value"] for entry in curve]
            label = f"{workers} worker{'s' * (workers > 1)}" if seed == 1 else None
            axes.plot([entry["steps"] / 1e6 for entry in curve], values, color=COLOURS[workers], label=label)
            wins.append(values[-1])
    axes.set(xlabel="million decisions", ylabel="wins against three random, %")
    axes.legend(frameon=False)
    figure.savefig(picture, dpi=120)
    found = {workers: {"wins": wins, "mean": mean(wins), "sd": stdev(wins)} for workers, wins in last.items()}
    if as_json:
        print(json.dumps(found))
        return
    for workers, about in found.items():
        told = ", ".join(f"{value:.1f}" for value in about["wins"])
        print(f"{workers} workers: {told} %; mean {about['mean']:.1f}, standard deviation {about['sd']:.1f}")


if __name__ == "__main__":
    typer.run(main)
