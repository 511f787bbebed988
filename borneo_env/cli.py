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
from typer.main import get_command

from borneo_env import __version__
from borneo_env.commands import describe, new_bot, random_games, records
from borneo_env.console import LET_RAISE, say
from kontor.traces import OF_AGENT, current_folder, traceback_of

GROUP = "borneo.commands"
MISTAKES = (ValueError, OSError)  # of users: the package's own errors are ValueErrors with a remedy in them
Version = Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)]
OWN: dict[str, Callable[..., Any]] = {
    "show": records.show,
    "animate": records.animate,
    "rules": describe.rules,
    "agents": describe.agents,
    "record": records.record,
    "verify": records.verify,
    "random": random_games.play_random,
    "new-bot": new_bot.new_bot,
    "manual": describe.manual,
    "actions": describe.actions,
    "observation": describe.observation,
    "pictures": describe.pictures,
}
# The order of `borneo --help`: what people need first comes first. A name may stand here whose package is missing.
PANELS = {
    "Play and watch": ("play", "web", "show", "replay", "animate", "rules"),
    "Agents": ("agents", "arena", "train", "imitate", "new-bot"),
    "Games as data": ("record", "verify", "random"),
    "Reference": ("manual", "actions", "observation", "pictures"),
    "Speed": ("warm-up", "bench"),
}
PANEL_OF = {name: panel for panel, names in PANELS.items() for name in names}
OTHERS = "From other packages"


def _make_app() -> typer.Typer:
    """The command with all that is installed; a command that cannot be loaded is left out, and said so."""
    app = typer.Typer(
        callback=_options, invoke_without_command=True, no_args_is_help=True, add_completion=False,
        help="Borneo, the game of spice traders, for learning agents.",
    )  # fmt: skip
    commands = OWN | _commands_of_packages()
    order = [*PANEL_OF, *sorted(commands)]
    for name in sorted(commands, key=order.index):
        app.command(name, rich_help_panel=PANEL_OF.get(name, OTHERS))(commands[name])
    return app


def _commands_of_packages() -> dict[str, Callable[..., Any]]:
    commands = {}
    for found in sorted(entry_points(group=GROUP), key=lambda found: found.name):
        try:
            if found.name in OWN:
                raise ValueError("the name is taken by borneo itself")
            commands[found.name] = found.load()
        except Exception as error:  # somebody else's package
            say(f"the command {found.name} cannot be loaded: {type(error).__name__}: {error}", style="yellow")
    return commands


def _options(version: Version = False) -> None:
    if version:
        print(f"borneo-env {__version__}")
        raise typer.Exit


app = _make_app()
command = get_command(app)  # made once: that takes longer than most commands


def main() -> None:
    """Run the command; a mistake of the user is one line on stderr and status 2, never a traceback of ours."""
    try:
        command(prog_name="borneo")
    except Exception as error:
        if hasattr(error, LET_RAISE) or not (hasattr(error, OF_AGENT) or isinstance(error, MISTAKES)):
            raise
        say(f"error: {_in_words(error)}", style="red")
        more = [traceback_of(error, current_folder())] if hasattr(error, OF_AGENT) else getattr(error, "__notes__", ())
        for line in "\n".join(more).splitlines():  # an agent's traceback, which has the notes too
            say(line)
        sys.exit(2)


def _in_words(error: Exception) -> str:
    if hasattr(error, OF_AGENT):
        return f"{type(error).__name__}: {error}"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


if __name__ == "__main__":
    main()
