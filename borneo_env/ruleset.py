"""Ruleset: which Borneo is played. Checked when made, so that everything after can rely on it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from borneo_env.cards import Tables, check_tables, load_tables, read_tables
from borneo_env.files import in_short

EDITIONS = ("board", "card")
PLAYER_COUNTS = (3, 4, 5)


class RulesetError(ValueError):
    """A combination of edition, players and variants that does not exist."""


@dataclass(frozen=True, repr=False)
class Ruleset:
    """An edition, a number of players, the variants, and the cards.

    `traders` is 3, or 4 for the three-player variant of the board edition (R9.1); `blackbeard` adds Blackbeard's
    secret (R9.2). `tables` is a card table of your own: the path of a TOML file, `"tiny"` for short games, or
    loaded `Tables`; without it the edition's own cards are used.
    """

    edition: str = "board"
    players: int = 4
    traders: int = 3
    blackbeard: bool = False
    tables: Tables = None  # type: ignore[assignment]  # a path or None until checked

    def __post_init__(self) -> None:
        if self.edition not in EDITIONS:
            raise RulesetError(f"edition {in_short(self.edition)} does not exist; use one of {', '.join(EDITIONS)}")
        if type(self.players) is not int or self.players not in PLAYER_COUNTS:
            raise RulesetError(f"Borneo is for 3, 4 or 5 players, not {in_short(self.players)}")
        if type(self.traders) is not int or self.traders not in (3, 4):
            raise RulesetError(
                f"each player has 3 traders, or 4 in the three-player variant, not {in_short(self.traders)}"
            )
        if self.traders == 4 and (self.edition, self.players) != ("board", 3):
            raise RulesetError(
                f"four traders are a variant of the board edition with 3 players (R9.1), not of the {self.edition} "
                f"edition with {self.players}; use traders=3 or players=3, edition='board'"
            )
        if type(self.blackbeard) is not bool:
            raise RulesetError(f"blackbeard is True or False, not {in_short(self.blackbeard)}")
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

    def __repr__(self) -> str:
        """As Python code; card tables of one's own are shown as `...`."""
        named = [f"{name}={getattr(self, name)!r}" for name in ("edition", "players", "traders", "blackbeard")]
        own = ["tables=..."] if self.tables != load_tables(self.edition) else []
        return f"Ruleset({', '.join(named + own)})"

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: the card tables are long, and rulesets are looked up often."""
        return hash((self.edition, self.players, self.traders, self.blackbeard, self.tables))

    def __getstate__(self) -> dict[str, Any]:
        """Without the hash: texts have another one in every process."""
        return {name: value for name, value in self.__dict__.items() if name != "_hash"}

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


def every_ruleset() -> list[Ruleset]:
    """All rulesets of the box: both editions, every number of players, every combination of variants (R9.3)."""
    tables = [(3, 3), (4, 3), (5, 3), (3, 4)]
    board = [Ruleset("board", players, traders, pirates) for pirates in (False, True) for players, traders in tables]
    return board + [Ruleset("card", players) for players in PLAYER_COUNTS]
