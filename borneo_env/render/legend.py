"""The legend below a picture: what its signs mean, for those who see the game for the first time."""

from __future__ import annotations

from typing import NamedTuple

from borneo_env.cards import CHEST, SPICES, Cargo
from borneo_env.engine.state import DOUBLE, PORT, SINGLE
from borneo_env.render.board import cargo_limit, flags_shown, halo, seal, trader
from borneo_env.render.cards import face, tag
from borneo_env.render.chart import HEIGHT as PICTURE_HEIGHT
from borneo_env.render.pen import Pane, box, group, sheet, stroke, text, use
from borneo_env.render.players import crate
from borneo_env.render.symbols import GOLD, PAPER, PAPER_EDGE

HEIGHT = 212  # how much higher a picture with a legend is
LEFT, RIGHT = 20.0, 1260.0
TOP, BOTTOM = PICTURE_HEIGHT - 4.0, PICTURE_HEIGHT + HEIGHT - 16.0
FIRST, ROW = TOP + 54, 29.0
WORDS = 15.0  # the size of the letters
PLACES = ((300, 310), (630, 206), (856, 112), (988, 238))  # of the groups: left edge and width
EXAMPLE = Cargo(flags=("red", "blue", "red", "red"), spice="cloves", count=2)

Entry = tuple[str, str]  # a sign, drawn around the origin, and what it means


class Signs(NamedTuple):
    """Signs of one kind, drawn around the origin, none of them wider than this, and what each means."""

    title: str
    width: float
    entries: list[Entry]


def signs(blackbeard: bool = False) -> list[Signs]:
    """All signs of a picture beside the cargo cards."""
    return [
        Signs("at a port", 106, _port_signs()),
        Signs("in a warehouse", 36, _warehouse_signs(blackbeard)),
        Signs("spices", 24, _spices()),
        Signs("traders and contracts", 48, _other_signs()),
    ]


def legend(blackbeard: bool = False) -> Pane:
    """The signs of a picture with their meanings, in groups side by side."""
    content = sheet(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP, PAPER, PAPER_EDGE, 8) + _card(LEFT + 16, 270)
    for group_of_signs, (left, width) in zip(signs(blackbeard), PLACES, strict=True):
        content += _group(group_of_signs, LEFT + left, width)
    return Pane(LEFT - 2, TOP - 2, RIGHT + 4, BOTTOM + 6, content)


def _card(left: float, width: float) -> str:
    """A cargo card with its parts named (R0.8)."""
    scale, top, x = 1.28, TOP + 44, left + 118
    parts = (
        (15, "three flags above,"),
        (31, "one below, which the"),
        (45, "next card covers;"),
        (59, "17 is its number"),
        (83, "its spice; 2: a double,"),
        (97, "pays as two"),
    )
    named = "".join(text(x, top + scale * y, words, WORDS, width - 118) for y, words in parts)
    return _title("a cargo card", left, width) + group(left, top, scale, face(17, EXAMPLE)) + named


def _group(kind: Signs, left: float, width: float) -> str:
    """A title, and below it one row for each sign, in the middle of a column of their own."""
    rows = "".join(
        group(left + kind.width / 2, FIRST + ROW * i, 1, sign)
        + text(left + kind.width + 9, FIRST + ROW * i + 5, meaning, WORDS, width - kind.width - 9)
        for i, (sign, meaning) in enumerate(kind.entries)
    )
    return _title(kind.title, left, width) + rows


def _title(words: str, left: float, width: float) -> str:
    line = stroke(f"M{left:.1f} {TOP + 32:.1f}H{left + width:.1f}", PAPER_EDGE)
    return text(left, TOP + 25, words, 16, width, "bold") + line


def _port_signs() -> list[Entry]:
    return [
        (use("anchor", 0, 0), "a port, its spice at the right"),
        (cargo_limit(52, 5, 3, 4), "cargo cards there, of at most"),
        (flags_shown(0, 4, 6, -43, -7), "flags, of those for a monopoly"),
        (tag(16, -12, 24, 28, EXAMPLE), "a covered card with its spice"),
    ]


def _warehouse_signs(blackbeard: bool) -> list[Entry]:
    return [
        (crate(2, SINGLE, -8, -7, 16), "a cargo card: pays one"),
        (crate(2, DOUBLE, -16, -7, 32), "a double: pays two"),
        (crate(3, PORT, -8, -7, 16), "a port: pays one"),
        (text(0, 5, "4", WORDS, 20, "bold", "middle"), "what all of a row pay"),
        *([(use("pirates", 0, 0, 0.9), "the pirate ship (R9.2)")] if blackbeard else []),
    ]


def _spices() -> list[Entry]:
    names = (*((spice, spice) for spice in SPICES), (CHEST, "any of them"))
    return [(use(symbol, 0, 0, 0.9), words) for symbol, words in names]


def _other_signs() -> list[Entry]:
    return [
        (trader(0, 0, 11, 2), "a trader of player 2"),
        (_ringed("attacks", -14) + _ringed("defends", 14), "attacks and defends"),
        (_ringed("chooses", 0), "chooses a cargo card"),
        (seal(0, 0, 12, 15), "a contract and its points"),
        (box(-17, -9, 34, 18, PAPER, GOLD, 4, 3), "this player decides"),
    ]


def _ringed(role: str, x: float) -> str:
    return halo(role, x, 0, 9) + trader(x, 0, 9, 2)
