"""Words, flags and cards in the colours of the terminal; without its escapes a text is the same without colours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from borneo_env.cards import Cargo

WIDTH = 80
CARD = 22  # columns of a card with its number
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")

BOLD, FAINT = "1", "2"
COMPANY_CODES = {"red": "97;41", "yellow": "30;43", "green": "97;42", "blue": "97;44"}
PLAYER_CODES = ("97;40", "30;107", "97;45", "30;48;5;208", "30;46")


def paint(words: str, code: str) -> str:
    return f"\x1b[{code}m{words}\x1b[0m"


def length(words: str) -> int:
    """How many columns words take on the screen."""
    return len(ESCAPE.sub("", words))


def padded(words: str, width: int) -> str:
    return words + " " * (width - length(words))


def packed(pieces: Iterable[str], indent: str, width: int = WIDTH) -> Iterator[str]:
    """Pieces side by side, on as many lines as they need; the indent stands before the first."""
    line = indent
    for piece in pieces:
        if length(line) + length(piece.rstrip()) > width and line.strip():
            yield line.rstrip()
            line = " " * length(indent)
        line += piece
    yield line.rstrip()


def wrapped(words: str, width: int = WIDTH) -> list[str]:
    """Words on as many lines as they need, with the indent of the first; a word that is too long is cut."""
    if length(words) <= width:
        return [words]
    indent = words[: len(words) - len(words.lstrip(" "))]
    pieces = (cut + " " for word in words.split() for cut in _cut(word, width - len(indent)))
    return list(packed(pieces, indent, width))


def _cut(word: str, width: int) -> list[str]:
    if length(word) <= width:
        return [word]
    plain = ESCAPE.sub("", word)
    return [plain[start : start + width] for start in range(0, len(plain), width)]


def trader(player: int, around: str = " ") -> str:
    """A trader: the number of its player."""
    return paint(f"{around}{player}{around}", PLAYER_CODES[player])


def flags(companies: Iterable[str]) -> str:
    return "".join(paint(company[0], COMPANY_CODES[company]) for company in companies)


def short_card(number: int, cargo: Cargo) -> str:
    """A cargo card: its number, its flags (top row/bottom row) and its spice."""
    return f"{number:>2} {flags(cargo.flags[:3])}/{flags(cargo.flags[3:])} {cargo.spice}{' x2' * (cargo.count == 2)}"


def laid_card(cargo: Cargo, covered: bool) -> str:
    """A card at a port: the flags that are visible, and its spice."""
    bottom = "" if covered else "/" + flags(cargo.flags[3:])
    return f"{flags(cargo.flags[:3])}{bottom} {cargo.spice[:3]}{'2' * (cargo.count == 2)}"
