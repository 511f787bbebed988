"""Drawings as pixels, for windows, videos and `render_mode="rgb_array"`. Needs the extra `render`."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.render.chart import WIDTH
from borneo_env.render.pen import OTHERS, Pane
from kontor.files import whole_file

FONT_FILES = ("SourceSerifPro-Regular.ttf", "SourceSerifPro-Semibold.ttf", "SourceSerifPro-It.ttf")
PACKAGES = ("resvg_py", "PIL.Image", "font_source_serif_pro")
LAST_LATIN = "\u024f"  # the font brought along has these letters, and a few signs


def rgb(svg_text: str, width: int = WIDTH) -> NDArray[np.uint8]:
    """A drawing as an array (height, width, 3); its height follows from the drawing.

    The letters are those of the package font-source-serif-pro, so pixels are the same on a machine without fonts.
    Only names in other scripts than the Latin one look for a font of the system.
    """
    return np.asarray(_image(svg_text, width).convert("RGB"))


def save_png(pixels: NDArray[np.uint8], path: str | Path) -> None:
    """Write pixels as a PNG file, whole or not at all."""
    with whole_file(path) as file:
        extra("PIL.Image").fromarray(pixels).save(file, "PNG", optimize=True)


def pieced_together(ground: str, definitions: str, panes: Sequence[Pane], width: int) -> NDArray[np.uint8]:
    """Panes on a ground as pixels. From one move to the next most panes stay as they are and are not drawn anew."""
    canvas = _ground(ground, width).copy()
    for pane in panes:
        piece, corner = _piece(definitions, pane, width / WIDTH)
        canvas.alpha_composite(piece, corner)
    return np.asarray(canvas.convert("RGB"))


@lru_cache(maxsize=4)
def _ground(ground: str, width: int) -> Any:
    return _image(ground, width)


@lru_cache(maxsize=64)
def _piece(definitions: str, pane: Pane, scale: float) -> tuple[Any, tuple[int, int]]:
    """A pane as an image without a ground, and where it belongs. It begins and ends at whole pixels."""
    left, top = floor(pane.left * scale), floor(pane.top * scale)
    width, height = ceil(pane.right * scale) - left, ceil(pane.bottom * scale) - top
    box = " ".join(str(side / scale) for side in (left, top, width, height))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{width}" height="{height}">'
    return _image(f"{head}{definitions}{pane.content}</svg>"), (left, top)


def _image(svg_text: str, width: int | None = None) -> Any:
    resvg, image, font = map(extra, PACKAGES)
    png = resvg.svg_to_bytes(
        svg_string=svg_text,
        width=width,
        font_files=[f"{font.font_directory}/{name}" for name in FONT_FILES],
        skip_system_fonts=max(set(svg_text) - set(OTHERS)) <= LAST_LATIN,
    )
    return image.open(io.BytesIO(bytes(png))).convert("RGBA")


class MissingExtra(ImportError, ValueError):
    """A package of the extra `render` is missing. (A ValueError too: the user can mend it, as the message says.)"""


def extra(module: str) -> Any:
    """A module of the extra `render`; without it, an error that says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingExtra(
            f"pictures need {package}, which is missing; pip install '.[render]' in the project's folder"
        ) from error


def check_extra() -> None:
    """Complain about what pixels need and is not there, before there is anything to lose."""
    for module in PACKAGES:
        extra(module)
