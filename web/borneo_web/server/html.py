"""HTML from Python: whatever is no `Html` already is text, and is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

VOID = ("meta", "link", "input", "img")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def join(*content: object) -> Html:
    """Pieces one after the other; None is nothing, lists are gone through."""
    return Html("".join(_pieces(content)))


def tag(kind: str, /, *content: object, **attributes: object) -> Html:
    """An element: `tag("a", "Rules", href="/rules")`. `class_` is class, `data_part` is data-part.

    An attribute that is True stands alone; one that is None or False is left out.
    """
    opened = f"<{kind}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    return Html(opened if kind in VOID else f"{opened}{join(*content)}</{kind}>")


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def _pieces(content: Iterable[object]) -> Iterable[str]:
    for piece in content:
        if isinstance(piece, Html):
            yield piece
        elif isinstance(piece, str):
            yield escape(piece)
        elif isinstance(piece, Iterable):
            yield from _pieces(piece)
        elif piece is not None:
            yield escape(str(piece))
