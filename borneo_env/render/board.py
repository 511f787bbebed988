"""What lies on the chart: the ladders of the companies, the open ports, the contracts and the piles."""

from __future__ import annotations

from borneo_env.cards import COMPANIES, CONTRACT_KINDS, SPICES, Port
from borneo_env.engine.state import AMOUNT, BOARD_SLOTS, OF_ONE_SPICE, OPEN_PORTS, slots_of
from borneo_env.render.cards import HEIGHT as CARD_HEIGHT
from borneo_env.render.cards import WIDTH as CARD_WIDTH
from borneo_env.render.cards import pile, spread, stacked
from borneo_env.render.pen import INK, TIMES, Pane, box, disc, group, part, sheet, stroke, text, use
from borneo_env.render.scene import Scene
from borneo_env.render.symbols import (
    BLOOD,
    CARD,
    COMPANY_COLOURS,
    COMPANY_TINTS,
    FAINT,
    GLOW,
    GOLD,
    PAPER,
    PAPER_EDGE,
    PAPER_SPENT,
    PLAYER_COLOURS,
    PLAYER_INKS,
    SPICE_SYMBOLS,
    SPICE_TINTS,
    WAX,
    WHITE,
)

TOP, BOTTOM = 80.0, 478.0
LADDERS_LEFT, COLUMN, LADDER_HEAD = 56.0, 64.0, 62.0
PORTS_LEFT, PORT_WIDTH, PORT_STEP = 330.0, 196.0, 206.0
PORT_CARD = 112.0  # its height
QUAY, QUAY_INDENT = TOP + PORT_CARD + 10, 64.0  # where the cargo cards of a port begin
SUPPLY_LEFT, SUPPLY_RIGHT = 958.0, 1240.0
PILES = 354.0
SPICE_STEP = 26.0
NO_PILE = box(-22, 0, 44, 58, "none", PAPER_EDGE, 4, 1, ' stroke-dasharray="4 3"')


def board(scene: Scene) -> list[Pane]:
    lefts = [PORTS_LEFT + place * PORT_STEP for place in range(OPEN_PORTS)]
    contracts = "".join(_contract(scene, kind, TOP + 50 * kind) for kind in range(len(CONTRACT_KINDS)))
    return [
        Pane(LADDERS_LEFT - 25, TOP - 4, PORTS_LEFT - 5, BOTTOM + 6, _ladders(scene)),
        *(
            Pane(x - 5, TOP - 4, x + PORT_STEP - 5, BOTTOM + 6, part(f"port {i}", _port(scene, i, x)))
            for i, x in enumerate(lefts)
        ),
        Pane(SUPPLY_LEFT - 4, TOP - 4, SUPPLY_RIGHT + 6, PILES - 20, contracts),
        Pane(SUPPLY_LEFT - 4, PILES - 20, SUPPLY_RIGHT + 6, BOTTOM + 6, _piles(scene)),
    ]


def trader(x: float, y: float, radius: float, player: int) -> str:
    """A trader: a disc in the player's colour with the player's number."""
    number = text(x, y + radius * 0.42, str(player), radius * 1.25, 2 * radius, "bold", "middle", PLAYER_INKS[player])
    shadow = disc(x, y + radius * 0.1, radius, INK, more=' fill-opacity=".35"')
    return shadow + disc(x, y, radius, PLAYER_COLOURS[player], INK) + number


# ---------------------------------------------------------------- ladders


def _ladders(scene: Scene) -> str:
    """The four ladders; without a limit (R0.7) they are drawn one slot longer than the longest is."""
    slots = min(slots_of(scene.ruleset), max(BOARD_SLOTS, 1 + max(scene.g.height)))
    step = min(64.0, (BOTTOM - TOP - LADDER_HEAD - 8) / slots)
    ranks = [TOP + LADDER_HEAD + (rank + 0.5) * step for rank in range(slots)]
    numbers = (text(LADDERS_LEFT - 5, y + 4, str(i), 13, 16, "italic", "end") for i, y in enumerate(ranks, start=1))
    return "".join(numbers) + "".join(_ladder(scene, company, ranks, step) for company in range(len(COMPANIES)))


def _ladder(scene: Scene, company: int, ranks: list[float], step: float) -> str:
    left, radius, colour = LADDERS_LEFT + company * COLUMN, min(21.0, 0.41 * step), COMPANY_COLOURS[company]
    middle = left + COLUMN / 2
    drawn = [
        sheet(left + 3, TOP, COLUMN - 6, LADDER_HEAD + len(ranks) * step, COMPANY_TINTS[company], colour, 8, 1.4),
        use(COMPANIES[company], middle - 17, TOP + 8, 1.6),
        text(middle, TOP + 53, COMPANIES[company], 14, COLUMN - 12, "bold", "middle"),
    ]
    for rank, y in enumerate(ranks):
        player = scene.g.ladder[company][rank]
        if player < 0:
            drawn.append(disc(middle, y, radius * 0.85, "none", colour, more=' stroke-dasharray="3 3"'))
        else:
            drawn_trader = halo(scene.role(company, rank), middle, y, radius) + trader(middle, y, radius, player)
            drawn.append(part(f"trader {COMPANIES[company]} {rank + 1}", drawn_trader))
    return part(f"company {COMPANIES[company]}", "".join(drawn))


def halo(role: str, x: float, y: float, radius: float) -> str:
    """A ring around a trader who fights or chooses."""
    edges = {"attacks": BLOOD, "defends": INK, "chooses": GOLD}
    return disc(x, y, radius + min(4.0, radius * 0.2), GLOW, edges[role], 2.5) if role else ""


# ---------------------------------------------------------------- ports


def _port(scene: Scene, place: int, left: float) -> str:
    port = scene.port(place)
    cards = [(card, scene.card(card)) for card in scene.cards_at(place)]
    if port is None:
        ground = _sharing_sheet(scene, left, BOTTOM - TOP if cards else 46)
        return ground + spread(cards, left + 8, TOP + 44, PORT_WIDTH - 16, BOTTOM - TOP - 52, 1)
    if not cards:
        return _port_card(scene, place, port, left) + _empty_quay(left)
    return _port_card(scene, place, port, left) + stacked(cards, left + QUAY_INDENT, QUAY, BOTTOM - QUAY - 4, 1.3)


def _sharing_sheet(scene: Scene, left: float, height: float) -> str:
    """The place of a port whose cards are being shared out; after the last port it stays closed (R8.3)."""
    words = scene.distribution or "no port left"
    edge, line = (GOLD, 3.0) if scene.distribution else (PAPER_EDGE, 1.2)
    ground = sheet(left, TOP, PORT_WIDTH, height, PAPER, edge, 9, line)
    return ground + text(left + PORT_WIDTH / 2, TOP + 29, words, 18, PORT_WIDTH - 20, "bold", "middle")


def _empty_quay(left: float) -> str:
    dashes = ' fill-opacity=".35" stroke-dasharray="5 4"'
    return box(left + QUAY_INDENT, QUAY, 1.3 * CARD_WIDTH, 1.3 * CARD_HEIGHT, CARD, PAPER_EDGE, 9, 1.2, dashes)


def _port_card(scene: Scene, place: int, port: Port, left: float) -> str:
    tint, right = SPICE_TINTS[SPICE_SYMBOLS.index(port.spice)], left + PORT_WIDTH
    return (
        sheet(left, TOP, PORT_WIDTH, PORT_CARD, CARD, PAPER_EDGE, 9, 1.4)
        + box(left, TOP, PORT_WIDTH, 38, tint, PAPER_EDGE, 9, 1.4)
        + disc(left + 22, TOP + 19, 14.5, CARD, PAPER_EDGE)
        + use("anchor", left + 22, TOP + 18, 0.85)
        + text(left + 44, TOP + 26, port.name, 21, PORT_WIDTH - 44 - 44, "bold")
        + disc(right - 22, TOP + 19, 16.5, CARD, PAPER_EDGE)
        + use(port.spice, right - 22, TOP + 19, 1.15)
        + text(left + 12, TOP + 57, f"port {place}", 13.5, 40, "italic", ink=FAINT)
        + cargo_limit(right - 10, TOP + 57, scene.g.laid[place], port.limit)
        + "".join(
            flags_shown(company, shown, port.monopoly, left + 10 + 92 * (company % 2), TOP + 67 + 21 * (company // 2))
            for company, shown in enumerate(scene.g.shown[place])
        )
    )


def cargo_limit(right: float, y: float, laid: int, limit: int) -> str:
    """How many cargo cards of how many the port holds: "cargo 3/4", and as crates where there is room."""
    words = text(right, y, f"cargo {laid}/{limit}", 13.5, 66, "bold", "end")
    if limit > 6:
        return words
    first = right - 68 - 9 * limit
    return words + "".join(
        box(first + 9 * i, y - 8.5, 7, 8, GOLD if i < laid else "none", INK, 1, 0.8) for i in range(limit)
    )


def flags_shown(company: int, shown: int, monopoly: int, x: float, y: float) -> str:
    """How near a company is to the monopoly: a bar, and "4/6"."""
    filled = 36 * min(1.0, shown / monopoly)
    style, ink = ("bold", INK) if shown else ("regular", FAINT)
    return (
        use(COMPANIES[company], x, y, 0.85)
        + box(x + 21, y + 2, 36, 9, "#e4d8bd", corner=2)
        + box(x + 21, y + 2, filled, 9, COMPANY_COLOURS[company], corner=2)
        + box(x + 21, y + 2, 36, 9, "none", INK, 2, 0.7)
        + text(x + 61, y + 11, f"{shown}/{monopoly}", 12.5, 26, style, ink=ink)
    )


# ---------------------------------------------------------------- contracts and piles


def _contract(scene: Scene, kind: int, top: float) -> str:
    """A kind of contract: its points, what it asks for, and how many are left."""
    width, supply = SUPPLY_RIGHT - SUPPLY_LEFT, scene.g.supply[kind]
    edge, line = (GOLD, 3.0) if scene.g.contract == kind else (PAPER_EDGE, 1.2)
    ink = INK if supply else FAINT
    return part(
        f"contract {CONTRACT_KINDS[kind]}",
        sheet(SUPPLY_LEFT, top, width, 44, CARD if supply else PAPER_SPENT, edge, 7, line)
        + seal(SUPPLY_LEFT + 26, top + 22, 17, scene.ruleset.tables.contracts[kind].points)
        + text(SUPPLY_LEFT + 52, top + 28, contract_words(kind), 17, 80, "bold", ink=ink)
        + _spices_asked(kind, SUPPLY_LEFT + 143, top + 22)
        + text(SUPPLY_RIGHT - 12, top + 28, f"{TIMES} {supply}", 17, 46, "bold", "end", ink),
    )


def seal(x: float, y: float, radius: float, points: int) -> str:
    """The points of a contract on its wax seal."""
    wax = disc(x, y, radius, WAX, "#6d1b15", radius * 0.09) + disc(x, y, radius * 0.8, "none", "#c9675b", radius * 0.05)
    return wax + text(x, y + radius * 0.36, str(points), radius * 1.08, radius * 1.5, "bold", "middle", WHITE)


def contract_words(kind: int) -> str:
    """A kind of contract in words: "2 of each", "4 of one"."""
    return f"{AMOUNT[kind]} of {'one' if OF_ONE_SPICE[kind] else 'each'}"


def _spices_asked(kind: int, x: float, y: float) -> str:
    """The four spices, with strokes between them where one is asked for."""
    spices = "".join(use(spice, x + SPICE_STEP * i, y, 0.8) for i, spice in enumerate(SPICES))
    if not OF_ONE_SPICE[kind]:
        return spices
    return spices + stroke("".join(f"M{x + SPICE_STEP * i - 15:.0f} {y + 6:.0f}l4-12" for i in (1, 2, 3)), FAINT)


def _piles(scene: Scene) -> str:
    g = scene.g
    piles = [
        ("draw pile", str(g.draw_left), pile("back", g.draw_left, -22, 0, 0.52)),
        ("discards", str(scene.discards), _discards(scene.discards)),
        ("ports left", str(g.ports_left), pile("port-back", g.ports_left, -29, 12, 0.52)),
    ]
    if scene.ruleset.blackbeard:
        holder = "at sea" if g.pirates < 0 else scene.names[g.pirates]
        piles.append(("pirate ship", holder, _pirate_ship(g.pirates)))
    step = (SUPPLY_RIGHT - SUPPLY_LEFT) / len(piles)
    drawn = []
    for i, (name, count, drawing) in enumerate(piles):
        x = SUPPLY_LEFT + (i + 0.5) * step
        drawn.append(group(x, PILES, 1, drawing or NO_PILE))
        drawn.append(text(x, PILES + 84, count, 19, step - 6, "bold", "middle"))
        drawn.append(text(x, PILES + 102, name, 14, step - 6, "italic", "middle"))
    return "".join(drawn)


def _discards(count: int) -> str:
    """The discard pile lies open: sheets without backs."""
    sheets = (
        box(-22, 0, 44, 58, CARD, PAPER_EDGE, 4, 1, f' transform="rotate({tilt} 0 29)"') for tilt in (-6, 5, -1)[:count]
    )
    return "".join(sheets)


def _pirate_ship(holder: int) -> str:
    return use("pirates", 0, 32, 1.9) + (trader(18, 50, 10, holder) if holder >= 0 else "")
