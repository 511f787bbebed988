"""What the commands of `borneo` share: options that mean the same everywhere, and what is said in the terminal."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import Field, fields
from functools import wraps
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from borneo_env.ruleset import Ruleset
from kontor.files import on_one_line

LONGEST_ERROR = 4000  # characters; an illegal move is answered with all legal ones
LET_RAISE = "_borneo_let_raise"  # an attribute of errors
out = Console()
err = Console(stderr=True)

Seed = Annotated[int, typer.Option(help="The same seed gives the same games on every machine.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]


def with_ruleset(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorates a command that is given fields of a ruleset as `**rules`: Typer sees an option for each, in a panel.

    A field may have a flag, which stands for the second of its two choices.
    """
    taken = [one for one in fields(Ruleset) if not names or one.name in names]
    flags = {one.metadata["flag"]: one for one in taken if "flag" in one.metadata}

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            for flag in flags.keys() & given.keys():
                given[flags[flag].name] = flags[flag].metadata["choices"][given.pop(flag)]
            command(**given)

        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [one for one in own if one.kind is not inspect.Parameter.VAR_KEYWORD]
        parameters += map(_option, taken)
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorated


def _option(one: Field[Any]) -> inspect.Parameter:
    """The option for a field of a ruleset."""
    flag = one.metadata.get("flag")
    kind = bool if flag else str | None if one.default is None else type(one.default)
    declared = [f"--{flag.replace('_', '-')}"] if flag else []
    option = typer.Option(*declared, help=one.metadata["meaning"], rich_help_panel="Which Borneo is played")
    default = False if flag else one.default
    return inspect.Parameter(
        flag or one.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


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
