"""Sentences of the game as HTML: cargo cards in them are drawn in small, with the symbols of the pictures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from borneo_env.cards import Cargo
from borneo_env.pieces import Pieces, spoken
from borneo_web.server.game.pieces import card_title, symbol
from borneo_web.server.html import Html, join, tag
from borneo_web.server.live_game import LiveGame


def phrase(table: LiveGame, seat: int, pieces: Pieces) -> Html:
    """A sentence with its cards drawn, for a person at a table: "you ship ..."."""
    return join(*_shown(table, seat, pieces))


def sentence(table: LiveGame, seat: int, pieces: Pieces) -> Html:
    """The same, with a capital letter at the beginning."""
    first, *others = _shown(table, seat, pieces)
    return join(first if isinstance(first, Html) else first[:1].upper() + first[1:], *others)


def _shown(table: LiveGame, seat: int, pieces: Pieces) -> Iterator[str]:
    """Texts, and cards that are HTML already; ports and companies stand on the board."""
    cargo = table.game.batch.ruleset.tables.cargo
    for one in spoken(pieces, table.game.names, seat):
        yield one if isinstance(one, str) else card(one.number, cargo[one.number]) if one.kind == "card" else one.short


@cache
def card(number: int, cargo: Cargo) -> Html:
    """A cargo card in small; whoever hears it is told its flags and its spice."""
    double = " x2" if cargo.count == 2 else ""
    spoken = f" ({' '.join(cargo.flags[:3])}, below {cargo.flags[3]})"
    drawn = [symbol(flag) for flag in cargo.flags[:3]]
    return tag(
        "span",
        tag("b", number),
        tag("span", spoken, class_="spoken"),
        tag("span", *drawn, tag("i", "/"), symbol(cargo.flags[3]), class_="flags", aria_hidden="true"),
        symbol(cargo.spice),
        f"{cargo.spice}{double}",
        class_="card",
        title=card_title(number, cargo),
    )
