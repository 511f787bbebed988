"""The command `borneo web`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from borneo_env.console import AsJson


def web(
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 is any that is free.")] = 8420,
    host: Annotated[
        str | None,
        typer.Option(help="Be reached from other machines under this name or address; the start page needs a token."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where games are kept; by default with the user's other data.")
    ] = None,
    arena: Annotated[
        Path | None, typer.Option(help="The folder of an arena: its standings, games and replays can be looked at.")
    ] = None,
    training: Annotated[
        Path | None, typer.Option(help="The folder of a training: its curve, and its models as opponents.")
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    as_json: AsJson = False,
) -> None:
    """Play Borneo in a browser, alone or several people, on this machine (needs the extra `web`)."""
    try:
        from borneo_web.server.serve import serve
    except ModuleNotFoundError as error:
        raise missing(error) from None
    serve(
        port=port, host=host, folder=folder, arena=arena, training=training, open_browser=open_browser, as_json=as_json
    )


def missing(error: ModuleNotFoundError) -> Exception:
    """An error in one line, with the remedy, for a module that could not be imported."""
    if error.name is None or error.name.split(".")[0] not in ("starlette", "uvicorn"):
        return error
    return ValueError(f"playing in a browser needs {error.name}: pip install '.[web]' in the project's folder")
