"""The command `replay`: a recorded game as a page for a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from borneo_env.commands.records import RecordFile
from borneo_env.console import AsJson, progress_bar
from kontor.files import check_writable, on_one_line

NO_THOUGHTS = "none"


def replay(
    file: RecordFile,
    out_file: Annotated[Path, typer.Option("--out", help="Where to: a name that ends in .html.")] = Path("game.html"),
    seat: Annotated[
        int | None,
        typer.Option(help="The page holds what this player may know, and nothing else; -1: a spectator.",
                     show_default="everything, all hands"),
    ] = None,
    thoughts: Annotated[
        str | None,
        typer.Option(help="Agents, with commas, that say what they think of every decision; or none.",
                     show_default="merchant, and policy where it was trained for the game"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the chance that thoughts and estimates use.")] = 0,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Write a recorded game as one page to step through in a browser; it needs no server and no network."""
    from borneo_env.record import RecordError, read_record
    from borneo_web.replay import Replay

    if out_file.suffix != ".html":
        raise ValueError(f"{out_file}: a replay is saved as .html")
    check_writable(out_file)
    agents = None if thoughts is None else [name.strip() for name in thoughts.split(",") if thoughts != NO_THOUGHTS]
    try:
        with progress_bar() as progress:
            made = Replay.of(
                read_record(file), seat, thoughts=agents, seed=seed,
                track=lambda things, words: progress.track(things, description=words),
            )  # fmt: skip
    except RecordError as error:
        raise ValueError(f"{file}: {error}") from None
    made.save(out_file)
    size, count = out_file.stat().st_size, len(made.content["turns"])
    if as_json:
        print(json.dumps({"file": str(out_file), "positions": count, "bytes": size}))
    else:
        print(on_one_line(f"{out_file}: {count} positions, {size / 1e6:.2f} MB; open it in a browser"))
