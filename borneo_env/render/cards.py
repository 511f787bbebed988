"""Cards: the cargo cards as they are printed (R0.8), spread out, stacked at a port or face down."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from borneo_env.cards import SPICES, Cargo
from borneo_env.render.pen import INK, box, disc, group, part, sheet, text, use
from borneo_env.render.symbols import CARD, FAINT, GOLD, PAPER_EDGE, SPICE_TINTS

WIDTH, HEIGHT = 84, 112
TOP_ROW = 29  # how much of a covered card stays visible (R5.1)
GAP = 6

Numbered = tuple[int, Cargo]  # a cargo card with its id


@cache
def face(number: int, card: Cargo) -> str:
    """The whole front of a card, WIDTH by HEIGHT."""
    bottom_row = use(card.flags[3], 31, 31)
    return _head(card) + bottom_row + _spice(card) + text(80, 49, str(number), 15, 26, "regular", "end", FAINT)


@cache
def _head(card: Cargo) -> str:
    """The paper and the top row of flags: all that is seen of a covered card."""
    flags = "".join(use(flag, 6 + 25 * i, 7) for i, flag in enumerate(card.flags[:3]))
    return sheet(0, 0, WIDTH, HEIGHT, CARD, PAPER_EDGE, 7) + flags


def _spice(card: Cargo) -> str:
    ground = box(5, 56, WIDTH - 10, HEIGHT - 61, SPICE_TINTS[SPICES.index(card.spice)], corner=4)
    if card.count == 1:
        return ground + use(card.spice, WIDTH / 2, 81, 1.7)
    return ground + use(card.spice, 26, 83, 1.4) + use(card.spice, 58, 83, 1.4) + double_mark(WIDTH / 2, 67, 8.5)


def double_mark(x: float, y: float, radius: float) -> str:
    """The "2" of a double."""
    number = text(x, y + radius * 0.47, "2", radius * 1.45, 2 * radius, "bold", "middle")
    return disc(x, y, radius, GOLD, INK, 0.8) + number


def spread(cards: Sequence[Numbered], x: float, y: float, width: float, height: float, largest: float) -> str:
    """Cards side by side in the middle of a box, in as many rows as let them be largest."""
    if not cards:
        return ""
    rows, scale = _rows(len(cards), width, height, largest)
    columns = -(-len(cards) // rows)
    across, down = (WIDTH + GAP) * scale, (HEIGHT + GAP) * scale
    y += (height - rows * down + GAP * scale) / 2
    drawn = []
    for row in range(rows):
        cards_of_row = cards[row * columns : (row + 1) * columns]
        first = x + (width - len(cards_of_row) * across + GAP * scale) / 2
        drawn += [_named(card, first + i * across, y + row * down, scale) for i, card in enumerate(cards_of_row)]
    return "".join(drawn)


def _named(card: Numbered, x: float, y: float, scale: float) -> str:
    return part(f"card {card[0]}", group(x, y, scale, face(*card)))


def _rows(count: int, width: float, height: float, largest: float) -> tuple[int, float]:
    """In how many rows, and at which scale, cards fit a box best."""
    fitting = []
    for rows in range(1, count + 1):
        columns = -(-count // rows)
        across, down = columns * (WIDTH + GAP) - GAP, rows * (HEIGHT + GAP) - GAP
        fitting.append((min(largest, width / across, height / down), -rows))
    scale, rows = max(fitting)
    return -rows, scale


def stacked(cards: Sequence[Numbered], x: float, y: float, height: float, largest: float) -> str:
    """Cards at a port, each over the one before it (R5.1); beside a covered card stands what it hides."""
    scale = min(largest, height / (HEIGHT + TOP_ROW * (len(cards) - 1)))
    strip = TOP_ROW * scale
    *covered, last = cards
    drawn = [
        tag(x - 8, y + i * strip, strip, *card) + group(x, y + i * strip, scale, _head(card[1]))
        for i, card in enumerate(covered)
    ]
    return "".join(drawn) + group(x, y + len(covered) * strip, scale, face(*last))


def tag(right: float, y: float, height: float, number: int, card: Cargo) -> str:
    """The number and the spice of a covered card, on a slip that is tucked under it."""
    size, middle = min(1.0, height / 34), y + height / 2
    double = double_mark(right - 3 * size, middle - 6 * size, 5.5 * size) if card.count == 2 else ""
    return (
        box(right - 46 * size, middle - 12 * size, 60 * size, 24 * size, CARD, PAPER_EDGE, 6 * size)
        + text(right - 24 * size, middle + 4.5 * size, str(number), 13.5 * size, 20, "regular", "end", INK)
        + use(card.spice, right - 11 * size, middle, 0.82 * size)
        + double
    )


def backs(count: int, x: float, y: float, width: float, scale: float) -> str:
    """A hand face down, fanned out in the middle of the width."""
    step = min(0.6 * WIDTH * scale, (width - WIDTH * scale) / max(1, count - 1))
    first = x + (width - WIDTH * scale - (count - 1) * step) / 2
    return "".join(use("back", first + i * step, y, scale) for i in range(count))


def pile(symbol: str, count: int, x: float, y: float, scale: float) -> str:
    """A face-down pile whose edge shows how high it is."""
    layers = min(5, (count + 3) // 4)
    return "".join(use(symbol, x + 1.8 * i, y - 1.8 * i, scale) for i in range(layers))
