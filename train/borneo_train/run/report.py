"""What came of a training: the learner beside the scripted bots, and its curve as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from math import nan
from pathlib import Path
from typing import Any

from borneo_agents.arena.result import Drawing
from borneo_agents.policy.agent import Policy
from borneo_agents.policy.model import Model
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from borneo_train.run.config import Settings, option
from borneo_train.run.folders import write_here
from borneo_train.run.tasks import LEARNER, MEASURES, WIN_SHARE, Measure, Measurement, evaluate, score

BOTS = ("random", "contractor", "climber", "merchant")
SPECIALIST = {"win": "merchant", "contracts": "contractor", "ranks": "climber"}
LOOKS = {3: ("#0072b2", "o"), 4: ("#d55e00", "s"), 5: ("#009e73", "^")}  # of the player counts; distinct to all eyes
FAINT = "#555555"
ENDS = ("low", "high")  # of an interval
MARGIN_BELOW = 0.03  # of a panel below 0, so that what lies there is seen whole


@dataclass(frozen=True)
class Row:
    """One agent alone at tables full of another."""

    agent: str
    measurement: Measurement


def compare(model: Model, task: str, *, players: int, games: int, seed: int) -> Iterator[Row]:
    """The learner, and the scripted bot that is best at its task, against tables full of each scripted bot."""
    specialist, edition = SPECIALIST[task], model.card.edition
    for against in BOTS:
        agents: dict[str, Any] = {LEARNER: Policy(model, budget=0)}
        if against != specialist:
            agents[specialist] = specialist
        for name, agent in agents.items():
            measured = evaluate(agent, task, against, players=players, games=games, seed=seed, edition=edition, jobs=0)
            yield from (Row(name, found) for found in measured)


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


def too_short(curve: Sequence[dict[str, Any]], settings: Settings) -> str:
    """What is said of a training that came to nothing clearly better than its beginning, or no words."""
    measure, first = MEASURES[settings.task][0], curve[0]["strength"]
    before = {(one["against"], one["players"]): one for one in first if one["measure"] == measure.name}
    after = [one for entry in curve[1:] for one in entry["strength"] if one["measure"] == measure.name]
    if any(_is_better(one, before[one["against"], one["players"]], measure) for one in after):
        return ""
    return (
        f"too short to tell: after {curve[-1]['steps']:,} decisions no evaluation is clearly better than the first, so "
        f"best is the luckiest model of them; learn longer, with --resume and more {option(settings.length())}"
    )


def _is_better(one: dict[str, Any], other: dict[str, Any], measure: Measure) -> bool:
    """Whether their intervals do not meet, and the first is on the good side."""
    less, more = (other, one) if measure.more_is_better else (one, other)
    return less["high"] is not None and more["low"] is not None and bool(less["high"] < more["low"])


def draw_curve(curve: Sequence[dict[str, Any]], settings: Settings, path: Path) -> None:
    """Write the curve as a picture."""
    written = BytesIO()
    _picture(curve, settings).savefig(written, format="png")
    write_here(path, written.getvalue())


def plot_curve(curve: Sequence[dict[str, Any]], settings: Settings) -> Drawing:
    """The curve as SVG, which shows itself in a notebook."""
    written = StringIO()
    _picture(curve, settings).savefig(written, format="svg", metadata={"Date": None})
    return Drawing(written.getvalue()[written.getvalue().index("<svg") :])


def _picture(curve: Sequence[dict[str, Any]], settings: Settings) -> Figure:
    """The measures of a task over the decisions learnt from: a panel for each measure and each agent at the tables."""
    measures = MEASURES[settings.task]
    tables = list(dict.fromkeys(one["against"] for entry in curve for one in entry["strength"]))
    rows, columns = (len(tables), len(measures)) if len(measures) > 1 else (1, len(tables))
    panels = [(measure, against) for against in tables for measure in measures]
    picture = Figure(figsize=(1 + 5.4 * columns, 0.4 + 3.6 * rows), layout="constrained", dpi=120)
    drawn = picture.subplots(rows, columns, squeeze=False).ravel()
    for axes, (measure, against) in zip(drawn, panels, strict=True):
        _draw(axes, measure, _points(curve, measure, against), _Course(curve, settings))
        axes.set_title(f"{measure.name} against {against}", loc="left", fontweight="bold", parse_math=False)
    if too_short(curve, settings):
        picture.suptitle("too short to tell: nothing is clearly better than at the beginning", color=FAINT)
    picture.legend(*drawn[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    return picture


class _Course:
    """Where a training's decisions stand on the axis."""

    def __init__(self, curve: Sequence[dict[str, Any]], settings: Settings) -> None:
        self.unit, self._words = (1e6, "million") if curve[-1]["steps"] >= 2e6 else (1e3, "thousand")
        # Of equals, the last one is kept.
        self.best = max(curve, key=lambda entry: (score(settings.task, entry["strength"]), entry["steps"]))["steps"]

    def at(self, steps: int) -> float:
        return steps / self.unit

    def draw(self, axes: Any) -> None:
        axes.set_xlabel(f"{self._words} decisions learnt from")


def _points(curve: Sequence[dict[str, Any]], measure: Measure, against: str) -> list[tuple[int, dict[str, Any]]]:
    return [
        (entry["steps"], one)
        for entry in curve
        for one in entry["strength"]
        if (one["measure"], one["against"]) == (measure.name, against)
    ]


def _draw(axes: Any, measure: Measure, points: list[tuple[int, dict[str, Any]]], course: _Course) -> None:
    """A line with points for each player count, its intervals as a band with an edge, and a ring where it is best."""
    course.draw(axes)
    scale = 100 if measure is WIN_SHARE else 1
    for players in sorted({one["players"] for _, one in points}):
        own = {steps: one for steps, one in points if one["players"] == players}
        at, values = [course.at(steps) for steps in own], [scale * one["value"] for one in own.values()]
        ends = [[nan if one[end] is None else scale * one[end] for one in own.values()] for end in ENDS]  # nan: unknown
        colour, marker = LOOKS[players]
        axes.fill_between(at, *ends, facecolor=colour, alpha=0.13, linewidth=0)
        axes.plot(at, list(zip(*ends, strict=True)), color=colour, linewidth=0.7, alpha=0.6)
        axes.plot(at, values, marker=marker, color=colour, linewidth=2, label=f"{players} players")
        ring = course.at(course.best), scale * own[course.best]["value"]
        axes.plot(*ring, "o", markersize=12, markerfacecolor="none", markeredgecolor=FAINT)
    axes.lines[-1].set_label("best")
    axes.set_ylabel(measure.name if measure.more_is_better else f"{measure.name}: less is better")
    axes.grid(color="#e6e6e6")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if measure is WIN_SHARE:
        axes.set_ylabel("wins, %")
        _draw_par(axes, sorted({one["players"] for _, one in points}))


def _draw_par(axes: Any, counts: list[int]) -> None:
    """The share of wins that equals have. Far above the curve it is only said, so that the curve stays large."""
    top = max(1, axes.get_ylim()[1])
    if 100 / counts[-1] > 1.5 * top:
        words = " / ".join(f"{100 / players:.0f}" for players in counts)
        axes.text(1, 1, f"par is higher: {words} %", ha="right", va="top", color=FAINT, transform=axes.transAxes)
    else:
        for players in counts:
            colour, _ = LOOKS[players]
            axes.axhline(100 / players, color=colour, linewidth=0.9, linestyle="--")
            axes.annotate(" par", (1, 100 / players), xycoords=("axes fraction", "data"), color=colour, fontsize=8)
        top = max(top, 110 / counts[0])
    reach = min(102, 1.1 * top)
    axes.set_ylim(-MARGIN_BELOW * reach, reach)
