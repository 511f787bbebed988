"""The curve of a training: what was measured on the way, as a picture; and whether anything was learnt."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from math import nan
from typing import Any

from borneo_agents.arena.result import Drawing
from matplotlib.figure import Figure

from borneo_train.run.config import Settings, option
from borneo_train.run.tasks import MEASURES, WIN_SHARE, Measure, score

Curve = Sequence[dict[str, Any]]  # an entry for each evaluation: the decisions before it, and what was measured
LOOKS = {3: ("#0072b2", "o"), 4: ("#d55e00", "s"), 5: ("#009e73", "^")}  # of the player counts; distinct to all eyes
FAINT = "#555555"
MARGIN_BELOW = 0.03  # of a panel below 0, so that what lies there is seen whole


def too_short(curve: Curve, settings: Settings) -> str:
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


def svg_of(curve: Curve, settings: Settings) -> Drawing:
    """The picture as SVG, which shows itself in a notebook."""
    written = StringIO()
    picture(curve, settings).savefig(written, format="svg", metadata={"Date": None})
    return Drawing(written.getvalue()[written.getvalue().index("<svg") :])


def picture(curve: Curve, settings: Settings) -> Figure:
    """The measures of a task over the decisions learnt from: a panel for each measure and each agent at the tables."""
    measures = MEASURES[settings.task]
    tables = list(dict.fromkeys(one["against"] for entry in curve for one in entry["strength"]))
    rows, columns = (len(tables), len(measures)) if len(measures) > 1 else (1, len(tables))
    unit, words = (1e6, "million") if curve[-1]["steps"] >= 2e6 else (1e3, "thousand")
    # Of equals, the last one is kept.
    best = max(curve, key=lambda entry: (score(settings.task, entry["strength"]), entry["steps"]))["steps"]
    made = Figure(figsize=(1 + 5.4 * columns, 0.4 + 3.6 * rows), layout="constrained", dpi=120)
    drawn = made.subplots(rows, columns, squeeze=False).ravel()
    panels = [(measure, against) for against in tables for measure in measures]
    for axes, (measure, against) in zip(drawn, panels, strict=True):
        own = [
            {"at": entry["steps"] / unit, "best": entry["steps"] == best} | one
            for entry in curve
            for one in entry["strength"]
            if (one["measure"], one["against"]) == (measure.name, against)
        ]
        _draw(axes, measure, own)
        axes.set_title(f"{measure.name} against {against}", loc="left", fontweight="bold", parse_math=False)
        axes.set_xlabel(f"{words} decisions learnt from")
    if too_short(curve, settings):
        made.suptitle("too short to tell: nothing is clearly better than at the beginning", color=FAINT)
    made.legend(*drawn[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    return made


def _draw(axes: Any, measure: Measure, points: list[dict[str, Any]]) -> None:
    """A line with points for each player count, its intervals as a band with an edge, and a ring where it is best."""
    scale = 100 if measure is WIN_SHARE else 1
    counts = sorted({point["players"] for point in points})
    for players in counts:
        own = [point for point in points if point["players"] == players]
        at, values = [point["at"] for point in own], [scale * point["value"] for point in own]
        ends = [[nan if point[end] is None else scale * point[end] for point in own] for end in ("low", "high")]
        colour, marker = LOOKS[players]
        axes.fill_between(at, *ends, facecolor=colour, alpha=0.13, linewidth=0)  # none where they are unknown
        axes.plot(at, list(zip(*ends, strict=True)), color=colour, linewidth=0.7, alpha=0.6)
        axes.plot(at, values, marker=marker, color=colour, linewidth=2, label=f"{players} players")
        ring = next((x, y) for x, y, point in zip(at, values, own, strict=True) if point["best"])
        axes.plot(*ring, "o", markersize=12, markerfacecolor="none", markeredgecolor=FAINT)
    axes.lines[-1].set_label("best")
    axes.set_ylabel(measure.name if measure.more_is_better else f"{measure.name}: less is better")
    axes.grid(color="#e6e6e6")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if measure is WIN_SHARE:
        axes.set_ylabel("wins, %")
        _draw_par(axes, counts)


def _draw_par(axes: Any, counts: list[int]) -> None:
    """The share of wins that equals have, as far as the curve comes near it: a low one is not drawn flat."""
    top = max(1, axes.get_ylim()[1])
    near = [players for players in counts if 100 / players <= 1.5 * top]
    for players in near:
        colour, _ = LOOKS[players]
        axes.axhline(100 / players, color=colour, linewidth=0.9, linestyle="--")
        axes.annotate(" par", (1, 100 / players), xycoords=("axes fraction", "data"), color=colour, fontsize=8)
    reach = min(102, 1.1 * max([top, *(100 / players for players in near)]))
    axes.set_ylim(-MARGIN_BELOW * reach, reach)
