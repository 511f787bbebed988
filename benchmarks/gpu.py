"""How fast games are played on a CUDA card: `python benchmarks/gpu.py`. Prints millions a second, beside all cores.

Every figure is the median of several slices, each ended by waiting for the card.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer
from borneo_agents.scripted.dispatch import MERCHANT, Bots
from rich.console import Console
from rich.progress import track
from rich.table import Table

from borneo_env import Batch, Ruleset

SIZES = (4_096, 16_384, 65_536, 131_072, 262_144, 524_288, 1_048_576)
MIDDLE = 70  # decisions of each game before anything is measured
SLICES = 5
REPEATS = 20


def rate(games: int, work: Callable[[], Any], wait: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Millions of games a second that some work gets through."""
    for _ in range(2):
        work()
    wait()
    slices = []
    for _ in range(SLICES):
        began = time.perf_counter()
        for _ in range(repeats):
            work()
        wait()
        slices.append(time.perf_counter() - began)
    return games * repeats / statistics.median(slices) / 1e6


def first_step(ruleset: Ruleset, seed: int) -> float:
    """Seconds until the first step is played and seen: compiling, where nothing is kept."""
    import torch

    from borneo_env.gpu import GpuBatch

    torch.zeros(1, device="cuda")
    began = time.perf_counter()
    batch = GpuBatch(1024, ruleset, seed=seed)
    batch.step(batch.sample())
    torch.as_tensor(batch.observe(), device="cuda").sum().item()
    return time.perf_counter() - began


def measure(games: int, ruleset: Ruleset, seed: int) -> dict[str, float]:
    """All figures of the card at a batch size."""
    import torch

    from borneo_env.gpu import GpuBatch, GpuSeats

    wait = torch.cuda.synchronize
    batch = GpuBatch(games, ruleset, seed=seed)
    batch.play_random(MIDDLE)
    told = {"random decisions": rate(games, lambda: batch.play_random(1), wait)}
    seen = torch.as_tensor(batch.observe(), device="cuda")
    told["observe"] = rate(games, lambda: batch.observe(out=seen), wait)

    def step(check: bool) -> None:
        batch.step(batch.sample(), check=check)
        batch.observe(out=seen)

    told["sample, step, observe"] = rate(games, lambda: step(False), wait)
    told["the same, actions checked"] = rate(games, lambda: step(True), wait)
    rng = np.random.default_rng(seed)
    told["resample"] = rate(games, lambda: batch.resample(0, rng), wait, 5)
    for name, seat in (("GpuSeats, one learner seat", "random"), ("GpuSeats, all seats", "all")):
        seats = GpuSeats(games, ruleset, seed=seed, seat=seat)
        told[name] = rate(games, partial(_step_by_mask, seats), wait, 5)
    return told


def _step_by_mask(seats: Any) -> None:
    """Any legal action, chosen by torch."""
    import torch

    mask = torch.as_tensor(seats.mask, device="cuda")
    seats.step(mask.to(torch.int8).argmax(1), check=False)


def measure_cpu(games: int, ruleset: Ruleset, seed: int) -> dict[str, float]:
    """The same on all cores, and merchants, who play there only."""
    batch = Batch(games, ruleset, seed=seed)
    batch.play_random(MIDDLE)
    out = batch.observe()
    told = {"random decisions": rate(games, lambda: batch.play_random(5), lambda: None, 4) * 5}
    told["sample, step, observe"] = rate(
        games, lambda: (batch.step(batch.sample()), batch.observe(out=out)), lambda: None, 4
    )
    held = Batch(games // 4, ruleset, seed=seed, finished="hold")
    held.play_random(MIDDLE)
    bots, kinds = Bots(held), np.full((len(held), ruleset.players), MERCHANT, np.int8)
    rows = np.flatnonzero(held.player >= 0)
    told["merchants deciding"] = rate(len(rows), lambda: bots.choose(kinds, rows), lambda: None, 1)
    return told


def main(
    seed: Annotated[int, typer.Option(help="Seed of the games.")] = 7,
    players: Annotated[int, typer.Option(help="Number of players.")] = 4,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Measure games on the card at several batch sizes, beside all cores of the CPU."""
    ruleset = Ruleset(players=players)
    told: dict[str, Any] = {"first step, seconds": first_step(ruleset, seed)}
    told["card"] = {
        games: measure(games, ruleset, seed)
        for games in track(SIZES, "measuring", console=Console(stderr=True), transient=True)
    }
    told["all cores"] = measure_cpu(65_536, ruleset, seed)
    if as_json:
        print(json.dumps(told))
        return
    table = Table("millions a second", *(f"{games:,}" for games in SIZES), "all cores")
    names = [*next(iter(told["card"].values())), "merchants deciding"]
    for name in names:
        columns = [*told["card"].values(), told["all cores"]]
        table.add_row(name, *(f"{column[name]:.1f}" if name in column else "-" for column in columns))
    print(f"first step after {told['first step, seconds']:.1f} s (compiling, if nothing was kept)")
    Console(width=140).print(table)


if __name__ == "__main__":
    typer.run(main)
