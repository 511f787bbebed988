"""ansi: a position as a table for the terminal, 80 columns wide, in plain ANSI escapes or without any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap

import numpy as np

from borneo_env.cards import CHEST, COMPANIES, CONTRACT_KINDS, SPICES
from borneo_env.engine.state import LAST_CONTRACT, N_SPICES, OPEN_PORTS, OVER, PAY, PORT, TAKE
from borneo_env.render.pen import TIMES
from borneo_env.render.scene import Scene, count, ordinal, signed
from borneo_env.ruleset import Ruleset

WIDTH = 80
NAME = 16  # how much of the name of a port is shown,
PLAYER = 10  # and of a player
PORTS_WIDTH = 59  # what the ladders leave to the ports
STOCKS = (7, 9, 7, 7)  # the columns of the warehouses
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")

BOLD, FAINT = "1", "2"
COMPANY_CODES = {"red": "97;41", "yellow": "30;43", "green": "97;42", "blue": "97;44"}
PLAYER_CODES = ("97;40", "30;107", "97;45", "30;48;5;208", "30;46")


def ansi(
    ruleset: Ruleset, game: np.void, seat: int | None = None, last_move: str = "", names: Sequence[str] | None = None,
    colour: bool = True,
) -> str:  # fmt: skip
    """A position as text of at most 80 columns; the arguments are those of `Picture`, and whether to use colours."""
    return table(Scene(ruleset, game, seat, last_move, names), colour)


def table(scene: Scene, colour: bool) -> str:
    """A scene as text."""
    last_move = f"last move: {scene.last_move}" if scene.last_move else ""
    drawn = "\n".join(
        [
            _sides(_paint("BORNEO", BOLD) + f"  {scene.title}", scene.view),
            _rule(),
            *_beside(_ladders(scene), _ports(scene)),
            _rule(),
            *_contracts(scene),
            _piles(scene),
            _rule(),
            *_players(scene),
            *_hands(scene),
            _rule(),
            *_decision(scene),
            *wrap(last_move, WIDTH, subsequent_indent="  "),
        ]
    )
    return (drawn if colour else ESCAPE.sub("", drawn)) + "\n"


def _paint(words: str, code: str) -> str:
    return f"\x1b[{code}m{words}\x1b[0m"


def _length(words: str) -> int:
    """How many columns words take on the screen."""
    return len(ESCAPE.sub("", words))


def _padded(words: str, width: int) -> str:
    return words + " " * (width - _length(words))


def _sides(left: str, right: str) -> str:
    right = right[: WIDTH - 2 - _length(left)]
    return _padded(left, WIDTH - len(right)) + right


def _rule() -> str:
    return _paint("-" * WIDTH, FAINT)


def _beside(left: Sequence[str], right: Sequence[str]) -> Iterator[str]:
    width = 3 + max(map(_length, left))
    for first, second in zip_longest(left, right, fillvalue=""):
        yield (_padded(first, width) + second).rstrip()


def _packed(pieces: Iterable[str], indent: str, width: int = WIDTH) -> Iterator[str]:
    """Pieces side by side, on as many lines as they need."""
    line = indent
    for piece in pieces:
        if _length(line) + _length(piece.rstrip()) > width and line.strip():
            yield line.rstrip()
            line = " " * _length(indent)
        line += piece
    yield line.rstrip()


def _trader(player: int) -> str:
    return _paint(f" {player} ", PLAYER_CODES[player])


def _flags(companies: Iterable[str]) -> str:
    return "".join(_paint(company[0], COMPANY_CODES[company]) for company in companies)


def _card(scene: Scene, card: int, covered: bool = False) -> str:
    """A cargo card: its id, its flags (top row/bottom row, which is hidden when covered) and its spice."""
    cargo = scene.card(card)
    flags = _flags(cargo.flags[:3]) + ("  " if covered else "/" + _flags(cargo.flags[3:]))
    return _padded(f"{card:>2} {flags} {cargo.spice}{' x2' if cargo.count == 2 else ''}", 22)


# ---------------------------------------------------------------- the chart


def _ladders(scene: Scene) -> list[str]:
    heads = " ".join(_paint(f" {company[0]} ", COMPANY_CODES[company]) for company in COMPANIES)
    rows = range(max(5, *scene.g.height))
    return [
        f"   {heads}",
        *(f"{rank + 1:>2} {' '.join(_slot(ladder[rank]) for ladder in scene.g.ladder)}" for rank in rows),
    ]


def _slot(player: int) -> str:
    return _trader(player) if player >= 0 else " . "


def _ports(scene: Scene) -> list[str]:
    return [line for place in range(OPEN_PORTS) for line in _port(scene, place)]


def _port(scene: Scene, place: int) -> Iterator[str]:
    port, cards = scene.port(place), scene.cards_at(place)
    if port is None:
        yield f"{place} {scene.distribution or 'no port left'}"
    else:
        name = f"{place} {_paint(port.name[:NAME], BOLD)} ({port.spice})"
        shown = zip(COMPANIES, scene.g.shown[place], strict=True)
        monopoly = " ".join(f"{_flags([company])}{flags:>2}" for company, flags in shown)
        yield f"{_padded(name, 24)} cargo {scene.g.laid[place]}/{port.limit}  {monopoly} of {port.monopoly}"
    covered = cards[:-1] if port else []
    yield from _packed((_card(scene, card, card in covered) for card in cards), "  ", PORTS_WIDTH) if cards else ()


def _contracts(scene: Scene) -> Iterator[str]:
    kinds = zip(CONTRACT_KINDS, scene.ruleset.tables.contracts, scene.g.supply, strict=True)
    left = (f"{kind} ({contract.points}){TIMES}{supply}  " for kind, contract, supply in kinds)
    yield from _packed(left, "supply  ")


def _piles(scene: Scene) -> str:
    g = scene.g
    piles = f"piles   draw {g.draw_left} · discards {scene.discards} · ports {g.ports_left}"
    if not scene.ruleset.blackbeard:
        return piles
    return piles + f" · pirate ship {'at sea' if g.pirates < 0 else f'with {scene.names[g.pirates][:NAME]}'}"


# ---------------------------------------------------------------- the players


def _players(scene: Scene) -> Iterator[str]:
    heads = "".join(f"{spice:<{width}}" for spice, width in zip(SPICES, STOCKS, strict=True))
    contracts = "".join(f"{contract.points:>3}" for contract in scene.ruleset.tables.contracts)
    yield _paint(f"     {'player':<{PLAYER}} points hand  {heads}{CHEST:<5}{contracts}", FAINT)
    for player in scene.players:
        yield _player(scene, player)
    marks = "> decides  * has the turn"
    yield _paint(f"{marks:<29}warehouse: singles+doubles+ports  {'contracts':>16}", FAINT)


def _player(scene: Scene, player: int) -> str:
    g = scene.g
    mark = ">" if g.player == player else "*" if scene.step and g.turn == player else " "
    name = scene.names[player][:PLAYER]
    shelves = "".join(f"{_stock(stock):<{width}}" for stock, width in zip(g.stock[player][:-1], STOCKS, strict=True))
    chests = g.stock[player][N_SPICES][PORT] or "."
    contracts = "".join(f"{number or '.':>3}" for number in g.fulfilled[player])
    numbers = f"{signed(scene.scores[player]):>6} {g.hand_size[player]:>4}  "
    return f"{mark}{_trader(player)} {name:<{PLAYER}} {numbers}{shelves}{chests:<5}{contracts}"


def _stock(sizes: list[int]) -> str:
    """Singles+doubles+ports of a spice."""
    return "+".join(map(str, sizes)) if any(sizes) else "."


def _hands(scene: Scene) -> Iterator[str]:
    for player, hand in enumerate(scene.hands):
        if hand:
            yield from _packed((_card(scene, card) for card in hand), f"hand {_trader(player)} ")


# ---------------------------------------------------------------- the decision


def _decision(scene: Scene) -> Iterator[str]:
    turn = f" ({scene.whose_turn})" if scene.whose_turn else ""
    yield from (_paint(line, BOLD) for line in wrap(scene.headline + turn, WIDTH))
    yield scene.question
    details = {PAY: _payment, TAKE: _distribution, LAST_CONTRACT: _last_contracts, OVER: _result}
    detail = _contest if scene.contest else details.get(scene.g.phase)
    if detail:
        yield from detail(scene)


def _contest(scene: Scene) -> Iterator[str]:
    attack, defence = scene.g.strength
    bonus = f" + {scene.bonus} between" if scene.bonus else ""
    yield f"contest in {COMPANIES[scene.g.company]}: {attack} against {defence}{bonus}"
    for side in scene.sides:
        deed = f"{side.deed} {side.origin}".rstrip()
        words = f"  {_trader(side.player)} {deed}, {count(side.played, 'card')}  "
        yield from _packed((_card(scene, card) for card in side.cards), words)


def _payment(scene: Scene) -> Iterator[str]:
    owed = ", ".join(f"{amount} {spice}" for amount, spice in zip(scene.g.owed, SPICES, strict=True) if amount)
    yield f"{CONTRACT_KINDS[scene.g.contract]}, still owed: {owed}"


def _distribution(scene: Scene) -> Iterator[str]:
    coming = (f"{_trader(player)} {COMPANIES[company]} {rank + 1}  " for company, rank, player in scene.traders_to_come)
    yield from _packed(coming, f"{scene.distribution}, chosen in this order:  ")


def _last_contracts(scene: Scene) -> Iterator[str]:
    yield "last contracts to come: " + " ".join(_trader(player) for player in scene.last_contracts_to_come)


def _result(scene: Scene) -> Iterator[str]:
    order = sorted(scene.players, key=scene.places.__getitem__)
    for player in order:
        sources = ", ".join(f"{source} {signed(points)}" for source, points in scene.points_for(player).items())
        yield f"  {ordinal(scene.places[player])} {_trader(player)} {count(scene.scores[player], 'point')}: {sources}"
