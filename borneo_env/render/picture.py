"""Picture: a position as somebody sees it, to be shown in a notebook, printed, saved or turned into pixels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.batch import Batch
from borneo_env.render.board import board
from borneo_env.render.chart import BACKGROUND, HEIGHT, WIDTH
from borneo_env.render.legend import HEIGHT as LEGEND_HEIGHT
from borneo_env.render.legend import legend as drawn_legend
from borneo_env.render.pen import STYLE, Pane, box, text
from borneo_env.render.pixels import pieced_together, save_png
from borneo_env.render.players import panels
from borneo_env.render.scene import Scene
from borneo_env.render.strip import strip
from borneo_env.render.symbols import FOAM, GOLD, SEA, SYMBOLS
from borneo_env.render.terminal import table
from borneo_env.ruleset import Ruleset
from kontor.engine.arguments import checked_game, checked_seat
from kontor.files import write_file

DEFINITIONS = f"<style>{STYLE}</style><defs>{SYMBOLS}</defs>"
TAIL = "</svg>\n"


class Picture:
    """A position as it was when the picture was made: in a notebook it shows itself, `print` gives it as text.

    Arguments:
        ruleset, game: the game record, complete or redacted.
        seat: whose eyes see it: a player (only that hand is face up), -1 for a spectator (no hand is), or None for
            the table (all hands are; complete games only).
        last_move: the last move in words; forced moves in between need not be told.
        names: the players' names instead of "player 0", "player 1", ...
        legend: whether the drawing says below what its signs mean.
    """

    def __init__(
        self,
        ruleset: Ruleset,
        game: np.void,
        seat: int | None = None,
        last_move: str = "",
        names: Sequence[str] | None = None,
        *,
        legend: bool = False,
    ) -> None:
        self.ruleset = ruleset
        self._scene = Scene(ruleset, game, seat, last_move, names)
        self._legend = legend

    @classmethod
    def of(cls, batch: Batch, game: int = 0, seat: int | None = None, *, legend: bool = False) -> Picture:
        """One game of a batch for a seat's eyes; with a legend, the drawing says below what its signs mean."""
        seat = None if seat is None else checked_seat(seat, batch.ruleset.players)
        return cls(batch.ruleset, batch.games[checked_game(game, len(batch))], seat, legend=legend)

    def svg(self) -> str:
        """An SVG drawing of 1280 by 1012, always of the same size; with a legend it is 212 higher."""
        return self.head() + "".join(pane.content for pane in self.panes()) + TAIL

    def rgb(self, width: int = WIDTH) -> NDArray[np.uint8]:
        """An array of pixels (height, width, 3); parts that were drawn before are not drawn again."""
        return pieced_together(self.head() + TAIL, DEFINITIONS, self.panes(), width)

    def ansi(self, colour: bool = True) -> str:
        """A text of at most 80 columns for the terminal."""
        return table(self._scene, colour)

    def save(self, path: str | Path) -> None:
        """Write the picture to a file whose name ends in .svg, or in .png."""
        path = Path(path)
        if path.suffix == ".svg":
            write_file(path, self.svg())
        elif path.suffix == ".png":
            save_png(self.rgb(), path)
        else:
            raise ValueError(f"{path}: a picture is saved as .svg or .png")

    def __str__(self) -> str:
        return self.ansi()

    def _repr_svg_(self) -> str:
        return self.svg()

    def head(self) -> str:
        """How the drawing begins: its size, the symbols it refers to, and the ground on which its parts lie."""
        height = HEIGHT + LEGEND_HEIGHT if self._legend else HEIGHT
        size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        table = box(0, HEIGHT, WIDTH, LEGEND_HEIGHT, SEA) if self._legend else ""
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{DEFINITIONS}{BACKGROUND}{table}'

    def panes(self) -> list[Pane]:
        """The parts of the drawing from the ground up, as many for every position of a game."""
        scene = self._scene
        panes = [_title(scene), *board(scene), strip(scene), *panels(scene)]
        return [*panes, drawn_legend(scene.ruleset.blackbeard)] if self._legend else panes


def notice(words: str) -> str:
    """Words as a small SVG drawing, where there is no position to show."""
    size = f'width="{WIDTH // 2}" height="48"'
    ground = f'<rect {size} rx="8" fill="{SEA}"/>' + text(20, 30, words, 18, WIDTH / 2 - 40, ink=FOAM)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{STYLE}</style>{ground}{TAIL}'


def _title(scene: Scene) -> Pane:
    name = text(28, 44, "BORNEO", 34, 190, "bold", ink=GOLD)
    edition = text(190, 42, scene.title, 18, 640, ink=FOAM)
    return Pane(0, 0, WIDTH, 60, name + edition + text(1252, 42, scene.view, 17, 400, "italic", "end", FOAM))
