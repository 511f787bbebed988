"""svg: one drawing of a whole position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from borneo_env.render.board import board
from borneo_env.render.chart import BACKGROUND, HEIGHT, WIDTH
from borneo_env.render.pen import STYLE, text
from borneo_env.render.players import panels
from borneo_env.render.scene import Scene
from borneo_env.render.strip import strip
from borneo_env.render.symbols import FOAM, GOLD, SYMBOLS
from borneo_env.ruleset import Ruleset

HEAD = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
    f"<style>{STYLE}</style><defs>{SYMBOLS}</defs>{BACKGROUND}"
)


def svg(
    ruleset: Ruleset, game: np.void, seat: int | None = None, last_move: str = "", names: Sequence[str] | None = None
) -> str:
    """A position as an SVG drawing of 1280 by 1012, always of the same size.

    Arguments:
        ruleset, game: the game record, complete or redacted.
        seat: whose eyes see it: a player (only that hand is face up), -1 for a spectator (no hand is), or None for
            the table (all hands are; complete games only).
        last_move: the last move in words; forced moves in between need not be told.
        names: the players' names instead of "player 0", "player 1", ...
    """
    scene = Scene(ruleset, game, seat, last_move, names)
    return HEAD + _title(scene) + board(scene) + strip(scene) + panels(scene) + "</svg>\n"


def _title(scene: Scene) -> str:
    name = text(28, 44, "BORNEO", 34, 190, "bold", ink=GOLD)
    return (
        name
        + text(190, 42, scene.title, 18, 640, ink=FOAM)
        + text(1252, 42, scene.view, 17, 400, "italic", "end", FOAM)
    )
