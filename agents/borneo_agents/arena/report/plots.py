"""The plots of an arena's report, each as an SVG that can stand in a page beside the others."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from borneo_agents.arena.report.profile import Profile
from borneo_agents.arena.report.tables import ArenaTables
from borneo_env.render.pen import INK
from borneo_env.render.symbols import CARD, FAINT

GRID, ACCENT, ON_LIGHT, ON_DARK = "#e3d7b8", "#b3541e", "#2a1d0e", "#fffdf6"
SERIES = ("#b3541e", "#2b6777", "#a8780f", "#6a4c93", "#4f772d", "#c05780", "#3d5a80", "#8c6d46", "#66757f", "#222831")
SOURCES = ("#f0c987", "#d9a441", "#c9772b", "#b3541e", "#7d2e13", "#7fa99b", "#2b6777", "#888888")
DEEP = ("#b3541e", "#7d2e13", "#2b6777")  # those of the sources on which words must be light
BEHIND_TO_BEFORE = LinearSegmentedColormap.from_list("places", ["#d98c5f", "#f7f3ea", "#6fa3ad"])
WIDTH = 7.2  # inches
WIDEST_HEAD = 11  # letters that have room above a column of the cross table
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": INK,
    "savefig.facecolor": CARD,
    "axes.facecolor": CARD,
    "axes.labelcolor": FAINT,
    "axes.edgecolor": GRID,
    "xtick.color": FAINT,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "ytick.major.size": 0,
    "xtick.major.size": 0,
    "axes.grid": True,
    "axes.grid.axis": "x",
    "axes.axisbelow": True,
    "grid.color": GRID,
    "svg.fonttype": "none",  # words can be found and read out
    "svg.hashsalt": "borneo",  # the same games give the same file
    "figure.constrained_layout.use": True,
}

Plot = Callable[[Figure, ArenaTables], None]


def plots(result: ArenaTables) -> dict[str, str]:
    """The plots by name, as SVG."""
    return {name: draw(result, name) for name in KINDS}


def draw(result: ArenaTables, name: str) -> str:
    """One plot as SVG; its ids begin with its name, so that those of two plots in a page do not meet."""
    with matplotlib.rc_context(STYLE):
        figure = Figure()
        KINDS[name](figure, result)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = text.getvalue()[text.getvalue().index("<svg") :]
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)


def ranked(result: ArenaTables) -> list[Profile]:
    """The profiles, highest win share first."""
    profiles = {profile.agent: profile for profile in result.profiles}
    return [profiles[row.agent] for row in result.standings]


def short(name: str, longest: int = 26) -> str:
    """A name as a label: not too long, and no formula, nor hidden from legends."""
    cut = name if len(name) <= longest else name[: longest - 1] + "…"
    return ("\u200b" if cut.startswith("_") else "") + cut.replace("$", r"\$")


def _rows(figure: Figure, names: Sequence[str], extra: float = 0.8, each: float = 0.36) -> Any:
    """Axes with a row for each name, the first on top."""
    figure.set_size_inches(WIDTH, extra + each * len(names))
    axes = figure.subplots()
    axes.set_yticks(range(len(names)), [short(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    return axes


def _beside(axes: Any, y: float, words: str) -> None:
    """Words at the right edge of a row, where no bar can be."""
    axes.annotate(words, (1, y), (6, 0), xycoords=("axes fraction", "data"), textcoords="offset points", va="center")


def _strengths(figure: Figure, result: ArenaTables) -> None:
    rows = result.strengths.strengths
    axes = _rows(figure, [row.agent for row in rows])
    axes.axvline(0, color=FAINT, linewidth=0.8)
    for y, row in enumerate(rows):
        value, low, high = row.points.value, row.points.low, row.points.high
        axes.plot([value if low is None else low, value if high is None else high], [y, y], color=ACCENT, linewidth=2.5)
        axes.plot(value, y, "o", color=ACCENT, markersize=6)
        _beside(axes, y, f"{value:+.0f}")
    axes.margins(x=0.08)
    axes.set_xlabel("points; 400 more are ten times the strength")


def _points(figure: Figure, result: ArenaTables) -> None:
    order = ranked(result)
    axes = _rows(figure, [profile.agent for profile in order], extra=1.15)
    left = np.zeros(len(order))
    found = [{source: points.value for source, points in profile.measures["points"].items()} for profile in order]
    longest = max(sum(points.values()) for points in found)
    for source, colour in zip(found[0], cycle(SOURCES), strict=False):
        points = np.array([row[source] for row in found])
        if not points.any():
            continue
        axes.barh(range(len(order)), points, 0.62, np.where(points < 0, 0, left), color=colour, label=source)
        for y, (width, start) in enumerate(zip(points, left, strict=True)):
            if width > 0.05 * longest:  # room for its number
                ink = ON_DARK if colour in DEEP else ON_LIGHT
                axes.text(start + width / 2, y, f"{width:.1f}", ha="center", va="center", fontsize=8, color=ink)
        left += np.maximum(points, 0)
    if left.any():  # if all games were lost by a fault at once, nobody has points
        figure.legend(
            loc="outside upper left", ncols=len(found[0]), frameon=False, fontsize=8, handlelength=1, columnspacing=1
        )
    axes.set_xlabel("points a game")


def _cross(figure: Figure, result: ArenaTables) -> None:
    order = [row.agent for row in result.standings]
    share = np.full((len(order), len(order)), np.nan)
    for row in result.cross_table:
        share[order.index(row.agent), order.index(row.other)] = row.before.value
    figure.set_size_inches(min(WIDTH, 2.6 + 0.75 * len(order)), 1.3 + 0.45 * len(order))
    axes = figure.subplots()
    axes.grid(False)
    axes.spines[:].set_visible(False)
    edges = np.arange(len(order) + 1) - 0.5
    axes.pcolormesh(edges, edges, share, cmap=BEHIND_TO_BEFORE, vmin=0, vmax=1, linewidth=0)
    axes.invert_yaxis()
    names = [short(name, 18) for name in order]
    axes.set_yticks(range(len(order)), names)
    level = len(order) <= 5 and max(map(len, names)) <= WIDEST_HEAD
    axes.set_xticks(range(len(order)), names, rotation=0 if level else 30, ha="center" if level else "left")
    axes.xaxis.tick_top()
    for (i, j), value in np.ndenumerate(share):
        if not np.isnan(value):
            axes.text(j, i, f"{100 * value:.0f} %", ha="center", va="center", fontsize=9, color=ON_LIGHT)


def _seats(figure: Figure, result: ArenaTables) -> None:
    players = result.tournament.ruleset.players
    figure.set_size_inches(WIDTH, 3.2)
    axes = figure.subplots()
    axes.grid(True, axis="y")
    axes.grid(False, axis="x")
    axes.axhline(100 / players, color=FAINT, linewidth=0.8, linestyle="--")
    for i, profile in enumerate(ranked(result)):
        shares = [np.nan if one is None else 100 * one.value for one in profile.win_share_by_seat]
        ends = [(one.low, one.high) if one else (np.nan, np.nan) for one in profile.win_share_by_seat]
        at = np.arange(players) + 0.04 * (i - (len(result.tournament.agents) - 1) / 2)
        colour = SERIES[i % len(SERIES)]
        axes.vlines(at, *(100 * np.array(ends, float).T), color=colour, linewidth=1.6, alpha=0.5)
        axes.plot(at, shares, "-o", color=colour, markersize=5, clip_on=False, label=short(profile.agent))
    axes.set_xticks(range(players), ["start player", *(f"seat {seat}" for seat in range(2, players + 1))])
    axes.set_ylabel("win share, %")
    axes.set_ylim(bottom=0)
    axes.tick_params(axis="x", pad=8)  # points at 0 stand on the axis
    axes.set_xlim(-0.3, players - 0.7)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8.5)


def _lengths(figure: Figure, result: ArenaTables) -> None:
    turns = result.outcomes["turns"]
    figure.set_size_inches(WIDTH, 2.4)
    axes = figure.subplots()
    axes.grid(True, axis="y")
    axes.grid(False, axis="x")
    width = max(1, round((turns.max() - turns.min()) / 40))
    edges = np.arange(turns.min(), turns.max() + width + 1, width) - 0.5
    axes.hist(turns, edges.tolist(), color=SERIES[1], rwidth=0.94)
    middle = float(np.median(turns))
    axes.axvline(middle, color=ACCENT, linewidth=1.2)
    axes.annotate(f"median {middle:g}", (middle, 1), (0, 3), xycoords=("data", "axes fraction"),
                  textcoords="offset points", ha="center", va="bottom", fontsize=8.5, color=ACCENT)  # fmt: skip
    axes.set_xlabel("turns of a game, all players together")
    axes.set_ylabel("games")


KINDS: dict[str, Plot] = {
    "strengths": _strengths,
    "points": _points,
    "cross": _cross,
    "seats": _seats,
    "lengths": _lengths,
}
