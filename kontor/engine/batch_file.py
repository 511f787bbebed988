"""Batch files: running games in a plain `.npz` archive. Nothing is ever unpickled."""

from __future__ import annotations

import json
import math
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kontor.files import whole_file
from kontor.game import Game

VERSION = 1
MOST_SAVED = 2_000_000  # games in a file
LONGEST_ABOUT = 4_000_000  # bytes; with the shipped tables it has 50,000


class BatchFileError(ValueError):
    """A file that does not hold a saved batch of this version."""


def format_of(game: Game) -> str:
    return f"{game.name}-batch/{VERSION}"


def write_batch_file(path: str | Path, game: Game, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a description and the arrays of a batch."""
    if len(arrays["games"]) > MOST_SAVED:
        raise ValueError(
            f"a file holds at most {MOST_SAVED:,} games, not {len(arrays['games']):,}; save smaller batches"
        )
    written: dict[str, Any] = arrays
    with whole_file(path) as file:
        np.savez(file, about=np.array(json.dumps({"format": format_of(game), **about})), **written)


def read_batch_file(path: Path, game: Game) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The description and the arrays of a saved batch.

    Nothing is read before its type and size are known to be right: `save` does not compress, so a file holds no more
    than it is long.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("not a plain file")
    with zipfile.ZipFile(path) as archive:
        about = _read_array(archive, "about", None, LONGEST_ABOUT)
        games = _read_array(archive, "games", game.record, MOST_SAVED * game.record.itemsize).view(game.record)
        most = max(games.nbytes, 1)
        names = ("done", *game.result_names)
        result = {name: _read_array(archive, name, game.desk[name].base, most) for name in names}
    for name, values in result.items():
        if values.shape != (len(games), *game.desk[name].shape):
            raise ValueError(f"{name} has another shape than it should")
    if (result["done"].view(np.int8) > 1).any():
        raise ValueError("done is neither true nor false")
    described = json.loads(str(about))
    if described["format"] != format_of(game):
        raise ValueError(f"its format is {described['format']!r}, not {format_of(game)!r}")
    return described, {"games": games, **result}


def _read_array(archive: zipfile.ZipFile, name: str, dtype: np.dtype[Any] | None, most: int) -> NDArray[Any]:
    """One array of an archive, of this type (None: a text) and of so many bytes at most."""
    member = archive.getinfo(f"{name}.npy")
    if member.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name} is compressed; save the batch again with Batch.save")
    with archive.open(member) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{name} is an array of another format")
        shape, turned, found = np.lib.format.read_array_header_1_0(file)
        right = found == dtype if dtype is not None else found.kind == "U" and not shape
        if not right or turned:
            raise ValueError(f"{name} has another type than it should")
        size = found.itemsize * math.prod(shape)
        if not 0 < size <= most:
            raise ValueError(f"{name} has {size:,} bytes; from 1 to {most:,} are allowed")
        content = file.read(size + 1)
    if len(content) != size:
        raise ValueError(f"{name} has another length than it says")
    return np.frombuffer(content, found).reshape(shape)
