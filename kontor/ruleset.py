"""Rulesets: which variant of a game is played, from declared options. Checked when made, so that all can rely on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, fields, make_dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from kontor.files import in_short

if TYPE_CHECKING:
    from kontor.game import Game


class RulesetError(ValueError):
    """A combination of options that does not exist."""


class Option(NamedTuple):
    """Something that a ruleset chooses: one of a few values."""

    name: str
    choices: tuple[Any, ...]
    default: Any
    meaning: str = ""


class Ruleset:
    """What every ruleset has: its game, and the number of players. Options are fields of a subclass, a dataclass."""

    if TYPE_CHECKING:  # a field of the subclass

        @property
        def players(self) -> int: ...

    game: ClassVar[Game]
    options: ClassVar[tuple[Option, ...]] = ()

    def __post_init__(self) -> None:
        for option in self.options:
            value = getattr(self, option.name)
            if not any(type(value) is type(choice) and value == choice for choice in option.choices):
                choices = ", ".join(map(repr, option.choices))
                raise RulesetError(f"{self.game.title}: {option.name} is one of {choices}, not {in_short(value)}")

    @classmethod
    def given(cls, ruleset: Self | None, settings: dict[str, Any]) -> Self:
        """What the environments are given: a ruleset, or its fields as keywords."""
        if ruleset is not None and settings:
            raise TypeError(f"give either a ruleset or its fields, not both (got {', '.join(settings)})")
        known = [one.name for one in fields(cls)]  # type: ignore[arg-type]  # of a subclass
        for name in settings:
            if name not in known:
                raise TypeError(f"there is no argument {name!r}; a ruleset of {cls.game.title} has {', '.join(known)}")
        if not isinstance(ruleset, cls | None):
            raise TypeError(f"a ruleset of {cls.game.title} is wanted, not {ruleset!r}")
        return ruleset or cls(**settings)

    @property
    def name(self) -> str:
        """A short name without spaces: the game, the players, and what is not as usual."""
        own = [f"{option.name}-{getattr(self, option.name)}" for option in self.options[1:]
               if getattr(self, option.name) != option.default]  # fmt: skip
        return "-".join([self.game.name, str(self.players), *own])

    @classmethod
    def every(cls) -> Sequence[Self]:
        """All rulesets there are."""
        found = []
        names = [option.name for option in cls.options]
        for values in product(*(option.choices for option in cls.options)):
            try:
                found.append(cls(**dict(zip(names, values, strict=True))))
            except RulesetError:
                continue  # a combination that the game excludes
        return found

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {option.name: getattr(self, option.name) for option in self.options}

    def saved(self) -> dict[str, Any]:
        """What a file has of it."""
        return {"ruleset": self.as_dict()}

    @classmethod
    def from_saved(cls, about: dict[str, Any]) -> Self:
        """The ruleset of a file."""
        return cls.given(None, about["ruleset"])


def ruleset_class(game: Any, players: Sequence[int], options: Sequence[Option]) -> type[Ruleset]:
    """The class of a game's rulesets, made of its options."""
    default = players[0]
    every = (Option("players", tuple(players), default, "how many play"), *options)
    columns = [(option.name, type(option.default), field(default=option.default)) for option in every]
    return make_dataclass(
        f"{game.name.title().replace('_', '')}Ruleset", columns, bases=(Ruleset,), frozen=True,
        namespace={"game": game, "options": every, "__reduce__": _of_its_game},
    )  # fmt: skip


def _of_its_game(ruleset: Ruleset) -> Any:
    """How a ruleset is pickled: its class stands in no module."""
    return _made, (ruleset.game, ruleset.as_dict())


def _made(game: Game, settings: dict[str, Any]) -> Ruleset:
    return game.Ruleset(**settings)
