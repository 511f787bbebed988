"""What all pages look like: the colours of the pictures, headers, sheets and buttons, and light or dark."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from borneo_env.cards import COMPANIES
from borneo_env.render import symbols
from borneo_env.render.pen import FONT, INK

NIGHT = {  # colours of the pictures, and what they are on a dark page
    symbols.PAPER: "#1d333c",
    symbols.PAPER_SPENT: "#1a2b32",
    symbols.CARD: "#24424e",
    symbols.WHITE: "#24424e",
    symbols.WATER: "#12262e",
    symbols.LAND: "#2b3a30",
    symbols.GLOW: "#4f431c",
    "#e4d8bd": "#0f2027",
    **dict(zip(symbols.COMPANY_TINTS, ("#4a2b28", "#4a4023", "#263d2a", "#24374d"), strict=True)),
    **dict(zip(symbols.SPICE_TINTS, ("#3a3d42", "#4d3a2a", "#4b3039", "#453d2b", "#4f431c"), strict=True)),
}
COLOURS = ("PAPER", "PAPER_EDGE", "CARD", "FAINT", "GOLD", "SEA", "FOAM", "WATER", "WAX", "GLOW")
FOLDER = files("borneo_web.look")


@cache
def style() -> str:
    """The style of every page. Players have a fill, and a colour of what stands on it; companies and spices a tint."""
    named = {name: getattr(symbols, name) for name in COLOURS} | {"INK": INK, "FONT": f"'{FONT}'"}
    variables = "".join(f"--{name.lower().replace('_', '-')}:{value};" for name, value in named.items())
    players = enumerate(zip(symbols.PLAYER_COLOURS, symbols.PLAYER_INKS, strict=True))
    rules = "".join(f".player{player}{{--fill:{fill};--on:{ink}}}\n" for player, (fill, ink) in players)
    names, tints = (*COMPANIES, *symbols.SPICE_SYMBOLS), (*symbols.COMPANY_TINTS, *symbols.SPICE_TINTS)
    for name, colour, tint in zip(names, (*symbols.COMPANY_COLOURS, *symbols.SPICE_COLOURS), tints, strict=True):
        rules += f".{name}{{--colour:{colour};--tint:light-dark({tint},{NIGHT[tint]})}}\n"
    return f":root{{{variables}}}\n{rules}{_file('base.css')}"


def theme_script() -> str:
    """The switch of light and dark, which all pages remember together."""
    return _file("theme.js")


@cache
def _file(name: str) -> str:
    return FOLDER.joinpath(name).read_text(encoding="utf-8")
