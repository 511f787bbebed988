"""What a seat sees of a table: pictures and news, all made from the game with what the seat may not know taken out."""

from __future__ import annotations

from typing import Any

import numpy as np

from borneo_env.engine.hidden import redact
from borneo_env.engine.state import SPECTATOR
from borneo_env.render.chart import BACKGROUND, HEIGHT, WIDTH
from borneo_env.render.picture import DEFINITIONS, Picture
from borneo_web.server.html import Html, tag
from borneo_web.server.table import Table
from borneo_web.server.words import sentence, told

RECENT = 12  # lines of the story that a spectator is shown
MOST_STEPS = 60  # that are shown one after the other


def picture(table: Table, seat: int, game: np.void | None = None, last: str = "") -> Picture:
    """The position, or an earlier one, for the eyes of a seat."""
    shown = redact(table.game.batch.games[0] if game is None else game, seat)
    return Picture(table.game.batch.ruleset, shown, seat, last, table.game.names)


def drawing(picture: Picture) -> Html:
    """A picture as part of a page. Its panes have numbers, so that another position can take their place, and boxes."""
    panes = (
        tag("g", Html(pane.content), data_pane=i, data_box=" ".join(f"{edge:.0f}" for edge in pane[:4]))
        for i, pane in enumerate(picture.panes())
    )
    return tag(
        "svg", Html(DEFINITIONS + BACKGROUND), *panes, viewBox=f"0 0 {WIDTH} {HEIGHT}", id="picture", aria_hidden="true"
    )


def news(table: Table, seat: int) -> list[Html]:
    """What has happened since the seat's last decision began, told as far as the seat may know it."""
    return story(table, seat, table.heard.get(seat, 0) if seat != SPECTATOR else max(0, len(table.game.told) - RECENT))


def story(table: Table, seat: int, since: int = 0) -> list[Html]:
    """All that has happened since so much was told."""
    ruleset = table.game.batch.ruleset
    return [
        tag("li", sentence(ruleset, words), class_="turn" if not words.startswith(" ") else None)
        for words in table.game.news(seat, since)
    ]


def steps(table: Table, seat: int, since: int) -> list[dict[str, Any]]:
    """What has happened since so much was told, step by step: words, and the panes of the picture that changed."""
    with table.lock:
        positions = sorted(table.game.positions.items())
        heard = list(table.game.told)
    shown: list[dict[str, Any]] = []
    before: dict[int, str] = {}
    start = since
    for count, game in [pair for pair in positions if pair[0] > since][-MOST_STEPS:]:
        lines = [line for line in heard[start:count] if line.seat in (None, seat)]
        start = count
        if not lines:
            continue
        words = [table.words(seat, line.words).strip() for line in lines]
        drawn = dict(enumerate(pane.content for pane in picture(table, seat, game, words[-1]).panes()))
        changed = {pane: content for pane, content in drawn.items() if before.get(pane) != content}
        before = drawn
        shown.append({"told": [told(table.game.batch.ruleset, line) for line in words], "panes": changed})
    return shown
