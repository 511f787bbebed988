"""The rules in words, by their ids: RULES.md, which comes with the package, is the one place where they stand."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from kontor.files import in_short

CHAPTER = re.compile(r"## (R\d+) (.*)")
ENTRY = re.compile(r"- \*\*(R\d+(?:\.\d+)?)\*\* (.*)")
ROW = re.compile(r"\| (R\d+\.\d+) \| (.*) \|")
MARKS = re.compile(r"\*\*|`|(?<!\w)\*|\*(?!\w)")


class UnknownRule(ValueError):
    """An id that no rule has."""


@cache
def chapters() -> dict[str, str]:
    """The title of each chapter: {"R4": "Traders", ...}."""
    return dict(CHAPTER.findall(_text()))


@cache
def rules() -> dict[str, str]:
    """The text of each rule, on one line: {"R4.1": "Transfer: one of your traders ...", ...}."""
    found: dict[str, str] = {}
    rule = ""
    for line in _text().splitlines():
        entry = ENTRY.match(line)
        row = ROW.match(line)
        if entry:
            rule = entry[1]
            found[rule] = entry[2]
        elif row:
            component, board, card = row[2].split(" | ")
            found[row[1]] = f"{component}: {board}; in the card edition: {card}"
        elif line.startswith("  ") and rule:
            found[rule] += " " + line.strip()
        else:
            rule = ""
    return {rule: MARKS.sub("", text) for rule, text in found.items()}


def find_rules(name: str) -> dict[str, str]:
    """The rules that an id names: one (`R4.7`), or those of a chapter (`R4`); small letters, or no R, will do."""
    wanted = "R" + name.strip().upper().removeprefix("R")
    found = {rule: text for rule, text in rules().items() if rule == wanted or rule.startswith(f"{wanted}.")}
    if not found:
        known = ", ".join(chapters())
        raise UnknownRule(f"there is no rule {in_short(name)}; chapters are {known}; a rule of one is R4.7")
    return found


def _text() -> str:
    return (files("borneo_env") / "RULES.md").read_text(encoding="utf-8")
