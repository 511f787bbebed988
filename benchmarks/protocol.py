"""How fast bots in processes of their own are asked: `python benchmarks/protocol.py`. Prints decisions a second.

The bot answers at once, with the first of its moves. It looks for them in the line as it came, and parses nothing, so
that the time is that of the pipe and of our side. By the wall clock, figures are lower on a machine with other work;
so there are two: decisions in a second of the clock, and in a second of the processor, ours and the bot's together.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple

import numpy as np
import typer
from borneo_agents.protocol.agent import ProcessAgent
from rich.console import Console
from rich.table import Table

from borneo_env import Batch, Ruleset
from borneo_env.agent import Views

BOT = r"""
import json, re, sys

for line in sys.stdin:
    if line.startswith('{"type":"hello"'):
        answer = HELLO
    elif line.startswith('{"type":"rules"'):
        answer = {"ready": True}
    elif line.startswith('{"type":"quit"'):
        break
    else:
        first = re.findall(r'"moves":\["([^"]*)"', line)
        answer = {"moves": first} if HELLO["batch"] else {"move": first[0]}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
"""
WISHES = ((), ("words",), ("numbers",), ("words", "numbers"))
POSITIONS = 256
MIDDLE = 60  # random decisions of each game, before the positions are taken


class Speed(NamedTuple):
    """Decisions a second."""

    wall: int
    processor: int


def positions(players: int, seed: int) -> Views:
    """Decisions from the middle of random games."""
    batch = Batch(POSITIONS, Ruleset(players=players), seed=seed, threads=1)
    batch.play_random(MIDDLE * POSITIONS)
    return Views(batch.ruleset, *batch.view(np.arange(POSITIONS)))


def one_by_one(views: Views) -> list[Views]:
    """The same views, each to be asked for by itself."""
    return [
        Views(views.ruleset, views.games[i : i + 1], views.mask[i : i + 1], views.dice[i : i + 1])
        for i in range(POSITIONS)
    ]


def speed(wishes: tuple[str, ...], batch: int, asked: list[Views], seconds: float, folder: Path) -> Speed:
    """Decisions a second, once the bot is ready."""
    hello = {"protocol": "borneo-protocol/1", "wants": list(wishes), "batch": batch}
    (folder / "bot.py").write_text(f"HELLO = {hello!r}\n{BOT}", encoding="utf-8")
    bots = _used(resource.RUSAGE_CHILDREN)
    agent = ProcessAgent([sys.executable, "-I", "-S", str(folder / "bot.py")], seconds=60, memory=1024)
    agent.act(asked[0])
    decisions, began, ours = 0, time.perf_counter(), _used(resource.RUSAGE_SELF)
    while time.perf_counter() < began + seconds:
        for views in asked:
            agent.act(views)
            decisions += len(views)
    wall, used = time.perf_counter() - began, _used(resource.RUSAGE_SELF) - ours
    agent.close()
    return Speed(round(decisions / wall), round(decisions / (used + _used(resource.RUSAGE_CHILDREN) - bots)))


def _used(who: int) -> float:
    """Seconds of the processor."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def main(
    players: Annotated[int, typer.Option(help="Number of players.")] = 4,
    seed: Annotated[int, typer.Option(help="Seed of the positions.")] = 1,
    seconds: Annotated[float, typer.Option(help="How long each way is measured.")] = 2.0,
    batch: Annotated[int, typer.Option(help="Decisions in a line of a batch.")] = 64,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure how fast a bot is asked through one pipe."""
    views = positions(players, seed)
    ways = {"unbatched": (0, one_by_one(views)), f"batches of {batch}": (batch, [views])}
    with TemporaryDirectory() as folder:
        found = {
            " and ".join(wishes) or "moves alone": {
                way: speed(wishes, size, asked, seconds, Path(folder)) for way, (size, asked) in ways.items()
            }
            for wishes in WISHES
        }
    load = os.getloadavg()[0]
    if as_json:
        told = {wishes: {way: one._asdict() for way, one in speeds.items()} for wishes, speeds in found.items()}
        print(json.dumps({"decisions_a_second": told, "load": load, "cores": os.cpu_count()}))
        return
    heads = [f"{way}, {clock}" for way in ways for clock in Speed._fields]
    table = Table("the bot wants", *heads, title=f"decisions a second; load {load:.1f} on {os.cpu_count()} cores")
    for wishes, speeds in found.items():
        table.add_row(wishes, *(f"{value:,}" for one in speeds.values() for value in one))
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
