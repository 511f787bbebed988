"""Text and shapes as SVG. Every text is measured and told its length, so that it fits in any viewer, with any font."""

from __future__ import annotations

import json
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import NamedTuple

FONT = "Source Serif Pro"  # the package font-source-serif-pro brings it; other serif fonts are stretched to its widths
INK = "#3b2a1a"

TIMES, MINUS = "\u00d7", "\u2212"
OTHERS = f"·{TIMES}…{MINUS}"
KNOWN = "".join(map(chr, range(32, 127))) + OTHERS
_WIDTHS = json.loads(Path(__file__).with_name("widths.json").read_text(encoding="utf-8"))  # in 1/1000 of the font size
WIDTH: dict[str, dict[str, int]] = {style: dict(zip(KNOWN, _WIDTHS[style], strict=True)) for style in _WIDTHS}
UNKNOWN = 1000  # a character of another script: at most about as wide as it is high
SMALLEST = 0.72  # text is shrunk to this share of its size before it is cut

STYLE = (
    f"text{{font-family:'{FONT}',Georgia,'DejaVu Serif',serif}}"
    ".bold{font-weight:600}.italic{font-style:italic}.middle{text-anchor:middle}.end{text-anchor:end}"
)


class Pane(NamedTuple):
    """A part of the picture and the box it keeps to. Parts are turned into pixels one by one, and kept."""

    left: float
    top: float
    right: float
    bottom: float
    content: str


def printable(words: str) -> str:
    """Words from outside without the characters that would break a picture or a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in words)


def measure(words: str, size: float, style: str = "regular") -> float:
    """How wide words are; for characters the font's table does not have, at most how wide."""
    widths = WIDTH[style]
    return sum([widths.get(letter, UNKNOWN) for letter in words]) * size / 1000


def fit(words: str, size: float, style: str, room: float) -> tuple[str, float]:
    """The words and the size at which they fit the room: first smaller letters, then fewer."""
    width = measure(words, size, style)
    if width <= room:
        return words, size
    size *= max(SMALLEST, room / width)
    while words and measure(words, size, style) > room + 0.01:
        words = words.rstrip("…")[:-1] + "…" if len(words) > 1 else ""
    return words, size


@lru_cache(maxsize=10_000)
def text(
    x: float, y: float, words: str, size: float, room: float, style: str = "regular", anchor: str = "start",
    ink: str = INK,
) -> str:  # fmt: skip
    """Words on one line that starts, has its middle or ends at x, and is nowhere wider than the room."""
    words, size = fit(words, size, style, room)
    width = measure(words, size, style)
    known = WIDTH[style].keys() >= set(words)
    length = f' textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"' if known and width else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.3g}" class="{style} {anchor}" fill="{ink}"{length}>'
        f"{escape(words, quote=False)}</text>"
    )


def lines(words: str, size: float, room: float, style: str = "regular") -> list[str]:
    """Words broken into lines that fit the room."""
    broken = [""]
    for word in words.split():
        longer = f"{broken[-1]} {word}".lstrip()
        if measure(longer, size, style) <= room or not broken[-1]:
            broken[-1] = longer
        else:
            broken.append(word)
    return broken


def box(
    x: float, y: float, width: float, height: float, fill: str, edge: str = "none", corner: float = 0,
    line: float = 1, more: str = "",
) -> str:  # fmt: skip
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{corner:g}" fill="{fill}" '
        f'stroke="{edge}" stroke-width="{line:g}"{more}/>'
    )


def sheet(
    x: float, y: float, width: float, height: float, fill: str, edge: str, corner: float, line: float = 1.2
) -> str:
    """A box that lies on something and throws a shadow."""
    shadow = box(x + 1, y + 2.5, width, height, INK, corner=corner, more=' fill-opacity=".22"')
    return shadow + box(x, y, width, height, fill, edge, corner, line)


def disc(x: float, y: float, radius: float, fill: str, edge: str = "none", line: float = 1, more: str = "") -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{fill}" stroke="{edge}" '
        f'stroke-width="{line:g}"{more}/>'
    )


def stroke(path: str, ink: str, line: float = 1, more: str = "") -> str:
    return f'<path d="{path}" fill="none" stroke="{ink}" stroke-width="{line:g}"{more}/>'


def use(symbol: str, x: float, y: float, scale: float = 1) -> str:
    """One of the drawn symbols, its origin at the point."""
    return f'<use href="#{symbol}" transform="translate({x:.1f} {y:.1f}) scale({scale:.3g})"/>'


def part(name: str, content: str) -> str:
    """Something that a player can mean, with its name: `card 17`, `port 0`, `trader red 2`. It looks as it did."""
    return f'<g data-part="{name}">{content}</g>' if content else ""


def group(x: float, y: float, scale: float, content: str) -> str:
    return f'<g transform="translate({x:.1f} {y:.1f}) scale({scale:.4g})">{content}</g>'
