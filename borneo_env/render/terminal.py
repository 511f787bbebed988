"""ansi: a position as a table for the terminal, 80 columns wide, in plain ANSI escapes or without any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap

from borneo_env.cards import CHEST, COMPANIES, CONTRACT_KINDS, SPICES
from borneo_env.engine.state import BOARD_SLOTS, LAST_CONTRACT, N_SPICES, OPEN_PORTS, OVER, PAY, PORT, TAKE
from borneo_env.render.pen import TIMES
from borneo_env.render.scene import Scene, count, ordinal, signed
from borneo_env.render.text import (
    BOLD,
    CARD,
    COMPANY_CODES,
    ESCAPE,
    FAINT,
    WIDTH,
    flags,
    laid_card,
    length,
    packed,
    padded,
    paint,
    short_card,
    trader,
)

NAME = 16  # how much of the name of a port is shown,
PLAYER = 10  # and of a player
LAID = 9  # columns of a card at a port
PORTS_WIDTH = 58  # what the longest ladder leaves to the ports
STOCKS = (7, 9, 7, 7)  # the columns of the warehouses


def table(scene: Scene, colour: bool) -> str:
    """A scene as text."""
    last_move = f"last move: {scene.last_move}" if scene.last_move else ""
    drawn = "\n".join(
        [
            _sides(paint("BORNEO", BOLD) + f"  {scene.title}", scene.view),
            *board(scene, roomy=True),
            *hands(scene),
            _rule(),
            *_decision(scene),
            *wrap(last_move, WIDTH, subsequent_indent="  "),
        ]
    )
    return (drawn if colour else ESCAPE.sub("", drawn)) + "\n"


def board(scene: Scene, roomy: bool) -> list[str]:
    """What everybody sees of a scene: ladders, ports, contracts and players; with rules between them if it is roomy."""
    rule = [_rule()] if roomy else []
    chart = _beside(_ladders(scene), _ports(scene))
    supply = [*_contracts(scene), *([pirates(scene)] if roomy and scene.ruleset.blackbeard else [])]
    return [*rule, *chart, *rule, *supply, *rule, *_players(scene, legend=roomy)]


def pirates(scene: Scene) -> str:
    """Where the pirate ship lies (R9.2)."""
    return f"pirate ship {'at sea' if scene.g.pirates < 0 else f'with {scene.names[scene.g.pirates][:NAME]}'}"


def _sides(left: str, right: str) -> str:
    right = right[: WIDTH - 2 - length(left)]
    return padded(left, WIDTH - len(right)) + right


def _rule() -> str:
    return paint("-" * WIDTH, FAINT)


def _beside(left: Sequence[str], right: Sequence[str]) -> Iterator[str]:
    width = 2 + max(map(length, left))
    for first, second in zip_longest(left, right, fillvalue=""):
        yield (padded(first, width) + second).rstrip()


# ---------------------------------------------------------------- the chart


def _ladders(scene: Scene) -> list[str]:
    """A line for each company, from rank 1 to the right, and the piles below."""
    ranks = max(BOARD_SLOTS, *scene.g.height)
    gap = " " if ranks == BOARD_SLOTS else ""
    g = scene.g
    return [
        paint("rank   " + gap.join(str((rank + 1) % 10) for rank in range(ranks)), FAINT),
        *(
            f"{paint(f'{company:<6}', COMPANY_CODES[company])} {gap.join(map(_slot, ladder[:ranks]))}"
            for company, ladder in zip(COMPANIES, g.ladder, strict=True)
        ),
        f"draw {g.draw_left} ports {g.ports_left}",
    ]


def _slot(player: int) -> str:
    return trader(player, around="") if player >= 0 else "."


def _ports(scene: Scene) -> list[str]:
    return [line for place in range(OPEN_PORTS) for line in _port(scene, place)]


def _port(scene: Scene, place: int) -> Iterator[str]:
    port, cards = scene.port(place), scene.cards_at(place)
    if port is None:
        yield f"{place} {scene.distribution or 'no port left'}"
    else:
        name = f"{place} {paint(port.name[:NAME], BOLD)} ({port.spice})"
        shown = zip(COMPANIES, scene.g.shown[place], strict=True)
        monopoly = " ".join(f"{flags([company])}{number:>2}" for company, number in shown)
        yield f"{padded(name, 24)} cargo {scene.g.laid[place]}/{port.limit}  {monopoly} of {port.monopoly}"
    covered = cards[:-1] if port else []
    laid = (padded(laid_card(scene.card(card), card in covered) + " ", LAID) for card in cards)
    yield from packed(laid, "  ", PORTS_WIDTH)


def _contracts(scene: Scene) -> Iterator[str]:
    kinds = zip(CONTRACT_KINDS, scene.ruleset.tables.contracts, scene.g.supply, strict=True)
    left = (f"{kind} ({contract.points}){TIMES}{supply}  " for kind, contract, supply in kinds)
    yield from packed(left, "supply  ")


# ---------------------------------------------------------------- the players


def _players(scene: Scene, legend: bool) -> Iterator[str]:
    heads = "".join(f"{spice:<{width}}" for spice, width in zip(SPICES, STOCKS, strict=True))
    contracts = "".join(f"{contract.points:>3}" for contract in scene.ruleset.tables.contracts)
    yield paint(f"     {'player':<{PLAYER}} points hand  {heads}{CHEST:<5}{contracts}", FAINT)
    for player in scene.players:
        yield _player(scene, player)
    if legend:
        marks = "> decides  * has the turn"
        yield paint(f"{marks:<29}warehouse: singles+doubles+ports  {'contracts':>16}", FAINT)


def _player(scene: Scene, player: int) -> str:
    g = scene.g
    mark = ">" if g.player == player else "*" if scene.step and g.turn == player else " "
    name = scene.names[player][:PLAYER]
    shelves = "".join(f"{_stock(stock):<{width}}" for stock, width in zip(g.stock[player][:-1], STOCKS, strict=True))
    chests = g.stock[player][N_SPICES][PORT] or "."
    contracts = "".join(f"{number or '.':>3}" for number in g.fulfilled[player])
    numbers = f"{signed(scene.scores[player]):>6} {g.hand_size[player]:>4}  "
    return f"{mark}{trader(player)} {name:<{PLAYER}} {numbers}{shelves}{chests:<5}{contracts}"


def _stock(sizes: list[int]) -> str:
    """Singles+doubles+ports of a spice."""
    return "+".join(map(str, sizes)) if any(sizes) else "."


def hands(scene: Scene) -> Iterator[str]:
    """The hands that the viewer sees."""
    for player, hand in enumerate(scene.hands):
        if hand:
            yield from packed((_card(scene, card) for card in hand), f"hand {trader(player)} ")


def _card(scene: Scene, card: int) -> str:
    return padded(short_card(card, scene.card(card)), CARD)


# ---------------------------------------------------------------- the decision


def _decision(scene: Scene) -> Iterator[str]:
    turn = f" ({scene.whose_turn})" if scene.whose_turn else ""
    yield from (paint(line, BOLD) for line in wrap(scene.headline + turn, WIDTH))
    yield scene.question
    yield from details(scene)


def details(scene: Scene) -> Iterator[str]:
    """What is worth knowing about the decision of a scene."""
    tellers = {PAY: _payment, TAKE: _distribution, LAST_CONTRACT: _last_contracts, OVER: _result}
    teller = _contest if scene.contest else tellers.get(scene.g.phase)
    if teller:
        yield from teller(scene)


def _contest(scene: Scene) -> Iterator[str]:
    attack, defence = scene.g.strength
    bonus = f" + {scene.bonus} between" if scene.bonus else ""
    yield f"contest in {COMPANIES[scene.g.company]}: {attack} against {defence}{bonus}"
    for side in scene.sides:
        deed = f"{side.deed} {side.origin}".rstrip()
        words = f"  {trader(side.player)} {deed}, {count(side.played, 'card')}  "
        yield from packed((_card(scene, card) for card in side.cards), words)


def _payment(scene: Scene) -> Iterator[str]:
    owed = ", ".join(f"{amount} {spice}" for amount, spice in zip(scene.g.owed, SPICES, strict=True) if amount)
    yield f"{CONTRACT_KINDS[scene.g.contract]}, still owed: {owed}"


def _distribution(scene: Scene) -> Iterator[str]:
    coming = (f"{trader(player)} {COMPANIES[company]} {rank + 1}  " for company, rank, player in scene.traders_to_come)
    yield from packed(coming, f"{scene.distribution}, chosen in this order:  ")


def _last_contracts(scene: Scene) -> Iterator[str]:
    yield "last contracts to come: " + " ".join(trader(player) for player in scene.last_contracts_to_come)


def _result(scene: Scene) -> Iterator[str]:
    order = sorted(scene.players, key=scene.places.__getitem__)
    for player in order:
        sources = ", ".join(f"{source} {signed(points)}" for source, points in scene.points_for(player).items())
        yield f"  {ordinal(scene.places[player])} {trader(player)} {count(scene.scores[player], 'point')}: {sources}"
