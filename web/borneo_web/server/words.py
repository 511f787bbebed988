"""Words of the game as HTML: cargo cards in them are drawn in small, with the symbols of the pictures."""

from __future__ import annotations

import re
from functools import cache

from borneo_env.cards import Cargo
from borneo_env.render.text import ESCAPE
from borneo_env.ruleset import Ruleset
from borneo_web.server.html import Html, join, tag
from borneo_web.server.pieces import symbol

# "card 17 [red red green / blue, pepper x2]" of a story, and "17 rrg/b pepper x2" of an option.
CARD = re.compile(r"\bcard (\d{1,2}) \[[a-z0-9/, ]*\]|\b(\d{1,2}) [rygb]{3}/[rygb] [a-z]+(?: x2)?")
PORT = re.compile(r" \([a-z]+, limit \d+, monopoly \d+\)")  # stands on the board


def told(ruleset: Ruleset, words: str) -> Html:
    """Words with their cards drawn."""
    plain = PORT.sub("", ESCAPE.sub("", words)).strip()
    pieces: list[object] = []
    end = 0
    for found in CARD.finditer(plain):
        number = int(found[1] or found[2])
        if number < len(ruleset.tables.cargo):  # a name may look like a card
            pieces += [plain[end : found.start()], card(number, ruleset.tables.cargo[number])]
            end = found.end()
    return join(*pieces, plain[end:])


def sentence(ruleset: Ruleset, words: str) -> Html:
    """The same, with a capital letter at the beginning."""
    plain = words.strip()
    return told(ruleset, plain[:1].upper() + plain[1:])


@cache
def card(number: int, cargo: Cargo) -> Html:
    """A cargo card in small; whoever hears it is told its flags and its spice."""
    double = " x2" if cargo.count == 2 else ""
    spoken = f" ({' '.join(cargo.flags[:3])}, below {cargo.flags[3]})"
    drawn = [symbol(flag) for flag in cargo.flags[:3]]
    pays = ", a double: pays two" if cargo.count == 2 else ""
    return tag(
        "span",
        tag("b", number),
        tag("span", spoken, class_="spoken"),
        tag("span", *drawn, tag("i", "/"), symbol(cargo.flags[3]), class_="flags", aria_hidden="true"),
        symbol(cargo.spice),
        f"{cargo.spice}{double}",
        class_="card",
        title=f"Card {number}: flags {', '.join(cargo.flags[:3])}, below {cargo.flags[3]}; {cargo.spice}{pays}",
    )
