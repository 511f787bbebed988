"""What checks found: findings, each in a sentence with where it was seen, and the report that they make together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rich.table import Table

    from kontor.game import Game
    from kontor.ruleset import Ruleset

OK, FAILED, WARNED, SKIPPED = "ok", "failed", "warned", "skipped"
MOST_DRAWN = 4_000
COLOURS = {OK: "green", FAILED: "bold red", WARNED: "yellow", SKIPPED: "dim"}


@dataclass(frozen=True)
class Finding:
    """What one check found for one ruleset.

    Attributes:
        check: the check's name.
        verdict: "ok", "failed", "warned" or "skipped".
        sentence: what is so, or is not.
        ruleset: the ruleset's name; "" if it holds for all.
        seed: of the games that were played.
        number: which game of the seed shows it, if one does.
        decisions: after how many decisions: `Batch(1, ruleset, seed=seed, first=number, finished="hold",
            skip_forced=False).play_random(decisions)` is the game.
        record: that game, field by field.
        missing: the names of what was never reached.
    """

    check: str
    verdict: str
    sentence: str
    ruleset: str = ""
    seed: int = 0
    number: int | None = None
    decisions: int | None = None
    record: dict[str, Any] | None = None
    missing: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = [self.ruleset] * bool(self.ruleset)
        if self.number is not None:
            where += [f"seed {self.seed}", f"game {self.number}"]
        if self.decisions is not None:
            where.append(f"after {self.decisions} decisions")
        return f"{self.sentence} ({', '.join(where)})" if where else self.sentence


@dataclass(frozen=True)
class Trial:
    """What is checked, and how long: one ruleset of a game, so many games of a seed."""

    ruleset: Ruleset
    games: int
    seed: int

    @property
    def game(self) -> Game:
        return self.ruleset.game

    @property
    def drawn(self) -> int:
        """How often the same is drawn: where many games are played, enough to see what is uneven by a tenth."""
        return min(MOST_DRAWN, 4 * self.games)

    def rng(self) -> np.random.Generator:
        """The same draws for the same seed, whatever was checked before."""
        return np.random.default_rng(self.seed)

    def found(
        self, check: str, verdict: str, sentence: str, record: Any = None, decisions: int | None = None
    ) -> Finding:
        """A finding about this ruleset; the record of a game says which game of the seed it is."""
        told = None if record is None else as_dict(record)
        number = told["number"] if told else None
        return Finding(check, verdict, sentence, self.ruleset.name, self.seed, number, decisions, told)

    def passed(self, check: str, sentence: str) -> Finding:
        return self.found(check, OK, sentence)

    def failed(self, check: str, sentence: str, record: Any = None, decisions: int | None = None) -> Finding:
        return self.found(check, FAILED, sentence, record, decisions)


def as_dict(record: Any) -> dict[str, Any]:
    """A record field by field, as JSON has it."""
    return {name: record[name].tolist() for name in record.dtype.names if name != "padding"}


class Failed(AssertionError):
    """A game that is not one, with the report as its message."""


@dataclass
class Report:
    """All findings about a game."""

    game: str
    seed: int
    games: int
    findings: list[Finding] = field(default_factory=list)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def ok(self) -> bool:
        """Whether nothing failed; warnings and what was skipped do not count."""
        return not self.of(FAILED)

    def of(self, *verdicts: str) -> list[Finding]:
        """The findings with one of these verdicts."""
        return [finding for finding in self.findings if finding.verdict in verdicts]

    def failed_checks(self) -> list[str]:
        """The names of the checks that failed, each once."""
        return list(dict.fromkeys(finding.check for finding in self.of(FAILED)))

    def raise_if_failed(self) -> None:
        """Raise Failed, with all that failed as its message, unless all is well: for tests."""
        if not self.ok:
            lines = (f"{finding.check}: {finding}" for finding in self.of(FAILED))
            raise Failed("\n".join([f"{self.game} is not a game yet:", *lines]))

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        about = {"game": self.game, "seed": self.seed, "games": self.games, "ok": self.ok}
        return about | {"findings": [asdict(finding) for finding in self.findings]}

    def table(self) -> Table:
        """As a table for people: a line for what is well with all rulesets, and one for each finding else."""
        from rich.markup import escape
        from rich.table import Table  # which takes a while, and few need it

        table = Table(title=f"{self.game}: {self.games:,} games of seed {self.seed}", title_justify="left")
        for heading in ("check", "", "what was found"):
            table.add_column(heading)
        for check, verdict, sentence in self._rows():
            table.add_row(check, f"[{COLOURS[verdict]}]{verdict}[/]", escape(sentence))
        return table

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        for check in dict.fromkeys(finding.check for finding in self.findings):
            own = [finding for finding in self.findings if finding.check == check]
            if alike := merged(own):
                yield check, own[0].verdict, alike
            else:
                yield from ((check, finding.verdict, str(finding)) for finding in own)


def merged(findings: list[Finding]) -> str:
    """The one sentence of findings that say the same of all rulesets, or "" if they do not."""
    first = findings[0]
    if first.number is not None or any(one.verdict != first.verdict for one in findings):
        return ""
    if first.verdict == OK or all(one.sentence == first.sentence for one in findings):
        others = (
            f" (and so for {counted(len(findings) - 1, 'more ruleset', 'more rulesets')})" if len(findings) > 1 else ""
        )
        return first.sentence + others
    return ""


def reached_or_not(trial: Trial, check: str, missing: list[str], number: int) -> Finding:
    """A finding about what games come to: phases, actions, outcomes."""
    found = trial.passed(check, f"all {number}")
    if missing:
        sentence = f"never in {counted(trial.games, 'random game')}: {listed(missing)}"
        found = replace(found, verdict=WARNED, sentence=sentence, missing=tuple(missing))
    return found


def over_rulesets(findings: list[Finding]) -> list[Finding]:
    """The findings, where what one ruleset does not have and another reaches is not missed."""
    told: list[Finding] = []
    for finding in findings:
        others = [one.missing for one in findings if one.check == finding.check]
        missing = [name for name in finding.missing if all(name in names for names in others)]
        if finding.missing and not missing:
            sentence = f"all that there is; other rulesets reach {listed(finding.missing, 4)}"
            finding = replace(finding, verdict=OK, sentence=sentence, missing=())
        elif missing:
            finding = replace(finding, sentence=f"never in random games: {listed(missing)}", missing=tuple(missing))
        told.append(finding)
    return told


def rule_name(phase: Any, kind: str) -> str:
    """The name of an author's function, legal, apply or weight of a phase, or what does it where there is none."""
    return str(getattr(getattr(phase, kind, None), "__name__", f"{kind} of the phase {phase.name}"))


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its word: 1 game, 2 games."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Iterable[Any], most: int = 8) -> str:
    """Names as a sentence has them, with how many are left out."""
    every = list(map(str, names))
    left_out = [f"and {len(every) - most:,} more"] if len(every) > most else []
    return ", ".join([*every[:most], *left_out])
