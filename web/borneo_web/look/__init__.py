"""What all pages look like: the colours of the pictures, headers, sheets and buttons, and light or dark."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from borneo_env.render import symbols
from borneo_env.render.pen import FONT, INK

COLOURS = ("PAPER", "PAPER_EDGE", "CARD", "FAINT", "GOLD", "SEA", "FOAM", "WATER", "WAX", "GLOW")
FOLDER = files("borneo_web.look")


@cache
def style() -> str:
    """The style of every page. Players have a fill, and a colour of what stands on it."""
    named = {name: getattr(symbols, name) for name in COLOURS} | {"INK": INK, "FONT": f"'{FONT}'"}
    variables = "".join(f"--{name.lower().replace('_', '-')}:{value};" for name, value in named.items())
    players = enumerate(zip(symbols.PLAYER_COLOURS, symbols.PLAYER_INKS, strict=True))
    rules = "".join(f".player{player}{{--fill:{fill};--on:{ink}}}\n" for player, (fill, ink) in players)
    return f":root{{{variables}}}\n{rules}{_file('base.css')}"


def theme_script() -> str:
    """The switch of light and dark, which all pages remember together."""
    return _file("theme.js")


@cache
def _file(name: str) -> str:
    return FOLDER.joinpath(name).read_text(encoding="utf-8")
