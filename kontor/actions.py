"""The action table: one flat space of ids, and each action's move and text, both ways.

A move is a verb with named parts. Texts, records, words, clicks and networks are made from the parts; only the reader
of records takes texts apart. An id may stand for several moves, one for each phase; a text stands for one id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from kontor.fields import Axis

ANY = ""  # in place of a phase: in all of them


class Move(NamedTuple):
    """What an action does in a phase: a verb and its parts by name, in the order of its text."""

    verb: str
    parts: dict[str, str]  # labels
    kinds: dict[str, str]  # for each part the name of its axis

    @property
    def text(self) -> str:
        """As records and bots have it: "ship 17 0"."""
        return " ".join([self.verb, *self.parts.values()])


@dataclass(frozen=True)
class Action:
    """Actions of one verb: one for each combination of members of its parts' axes, the last part counting fastest.

    Arguments:
        verb: what is done, a word or two.
        parts: by name the axis of each.
        phases: in which phases; by default in all.
        only: which combinations there are, as a function of the labels.
        block: a name for the block of ids; by default the verb.
        meaning: a sentence.
    """

    verb: str
    parts: dict[str, Axis]
    phases: tuple[str, ...] = (ANY,)
    only: Callable[..., bool] | None = None
    block: str = ""
    meaning: str = ""

    def moves(self) -> Iterator[Move]:
        kinds = {name: axis.name for name, axis in self.parts.items()}
        for labels in product(*(axis.labels for axis in self.parts.values())):
            if self.only is None or self.only(*labels):
                yield Move(self.verb, dict(zip(self.parts, labels, strict=True)), kinds)


def action(verb: str, *, phases: str | tuple[str, ...] = ANY, only: Any = None, block: str = "", meaning: str = "",
           **parts: Axis) -> Action:  # fmt: skip
    """Actions of a verb, its parts as keywords: `action("ship", card=CARD, port=PORT)`."""
    return Action(verb, parts, (phases,) if isinstance(phases, str) else phases, only, block, meaning)


class Ids(NamedTuple):
    """A block of ids."""

    name: str
    start: int
    size: int
    meaning: str


class ActionTable:
    """All actions of a ruleset: how many there are, their blocks, their moves and texts.

    Arguments:
        rows: an Action for each block, or several that share their ids, each in other phases.
    """

    def __init__(self, rows: Sequence[Action | tuple[Action, ...]]) -> None:
        self.blocks: list[Ids] = []
        self._moves: list[dict[str, Move]] = []  # for each id, phase -> move
        for row in rows:
            self._add(row if isinstance(row, tuple) else (row,))
        self._texts = [{phase: move.text for phase, move in moves.items()} for moves in self._moves]
        self._ids: dict[str, int] = {}
        for number, texts in enumerate(self._texts):
            for text in texts.values():
                if self._ids.setdefault(text, number) != number:
                    raise ValueError(f"two actions have the text {text!r}: {self._ids[text]} and {number}")

    def _add(self, actions: tuple[Action, ...]) -> None:
        moves: list[dict[str, Move]] = []
        for one in actions:
            for k, move in enumerate(one.moves()):
                if k == len(moves):
                    moves.append({})
                moves[k].update(dict.fromkeys(one.phases, move))
        first = actions[0]
        self.blocks.append(Ids(first.block or first.verb, len(self._moves), len(moves), first.meaning))
        self._moves.extend(moves)

    def __len__(self) -> int:
        return len(self._moves)

    def block(self, name: str) -> Ids:
        return next(block for block in self.blocks if block.name == name)

    def block_of(self, action: int) -> Ids:
        return next(block for block in self.blocks if block.start <= action < block.start + block.size)

    def move(self, action: int, phase: str) -> Move:
        """What an action does in a phase in which it has a meaning."""
        moves = self._moves[action]
        return moves[phase] if phase in moves else moves[ANY]

    def moves(self, action: int) -> list[Move]:
        """Every move of an action, one for each phase in which it can be legal."""
        return list(self._moves[action].values())

    def moves_in(self, phase: str) -> dict[int, Move]:
        """Every action that has a meaning in a phase, with its move."""
        return {
            action: self.move(action, phase) for action, moves in enumerate(self._moves) if moves.keys() & {phase, ANY}
        }

    def text(self, action: int, phase: str) -> str:
        """The text of an action in a phase; an action that has no meaning there is shown with its number."""
        if not 0 <= action < len(self):
            return f"action {action} (there are 0 to {len(self) - 1})"
        texts = self._texts[action]
        return texts.get(phase) or texts.get(ANY) or f"action {action} ({' or '.join(dict.fromkeys(texts.values()))})"

    def action(self, text: str, phase: str) -> int:
        """The id of a move's text, which must belong to the phase; raises ValueError otherwise."""
        number = self._ids.get(text)
        if number is None:
            raise ValueError(f"{text!r} is not a move of this game")
        if self.text(number, phase) != text:
            raise ValueError(f"{text!r} is not a move of the phase {phase}")
        return number
