"""page: the content of a replay as HTML in one file. Whatever stands in the content, nothing in it is run.

The content is packed, as text of letters and digits. The scripts show words as text only, and the policy in the head of
the page lets a browser run nothing but them.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from borneo_env.render import symbols
from borneo_env.render.pen import FONT, INK, STYLE

# In their order.
SCRIPTS = ("unpack", "elements", "theme", "pictures", "curves", "words", "story", "decision", "steps", "start")
COLOURS = ("PAPER", "PAPER_EDGE", "CARD", "FAINT", "GOLD", "SEA", "FOAM", "WAX", "GLOW")  # of the pictures
FILES = files("borneo_web.replay")
BRAND = '<b class="brand">BORNEO</b>'  # in the header
RAW = -15  # deflate without a header, which browsers unpack


def page(content: dict[str, Any]) -> str:
    """The page with its style, its scripts and its content."""
    return Template(_file("page.html")).substitute(
        title=escape(f"Borneo: {', '.join(content['names'])}"),
        brand=BRAND,
        edition=escape(content["title"]),
        policy=policy(),
        style=_style(),
        script=_script(),
        content=json.dumps({"format": content["format"], "packed": packed(content)}).replace("<", "\\u003c"),
    )


def with_way_back(page: str, words: str, address: str) -> str:
    """The page as a server shows it: its header leads to where it was opened, and to the start."""
    home = '<a class="brand" href="/">BORNEO</a>'
    return page.replace(BRAND, f'{home}\n<a class="back" href="{escape(address)}">← {escape(words)}</a>', 1)


def packed(content: Any) -> str:
    """Content as deflated JSON in base64."""
    written = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    deflate = zlib.compressobj(9, wbits=RAW)
    return b64encode(deflate.compress(written.encode()) + deflate.flush()).decode()


def unpacked(text: str) -> Any:
    """What was packed."""
    return json.loads(zlib.decompress(b64decode(text), wbits=RAW))


@cache
def policy() -> str:
    """What a browser may run and load: the script and the styles of the page, and nothing from anywhere."""
    script, style, pictures = map(_hash, (_script(), _style(), STYLE))
    return f"default-src 'none'; script-src {script}; style-src {style} {pictures}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _script() -> str:
    """All scripts as one, which shares nothing with the page around it."""
    return '"use strict";\n(() => {\n' + "\n".join(_file(f"{name}.js") for name in SCRIPTS) + "})();\n"


@cache
def _style() -> str:
    """The style, with the colours and the type of the pictures."""
    named = {name: getattr(symbols, name) for name in COLOURS} | {"INK": INK, "FONT": f"'{FONT}'"}
    players = zip(symbols.PLAYER_COLOURS, symbols.PLAYER_INKS, strict=True)
    for player, (colour, ink) in enumerate(players):
        named |= {f"PLAYER_{player}": colour, f"PLAYER_{player}_INK": ink}
    variables = "".join(f"--{name.lower().replace('_', '-')}:{value};" for name, value in named.items())
    return f":root{{{variables}}}\n{_file('page.css')}"


@cache
def _file(name: str) -> str:
    return FILES.joinpath(name).read_text(encoding="utf-8")
