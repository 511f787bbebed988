"""The fields of a ruleset as the start page asks for them, and the ruleset that a form means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from borneo_env.render.scene import NUMBER_WORDS
from borneo_env.ruleset import Ruleset, RulesetError
from borneo_web.server.live_game import Refused


class FieldValue(NamedTuple):
    """A value of a field, and what it is called."""

    value: Any
    words: str


class FormField(NamedTuple):
    """A field: one of several values, or a box for the unusual one."""

    name: str
    legend: str
    choices: dict[str, FieldValue]  # by what the form sends
    usual: str = ""  # which is chosen at first; none of a box


VARIANTS = "Variants, for the board edition"
FIELDS = (
    FormField("edition", "Edition", {
        "board": FieldValue("board", "board (2008)"), "card": FieldValue("card", "card (2007)"),
    }, "board"),
    FormField("players", "Players", {
        str(number): FieldValue(number, words) for number, words in NUMBER_WORDS.items()
    }, "3"),
    FormField("blackbeard", VARIANTS, {"yes": FieldValue(True, "Blackbeard's secret (R9.2)")}),
    FormField("traders", VARIANTS, {"4": FieldValue(4, "four traders each, with three players (R9.1)")}),
)  # fmt: skip


def ruleset_of(form: Mapping[str, str]) -> Ruleset:
    """The ruleset that is asked for; Refused if there is none such."""
    values = {}
    for field in FIELDS:
        asked = form.get(field.name, field.usual)
        if asked in field.choices:
            values[field.name] = field.choices[asked].value
        elif asked:
            raise Refused(422, f"{field.legend}: {', '.join(words for _, words in field.choices.values())}.")
    try:
        return Ruleset(**values)
    except RulesetError as error:
        raise Refused(422, f"{str(error).split(';')[0]}.") from None  # what follows is about Python
