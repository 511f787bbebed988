"""The frame of every page, what many of them are made of, and what is said when something is refused."""

from __future__ import annotations

from collections.abc import Sequence

from borneo_web.server.html import Html, join, tag


def page(
    title: str, *content: object, script: str | None = None, style: str | None = None, tools: object = None
) -> Html:
    """A whole page, with a script and a style of its own if need be, and tools in its header beside those of all."""
    styles = (f"/static/{name}" for name in ("base.css", "style.css", style) if name)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · Borneo"),
        *(tag("link", rel="stylesheet", href=address) for address in styles),
        tag("link", rel="icon", href="/static/icon.svg"),
        tag("script", src="/static/theme.js"),
        tag("script", type="module", src=f"/static/{script}") if script else None,
    )
    bar = tag(
        "header",
        tag("a", "BORNEO", href="/", class_="brand"),
        tag("h1", title, class_="title"),
        tag(
            "nav",
            tools,
            tag("a", "Games", href="/"),
            tag("a", "Rules", href="/rules", target="borneo-rules"),
            tag("button", "Dark", type="button", id="theme", hidden=True),
        ),
    )
    body = tag("body", bar, *content)
    return join(Html("<!doctype html>"), tag("html", head, body, lang="en"))


def sheets_page(title: str, *sheets: object, script: str | None = None) -> Html:
    """A page of sheets, one below the other."""
    return page(title, tag("main", *sheets, class_="start"), script=script)


def sheet(title: str | None, *content: object) -> Html:
    """A part of a page under its own title."""
    return tag("section", tag("h2", title) if title else None, *content, class_="sheet")


def link(words: str, address: str) -> Html:
    """A line that leads somewhere."""
    return tag("p", tag("a", words, href=address))


def problem(words: str) -> Html | None:
    """What went wrong, if there are words for it."""
    return tag("p", words, class_="problem", role="alert") if words else None


def figures(label: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Html:
    """A table that scrolls where it is too wide."""
    head = tag("thead", tag("tr", *(tag("th", words, scope="col") for words in heads)))
    body = tag("tbody", *(tag("tr", *(tag("td", cell) for cell in row)) for row in rows))
    table = tag("table", head, body, class_="figures")
    return tag("div", table, class_="scrolls", tabindex="0", role="group", aria_label=label)


def refusal_page(words: str) -> Html:
    """What is said when a request is not granted."""
    return sheets_page("Not done", sheet(None, problem(words), link("To the start", "/")))
