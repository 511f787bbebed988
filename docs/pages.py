"""A hook of MkDocs: files of the project are pages of the site too, so that no text is there twice.

Documents link to each other, and to sources, as they lie in the project. On the site these links lead to pages; a link
to a file that is not on it becomes plain text. Tables of what the code has are made anew.
"""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import get_type_hints

from borneo_train.run.config import Settings, option, usual
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from borneo_env.manual import rewards
from borneo_env.render import symbols

PAGES = {
    "README.md": "index.md",
    "borneo_env/RULES.md": "rules.md",
    "borneo_env/MANUAL.md": "manual.md",
    "RESULTS.md": "results.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "benchmarks.md",
}
COLOURS = ("SEA", "FOAM", "GOLD", "PAPER", "CARD", "FAINT", "WAX", "INK")  # for style.css
SOURCES = {page: source for source, page in PAGES.items()}
FOLDER = "docs/"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#:]+)(#[^)]*)?\)")  # within the project: an address elsewhere has a colon


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to those that are in docs/."""
    project = Path(config.config_file_path).parent
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(project / source).read_text(encoding="utf-8")))
    for name, content in (("colours.css", colours()), ("ship.svg", ship())):
        files.append(File.generated(config, name, content=content))
    return files


def colours() -> str:
    """The colours of the game's pictures by name."""
    named = {name.lower(): getattr(symbols, name) for name in COLOURS}
    return f":root {{ {' '.join(f'--{name}: {value};' for name, value in named.items())} }}\n"


def ship() -> str:
    """The ship of the pictures."""
    drawn = f'<defs>{symbols.SYMBOLS}</defs><use href="#ship"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-13 -12.5 26 25">{drawn}</svg>'


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text of a page as the site has it."""
    here = page.file.src_uri

    def on_the_site(link: re.Match[str]) -> str:
        picture, words, target, anchor = link.groups(default="")
        there = normpath(join(dirname(SOURCES.get(here, FOLDER + here)), target))
        if there in PAGES or there.startswith(FOLDER):
            there = relpath(PAGES.get(there, there.removeprefix(FOLDER)), dirname(here) or ".")
            return f"{picture}[{words}]({there}{anchor})"
        return words

    for name, made in MADE.items():
        markdown = markdown.replace(f"<!-- {name} -->", made())
    return LINK.sub(on_the_site, markdown)


def settings() -> str:
    """The options of `borneo train` as a table."""
    hints = get_type_hints(Settings, include_extras=True)
    rows = ["| option | default | meaning |", "| --- | --- | --- |"]
    for field in fields(Settings):
        (sentence,) = hints[field.name].__metadata__
        default = usual(field.name) or (f"`{field.default}`" if field.default != "" else "")
        rows.append(f"| `{option(field.name)}` | {default} | {sentence} |")
    return "\n".join(rows)


MADE = {"settings": settings, "rewards": rewards}  # tables that stand where a comment names them
