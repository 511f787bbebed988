"""The table and the sea chart on it: paper, frame, rhumb lines and the island of Borneo. The same in every picture."""

from __future__ import annotations

from itertools import pairwise
from math import cos, inf, pi, sin

from borneo_env.render.pen import INK, box, stroke
from borneo_env.render.symbols import LAND, PAPER, PAPER_EDGE, SEA, WATER, WHITE

WIDTH, HEIGHT = 1280, 1012
LEFT, TOP, RIGHT, BOTTOM = 20.0, 62.0, 1260.0, 496.0  # of the chart
MARGIN = 9.0  # of its frame
ROSE = 640.0, 279.0  # where the rhumb lines meet
DEGREE = 34.0  # how large a degree of the island is drawn

# The coast of Borneo, in degrees east and north, clockwise.
COAST = (
    (109.6, 2.0), (110.4, 1.7), (111.2, 1.5), (111.3, 2.4), (112.9, 3.1), (114.0, 4.5), (115.0, 5.0), (115.5, 5.5),
    (116.1, 6.2), (116.8, 7.0), (117.1, 6.6), (117.7, 6.3), (118.0, 5.8), (119.2, 5.2), (118.3, 4.8), (118.6, 4.4),
    (117.7, 4.2), (117.5, 3.3), (118.0, 2.2), (117.9, 1.7), (119.0, 1.0), (118.0, 0.8), (117.5, 0.1), (117.5, -0.8),
    (116.6, -1.4), (116.2, -2.5), (116.3, -3.2), (115.9, -3.8), (114.6, -4.1), (114.5, -3.4), (113.8, -3.4),
    (113.0, -3.1), (112.0, -3.4), (111.7, -2.9), (110.9, -3.0), (110.2, -2.8), (110.0, -1.6), (109.3, -0.6),
    (109.1, 0.3), (108.9, 1.2), (109.1, 1.7),
)  # fmt: skip


def _island() -> str:
    coast = _coast()
    shallows = "".join(stroke(coast, INK, line, ' stroke-opacity=".05"') for line in (20, 12, 5))
    return f'{shallows}<path d="{coast}" fill="{LAND}" stroke="{PAPER_EDGE}" stroke-width="1.2"/>'


def _coast() -> str:
    """The coast as a smooth path: it bends at the points, and passes the middles between them."""
    points = [(ROSE[0] + DEGREE * (east - 114), ROSE[1] - DEGREE * (north - 1.45)) for east, north in COAST]
    middles = [((x + to_x) / 2, (y + to_y) / 2) for (x, y), (to_x, to_y) in pairwise([*points, points[0]])]
    bends = zip([*points[1:], points[0]], [*middles[1:], middles[0]], strict=True)
    curves = "".join(f"Q{x:.0f} {y:.0f} {to_x:.0f} {to_y:.0f}" for (x, y), (to_x, to_y) in bends)
    return f"M{middles[0][0]:.0f} {middles[0][1]:.0f}{curves}Z"


def _rhumb_lines() -> str:
    rays = (_ray(cos(i * pi / 16), sin(i * pi / 16)) for i in range(32))
    return stroke("".join(rays), INK, 0.6, ' stroke-opacity=".14"')


def _ray(east: float, south: float) -> str:
    """A line from the rose to the frame."""
    x, y = ROSE
    across = ((RIGHT - MARGIN if east > 0 else LEFT + MARGIN) - x) / east if abs(east) > 1e-9 else inf
    down = ((BOTTOM - MARGIN if south > 0 else TOP + MARGIN) - y) / south if abs(south) > 1e-9 else inf
    length = min(across, down)
    return f"M{x:.0f} {y:.0f}L{x + length * east:.0f} {y + length * south:.0f}"


def _frame() -> str:
    """The neatline of old charts: a scale of degrees, black and white by turns, between two thin lines."""
    return (
        _inset(7, "none", WHITE, 4)
        + _inset(7, "none", INK, 4, ' stroke-dasharray="22"')
        + _inset(5, "none", INK, 0.8)
        + _inset(MARGIN, "none", INK, 0.8)
    )


def _inset(margin: float, fill: str, edge: str, line: float, more: str = "") -> str:
    width, height = RIGHT - LEFT - 2 * margin, BOTTOM - TOP - 2 * margin
    return box(LEFT + margin, TOP + margin, width, height, fill, edge, line=line, more=more)


BACKGROUND = (
    box(0, 0, WIDTH, HEIGHT, SEA)
    + _inset(0, PAPER, PAPER_EDGE, 1)
    + _inset(MARGIN, WATER, "none", 0)
    + _island()
    + _rhumb_lines()
    + _frame()
)
