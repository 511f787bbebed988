"""How fast the bots think: `python benchmarks/bots.py`. Prints microseconds a decision and playouts a second.

The positions are decisions from the middle of games between merchants. Everything runs on one core; the clock is the
processor's, so that other work on the machine matters less.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Annotated

import numpy as np
import typer
from borneo_agents.scripted.agents import Climber, Contractor, Merchant
from borneo_agents.search.ismcts import Ismcts
from rich.console import Console
from rich.progress import track
from rich.table import Table

from borneo_env import Batch, Ruleset
from borneo_env.agent import Agent, Random, Views, ask

SCRIPTED: dict[str, Callable[[], Agent]] = {
    "random": Random, "contractor": Contractor, "climber": Climber, "merchant": Merchant,
}  # fmt: skip
TURNS = (1, 2, 4)  # that begin before a playout is cut off
DECISIONS = 70  # of each game, before the positions are taken
POSITIONS = 100
BUDGET = 1000


def positions(players: int, seed: int) -> Views:
    """Decisions from the middle of games between merchants."""
    batch = Batch(3 * POSITIONS, Ruleset(players=players), seed=seed, finished="hold", threads=1)
    seated = np.zeros((len(batch), players), np.int64)
    rows, agents = np.arange(len(batch)), [Merchant()]
    for _ in range(DECISIONS):
        batch.step(ask(batch, rows, agents, seated), rows)
        rows = rows[batch.player[rows] >= 0]
    return Views(batch.ruleset, *batch.view(rows[:POSITIONS]))


def seconds(agent: Agent, views: Views, repeats: int) -> float:
    """Processor time for all views, once the agent is compiled."""
    agent.act(Views(views.ruleset, views.games[:1], views.mask[:1], views.dice[:1]))
    began = time.process_time()
    for _ in range(repeats):
        agent.act(views)
    return (time.process_time() - began) / repeats


def main(
    players: Annotated[int, typer.Option(help="Number of players.")] = 4,
    seed: Annotated[int, typer.Option(help="Seed of the positions.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure how fast the bots think."""
    views = positions(players, seed)
    console = Console(stderr=True)
    scripted = {
        name: 1e6 * seconds(make(), views, 100) / len(views)
        for name, make in track(SCRIPTED.items(), "scripted bots", console=console)
    }
    searching = {
        f"ismcts:turns={turns}": BUDGET * len(views) / seconds(Ismcts(BUDGET, turns=turns), views, 1)
        for turns in track(TURNS, "searches", console=console)
    }
    if as_json:
        print(json.dumps({"microseconds_a_decision": scripted, "playouts_a_second": searching}))
        return
    table = Table("agent", title=f"{players} players, {POSITIONS} positions, one core")
    table.add_column("microseconds a decision", justify="right")
    table.add_column("playouts a second", justify="right")
    for name, micros in scripted.items():
        table.add_row(name, f"{micros:.1f}", "")
    for name, playouts in searching.items():
        table.add_row(name, "", f"{playouts:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
