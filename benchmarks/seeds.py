"""What luck does to a training: `python benchmarks/seeds.py` trains with several seeds and draws the curves.

It is the training of `make run`. The line is the mean over the seeds, the band goes from the lowest to the highest of
them. Trainings that are in the folder already are not repeated.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import matplotlib
import numpy as np
import typer

matplotlib.use("Agg")
from matplotlib import pyplot

PAR, COLOUR = 25, "#d55e00"  # what equals win with 4 players; their colour in the pictures of trainings


def trained(out: Path, settings: list[str]) -> list[dict[str, Any]]:
    """The curve of a training into a folder."""
    if not (out / "report.json").exists():
        command = [sys.executable, "-m", "borneo_env.cli", "train", "--fresh", "--out", str(out), *settings]
        subprocess.run(command, check=True)
    return [json.loads(line) for line in (out / "curve.jsonl").read_text(encoding="utf-8").splitlines()]


def draw(axes: Any, curves: list[list[dict[str, Any]]], against: str) -> None:
    """Wins against one agent over decisions."""
    steps = np.mean([[entry["steps"] / 1e6 for entry in curve] for curve in curves], 0)
    wins = np.array([[100 * share_of(entry, against)["value"] for entry in curve] for curve in curves])
    axes.fill_between(steps, wins.min(0), wins.max(0), color=COLOUR, alpha=0.2, linewidth=0)
    axes.plot(steps, wins.mean(0), "s-", color=COLOUR, linewidth=2)
    axes.set_title(f"wins against three {against}, %", loc="left", fontweight="bold")
    axes.set(xlabel="million decisions learnt from", ylim=(-0.03 * wins.max(), None))  # points at 0 are seen whole
    axes.grid(color="#e6e6e6")
    axes.spines[["top", "right"]].set_visible(False)
    if wins.max() > PAR:
        axes.axhline(PAR, color=COLOUR, linewidth=0.9, linestyle="--")
        axes.annotate(f"equals win {PAR} %", (1, PAR), xycoords=("axes fraction", "data"), ha="right", va="bottom")


def share_of(entry: dict[str, Any], against: str) -> dict[str, Any]:
    """The measurement against an agent."""
    found: dict[str, Any] = next(one for one in entry["strength"] if one["against"] == against)
    return found


def main(
    out: Path = Path("out/seeds"),
    picture: Path = Path("docs/curves/win.png"),
    seeds: Annotated[str, typer.Option(help="Seeds, with commas between them.")] = "1,2,3",
    minutes: float = 4.0,
    games: Annotated[int, typer.Option(help="Games of an evaluation.")] = 1000,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Train with each seed, and draw win shares against random players and merchants."""
    settings = ["--players", "4", "--minutes", str(minutes), "--evaluations", "5", "--evaluation-games", str(games)]
    numbers = [int(seed) for seed in seeds.split(",")]
    curves = [trained(out / f"s{seed}", [*settings, "--seed", str(seed)]) for seed in numbers]
    figure, places = pyplot.subplots(1, 2, figsize=(11.8, 4), layout="constrained", dpi=120)
    for axes, against in zip(places, ("random", "merchant"), strict=True):
        draw(axes, curves, against)
    figure.savefig(picture)
    for seed, curve in zip(numbers, curves, strict=True):
        found = {"seed": seed, "decisions": curve[-1]["steps"], "strength": curve[-1]["strength"]}
        told = [f"{100 * one['value']:.1f} % ({100 * one['low']:.1f} to {100 * one['high']:.1f}) against 3 "
                f"{one['against']}" for one in found["strength"]]  # fmt: skip
        print(json.dumps(found) if as_json else f"seed {seed}, {found['decisions']:,} decisions: {'; '.join(told)}")


if __name__ == "__main__":
    typer.run(main)
