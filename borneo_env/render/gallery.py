"""make_pictures: the example pictures of the documentation, from fixed games."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from borneo_env.agent import RANDOM
from borneo_env.pieces import plain
from borneo_env.record import record_games, replay
from borneo_env.render.animation import Animation
from borneo_env.render.picture import Picture
from borneo_env.render.pixels import rgb, save_png
from borneo_env.ruleset import Ruleset
from borneo_env.story import Narrator
from kontor.files import make_folder, write_file

NAMES = ("Ayu", "Bram", "Citra", "Dirk", "Eka")
PNG_WIDTH = 1200
COARSE = np.uint8(0xFC)  # six bits of each colour: nobody sees it, and the file is a quarter smaller
SEED = 1


class Example(NamedTuple):
    ruleset: Ruleset
    game: int  # its number, of SEED
    line: int  # of the record: the picture shows the game after it
    seat: int | None
    legend: bool = False


EXAMPLES = {
    "three-players-early": Example(Ruleset(players=3), 77, 39, 0, legend=True),
    "four-players": Example(Ruleset(players=4), 152, 224, None),
    "five-players-late": Example(Ruleset(players=5, blackbeard=True), 149, 283, None),
}

FILM, FILM_AGENTS = "game.svg", ("merchant", "climber", "contractor")


def make_pictures(folder: str | Path) -> list[Path]:
    """Draw the example pictures into a folder, each as SVG and as PNG, and a whole game; returns their paths."""
    folder, paths = make_folder(folder), []
    for name, example in EXAMPLES.items():
        drawing = draw(example)
        paths += [folder / f"{name}.svg", folder / f"{name}.png"]
        write_file(paths[-2], drawing)
        save_png(rgb(drawing, PNG_WIDTH) & COARSE, paths[-1])
    paths.append(folder / FILM)
    write_file(paths[-1], draw_film())
    return paths


def draw_film() -> str:
    """A game of three bots as an SVG that moves."""
    (record,) = record_games(Ruleset(players=3), 1, seed=SEED, agents=FILM_AGENTS)
    return Animation.of(record).svg()


def draw(example: Example) -> str:
    """One of the example pictures as SVG."""
    names, agents = NAMES[: example.ruleset.players], [RANDOM] * example.ruleset.players
    (record,) = record_games(example.ruleset, 1, seed=SEED, agents=agents, names=names, first=example.game)
    narrator = Narrator(forced=True)
    for moment in replay(record):
        told = [plain(line.pieces, names) for line in narrator.tell(moment) if not line.heading]
        if moment.line_number == example.line:
            break
    last_move = ". ".join(words.rstrip(".") for words in told)
    return Picture(example.ruleset, moment.after, example.seat, last_move, names, legend=example.legend).svg()
