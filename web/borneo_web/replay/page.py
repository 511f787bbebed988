"""page: the content of a replay as HTML in one file. Whatever stands in the content, nothing in it is run.

The content is packed, as text of letters and digits. The scripts show words as text only, and the policy in the head of
the page lets a browser run nothing but them.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from borneo_env.render.pen import STYLE
from borneo_web import look

# In their order.
SCRIPTS = ("unpack", "elements", "pictures", "curves", "words", "story", "decision", "navigation", "start")
STROKES = {"#3b2a1a": "#a3956f", "#705a38": "#8d9a8c", "#b08d57": "#6b7f7d"}  # of pictures, and those by night
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
    return (
        '"use strict";\n(() => {\n'
        + "\n".join([look.theme_script(), *(_file(f"{name}.js") for name in SCRIPTS)])
        + "})();\n"
    )


@cache
def _style() -> str:
    """The style of all pages, that of this one, and the pictures by night."""
    return look.style() + _file("page.css") + "".join(_by_night())


def _by_night() -> Iterator[str]:
    """What the colours of the pictures are on a dark page."""
    for colour, dark in look.NIGHT.items():
        yield f'#picture :not(text)[fill="{colour}"]{{fill:light-dark({colour},{dark})}}\n'
    for colour, dark in STROKES.items():
        yield f'#picture [stroke="{colour}"]{{stroke:light-dark({colour},{dark})}}\n'


@cache
def _file(name: str) -> str:
    return FILES.joinpath(name).read_text(encoding="utf-8")
