"""What the commands of `borneo` share: options that mean the same everywhere, and what is said in the terminal."""

from __future__ import annotations

import os
from typing import Annotated, TextIO

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from borneo_env.files import on_one_line
from borneo_env.ruleset import Ruleset

LONGEST_ERROR = 4000  # characters; an illegal move is answered with all legal ones
LET_RAISE = "_borneo_let_raise"  # an attribute of errors
out = Console()
err = Console(stderr=True)

RULES = "Which Borneo is played"  # the panel of these options in the help of a command
# fmt: off
Edition = Annotated[str, typer.Option(help="board (2008) or card (2007).", rich_help_panel=RULES)]
Players = Annotated[int, typer.Option(help="3, 4 or 5.", rich_help_panel=RULES)]
FourTraders = Annotated[
    bool, typer.Option("--four-traders", help="Variant for 3 players: four traders each (R9.1).", rich_help_panel=RULES)
]
Blackbeard = Annotated[
    bool, typer.Option("--blackbeard", help="Variant: Blackbeard's secret (R9.2).", rich_help_panel=RULES)
]
CardTables = Annotated[
    str | None, typer.Option("--tables", help="A card table of your own (TOML), or `tiny`.", rich_help_panel=RULES)
]
# fmt: on
Seed = Annotated[int, typer.Option(help="The same seed gives the same games on every machine.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]


def ruleset_of(edition: str, players: int, four_traders: bool, blackbeard: bool, tables: str | None) -> Ruleset:
    """The ruleset that options ask for."""
    return Ruleset(edition, players, 4 if four_traders else 3, blackbeard, tables)  # type: ignore[arg-type]


def say(words: str, style: str = "") -> None:
    """Say something on stderr in one line; what stands in it is never taken for markup or for orders to a terminal."""
    err.print(on_one_line(words, LONGEST_ERROR), style=style, markup=False, highlight=False, soft_wrap=True)


def in_colour(stream: TextIO) -> bool:
    """Whether what is shown there may have colours: in a terminal, unless NO_COLOR says no."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def print_markdown(written: str) -> None:
    """Print Markdown: laid out in a terminal, as it is written in a file or a pipe."""
    from rich.markdown import Markdown  # which takes a while, and few commands need it

    if out.is_terminal:
        out.print(Markdown(written))
    else:
        print(written, end="")


def let_raise(error: BaseException) -> None:
    """Have the command end with this error as it is, whatever it is: a debugger waits for it."""
    setattr(error, LET_RAISE, True)


def progress_bar() -> Progress:
    """A progress bar on stderr, if somebody is looking."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),  # all that is told beside it fits 80 columns
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    # A quiet console, because a bar that is turned off ends with an empty line in older versions of Rich.
    return Progress(*columns, console=err if err.is_terminal else Console(quiet=True), disable=not err.is_terminal)
