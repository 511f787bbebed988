"""The table and the sea chart on it: paper, frame, rhumb lines and the island of Borneo. The same in every picture."""

from __future__ import annotations

from pathlib import Path

WIDTH, HEIGHT = 1280, 1012
LEFT, TOP, RIGHT, BOTTOM = 20.0, 62.0, 1260.0, 496.0  # of the chart
MARGIN = 9.0  # of its frame

_DRAWING = Path(__file__).with_name("chart.svg").read_text(encoding="utf-8")
BACKGROUND = _DRAWING.partition("\n")[2].removesuffix("</svg>\n")  # without what makes it a file
