"""Ruleset: which Borneo is played. Checked when made, so that everything after can rely on it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any

from borneo_env.cards import Tables, check_tables, load_tables, read_tables
from kontor import ruleset as base
from kontor.files import in_short
from kontor.ruleset import RulesetError as RulesetError

EDITIONS = ("board", "card")
PLAYER_COUNTS = (3, 4, 5)


def _choice(default: Any, choices: tuple[Any, ...], meaning: str, refusal: str, **more: str) -> Any:
    """A field that is one of some values: what it means, how others are refused, the `flag` of commands for it."""
    return field(default=default, metadata={"choices": choices, "meaning": meaning, "refusal": refusal, **more})


@dataclass(frozen=True, repr=False)
class Ruleset(base.Ruleset):
    """An edition, a number of players, the variants, and the cards.

    `tables` is a card table of your own: the path of a TOML file, `"tiny"` for short games, or loaded `Tables`; without
    it the edition's own cards are used.
    """

    edition: str = _choice(
        "board", EDITIONS, "board (2008) or card (2007).",
        f"edition {{}} does not exist; use one of {', '.join(EDITIONS)}",
    )  # fmt: skip
    players: int = _choice(4, PLAYER_COUNTS, "3, 4 or 5.", "Borneo is for 3, 4 or 5 players, not {}")
    traders: int = _choice(
        3, (3, 4), "Traders of each player: 3, or 4 in the variant for 3 players (R9.1).",
        "each player has 3 traders, or 4 in the three-player variant, not {}", flag="four_traders",
    )  # fmt: skip
    blackbeard: bool = _choice(
        False, (False, True), "Variant: Blackbeard's secret (R9.2).", "blackbeard is True or False, not {}",
        flag="blackbeard",
    )  # fmt: skip
    tables: Tables = field(  # a path or None until checked
        default=None, hash=False, metadata={"meaning": "A card table of your own (TOML), or `tiny` for short games."}
    )  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for one in CHOICES:
            value = getattr(self, one.name)
            if type(value) is not type(one.default) or value not in one.metadata["choices"]:
                raise RulesetError(one.metadata["refusal"].format(in_short(value)))
        if self.traders == 4 and (self.edition, self.players) != ("board", 3):
            raise RulesetError(
                f"four traders are a variant of the board edition with 3 players (R9.1), not of the {self.edition} "
                f"edition with {self.players}; use traders=3 or players=3, edition='board'"
            )
        if self.blackbeard and self.edition != "board":
            raise RulesetError("Blackbeard's secret is a variant of the board edition (R9.2); use edition='board'")
        if not isinstance(self.tables, Tables | str | Path | None):
            raise RulesetError(f"tables are the path of a TOML file, or loaded Tables, not {in_short(self.tables)}")
        if isinstance(self.tables, Tables):
            check_tables(self.tables)
        else:
            source: str | Path = self.edition if self.tables is None else self.tables
            object.__setattr__(self, "tables", load_tables(source))

    @classmethod
    def given(cls, ruleset: Ruleset | None, settings: dict[str, Any]) -> Ruleset:
        """What the environments are given: a ruleset, or its fields as keywords."""
        if ruleset is not None and settings:
            raise TypeError(f"give either a ruleset or its fields, not both (got {', '.join(settings)})")
        known = [field.name for field in fields(cls)]
        for name in settings:
            if name not in known:
                raise TypeError(f"there is no argument {in_short(name)}; a ruleset has {', '.join(known)}")
        if not isinstance(ruleset, Ruleset | None):
            raise TypeError(
                f"a ruleset is a Ruleset(...), not {in_short(ruleset)}; or give its fields, such as players=4"
            )
        return ruleset or cls(**settings)

    @property
    def choices(self) -> dict[str, Any]:
        """All fields but the cards, as files have them."""
        return {one.name: getattr(self, one.name) for one in CHOICES}

    def __repr__(self) -> str:
        """As Python code; card tables of one's own are shown as `...`."""
        named = [f"{name}={value!r}" for name, value in self.choices.items()]
        own = ["tables=..."] if self.tables != load_tables(self.edition) else []
        return f"Ruleset({', '.join(named + own)})"

    @classmethod
    def every(cls) -> list[Ruleset]:
        """All rulesets of the box."""
        return every_ruleset()

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it, card tables of one's own left out."""
        return {name: getattr(self, name) for name in ("edition", "players", "traders", "blackbeard")}

    def saved(self) -> dict[str, Any]:
        """What a file has of it: the settings and the cards."""
        return {"ruleset": self.as_dict(), "tables": asdict(self.tables)}

    @classmethod
    def from_saved(cls, about: dict[str, Any]) -> Ruleset:
        """The ruleset of a file."""
        return cls(**about["ruleset"], tables=read_tables(about["tables"], "tables"))

    @property
    def name(self) -> str:
        """A short name without spaces, such as `board-4` or `board-3-four-traders-blackbeard`."""
        parts = [self.edition, str(self.players)]
        if self.traders == 4:
            parts.append("four-traders")
        if self.blackbeard:
            parts.append("blackbeard")
        if self.tables != load_tables(self.edition):
            parts.append("own-cards")
        return "-".join(parts)


CHOICES = tuple(one for one in fields(Ruleset) if "choices" in one.metadata)


def every_ruleset() -> list[Ruleset]:
    """All rulesets of the box: both editions, every number of players, every combination of variants (R9.3)."""
    rulesets = []
    order = ("edition", "blackbeard", "traders", "players")
    choices = {one.name: one.metadata["choices"] for one in CHOICES}
    for values in product(*(choices[name] for name in order)):
        with suppress(RulesetError):
            rulesets.append(Ruleset(**dict(zip(order, values, strict=True))))
    return rulesets
