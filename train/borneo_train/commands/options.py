"""Options of a command from a dataclass of settings: one for each field, with its sentence, in panels."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, get_type_hints

import typer


def with_options(settings: type[Any], usual: Callable[[str], str | None] = lambda name: None) -> Callable[..., Any]:
    """Decorates a command whose `**given` are settings: Typer sees an option for each of them.

    A field is `Annotated[type, "its sentence"]`; the docstring of the class that has it is its panel. Fields that the
    command has as parameters of its own are left out. `usual` says in words what a field is by default, where that is
    not its value.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [one for one in own if one.kind is not inspect.Parameter.VAR_KEYWORD]
        hints = get_type_hints(settings, include_extras=True)
        owners = {name: owner for owner in reversed(settings.__mro__) for name in inspect.get_annotations(owner)}
        named = {one.name for one in parameters}
        before = sum(one.kind is not inspect.Parameter.KEYWORD_ONLY for one in parameters)
        made = []
        for field in [field for field in fields(settings) if field.name not in named]:
            (sentence,) = hints[field.name].__metadata__
            shown = typer.Option(
                help=sentence, rich_help_panel=str(owners[field.name].__doc__), show_default=usual(field.name) or True
            )
            kind: Any = Annotated[hints[field.name].__origin__, shown]
            made.append(
                inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=kind)
            )
        parameters[before:before] = made  # options that the command has of its own come last
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return decorated
