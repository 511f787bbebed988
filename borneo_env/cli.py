"""The `borneo` command.

Its commands are functions with Typer's options. Those of other packages are found by the entry-point group
`borneo.commands`, as agents are found by theirs. Each imports what it needs itself, so that `borneo --help` is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer

from borneo_env import __version__
from borneo_env.commands import describe, random_games, records
from borneo_env.console import say

GROUP = "borneo.commands"
Version = Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)]
OWN: dict[str, Callable[..., Any]] = {
    "actions": describe.actions,
    "observation": describe.observation,
    "manual": describe.manual,
    "rules": describe.rules,
    "pictures": describe.pictures,
    "record": records.record,
    "verify": records.verify,
    "show": records.show,
    "random": random_games.play_random,
}


def _make_app() -> typer.Typer:
    """The command with all that is installed; a command that cannot be loaded is left out, and said so."""
    app = typer.Typer(
        callback=_options, invoke_without_command=True, no_args_is_help=True, add_completion=False,
        help="Borneo, the game of spice traders, for learning agents.",
    )  # fmt: skip
    for name, command in OWN.items():
        app.command(name)(command)
    for found in sorted(entry_points(group=GROUP), key=lambda found: found.name):
        try:
            if found.name in OWN:
                raise ValueError("the name is taken by borneo itself")
            app.command(found.name)(found.load())
        except Exception as error:  # somebody else's package
            say(f"the command {found.name} cannot be loaded: {type(error).__name__}: {error}", style="yellow")
    return app


def _options(version: Version = False) -> None:
    if version:
        print(f"borneo-env {__version__}")
        raise typer.Exit


app = _make_app()


def main() -> None:
    """Run the command; a mistake of the user is one line on stderr and status 2, never a traceback."""
    try:
        app(prog_name="borneo")
    except (ValueError, OSError) as error:  # the package's own errors are ValueErrors with a remedy in them
        say(f"error: {_in_words(error)}", style="red")
        sys.exit(2)


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


if __name__ == "__main__":
    main()
