"""The players' panels along the lower edge: name and points, hand, warehouse, fulfilled contracts."""

from __future__ import annotations

from borneo_env.cards import CONTRACT_KINDS
from borneo_env.engine.state import DOUBLE, OVER, PORT, SINGLE
from borneo_env.render.board import seal, trader
from borneo_env.render.cards import backs, spread
from borneo_env.render.pen import INK, TIMES, box, stroke, text, use
from borneo_env.render.scene import Scene, count
from borneo_env.render.symbols import (
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
HAND_TOP, HAND_HEIGHT = TOP + 60, 160.0
WAREHOUSE_TOP, ROW = TOP + 230, 20.0
SHELF, WORTH = 28.0, 24.0  # where the crates begin, and how much room their worth takes at the right
SEALS = TOP + 351
PLACES = ("", "first", "second", "third", "fourth", "fifth")


def panels(scene: Scene) -> str:
    width = (RIGHT - LEFT + GAP) / len(scene.players) - GAP
    return "".join(_panel(scene, player, LEFT + player * (width + GAP), width) for player in scene.players)


def _panel(scene: Scene, player: int, left: float, width: float) -> str:
    marked = scene.g.player == player or (scene.g.phase == OVER and player in scene.winners)
    edge, line = (GOLD, 5.0) if marked else (PAPER_EDGE, 1.2)
    inner = left + 12, width - 24
    lines = "".join(f"M{inner[0]:.1f} {y}h{inner[1]:.1f}" for y in (WAREHOUSE_TOP - 5, SEALS - 17))
    return (
        box(left, TOP, width, BOTTOM - TOP, PAPER, edge, 8, line)
        + box(left + 8, TOP + 7, width - 16, 6, PLAYER_COLOURS[player], INK, 3, 0.7)
        + _name(scene, player, left, width)
        + _hand(scene, player, *inner)
        + stroke(lines, PAPER_EDGE)
        + "".join(_shelf(scene.g.stock[player][spice], spice, *inner) for spice in range(len(SPICE_SYMBOLS)))
        + _fulfilled(scene, player, *inner)
    )


def _name(scene: Scene, player: int, left: float, width: float) -> str:
    ship = scene.g.pirates == player
    room = width - 46 - 56 - (36 if ship else 0)
    return (
        trader(left + 26, TOP + 36, 14, player)
        + text(left + 46, TOP + 35, scene.names[player], 18, room, "bold")
        + text(left + 46, TOP + 51, _status(scene, player), 13.5, room, "italic", ink=FAINT)
        + (use("pirates", left + width - 70, TOP + 38, 1.1) if ship else "")
        + text(left + width - 12, TOP + 39, str(scene.scores[player]), 27, 40, "bold", "end")
        + text(left + width - 12, TOP + 54, "points", 12.5, 40, "italic", "end", FAINT)
    )


def _status(scene: Scene, player: int) -> str:
    g = scene.g
    if g.phase == OVER:
        return f"{PLACES[scene.places[player]]} place"
    turn = scene.step is not None and g.turn == player
    return " · ".join(["decides"] * (g.player == player) + ["has the turn"] * turn)


def _hand(scene: Scene, player: int, left: float, width: float) -> str:
    """The hand: its cards if the viewer sees them, else their backs."""
    size, hand = scene.g.hand_size[player], scene.hands[player]
    if scene.g.phase == OVER:
        place, ink = scene.places[player], GOLD if player in scene.winners else PAPER_EDGE
        return text(left + width / 2, HAND_TOP + 104, f"{place}.", 72, width, "bold", "middle", ink)
    if not size:
        return text(left + width / 2, HAND_TOP + 84, "no cards in hand", 14, width, "italic", "middle", FAINT)
    if hand is not None:
        return spread([(card, scene.card(card)) for card in hand], left, HAND_TOP, width, HAND_HEIGHT, 1.0)
    words = f"{count(size, 'card')} in hand"
    face_down = backs(size, left, HAND_TOP + 24, width, 0.8)
    return face_down + text(left + width / 2, HAND_TOP + 140, words, 14, width, "italic", "middle", FAINT)


def _shelf(stock: list[int], spice: int, left: float, width: float) -> str:
    """What a warehouse has of one spice (a chest is the fifth), as crates; at the end what it is worth in payments."""
    top = WAREHOUSE_TOP + spice * ROW
    sizes = [DOUBLE] * stock[DOUBLE] + [SINGLE] * stock[SINGLE] + [PORT] * stock[PORT]
    worth = len(sizes) + stock[DOUBLE]
    unit = min(17.0, (width - SHELF - WORTH) / max(1, worth))
    board = f"M{left + SHELF:.1f} {top + 17:.1f}H{left + width - WORTH:.1f}"
    drawn = [use(SPICE_SYMBOLS[spice], left + 11, top + 9, 0.82), stroke(board, PAPER_EDGE, 0.7)]
    x = left + SHELF
    for size in sizes:
        across = unit * (2 if size == DOUBLE else 1)
        drawn.append(_crate(spice, size, x, top + 2.5, 0.92 * across))
        x += across
    drawn.append(text(left + width, top + 15, str(worth), 15, WORTH - 2, "bold", "end") if worth else "")
    return "".join(drawn)


def _crate(spice: int, size: int, x: float, y: float, width: float) -> str:
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
        return text(left + width / 2, SEALS + 4, "no contracts", 14, width, "italic", "middle", FAINT)
    step = width / len(CONTRACT_KINDS)
    radius = min(13.0, step * 0.27)
    drawn = []
    for i, (kind, number) in enumerate(counts):
        x = left + radius + i * step
        drawn.append(seal(x, SEALS, radius, scene.ruleset.tables.contracts[kind].points))
        if number > 1:
            room = step - 2 * radius - 4
            drawn.append(text(x + radius + 3, SEALS + 5, f"{TIMES}{number}", 14, room, "bold"))
    return "".join(drawn)
