"""The frame of every page, and what is said when something is refused."""

from __future__ import annotations

from borneo_web.server.html import Html, join, tag


def page(
    title: str, *content: object, script: str | None = None, style: str | None = None, tools: object = None
) -> Html:
    """A whole page, with a script and a style of its own if need be, and tools in its header beside those of all."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · Borneo"),
        tag("link", rel="stylesheet", href="/static/base.css"),
        tag("link", rel="stylesheet", href="/static/style.css"),
        tag("link", rel="stylesheet", href=f"/static/{style}") if style else None,
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


def refusal_page(words: str) -> Html:
    """What is said when a request is not granted."""
    back = tag("p", tag("a", "To the start", href="/"))
    return page("Not done", tag("main", tag("section", tag("p", words, class_="problem", role="alert"), back,
                                            class_="sheet"), class_="start"))  # fmt: skip
