"""Colours, and the symbols drawn for flags, spices and things; a picture carries them once and refers to them by name.

The companies' flags differ by their devices and the spices by their shapes, so that no colour has to be told apart.
The players' colours differ in lightness too, and every trader carries its player's number.
"""

from __future__ import annotations

from pathlib import Path

from borneo_env.cards import CHEST, COMPANIES, SPICES
from borneo_env.render.pen import INK

PAPER = "#f5ebd3"
PAPER_EDGE = "#b08d57"
PAPER_SPENT = "#e6dfc4"  # of contracts that are all taken
CARD = "#fcf7ea"
FAINT = "#705a38"
GOLD = "#d29a2e"
SEA = "#1d3d49"
FOAM = "#f2e6c9"
WATER = "#dfe3cf"
LAND = "#ecd9ae"
WHITE = "#fdf9ee"
WAX = "#8f2a22"
BLOOD = "#a3221c"
GLOW = "#fff3c4"

COMPANY_COLOURS = ("#b5322b", "#e9b42c", "#3b8048", "#2b5fa3")
COMPANY_TINTS = ("#efd3c6", "#f6e4b0", "#d6e2c6", "#cfdbe2")
SPICE_COLOURS = ("#55535b", "#b5652f", "#84405a", "#9c7b4a", "#8a5a24")  # the chest is the fifth
SPICE_TINTS = ("#dcdad6", "#f3d9be", "#ead2d6", "#ebdfc3", "#f3e0a8")
PLAYER_COLOURS = ("#2a2624", "#fdfcf8", "#7b3f9e", "#f08c28", "#12908c")
PLAYER_INKS = ("#ffffff", "#2a2624", "#ffffff", "#2a2624", "#ffffff")

SPICE_SYMBOLS = (*SPICES, CHEST)

_DEVICES = {
    "red": '<path d="M8 1V13M2 7H18" stroke="#fff6e4" stroke-width="2.4"/>',
    "yellow": f'<circle cx="9" cy="7" r="3.2" fill="{INK}"/>',
    "green": '<path d="M2.6 1.6L15.6 12.4M2.6 12.4L15.6 1.6" stroke="#fff6e4" stroke-width="2.2"/>',
    "blue": '<path d="M9 2.8L13.6 7L9 11.2L4.4 7Z" fill="#fff6e4"/>',
}


def _flag(company: str, colour: str) -> str:
    """A flag of 22 by 18 from its top left corner: a swallowtail on its staff."""
    cloth = f'<path d="M2 1H21L17 7L21 13H2Z" fill="{colour}"/>{_DEVICES[company]}'
    edge = f'<path d="M2 1H21L17 7L21 13H2M1.5 0V18" fill="none" stroke="{INK}" stroke-width="1"/>'
    return f'<g id="{company}">{cloth}{edge}</g>'


_THINGS = Path(__file__).with_name("things.svg").read_text(encoding="utf-8").partition("<defs>\n")[2]
SYMBOLS = "".join(map(_flag, COMPANIES, COMPANY_COLOURS)) + _THINGS.partition("\n</defs>")[0]
