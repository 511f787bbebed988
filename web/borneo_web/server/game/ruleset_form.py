"""The fields of a ruleset as the start page asks for them, and the ruleset that a form means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from borneo_env.render.scene import NUMBER_WORDS
from borneo_env.ruleset import Ruleset, RulesetError
from borneo_web.server.live_game import Refused


class FormField(NamedTuple):
    """A field: one of several values, or a box for the unusual one."""

    name: str
    legend: str
    choices: dict[str, str]  # what the form sends, and what it is called
    value: Callable[[str], Any]  # of what the form sends
    usual: str = ""  # which is chosen at first; none of a box


VARIANTS = "Variants, for the board edition"
FIELDS = (
    FormField("edition", "Edition", {"board": "board (2008)", "card": "card (2007)"}, str, "board"),
    FormField("players", "Players", {str(number): words for number, words in NUMBER_WORDS.items()}, int, "3"),
    FormField("blackbeard", VARIANTS, {"yes": "Blackbeard's secret (R9.2)"}, bool),
    FormField("traders", VARIANTS, {"4": "four traders each, with three players (R9.1)"}, int),
)


def ruleset_of(form: Mapping[str, str]) -> Ruleset:
    """The ruleset that is asked for; Refused if there is none such."""
    values = {}
    for field in FIELDS:
        asked = form.get(field.name, field.usual)
        if asked and asked not in field.choices:
            raise Refused(422, f"{field.legend}: {', '.join(field.choices.values())}.")
        if asked:
            values[field.name] = field.value(asked)
    try:
        return Ruleset(**values)
    except RulesetError as error:
        raise Refused(422, f"{str(error).split(';')[0]}.") from None  # what follows is about Python
