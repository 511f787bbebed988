"""What came of a training: the learner beside the scripted bots, and its curve as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from borneo_agents.policy.agent import Policy
from borneo_agents.policy.model import Model
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from borneo_train.folders import write_here
from borneo_train.tasks import LEARNER, TASKS, WIN_SHARE, Measure, Measurement, evaluate

BOTS = ("random", "contractor", "climber", "merchant")
SPECIALIST = {"win": "merchant", "contracts": "contractor", "ranks": "climber"}
COLOURS = {3: "#0072b2", 4: "#d55e00", 5: "#009e73"}  # of the player counts; told apart by all eyes


@dataclass(frozen=True)
class Row:
    """One agent alone at tables full of another."""

    agent: str
    measurement: Measurement


def compare(model: Model, task: str, *, players: int, games: int, seed: int) -> Iterator[Row]:
    """The learner, and the scripted bot that is best at its task, against tables full of each scripted bot."""
    specialist = SPECIALIST[task]
    for against in BOTS:
        agents: dict[str, Any] = {LEARNER: Policy(model)}
        if against != specialist:
            agents[specialist] = specialist
        for name, agent in agents.items():
            for found in evaluate(agent, task, against, players=players, games=games, seed=seed, jobs=0):
                yield Row(name, found)


def print_report(rows: Sequence[Row], folder: Path) -> None:
    """The comparison as a table on standard output."""
    if rows:
        first = rows[0].measurement
        measures = list(dict.fromkeys(row.measurement.measure for row in rows))
        table = Table("against", "agent", title=f"one seat against a table full of others, {first.players} players")
        for measure in measures:
            table.add_column(measure, justify="right")
        for against in BOTS:
            mine = [row for row in rows if row.measurement.against == against]
            for agent in dict.fromkeys(row.agent for row in mine):
                cells = [figure(row.measurement) for row in mine if row.agent == agent]
                table.add_row(f"{first.players - 1} {against}", agent, *cells)
        console = Console()
        console.print(table)
        console.print(f"{first.games} games each on the same deals (seed {first.seed}), with 95 % intervals.")
    Console(stderr=True).print(
        f"All is in {folder}: the model in best, its curve in curve.png and curve.jsonl.",
        highlight=False,
        soft_wrap=True,
    )


def figure(one: Measurement) -> str:
    """A measurement in words."""
    scale, unit, digits = (100, " %", 1) if one.measure == "win share" else (1, "", 2)
    value = f"{one.value * scale:.{digits}f}"
    if one.low is None or one.high is None:
        return value + unit
    return f"{value}{unit} ({one.low * scale:.{digits}f} to {one.high * scale:.{digits}f})"


def draw_curve(curve: Sequence[dict[str, Any]], task: str, path: Path) -> None:
    """The measures of a task over the steps, with their intervals, one line for each player count."""
    measures = TASKS[task]
    picture = Figure(figsize=(6.4 * len(measures), 4.0), layout="constrained", dpi=120)
    for axes, measure in zip(picture.subplots(1, len(measures), squeeze=False)[0], measures, strict=True):
        found = [(entry["steps"] / 1e6, one) for entry in curve for one in entry["strength"]]
        _draw(axes, measure, [(steps, one) for steps, one in found if one["measure"] == measure.name])
    drawn = BytesIO()
    picture.savefig(drawn, format="png")
    write_here(path, drawn.getvalue())


def _draw(axes: Any, measure: Measure, points: list[tuple[float, dict[str, Any]]]) -> None:
    for players in sorted({one["players"] for _, one in points}):
        steps, own = zip(*((steps, one) for steps, one in points if one["players"] == players), strict=True)
        ends = [[one["value"] if one[end] is None else one[end] for one in own] for end in ("low", "high")]
        axes.plot(steps, [one["value"] for one in own], color=COLOURS[players], label=f"{players} players")
        axes.fill_between(steps, *ends, color=COLOURS[players], alpha=0.2, linewidth=0)
        if measure is WIN_SHARE:
            axes.axhline(1 / players, color=COLOURS[players], linewidth=0.8, linestyle=":")
    par = " (dotted: par)" if measure is WIN_SHARE else ""
    axes.set_title(f"{measure.name} against a table of {points[0][1]['against']}{par}", parse_math=False)
    axes.set_xlabel("million decisions of the learner")
    axes.set_ylabel(measure.name)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
