"""rgb: a drawing as pixels, for videos and `render_mode="rgb_array"`. Needs the extra `render`."""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.render.pen import OTHERS

FONT_FILES = ("SourceSerifPro-Regular.ttf", "SourceSerifPro-Semibold.ttf", "SourceSerifPro-It.ttf")
LAST_LATIN = "\u024f"  # the font brought along has these letters, and a few signs


def rgb(svg_text: str, width: int = 1280) -> NDArray[np.uint8]:
    """A drawing as an array (height, width, 3); its height follows from the drawing.

    The letters are those of the package font-source-serif-pro, so pixels are the same on a machine without fonts.
    Only names in other scripts than the Latin one look for a font of the system.
    """
    resvg, image, font = _extra("resvg_py"), _extra("PIL.Image"), _extra("font_source_serif_pro")
    png = resvg.svg_to_bytes(
        svg_string=svg_text,
        width=width,
        font_files=[f"{font.font_directory}/{name}" for name in FONT_FILES],
        skip_system_fonts=max(set(svg_text) - set(OTHERS)) <= LAST_LATIN,
    )
    return np.asarray(image.open(io.BytesIO(bytes(png))).convert("RGB"))


def _extra(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"pixels need {module}, which is not installed; pip install borneo-env[render]") from error
