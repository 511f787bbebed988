"""ansi: a position as a table for the terminal, 100 columns wide, in plain ANSI escapes or without any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap

import numpy as np

from borneo_env.cards import CHEST, COMPANIES, CONTRACT_KINDS, SPICES
from borneo_env.engine.state import LAST_CONTRACT, N_SPICES, OPEN_PORTS, OVER, PAY, PORT, TAKE
from borneo_env.render.pen import TIMES
from borneo_env.render.scene import Scene, count
from borneo_env.ruleset import Ruleset

WIDTH = 100
NAME = 16  # how much of a name is shown in the tables
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")

BOLD, FAINT = "1", "2"
COMPANY_CODES = {"red": "97;41", "yellow": "30;43", "green": "97;42", "blue": "97;44"}
PLAYER_CODES = ("97;40", "30;107", "97;45", "30;48;5;208", "30;46")


def ansi(
    ruleset: Ruleset, game: np.void, seat: int | None = None, last_move: str = "", names: Sequence[str] | None = None,
    colour: bool = True,
) -> str:  # fmt: skip
    """A position as text of at most 100 columns; the arguments are those of `svg`, and whether to use colours."""
    scene = Scene(ruleset, game, seat, last_move, names)
    drawn = "\n".join(
        [
            _sides(_paint("BORNEO", BOLD) + f"  {scene.title}", scene.view),
            _rule(),
            *_beside(_ladders(scene), _ports(scene)),
            _rule(),
            _contracts(scene),
            _piles(scene),
            _rule(),
            *_players(scene),
            *_hands(scene),
            _rule(),
            *_decision(scene),
            *wrap(f"last move: {scene.last_move}", WIDTH, subsequent_indent="  "),
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
    width = 4 + max(map(_length, left))
    for first, second in zip_longest(left, right, fillvalue=""):
        yield (_padded(first, width) + second).rstrip()


def _packed(pieces: Iterable[str], indent: str) -> Iterator[str]:
    """Pieces side by side, on as many lines as they need."""
    line = indent
    for piece in pieces:
        if _length(line) + _length(piece) > WIDTH and line.strip():
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
        yield f"{place} {scene.distribution or 'closed'}"
    else:
        name = f"{place} {_paint(port.name[:NAME], BOLD)} ({port.spice})"
        shown = zip(COMPANIES, scene.g.shown[place], strict=True)
        monopoly = "  ".join(f"{_flags([company])} {flags}/{port.monopoly}" for company, flags in shown)
        yield _padded(f"{_padded(name, 24)} cargo {scene.g.laid[place]}/{port.limit}", 38) + monopoly
    covered = cards[:-1] if port else []
    for i in range(0, len(cards), 3):
        yield "  " + "".join(_card(scene, card, card in covered) for card in cards[i : i + 3])


def _contracts(scene: Scene) -> str:
    kinds = zip(CONTRACT_KINDS, scene.ruleset.tables.contracts, scene.g.supply, strict=True)
    return "contracts  " + "  ".join(f"{kind} ({contract.points}) {TIMES}{left}" for kind, contract, left in kinds)


def _piles(scene: Scene) -> str:
    g = scene.g
    piles = f"piles      draw {g.draw_left} · discards {scene.discards} · ports {g.ports_left}"
    if not scene.ruleset.blackbeard:
        return piles
    return piles + f" · pirate ship {'at sea' if g.pirates < 0 else f'with {scene.names[g.pirates][:NAME]}'}"


# ---------------------------------------------------------------- the players


def _players(scene: Scene) -> Iterator[str]:
    heads = "".join(f"{spice:<9}" for spice in SPICES)
    yield _paint(f"   player{'':<{NAME - 5}}points  hand  {heads}{CHEST:<7}contracts", FAINT)
    for player in scene.players:
        yield _player(scene, player)
    yield _paint(f"> decides, * has the turn; warehouses: singles+doubles+ports; contracts: points{TIMES}number", FAINT)


def _player(scene: Scene, player: int) -> str:
    g = scene.g
    mark = ">" if g.player == player else "*" if scene.step and g.turn == player else " "
    name = scene.names[player][:NAME]
    shelves = "".join(f"{_stock(g.stock[player][spice]):<9}" for spice in range(N_SPICES))
    chests = g.stock[player][N_SPICES][PORT] or "."
    kinds = zip(scene.ruleset.tables.contracts, g.fulfilled[player], strict=True)
    contracts = " ".join(f"{contract.points}{TIMES}{number}" for contract, number in kinds if number)
    numbers = f"{scene.scores[player]:>6}  {g.hand_size[player]:>4}  "
    return f"{mark}{_trader(player)}{name:<{NAME}}{numbers}{shelves}{chests:<7}{contracts}".rstrip()


def _stock(sizes: list[int]) -> str:
    """Singles+doubles+ports of a spice."""
    return "+".join(map(str, sizes)) if any(sizes) else "."


def _hands(scene: Scene) -> Iterator[str]:
    for player, hand in enumerate(scene.hands):
        if hand:
            yield from _packed((_card(scene, card) for card in hand), f"hand {_trader(player)} ")


# ---------------------------------------------------------------- the decision


def _decision(scene: Scene) -> Iterator[str]:
    turn = f" (turn of {scene.names[scene.g.turn]}: {scene.step})" if scene.step else ""
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
    yield "  ".join(
        f"{scene.places[player]}. {_trader(player)} {count(scene.scores[player], 'point')}" for player in order
    )
