"""The players' panels along the lower edge: name and points, hand, warehouse, fulfilled contracts."""

from __future__ import annotations

from borneo_env.engine.actions import SIZES
from borneo_env.engine.state import DOUBLE, OVER, PORT, SINGLE
from borneo_env.render.board import seal, trader
from borneo_env.render.cards import backs, spread
from borneo_env.render.pen import INK, TIMES, Pane, box, disc, measure, part, sheet, stroke, text, use
from borneo_env.render.scene import Scene, count, ordinal, signed
from borneo_env.render.symbols import (
    CARD,
    FAINT,
    GOLD,
    PAPER,
    PAPER_EDGE,
    PLAYER_COLOURS,
    SPICE_COLOURS,
    SPICE_SYMBOLS,
    SPICE_TINTS,
    WHITE,
)

TOP, BOTTOM = 628.0, 996.0
LEFT, RIGHT, GAP = 20.0, 1260.0, 12.0
HAND_TOP, HAND_HEIGHT = TOP + 60, 156.0
WAREHOUSE_TOP, ROW = TOP + 230, 19.0
SHELF, WORTH = 28.0, 24.0  # where the crates begin, and how much room their worth takes at the right
SEALS = TOP + 347


def panels(scene: Scene) -> list[Pane]:
    width = (RIGHT - LEFT + GAP) / len(scene.players) - GAP
    return [pane for player in scene.players for pane in _panel(scene, player, LEFT + player * (width + GAP), width)]


def _panel(scene: Scene, player: int, left: float, width: float) -> list[Pane]:
    """The panel, and the hand on it: whoever's turn it is, a hand mostly stays as it is."""
    panel, hand = _paper(scene, player, left, width), _hand(scene, player, left + 12, width - 24)
    return [
        Pane(left - GAP / 2, TOP - 4, left + width + GAP / 2, BOTTOM + 6, panel),
        Pane(left + 8, HAND_TOP - 2, left + width - 8, HAND_TOP + HAND_HEIGHT + 4, hand),
    ]


def _paper(scene: Scene, player: int, left: float, width: float) -> str:
    marked = scene.g.player == player or (scene.g.phase == OVER and player in scene.winners)
    edge, line = (GOLD, 5.0) if marked else (PAPER_EDGE, 1.2)
    inner = left + 12, width - 24
    return (
        sheet(left, TOP, width, BOTTOM - TOP, PAPER, edge, 8, line)
        + box(left + 8, TOP + 7, width - 16, 6, PLAYER_COLOURS[player], INK, 3, 0.7)
        + _name(scene, player, left, width)
        + _heading("warehouse", WAREHOUSE_TOP - 5, *inner)
        + _heading("contracts", SEALS - 17, *inner)
        + "".join(_shelf(scene, player, spice, *inner) for spice in range(len(SPICE_SYMBOLS)))
        + _fulfilled(scene, player, *inner)
    )


def _heading(words: str, y: float, left: float, width: float) -> str:
    """A word in the middle of a line across the panel."""
    middle, half = left + width / 2, measure(words, 12.5, "italic") / 2 + 8
    sides = f"M{left:.1f} {y:.1f}H{middle - half:.1f}M{middle + half:.1f} {y:.1f}H{left + width:.1f}"
    return stroke(sides, PAPER_EDGE) + text(middle, y + 4, words, 12.5, width, "italic", "middle", FAINT)


def _name(scene: Scene, player: int, left: float, width: float) -> str:
    ship = scene.g.pirates == player
    room = width - 46 - 56 - (36 if ship else 0)
    return (
        trader(left + 26, TOP + 36, 14, player)
        + text(left + 46, TOP + 35, scene.names[player], 18, room, "bold")
        + text(left + 46, TOP + 51, _status(scene, player), 13.5, room, "italic", ink=FAINT)
        + (use("pirates", left + width - 70, TOP + 38, 1.1) if ship else "")
        + text(left + width - 12, TOP + 39, signed(scene.scores[player]), 27, 40, "bold", "end")
        + text(left + width - 12, TOP + 54, "points", 12.5, 40, "italic", "end", FAINT)
    )


def _status(scene: Scene, player: int) -> str:
    g = scene.g
    if g.phase == OVER:
        return f"{ordinal(scene.places[player])} place"
    turn = scene.step is not None and g.turn == player
    return " · ".join(["decides"] * (g.player == player) + ["has the turn"] * turn)


def _hand(scene: Scene, player: int, left: float, width: float) -> str:
    """The hand: its cards if the viewer sees them, else their backs."""
    size, hand = scene.g.hand_size[player], scene.hands[player]
    if scene.g.phase == OVER:
        return _account(scene, player, left, width)
    if not size:
        return text(left + width / 2, HAND_TOP + 84, "no cards in hand", 14, width, "italic", "middle", FAINT)
    if hand is not None:
        return spread([(card, scene.card(card)) for card in hand], left, HAND_TOP, width, HAND_HEIGHT, 1.0)
    words = f"{count(size, 'card')} in hand"
    face_down = backs(size, left, HAND_TOP + 24, width, 0.8)
    return face_down + text(left + width / 2, HAND_TOP + 140, words, 14, width, "italic", "middle", FAINT)


def _account(scene: Scene, player: int, left: float, width: float) -> str:
    """At the end: the place, and where the points come from."""
    middle, y = left + width / 2, HAND_TOP + 33
    won = player in scene.winners
    medal = disc(middle, y, 29, GOLD if won else CARD, INK if won else PAPER_EDGE, 1.5) + disc(
        middle, y, 24.5, "none", INK if won else PAPER_EDGE, 0.8
    )
    drawn = [medal, text(middle, y + 8, ordinal(scene.places[player]), 24, 46, "bold", "middle")]
    room = min(width, 200)
    for i, (source, points) in enumerate(scene.points_for(player).items()):
        row = HAND_TOP + 89 + 20 * i
        drawn.append(text(middle - room / 2, row, source, 15, room - 50))
        drawn.append(text(middle + room / 2, row, signed(points), 15, 40, "bold", "end"))
    return "".join(drawn)


def _shelf(scene: Scene, player: int, spice: int, left: float, width: float) -> str:
    """What a warehouse has of one spice (a chest is the fifth), as crates; at the end what it is worth in payments."""
    top, name, stock = WAREHOUSE_TOP + spice * ROW, f"{player} {SPICE_SYMBOLS[spice]}", scene.g.stock[player][spice]
    sizes = [DOUBLE] * stock[DOUBLE] + [SINGLE] * stock[SINGLE] + [PORT] * stock[PORT]
    worth = len(sizes) + stock[DOUBLE]
    unit = min(17.0, (width - SHELF - WORTH) / max(1, worth))
    board = f"M{left + SHELF:.1f} {top + 17:.1f}H{left + width - WORTH:.1f}"
    drawn = [use(SPICE_SYMBOLS[spice], left + 11, top + 9, 0.82), stroke(board, PAPER_EDGE, 0.7)]
    x = left + SHELF
    for size in sizes:
        across = unit * (2 if size == DOUBLE else 1)
        drawn.append(part(f"stock {name} {SIZES[size]}", crate(spice, size, x, top + 2.5, 0.92 * across)))
        x += across
    drawn.append(text(left + width, top + 15, str(worth), 15, WORTH - 2, "bold", "end") if worth else "")
    return part(f"shelf {name}", "".join(drawn))


def crate(spice: int, size: int, x: float, y: float, width: float) -> str:
    """A thing in the warehouse: a crate, a broad crate with a 2, or a port with its anchor."""
    if size == PORT:
        anchor = use("anchor", x + width / 2, y + 6.6, 0.52) if width > 9 else ""
        return box(x, y, width, 14, SPICE_TINTS[spice], SPICE_COLOURS[spice], 7, 1.3) + anchor
    number = text(x + width / 2, y + 11.5, "2", 12.5, width, "bold", "middle", WHITE) if size == DOUBLE else ""
    return box(x, y, width, 14, SPICE_COLOURS[spice], INK, 2, 0.7) + number


def _fulfilled(scene: Scene, player: int, left: float, width: float) -> str:
    """The contracts a player has fulfilled: the seals of their kinds, and how many of each."""
    counts = [(kind, number) for kind, number in enumerate(scene.g.fulfilled[player]) if number]
    if not counts:
        return text(left + width / 2, SEALS + 7, "none yet", 14, width, "italic", "middle", FAINT)
    step = min(62.0, width / len(counts))
    radius = min(13.0, step * 0.27)
    drawn = []
    for i, (kind, number) in enumerate(counts):
        x = left + radius + i * step
        drawn.append(seal(x, SEALS + 1, radius, scene.ruleset.tables.contracts[kind].points))
        if number > 1:
            room = step - 2 * radius - 6
            drawn.append(text(x + radius + 2, SEALS + 6, f"{TIMES}{number}", 14, room, "bold"))
    return "".join(drawn)
