"""The strip below the chart: who decides what, the contest, payment or distribution under way, and the last move."""

from __future__ import annotations

from borneo_env.cards import COMPANIES, SPICES
from borneo_env.engine.state import LAST_CONTRACT, OVER, PAY, PLACE, TAKE
from borneo_env.render.board import contract_words, seal, trader
from borneo_env.render.cards import spread
from borneo_env.render.pen import INK, TIMES, Pane, box, disc, lines, sheet, stroke, text, use
from borneo_env.render.scene import STEPS, Scene, Side, count, ordinal
from borneo_env.render.symbols import CARD, FAINT, GLOW, GOLD, PAPER, PAPER_EDGE

LEFT, RIGHT, TOP, BOTTOM = 20.0, 1260.0, 504.0, 620.0
DETAILS = 400.0  # where the right part begins
MIDDLE = TOP + 44
STEP_WORDS = {"contract": "at most one", "traders": "if you like", "cargo": "one card", "drawing": "two cards"}


def strip(scene: Scene) -> Pane:
    details = {PLACE: _placing, PAY: _payment, TAKE: _distribution, LAST_CONTRACT: _last_contracts, OVER: _result}
    detail = _contest if scene.contest else details.get(scene.g.phase, _course)
    content = (
        sheet(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP, PAPER, PAPER_EDGE, 8)
        + stroke(f"M{DETAILS - 10} {TOP + 10}V{TOP + 80}M{LEFT + 14} {TOP + 88}H{RIGHT - 14}", PAPER_EDGE)
        + _decision(scene)
        + detail(scene)
        + _last_move(scene.last_move)
    )
    return Pane(LEFT - 2, TOP - 2, RIGHT + 4, BOTTOM + 4, content)


def _last_move(words: str) -> str:
    if not words:
        return ""
    name = text(LEFT + 16, TOP + 107, "last move", 14, 70, "italic", ink=FAINT)
    return name + text(LEFT + 84, TOP + 107, words, 16, RIGHT - LEFT - 100)


def _decision(scene: Scene) -> str:
    """Who decides, and what; at the end, who wins."""
    deciding = trader(LEFT + 36, MIDDLE, 21, scene.g.player) if scene.g.player >= 0 else ""
    left = LEFT + 70 if deciding else LEFT + 16
    room = DETAILS - 22 - left
    question = lines(scene.question, 15, room)[:2]
    top = MIDDLE + 11 - 9 * len(question)
    asked = (text(left, top + 20 + 18 * i, line, 15, room) for i, line in enumerate(question))
    return (
        deciding
        + text(left, top - 20, scene.whose_turn, 13.5, room, "italic", ink=FAINT)
        + text(left, top, scene.headline, 21, room, "bold")
        + "".join(asked)
    )


def _course(scene: Scene) -> str:
    """The phases of a turn (R2) as a course, and the ship where it is."""
    first, leg, y = DETAILS + 110, 205.0, TOP + 40
    drawn = [stroke(f"M{first} {y}H{first + 3 * leg}", FAINT, 2, ' stroke-dasharray="2 7" stroke-linecap="round"')]
    for i, step in enumerate(STEPS):
        x, now = first + i * leg, step == scene.step
        drawn.append(use("ship", x, y - 6, 1.5) if now else disc(x, y, 5, CARD, FAINT, 1.5))
        drawn.append(text(x, y + 25, step, 16, 150, "bold" if now else "regular", "middle", INK if now else FAINT))
        drawn.append(text(x, y + 41, STEP_WORDS[step], 13, 150, "italic", "middle", FAINT))
    return "".join(drawn)


def _placing(scene: Scene) -> str:
    """The traders not yet placed."""
    on_ladders = [player for ladder in scene.g.ladder for player in ladder]
    drawn, x = [text(DETAILS + 14, MIDDLE + 6, "Still to be placed:", 17, 150)], DETAILS + 200
    for player in scene.players:
        for _ in range(scene.ruleset.traders - on_ladders.count(player)):
            drawn.append(trader(x, MIDDLE, 16, player))
            x += 38
        x += 20
    return "".join(drawn)


def _payment(scene: Scene) -> str:
    """The contract being paid and the spices still owed for it."""
    kind, x = scene.g.contract, DETAILS + 330
    drawn = [
        seal(DETAILS + 40, MIDDLE, 24, scene.ruleset.tables.contracts[kind].points),
        text(DETAILS + 80, MIDDLE + 7, f"{contract_words(kind)}, still owed:", 19, 220, "bold"),
    ]
    for spice, amount in enumerate(scene.g.owed):
        if amount:
            drawn.append(box(x, MIDDLE - 26, 104, 52, CARD, PAPER_EDGE, 8))
            drawn.append(text(x + 32, MIDDLE + 8, f"{amount} {TIMES}", 22, 44, "bold", "middle"))
            drawn.append(use(SPICES[spice], x + 74, MIDDLE, 1.6))
            x += 118
    return "".join(drawn)


def _contest(scene: Scene) -> str:
    """Attack on the left, defence on the right, their strengths in between (R4.6)."""
    centre, half = (DETAILS + RIGHT) / 2, 365.0
    attacker, defender = scene.sides
    attack, defence = scene.g.strength
    bonus = f" + {scene.bonus}" if scene.bonus else ""
    return (
        _side(scene, attacker, DETAILS, half)
        + _side(scene, defender, RIGHT - half - 6, half)
        + use(COMPANIES[scene.g.company], centre - 16, TOP + 9, 1.5)
        + text(centre, TOP + 62, f"{attack} : {defence}{bonus}", 25, 108, "bold", "middle")
        + text(centre, TOP + 79, "flags + between" if bonus else "flags", 13, 108, "italic", "middle", FAINT)
    )


def _side(scene: Scene, side: Side, left: float, width: float) -> str:
    cards, x, room = [(card, scene.card(card)) for card in side.cards], left + 136, width - 136
    if cards:
        played = spread(cards, x, TOP + 6, room, 76, 0.67)
    else:
        words = count(side.played, "card") if side.played else "no cards"
        played = text(x + room / 2, TOP + 49, words, 14, room, "italic", "middle", FAINT)
    return (
        trader(left + 22, TOP + 34, 16, side.player)
        + text(left + 46, TOP + 30, scene.names[side.player], 16, 84, "bold")
        + text(left + 46, TOP + 48, side.deed, 14, 84, "italic")
        + text(left + 46, TOP + 66, side.origin, 14, 84, "italic", ink=FAINT)
        + played
    )


def _distribution(scene: Scene) -> str:
    """The traders who will choose, in their order, each with its company and rank."""
    coming, first = scene.traders_to_come, DETAILS + 220
    step = min(62.0, (RIGHT - first - 10) / len(coming))
    size = step / 62
    drawn = [
        text(DETAILS + 14, MIDDLE - 3, f"{count(len(coming), 'card')} left,", 17, 190, "bold"),
        text(DETAILS + 14, MIDDLE + 17, "chosen in this order:", 16, 190),
    ]
    for i, (company, rank, player) in enumerate(coming):
        x = first + i * step
        drawn.append(disc(x, TOP + 30, 22 * size, GLOW, GOLD, 2) if i == 0 else "")
        drawn.append(trader(x, TOP + 30, 18 * size, player))
        drawn.append(use(COMPANIES[company], x - 20 * size, TOP + 61, size))
        drawn.append(text(x + 6 * size, TOP + 61 + 13 * size, str(rank + 1), 15 * size, 16, "bold"))
    return "".join(drawn)


def _last_contracts(scene: Scene) -> str:
    """The players whose last contract is still to come (R8.5)."""
    drawn = [text(DETAILS + 14, MIDDLE + 6, "Last contracts to come:", 17, 190)]
    for i, player in enumerate(scene.last_contracts_to_come):
        x = DETAILS + 240 + 118 * i
        drawn.append(trader(x, MIDDLE, 17, player) + text(x + 24, MIDDLE + 6, scene.names[player], 16, 70))
    return "".join(drawn)


def _result(scene: Scene) -> str:
    """The players in the order of their places (R8.7)."""
    order = sorted(scene.players, key=scene.places.__getitem__)
    step = (RIGHT - DETAILS) / len(order)
    drawn = []
    for i, player in enumerate(order):
        x = DETAILS + i * step
        drawn.append(text(x + 6, MIDDLE + 7, ordinal(scene.places[player]), 18, 30, "bold", ink=FAINT))
        drawn.append(trader(x + 60, MIDDLE, 18, player))
        drawn.append(text(x + 85, MIDDLE - 3, scene.names[player], 16, step - 93, "bold"))
        drawn.append(text(x + 85, MIDDLE + 17, count(scene.scores[player], "point"), 15, step - 93))
    return "".join(drawn)
