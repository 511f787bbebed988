"""The colours of a report: those of the game's other pages, in light and in dark."""

from __future__ import annotations

import re

from borneo_env.render.pen import INK
from borneo_env.render.symbols import CARD, FAINT, FOAM, GOLD, PAPER, PAPER_EDGE, SEA

GRID, ACCENT, ON_LIGHT, ON_DARK = "#e3d7b8", "#b3541e", "#2a1d0e", "#fffdf6"
SERIES = ("#b3541e", "#2b6777", "#a8780f", "#6a4c93", "#4f772d", "#c05780", "#3d5a80", "#8c6d46", "#66757f", "#222831")
SOURCES = ("#f0c987", "#d9a441", "#c9772b", "#b3541e", "#7d2e13", "#7fa99b", "#2b6777", "#888888")
DEEP = ("#b3541e", "#7d2e13", "#2b6777")  # those of the sources on which words must be light
BEHIND, EVEN, BEFORE = "#d98c5f", "#f7f3ea", "#6fa3ad"

PAGE = {
    "ground": (PAPER, "#14272f"),
    "leaf": (CARD, SEA),
    "text": (INK, FOAM),
    "quiet": (FAINT, "#cdbf9c"),
    "edge": (PAPER_EDGE, "#5d7a80"),
    "accent": ("#7a2019", "#f0c464"),
}
DARK = {  # what a colour of a plot becomes
    INK: FOAM,
    FAINT: "#cdbf9c",
    GRID: "#35535e",
    ON_DARK: "#1f160d",
    **dict(zip(SERIES, ("#e9935c", "#7cc0d3", "#e9c060", "#c0a4e8", "#a5d07a", "#f09cc0", "#9dbce8", "#d3b489",
                        "#b4c2cb", "#f2e6c9"), strict=True)),
    "#7d2e13": "#c9694a",
    "#888888": "#a3adb0",
}  # fmt: skip


def variables() -> str:
    """Both sets of colours as CSS."""
    named = {**PAGE, **{f"c{light[1:]}": (light, dark) for light, dark in DARK.items()}}
    pairs = "".join(f"--{name}:light-dark({light},{dark});" for name, (light, dark) in named.items())
    return f":root{{{pairs}--sea:{SEA};--foam:{FOAM};--gold:{GOLD}}}"


def themed(svg: str) -> str:
    """A plot whose colours follow those of its page."""
    return re.sub(r"#[0-9a-f]{6}\b", lambda found: f"var(--c{found[0][1:]})" if found[0] in DARK else found[0], svg)
