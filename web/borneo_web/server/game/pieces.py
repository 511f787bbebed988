"""Pieces of the table on a page: cards, traders, seals and symbols, small enough to be drawn many times."""

from __future__ import annotations

from functools import cache

from borneo_env.cards import COMPANIES, SPICES, Cargo
from borneo_env.render.pen import INK, TIMES, box, disc, use
from borneo_env.render.symbols import FAINT, GOLD, SPICE_TINTS
from borneo_web.server.html import Html, tag

FLAG, THING = "0 0 22 18", "-13 -13 26 26"  # the boxes of flags and of all other symbols


@cache
def symbol(name: str, title: str | None = None) -> Html:
    """A flag, a spice or a thing, as high as the letters beside it; with a title, it says what it is."""
    drawn = Html(f'<use href="#{name}"/>')
    said = {"role": "img", "aria_label": title} if title else {"aria_hidden": "true"}
    view = FLAG if name in COMPANIES else THING
    return tag("svg", tag("title", title) if title else None, drawn, class_="symbol", viewBox=view, **said)


def chip(player: int, name: str, role: str = "", part: str | None = None) -> Html:
    """A trader: a disc in the player's colour with the player's number."""
    kind = f"chip player{player} {role}".rstrip()
    return tag("span", player, class_=kind, data_part=part, title=f"{name} {role}".rstrip())


@cache
def face(number: int, card: Cargo) -> Html:
    """The front of a cargo card (R0.8)."""
    return tag("span", _drawn(number, card), class_="face", data_part=f"card {number}", title=card_title(number, card))


@cache
def covered(number: int, card: Cargo) -> Html:
    """A cargo card under another (R5.1): the top row of its flags, and on a slip what else it is."""
    flags = Html("".join(use(flag, 25 * i, 0) for i, flag in enumerate(card.flags[:3])))
    drawn = tag("svg", flags, viewBox="-1 0 74 18", aria_hidden="true", class_="row")
    double = tag("i", "2", class_="double") if card.count == 2 else None
    return tag("span", drawn, tag("span", number, symbol(card.spice), double, class_="slip"), class_="covered",
               data_part=f"card {number}", title=card_title(number, card))  # fmt: skip


def card_title(number: int, card: Cargo) -> str:
    """A cargo card in words: "card 17: red red green, below blue; pepper, a double"."""
    double = ", a double" if card.count == 2 else ""
    return f"card {number}: {' '.join(card.flags[:3])}, below {card.flags[3]}; {card.spice}{double}"


def _drawn(number: int, card: Cargo) -> Html:
    """The face, with letters that can be read where it is 64 pixels wide."""
    flags = "".join(use(flag, 6 + 25 * i, 7) for i, flag in enumerate(card.flags[:3])) + use(card.flags[3], 31, 31)
    ground = box(5, 56, 74, 51, SPICE_TINTS[SPICES.index(card.spice)], corner=4)
    if card.count == 1:
        spice = use(card.spice, 42, 81, 1.7)
    else:
        spice = use(card.spice, 25, 85, 1.4) + use(card.spice, 59, 85, 1.4) + disc(42, 67, 10, GOLD, INK, 0.8)
        spice += f'<text x="42" y="73" class="count" fill="{INK}">2</text>'
    drawn = f'{flags}{ground}{spice}<text x="79" y="50" fill="{FAINT}">{number}</text>'
    return Html(f'<svg viewBox="0 0 84 112" aria-hidden="true">{drawn}</svg>')


def seal(points: int, words: str) -> Html:
    """The points of a contract on its wax seal."""
    return tag("span", points, class_="seal", title=words)


def counted(number: int) -> Html | None:
    """How many there are, where there are several."""
    return tag("small", f"{TIMES}{number}") if number > 1 else None
