"""What learns more: `python benchmarks/learning.py tied network=plain --timesteps 500000 --seeds 1,2,3`.

A variant is a list of settings of `borneo train` with commas between them; what it does not name is the device's.
"tied" alone changes nothing. All variants learn from the same number of decisions, or for the same seconds, with the
same seeds, and are measured on the same deals, network alone. Writes the curves as lines of JSON, and a picture of them
with the spread over the seeds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from borneo_agents.policy.agent import Policy
from borneo_train.run.checks import check, filled
from borneo_train.run.config import Settings
from borneo_train.run.learner import create_learner, model_of
from borneo_train.run.tasks import evaluate
from rich.console import Console
from rich.progress import Progress

UNSEEN = 2_000_000  # added to the seed for the deals of evaluations


def settings_of(variant: str, common: dict[str, Any]) -> Settings:
    """The settings that a variant names, each of its type."""
    kinds = {field.name: type(field.default) for field in fields(Settings)}
    given = dict(part.split("=") for part in variant.split(",") if "=" in part)
    named = {name.replace("-", "_"): value for name, value in given.items()}
    unknown = set(named) - set(kinds)
    if unknown:
        raise typer.BadParameter(f"there is no setting {', '.join(sorted(unknown))}; borneo train --help has them all")
    settings = filled(Settings(**common | {name: kinds[name](value) for name, value in named.items()}))
    check(settings)
    return settings


def curve(variant: str, settings: Settings, points: int, against: list[str], games: int) -> Iterator[dict[str, Any]]:
    """Learn, and measure at so many points; the time of measuring does not count."""
    learner = create_learner(settings)
    seconds, next_point = 0.0, 1
    while next_point <= points:
        began = time.monotonic()
        learner.collect()
        metrics = learner.update()
        seconds += time.monotonic() - began
        done = learner.decisions / settings.timesteps if settings.timesteps else seconds / (60 * settings.minutes)
        learner.progress = min(1.0, done)
        if learner.progress >= next_point / points:
            next_point += 1
            players = settings.counts()[0] if len(settings.counts()) == 1 else 4
            policy = Policy(model_of(learner, settings, "", {}), budget=0)
            for name in against:
                seed = settings.seed + UNSEEN
                found = evaluate(policy, settings.task, name, players=players, games=games, seed=seed)[0]
                yield {
                    "variant": variant, "seed": settings.seed, "decisions": learner.decisions,
                    "seconds": round(seconds, 1), "players": players, "against": name, "games": found.games,
                    "value": found.value, "low": found.low, "high": found.high,
                    "explained_variance": metrics["explained_variance"], "entropy": metrics["entropy"],
                }  # fmt: skip


def draw(lines: list[dict[str, Any]], against: list[str], path: Path) -> None:
    """Wins over decisions and over seconds: the mean over seeds, and from the lowest to the highest."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, places = pyplot.subplots(len(against), 2, figsize=(11, 3.6 * len(against)), squeeze=False, sharey="row")
    variants = list(dict.fromkeys(line["variant"] for line in lines))
    for (row, name), (column, axis) in (
        (a, b) for a in enumerate(against) for b in enumerate(("decisions", "seconds"))
    ):
        for number, variant in enumerate(variants):
            own = [line for line in lines if line["variant"] == variant and line["against"] == name]
            seeds = list(dict.fromkeys(line["seed"] for line in own))
            by_seed = [[line for line in own if line["seed"] == seed] for seed in seeds]
            length = min(map(len, by_seed))
            across = np.mean([[line[axis] for line in one[:length]] for one in by_seed], 0)
            wins = 100 * np.array([[line["value"] for line in one[:length]] for one in by_seed])
            places[row, column].plot(across, wins.mean(0), "o-", color=f"C{number}", label=f"{variant} ({len(seeds)})")
            places[row, column].fill_between(across, wins.min(0), wins.max(0), color=f"C{number}", alpha=0.2)
        places[row, column].set(xlabel=axis, ylabel=f"wins against {name} (%)" if not column else "")
    places[0, 0].legend(title="variant (seeds)")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main(
    variants: Annotated[list[str], typer.Argument(help="Such as tied, or network=plain,actor=256x2.")],
    timesteps: Annotated[int, typer.Option(help="Decisions that each learns from.")] = 0,
    seconds: Annotated[float, typer.Option(help="Seconds that each learns for instead.")] = 0.0,
    seeds: Annotated[str, typer.Option(help="Seeds of trainings.")] = "1",
    players: Annotated[str, typer.Option(help="Player counts.")] = "4",
    against: Annotated[str, typer.Option(help="Who fills the tables.")] = "random,merchant",
    points: Annotated[int, typer.Option(help="How often each is measured.")] = 4,
    games: Annotated[int, typer.Option(help="Games of each measurement.")] = 1000,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "auto",
    out: Annotated[Path, typer.Option(help="Folder for learning.jsonl and learning.png.")] = Path("out/learning"),
    as_json: Annotated[bool, typer.Option("--json", help="Print lines of JSON.")] = False,
) -> None:
    """Compare what variants of a learner have learnt, at the same decisions and seconds."""
    if bool(timesteps) == bool(seconds):
        raise typer.BadParameter("give --timesteps or --seconds")
    out.mkdir(parents=True, exist_ok=True)
    tables, lines = against.split(","), []
    trainings = [(variant, int(seed)) for seed in seeds.split(",") for variant in variants]
    screen = Console(stderr=True)
    with Progress(console=screen) as progress, (out / "learning.jsonl").open("w") as file:
        bar = progress.add_task("learning", total=len(trainings) * points * len(tables))
        for variant, seed in trainings:
            common = {
                "timesteps": timesteps,
                "minutes": seconds / 60,
                "players": players,
                "device": device,
                "seed": seed,
            }
            for line in curve(variant, settings_of(variant, common | {"workers": 1}), points, tables, games):
                lines.append(line)
                file.write(json.dumps(line) + "\n")
                file.flush()
                told = "{variant}, seed {seed}: {decisions:,} decisions, {seconds} s, {value:.1%} against {against}"
                typer.echo(json.dumps(line) if as_json else told.format(**line))
                progress.advance(bar)
    draw(lines, tables, out / "learning.png")


if __name__ == "__main__":
    typer.run(main)
