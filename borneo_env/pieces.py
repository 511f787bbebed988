"""Sentences as pieces: plain text, and between it who does what, and what is named. One function for each way to show.

Nothing here knows which game is told. What a sentence names has a kind ("card"), a number, and words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from string import Formatter
from typing import Any

IRREGULAR = {"have": "has", "do": "does", "are": "is"}


@dataclass(frozen=True)
class Who:
    """A player, who is called by name, or "you"."""

    seat: int
    begins: bool = False  # a sentence


@dataclass(frozen=True)
class Does:
    """A verb in its plain form, and whose it is: "you ship", "player 2 ships"."""

    seat: int
    verb: str


@dataclass(frozen=True)
class Mention:
    """What has a number and can be shown: a card, a port, a company."""

    kind: str
    number: int
    words: str  # "card 17 [red red green / blue, pepper x2]"
    short: str  # where it can be seen: "card 17"


Piece = str | Who | Does | Mention
Pieces = tuple[Piece, ...]
Shown = Callable[[Mention], str]

# ---------------------------------------------------------------- made


def filled(template: str, **named: Any) -> Pieces:
    """A sentence from a template, "ship {card} to {port}": a name stands for a piece, for several, or for a number."""
    found: list[Piece] = []
    for text, name, *_ in Formatter().parse(template):
        value = named[name] if name else ()
        found += [text, *(value if isinstance(value, tuple) else [value if isinstance(value, Piece) else str(value)])]
    return tuple(piece for piece in found if piece != "")


def listed(some: Iterable[Pieces], between: str = ", ") -> Pieces:
    """Items of a list one after the other."""
    return tuple(one for item in some for one in (between, *item))[1:]


def paragraph(sentences: Iterable[Pieces]) -> Pieces:
    """Sentences one after the other."""
    first, *others = [*sentences] or [()]
    return first + tuple(piece for pieces in others for piece in (" ", *begun(pieces)))


def begun(pieces: Pieces) -> Pieces:
    """The beginning of a sentence: who reads it is "You" there."""
    first, *others = pieces
    return (replace(first, begins=True), *others) if isinstance(first, Who) else pieces


# ---------------------------------------------------------------- shown


def spoken(pieces: Iterable[Piece], names: Sequence[str] = (), you: int | None = None) -> Iterator[str | Mention]:
    """Texts and what is named: players are called by their names, if they have some, and one of them may be "you"."""
    for piece in pieces:
        if isinstance(piece, Who):
            yield _called(piece, names, you)
        elif isinstance(piece, Does):
            yield piece.verb if piece.seat == you else _of_another(piece.verb)
        else:
            yield piece


def _called(who: Who, names: Sequence[str], you: int | None) -> str:
    if who.seat == you:
        return "You" if who.begins else "you"
    return names[who.seat] if names else f"{'Player' if who.begins else 'player'} {who.seat}"


def _of_another(verb: str) -> str:
    return IRREGULAR.get(verb, verb + ("es" if verb.endswith(("s", "sh", "ch", "x")) else "s"))


in_full: Shown = attrgetter("words")  # for those who do not see what is named
briefly: Shown = attrgetter("short")


def plain(pieces: Iterable[Piece], names: Sequence[str] = (), you: int | None = None, shown: Shown = in_full) -> str:
    """A sentence as text; `shown` says how what is named looks."""
    return "".join(one if isinstance(one, str) else shown(one) for one in spoken(pieces, names, you))


def as_json(pieces: Iterable[Piece]) -> list[str | list[str | int]]:
    """A sentence as a list of texts and things: [kind, number, words in short]; players are things, too."""
    things = (Mention("player", one.seat, "", plain([one])) if isinstance(one, Who) else one for one in pieces)
    return [one if isinstance(one, str) else [one.kind, one.number, one.short] for one in spoken(things)]
