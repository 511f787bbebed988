"""The command `borneo agents`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from borneo_env.console import AsJson, out
from borneo_env.files import on_one_line


def agents(
    names: Annotated[
        list[str] | None, typer.Argument(help="Some agents only, or your own: my_bot:MyBot.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the agents: names, ideas, and the arguments they take, which follow their names: ismcts:budget=200."""
    from borneo_env.catalogue import catalogue, entry

    found = [entry(name) for name in names] if names else catalogue()
    if as_json:
        print(json.dumps([asdict(one) for one in found]))
        return
    for one in found:
        _print(one.name, "bold")
        _print(f"  {one.idea}")
        for argument in one.arguments:
            _print(f"  {argument.name}={argument.default}", "cyan", argument.meaning)
    if not names:
        _print("my_bot:MyBot", "bold")
        _print("  Your own: the class MyBot in my_bot.py, in the current folder too.")


def _print(words: str, style: str = "", more: str = "") -> None:
    text = Text(on_one_line(words), style)
    if more:
        text.append(f"  {on_one_line(more)}", "default")
    out.print(text, soft_wrap=True)
