"""Whether every action's text is one that people, records and bots can use: read back, unique, frozen ids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kontor.actions import ActionTable
from kontor.check.chance import draws_of
from kontor.check.report import OK, SKIPPED, WARNED, Finding, Trial, counted, listed
from kontor.game import Game

READ_BACK = "every text reads back"
PLAIN = "texts are plain"
WORDS = "phases and fields are told in words"
IDS = "ids as in the file"


def check_texts(trial: Trial) -> Iterator[Finding]:
    tables = {"action": trial.game.action_table(trial.ruleset), "outcome": trial.game.outcome_table}
    for kind, table in tables.items():
        yield from _wrong_texts(trial, kind, table)
    yield trial.passed(READ_BACK, " and ".join(counted(len(table), kind) for kind, table in tables.items()))
    drawn = {int(draw.record["phase"][0]) for draw in draws_of(trial)}
    phases = [phase for number, phase in enumerate(trial.game.phases) if number not in drawn]
    untold = [f"phase {phase.name}" for phase in phases if not phase.question]
    untold += [f"field {field.name}" for field in trial.game.fields if not field.meaning]
    if untold:
        yield trial.found(WORDS, WARNED, f"without a question or a meaning: {listed(untold)}")


def _wrong_texts(trial: Trial, kind: str, table: ActionTable) -> Iterator[Finding]:
    troubled = []
    for number in range(len(table)):
        for phase in trial.game.phase_names:
            if number not in table.moves_in(phase):
                continue
            text, read = table.text(number, phase), "nothing"
            try:
                read = str(table.action(text, phase))
            except ValueError as error:
                read = str(error)
            if read != str(number):
                yield trial.failed(READ_BACK, f"{kind} {number} is {text!r} in {phase}, which reads back as {read}")
        troubled += [text for text in table.texts(number) if has_trouble(text)]
    if troubled:
        yield trial.found(PLAIN, WARNED, f"{kind}s with spaces at an end, two in a row or none to print: {troubled}")


def has_trouble(text: str) -> bool:
    """Whether a text would be another after it was typed or written on a line."""
    return text != " ".join(text.split(" ")).strip() or "  " in text or not text.isprintable() or not text


def ids_of(game: Game) -> dict[str, dict[str, list[list[str]]]]:
    """By ruleset the texts of every id, of actions and outcomes."""
    return {
        ruleset.name: {
            kind: [table.texts(number) for number in range(len(table))]
            for kind, table in (("actions", game.action_table(ruleset)), ("outcomes", game.outcome_table))
        }
        for ruleset in game.Ruleset.every()
    }


def check_ids(game: Game, path: Path | None) -> Iterator[Finding]:
    """Write the ids to a file, or compare them with those it has."""
    if path is None:
        yield Finding(IDS, SKIPPED, "no file was given: --ids FILE writes one, and later compares")
        return
    ids = ids_of(game)
    if not path.exists():
        path.write_text(json.dumps(ids, indent=1) + "\n", encoding="utf-8")
        yield Finding(IDS, OK, f"written to {path}")
        return
    yield _compared(ids, json.loads(path.read_text(encoding="utf-8")), path)


def _compared(ids: dict[str, Any], kept: dict[str, Any], path: Path) -> Finding:
    for name, tables in kept.items():
        for kind, texts in tables.items():
            now = ids.get(name, {}).get(kind, [])
            for number, old in enumerate(texts):
                new = now[number] if number < len(now) else ["nothing"]
                if new != old:
                    sentence = f"{kind[:-1]} {number} was {' or '.join(old)} in {path}, and is {' or '.join(new)} now"
                    return Finding(IDS, "failed", sentence, name)
    return Finding(IDS, OK, f"all as in {path}")
