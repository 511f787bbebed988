"""Colours, and the symbols drawn for flags, spices and things; a picture carries them once and refers to them by name.

The companies' flags differ by their devices and the spices by their shapes, so that no colour has to be told apart.
The players' colours differ in lightness too, and every trader carries its player's number.
"""

from __future__ import annotations

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


# Each about 22 by 22 around the origin.
_PEPPER = """<g id="pepper" stroke="#26242a" stroke-width=".9"><circle cx="-5.3" cy="4.6" r="5.6" fill="#55535b"/>
<circle cx="5.6" cy="5" r="5.6" fill="#4a484f"/><circle cx=".2" cy="-4.8" r="5.6" fill="#605e66"/>
<path d="M-8.6 3.6q2-2.4 4.6-1.2M-7.6 6.8q2.2-1.2 4.4.2M2.2 4q2-2.4 4.8-1.2M3.4 7.2q2-1.2 4.2.2M-3-5.8q2-2.4 4.6-1.2
M-2-2.6q2.2-1.2 4.2.2" fill="none" stroke="#d9d6dc" stroke-opacity=".75"/></g>"""
_CINNAMON = """<g id="cinnamon" transform="rotate(-38)" stroke="#6e3512" stroke-width=".9">
<rect x="-10.5" y="-6.6" width="21" height="6.4" rx="2.6" fill="#c4763c"/>
<rect x="-10.5" y=".2" width="21" height="6.4" rx="2.6" fill="#b0602a"/>
<ellipse cx="8.8" cy="-3.4" rx="2.1" ry="3.2" fill="#f0c890"/>
<ellipse cx="8.8" cy="3.4" rx="2.1" ry="3.2" fill="#e5b67b"/>
<path d="M8.8-4.8q1.4 1.3 0 2.6M8.8 2q1.4 1.3 0 2.6M-7.4-3.6H2M-6.4 3.4H3" fill="none"/>
<path d="M-2.6-6.8V6.8" stroke="#f3e3bd" stroke-width="2.2"/></g>"""
_CLOVES = """<g id="cloves" transform="rotate(24)" stroke="#4b1d30" stroke-width=".9">
<path d="M-2.2-3.4L-1.2 10.6Q0 12.2 1.2 10.6L2.2-3.4Z" fill="#9a5068"/>
<path d="M0-2.2Q-6.8-2.4-7.4-7Q-3.8-6.6-2-4.4Q-1.4-4 0-4Q1.4-4 2-4.4Q3.8-6.6 7.4-7Q6.8-2.4 0-2.2Z" fill="#7a3550"/>
<circle cy="-7.6" r="3.9" fill="#c98a97"/><path d="M-2.6-8.4q2.6-2.2 5.2 0" fill="none"/></g>"""
_NUTMEG = """<g id="nutmeg" transform="rotate(28)" stroke="#5e431c" stroke-width=".9">
<ellipse rx="8.2" ry="10.6" fill="#a27b45"/><ellipse rx="6" ry="8.3" fill="#f1deb4" stroke="none"/>
<path d="M0-7.6V7.4M0-4.6Q-3-5.6-3.9-3.6M0-.8Q-4-2-4.9.4M0 3.2Q-3.2 2.2-4 4.2M0-3Q3-4.2 4-1.8M0 1Q4-.4 4.9 2
M0 5Q2.4 3.8 3.2 5.4" fill="none" stroke="#8a5f28" stroke-width="1.1"/></g>"""
_CHEST = """<g id="chest" stroke="#4f3010" stroke-width=".9">
<path d="M-10-1V-4Q-10-9-5-9H5Q10-9 10-4V-1Z" fill="#a06a2c"/>
<rect x="-10" y="-1" width="20" height="10" fill="#8a5820"/>
<path d="M-6.4-9V9M6.4-9V9M-10-1H10" stroke="#e2b341" stroke-width="1.8"/>
<rect x="-2.6" y="-3" width="5.2" height="5.6" rx="1" fill="#f0c650"/>
<circle cy="-.6" r="1" fill="#4f3010" stroke="none"/></g>"""
_ANCHOR_LINES = """<circle cy="-6.6" r="2.1"/><path d="M0-4.4V8M-4-1.6H4M-7.4 2.6Q-6.6 8 0 8.6Q6.6 8 7.4 2.6"/>"""
_ANCHOR = f"""<g id="anchor" fill="none" stroke="{INK}" stroke-width="1.7" stroke-linecap="round">{_ANCHOR_LINES}</g>"""
_PIRATES = """<g id="pirates" stroke="#1c1916" stroke-width="1" stroke-linejoin="round">
<path d="M-11 4H11L8 10H-8Z" fill="#5a3d20"/><path d="M-1 4V-11" stroke-width="1.4"/>
<path d="M1 2Q10-2 1-8ZM-3 2Q-11-1-3-6ZM-1-11H7L5-8.8L7-6.8H-1Z" fill="#2a2624"/></g>"""
_SHIP = f"""<g id="ship" stroke="{INK}" stroke-width="1" stroke-linejoin="round">
<path d="M-12 5H12Q11 11 6 11H-7Q-11 11-12 5Z" fill="#8a5a2b"/><path d="M-4 5V-11M5 5V-8" stroke-width="1.3"/>
<path d="M-3 3Q4-3-3-9ZM6 3Q12-1 6-7ZM-5 2Q-13-1-5-7Z" fill="#fdf6e3"/>
<path d="M-4-11L2-9.4L-4-8Z" fill="#b5322b"/></g>"""

# The backs of cargo cards (84 by 112) and ports (112 by 84), from their top left corner.
_BACK = f"""<g id="back"><rect width="84" height="112" rx="7" fill="#28505e" stroke="#f2e6c9" stroke-width="2"/>
<rect x="6" y="6" width="72" height="100" rx="4" fill="none" stroke="{GOLD}" stroke-width="1.5"/>
<path d="M42 22L48 50L76 56L48 62L42 90L36 62L8 56L36 50Z" fill="{GOLD}"/>
<path d="M56 36L49 53L62 76L44 63L28 76L35 59L22 36L40 49Z" fill="#f2e6c9" fill-opacity=".55"/></g>"""
_PORT_BACK = f"""<g id="port-back">
<rect width="112" height="84" rx="7" fill="#7a4a2a" stroke="#f2e6c9" stroke-width="2"/>
<rect x="6" y="6" width="100" height="72" rx="4" fill="none" stroke="{GOLD}" stroke-width="1.5"/>
<g transform="translate(56 42) scale(2.4)" fill="none" stroke="{GOLD}" stroke-width="1.7" stroke-linecap="round">
{_ANCHOR_LINES}</g></g>"""

SYMBOLS = "".join(
    [
        *(_flag(company, colour) for company, colour in zip(COMPANIES, COMPANY_COLOURS, strict=True)),
        *(_PEPPER, _CINNAMON, _CLOVES, _NUTMEG, _CHEST, _ANCHOR, _PIRATES, _SHIP, _BACK, _PORT_BACK),
    ]
)
