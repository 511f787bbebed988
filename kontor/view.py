"""One game in words and numbers, for bots and for people: `View` and `MoveOption`, of any game.

A `View` is one game as the deciding player sees it. A `MoveOption` is a legal move with a verb and its parts. Both work
what they tell out when they are asked for it, so that a decision costs little. What a view tells is made from what the
player may know, and nothing hidden. A game may derive views of its own, with its own words.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kontor.actions import ActionTable, Move
from kontor.engine.games import results
from kontor.fields import HIDDEN, NOBODY, OWN, SEAT, Axis, Field
from kontor.ruleset import Ruleset

UNSEEN = "?"  # in place of a thing that lies there, and is not seen
GENERAL = ("rng", "number", "turns", "phase", "player", "turn")  # which views tell in their own way, or not at all


class MoveOption:
    """A legal move: its verb, its parts, and its text. Parts are found by name; those a verb does not have are None."""

    __slots__ = ("_move", "action", "text", "verb", "view")

    def __init__(self, view: View, action: int, move: Move, text: str) -> None:
        self.view, self.action, self.text, self._move = view, action, text, move
        self.verb = move.verb

    @property
    def parts(self) -> Mapping[str, Any]:
        """What is moved where, by name: members of the actions' axes."""
        return self._move.parts

    @property
    def declines(self) -> bool:
        """Whether it is the choice to do nothing, or nothing more."""
        return self._move.declines

    def __getattr__(self, name: str) -> Any:
        """A part of the move."""
        if name.startswith("_") or name in MoveOption.__slots__ or name not in _part_names(self.view.actions):
            raise AttributeError(f"an option has no {name!r}")
        return self.parts.get(name)

    def __repr__(self) -> str:
        return f"Option({self.text!r})"


class View:
    """One game as the player who decides sees it.

    The game's fields are found by name, `view.board`, as far as the player sees them: numbers, or members of the
    field's axis, None where there is none and "?" where one lies hidden; tuples for arrays, with an entry for each
    player where the field has one for each seat.
    """

    def __init__(self, ruleset: Ruleset, game: np.void, mask: NDArray[np.bool_], dice: int) -> None:
        self.ruleset = ruleset
        self.game = game  # the redacted record, for whoever wants more
        self._mask, self._dice = mask, dice

    @cached_property
    def me(self) -> int:
        """The own seat."""
        return int(self.game["player"])

    @property
    def players(self) -> int:
        return self.ruleset.players

    @cached_property
    def phase(self) -> str:
        """What is being decided, by name."""
        return str(self.ruleset.game.phase_names[self.game["phase"]])

    @cached_property
    def turn(self) -> int:
        """The seat whose turn it is."""
        return int(self.game["turn"])

    @cached_property
    def random(self) -> random.Random:
        """A random generator for this decision: a bot that uses no other plays the same games again."""
        return random.Random(self._dice)

    @cached_property
    def scores(self) -> tuple[int, ...]:
        """The points of each player if the game ended now, as far as they follow from what is seen."""
        found = results(self.ruleset, np.array([self.game]))
        return tuple(found.scores[0].tolist())

    @property
    def actions(self) -> ActionTable:
        """All actions of the ruleset."""
        return self.ruleset.game.action_table(self.ruleset)

    @cached_property
    def options(self) -> list[Any]:
        """The legal moves."""
        known = self._known_moves
        return [MoveOption(self, action, *known[action]) for action in self._legal_actions()]

    @property
    def _known_moves(self) -> dict[int, tuple[Move, str]]:
        """Every action in this phase: its move, and the text of it."""
        return _moves_in(self.ruleset, self.phase)

    def _legal_actions(self) -> list[int]:
        return np.flatnonzero(self._mask).tolist()

    @cached_property
    def seen(self) -> dict[str, Any]:
        """The game's own fields by name, as far as the player sees them."""
        return told_fields(self.ruleset, self.game, self.me)

    def __getattr__(self, name: str) -> Any:
        """A field of the game."""
        if name.startswith("_") or name not in (seen := self.seen):
            raise AttributeError(f"a view of {self.ruleset.game.title} has no {name!r}")
        return seen[name]


def told_fields(ruleset: Ruleset, game: np.void, viewer: int | None) -> dict[str, Any]:
    """A game's own fields by name, in words and numbers, as far as a viewer sees them; None sees all.

    The record is redacted for the viewer. Rows of numbers that only another player sees are None.
    """
    fields = [one for one in ruleset.game.all_fields if one.name not in GENERAL]
    return {one.name: _told(one, game, ruleset, viewer) for one in fields if viewer is None or one.seen != NOBODY}


def _told(field: Field, game: np.void, ruleset: Ruleset, viewer: int | None) -> Any:
    values = game[field.name].tolist()
    if field.seen == OWN and not field.is_things and viewer is not None:
        values = [row if seat == viewer else None for seat, row in enumerate(values)]
    return _labelled(field, field.each, values, ruleset.players)


def _labelled(field: Field, each: tuple[Axis | int, ...], values: Any, players: int) -> Any:
    """Numbers as members of their axis, arrays as tuples of them."""
    if values is None:
        return None
    if each:
        rows = values[:players] if each[0] is SEAT else values
        return tuple(_labelled(field, each[1:], row, players) for row in rows)
    if not isinstance(field.of, Axis):
        return values
    if values < 0:
        return UNSEEN if values == HIDDEN else None
    return values if field.of is SEAT else field.of.members[values]


@cache
def _moves_in(ruleset: Ruleset, phase: str) -> dict[int, tuple[Move, str]]:
    actions = ruleset.game.action_table(ruleset)
    return {action: (move, move.text) for action, move in actions.moves_in(phase).items()}


@cache
def _part_names(actions: ActionTable) -> frozenset[str]:
    """The names of parts that any move has."""
    return frozenset(name for action in range(len(actions)) for move in actions.moves(action) for name in move.parts)
