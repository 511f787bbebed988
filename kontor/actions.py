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
    parts: dict[str, Any]  # members of the axes: texts or numbers
    kinds: dict[str, str]  # for each part the name of its axis
    word: str = ""  # in place of parts
    declines: bool = False  # whether it is to do nothing, or nothing more

    @property
    def text(self) -> str:
        """As records and bots have it: "draw 17 0"."""
        return " ".join([self.verb, *map(str, self.parts.values())] + [self.word] * bool(self.word))

    @property
    def event(self) -> str:
        """What it is about, whatever its parts: its verb, or its text where a word stands for them."""
        return self.text if self.word else self.verb


@dataclass(frozen=True)
class Action:
    """Actions of one verb: one for each combination of members of its parts' axes, the last part counting fastest.

    Arguments:
        verb: what is done, a word or two.
        parts: by name the axis of each.
        phases: in which phases; by default in all.
        only: which combinations there are, as a function of the members.
        word: what stands in place of parts: "bet none".
        declines: whether it is to do nothing, or nothing more.
        block: a name for the block of ids; by default the verb.
        meaning: a sentence.
    """

    verb: str
    parts: dict[str, Axis]
    phases: tuple[str, ...] = (ANY,)
    only: Callable[..., bool] | None = None
    block: str = ""
    meaning: str = ""
    word: str = ""
    declines: bool = False

    def moves(self) -> Iterator[Move]:
        kinds = {name: axis.name for name, axis in self.parts.items()}
        for members in product(*(axis.members for axis in self.parts.values())):
            if self.only is None or self.only(*members):
                parts = dict(zip(self.parts, members, strict=True))
                yield Move(self.verb, parts, kinds, self.word, self.declines)


def action(
    verb: str,
    *,
    phases: str | tuple[str, ...] = ANY,
    only: Callable[..., bool] | None = None,
    block: str = "",
    meaning: str = "",
    word: str = "",
    declines: bool = False,
    **parts: Axis,
) -> Action:
    """Actions of a verb, its parts as keywords: `action("lay", card=CARD, place=PLACE)`."""
    where = (phases,) if isinstance(phases, str) else phases
    return Action(verb, parts, where, only, block, meaning, word, declines)


class Ids(NamedTuple):
    """A block of ids."""

    name: str
    start: int
    size: int
    meaning: str


class ActionTable:
    """All actions of a ruleset: how many there are, their blocks, their moves and texts.

    Arguments:
        rows: an Action for each block, or several that share their ids, each in other phases; rows of one block
            follow one another.
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
        block = Ids(first.block or first.verb, len(self._moves), len(moves), first.meaning)
        if self.blocks and self.blocks[-1].name == block.name:  # it goes on
            last = self.blocks.pop()
            block = last._replace(size=last.size + block.size)
        self.blocks.append(block)
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
        """Every move of an action that has a text of its own, in the order of the phases."""
        return list({move.text: move for move in self._moves[action].values()}.values())

    def moves_in(self, phase: str) -> dict[int, Move]:
        """Every action that has a meaning in a phase, with its move."""
        return {
            action: self.move(action, phase) for action, moves in enumerate(self._moves) if moves.keys() & {phase, ANY}
        }

    def texts(self, action: int) -> list[str]:
        """Every text of an action, in the order of the phases."""
        return [move.text for move in self.moves(action)]

    def text(self, action: int, phase: str) -> str:
        """The text of an action in a phase; an action that has no meaning there is shown with its number."""
        if not 0 <= action < len(self):
            return f"action {action} (there are 0 to {len(self) - 1})"
        texts = self._texts[action]
        return texts.get(phase) or texts.get(ANY) or f"action {action} ({' or '.join(self.texts(action))})"

    def action(self, text: str, phase: str) -> int:
        """The id of a move's text, which must belong to the phase; raises ValueError otherwise."""
        number = self._ids.get(text)
        if number is None:
            raise ValueError(f"{text!r} is not a move of this game")
        if self.text(number, phase) != text:
            raise ValueError(f"{text!r} is not a move of the phase {phase}")
        return number
