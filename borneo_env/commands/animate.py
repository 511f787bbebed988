"""The command `animate`: a recorded game as moving pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from borneo_env.commands.records import RecordFile
from borneo_env.console import AsJson, progress_bar
from borneo_env.files import check_writable, on_one_line


def animate(
    file: RecordFile,
    out_file: Annotated[Path, typer.Option("--out", help="Where to: a name that ends in .gif or .svg.")] = Path(
        "game.gif"
    ),
    seat: Annotated[
        int | None, typer.Option(help="Whose hand is seen; -1: none.", show_default="all hands face up")
    ] = None,
    decisions: Annotated[
        bool, typer.Option("--every-decision", help="A picture for every decision, not for every turn.")
    ] = False,
    seconds: Annotated[float, typer.Option(help="How long each picture is shown.")] = 1.2,
    width: Annotated[int, typer.Option(help="Of a GIF, in pixels.")] = 840,
    legend: Annotated[bool, typer.Option("--legend", help="Say below what the signs mean.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a film of a recorded game, for a README or a talk (.gif needs the extra `render`, .svg does not)."""
    from borneo_env.record import RecordError, read_record
    from borneo_env.render.animation import Animation, check_file

    check_file(out_file, width)
    check_writable(out_file)
    try:
        animation = Animation.of(read_record(file), seat, decisions=decisions, legend=legend, seconds=seconds)
    except RecordError as error:
        raise ValueError(f"{file}: {error}") from None
    with progress_bar() as progress:
        animation.save(out_file, width=width, track=lambda frames: progress.track(frames, description="pictures"))
    size, count = out_file.stat().st_size, len(animation.pictures)
    if as_json:
        print(json.dumps({"file": str(out_file), "pictures": count, "bytes": size}))
    else:
        print(on_one_line(f"{out_file}: {count} pictures, {size / 1e6:.1f} MB"))
