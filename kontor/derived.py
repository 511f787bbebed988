"""What follows from the table of fields: the functions that observe, blank and deal anew, written as a person would.

They are plain text made once for a game, `source_of` shows them, and they are compiled as the rules are. A game may
give its own in place of any.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from kontor.compile import rule
from kontor.fields import HIDDEN, NOBODY, NONE, OWN, PUBLIC, SEAT, Axis, Field, size_of
from kontor.layout import LARGEST, SMALLEST, Layout, laid_out, length
from kontor.templates.dice import LUCK, below

NOT_OBSERVED = ("rng", "number", "turns")  # of the general fields: what tells the deal, and what only counts


@rule
def seat_from(box, seat, player):
    """A player's seat counted from the viewer's; a spectator's table begins with player 0."""
    away = int(player) - max(seat, 0)
    return away if away >= 0 else away + box.players


@rule
def cut(value):
    """A number as an observation can hold it."""
    return min(max(int(value), SMALLEST), LARGEST)


class Part(NamedTuple):
    """What one block of an observation tells of a field."""

    field: Field
    axes: tuple[Axis, ...]  # of the block
    own: bool  # only the viewer's row


class Derived:
    """The functions that follow from the fields of a game, and the layouts of what they write."""

    def __init__(self, name: str, fields: Sequence[Field], phases: Sequence[str], seats: int) -> None:
        self.name, self.fields, self.seats = name, fields, seats
        self._seat = Axis("seat", ("you", *(f"{away} to the left" for away in range(1, seats))))
        self._phase = Axis("phase", phases)
        self._known = [self._part(field, field.seen == OWN) for field in fields if self._is_observed(field)]
        self._secret = [
            self._part(field, False) for field in fields if field.seen != PUBLIC and self._may_be_told(field)
        ]
        self.layout: Layout = laid_out(map(self._block, self._known))
        self.state_layout: Layout = self.layout + laid_out(map(self._block, self._secret), length(self.layout))

    def _is_observed(self, field: Field) -> bool:
        return field.seen != NOBODY and self._may_be_told(field)

    def _may_be_told(self, field: Field) -> bool:
        return field.name not in NOT_OBSERVED

    # ------------------------------------------------------------ layouts

    def _part(self, field: Field, own: bool) -> Part:
        each = [self._labelled(axis, k) for k, axis in enumerate(field.each[own:])]
        if field.is_things and field.each and not isinstance(field.each[-1], Axis):
            each.pop()  # cards in no order: how many of each; in a pile: how far down
        return Part(field, (*each, *self._values(field)), own)

    def _labelled(self, axis: Axis | int, k: int) -> Axis:
        if isinstance(axis, int):
            return Axis(f"place {k}", range(axis))
        return self._seat if axis is SEAT else axis

    def _values(self, field: Field) -> tuple[Axis, ...]:
        """The axis of a value that is one of several, which is told one-hot."""
        if field.name == "phase":
            return (self._phase,)
        if field.of is SEAT or field.name == "player":
            return (self._seat,)
        return (field.of,) if isinstance(field.of, Axis) else ()

    def _block(self, part: Part) -> tuple[str, tuple[Axis, ...], str]:
        field = part.field
        name = field.name if part.own or field.seen == PUBLIC else f"all_{field.name}"
        return name, part.axes, f"{field.meaning or field.name}{', one-hot' if self._values(field) else ''}"

    # ------------------------------------------------------------ source

    def source(self, name: str) -> str:
        """The text of one of the functions: observe, write_state, blank_secrets, fill_secrets, can_be_filled."""
        return "\n".join(getattr(self, f"_{name}")()) + "\n"

    def function(self, name: str, bind: Callable[[Any], Any]) -> Callable[..., Any]:
        """One of the functions, as a rule; what it calls of the game is bound."""
        made: Callable[..., Any] = self._compiled(name, self.source(name), bind)
        return made

    def dealing(self, into: str, start: int, then: Any, bind: Callable[[Any], Any]) -> dict[str, Callable[..., Any]]:
        """The functions of a phase that deals into a field: `legal`, `apply` and `weight`."""
        field = next(field for field in self.fields if field.name == into)
        sources = {
            "legal": self._legal_deal(field.of, start),  # type: ignore[arg-type]  # the game has checked it
            "weight": self._weight_of_deal(field.of, start),  # type: ignore[arg-type]
            "apply": self._apply_deal(field, start),
        }
        return {
            name: self._compiled(name, "\n".join(lines) + "\n", bind, f" into {into}", then=bind(then))
            for name, lines in sources.items()
        }

    def _compiled(self, name: str, text: str, bind: Callable[[Any], Any], what: str = "", **more: Any) -> Any:
        file = f"<{name}{what} of {self.name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        scope = {"seat_from": seat_from, "cut": cut, "below": below, "LUCK": LUCK, "__name__": __name__, **more}
        decks = {field.of for field in self.fields if field.is_things and isinstance(field.of, Axis)}
        scope |= {f"there_of_{deck.name}": bind(deck.there) for deck in decks if deck.there}
        exec(compile(text, file, "exec"), scope)  # made above of the table of fields
        made: Any = scope[name]
        made.__qualname__ = f"{name}{what.replace(' ', '_')}[{self.name}]"
        return rule(made)

    def _observe(self) -> Iterator[str]:
        yield "def observe(box, g, seat, out):"
        yield "    out[:] = 0"
        for part, block in zip(self._known, self.layout, strict=True):
            yield from self._written(part, block.start)

    def _write_state(self) -> Iterator[str]:
        yield from self._observe_into_state()
        for part, block in zip(self._secret, self.state_layout[len(self._known) :], strict=True):
            yield from self._written(part, block.start)

    def _observe_into_state(self) -> Iterator[str]:
        yield "def write_state(box, g, seat, out):"
        yield from list(self._observe())[1:]

    def _written(self, part: Part, start: int) -> Iterator[str]:
        """Lines that write one block."""
        field = part.field
        names = [f"i{k}" for k in range(len(field.each))]
        indent, value, pile = "    ", f"g.{field.name}", field.seen == NOBODY
        if part.own:
            yield f"{indent}if seat >= 0:"
            indent += "    "
            yield f"{indent}i0 = seat"
        for name, axis in list(zip(names, field.each, strict=True))[part.own :]:
            size = "box.players" if axis is SEAT else str(size_of(axis, self.seats))
            yield f"{indent}for {name} in range({size}):"
            indent += "    "
        if names:
            value += f"[{', '.join(names)}]"
        at = self._place(part, names, start)
        if not self._values(field):
            yield f"{indent}out[{at}] = cut({value})"
            return
        yield f"{indent}if {value} >= 0:"
        member = f"seat_from(box, seat, {value})" if field.of is SEAT or field.name == "player" else f"int({value})"
        sets = field.is_things and len(part.axes) < len(field.each) - part.own + 1
        told = f"= {names[-1]} + 1" if sets and pile else "+= 1" if sets else "= 1"
        yield f"{indent}    out[{at} + {member}] {told}"

    def _place(self, part: Part, names: list[str], start: int) -> str:
        """Where the numbers for these indices begin in the vector."""
        terms, stride = [str(start)], 1
        axes = list(part.axes)
        if self._values(part.field):
            stride = len(axes.pop().labels)
        used = list(zip(names, part.field.each, strict=True))[part.own :][: len(axes)]
        for (name, axis), labels in zip(reversed(used), reversed(axes), strict=True):
            index = f"seat_from(box, seat, {name})" if axis is SEAT else name
            terms.append(f"{index} * {stride}")
            stride *= len(labels)
        return " + ".join(terms)

    # ------------------------------------------------------------ secrets

    def _blank_secrets(self) -> Iterator[str]:
        yield "def blank_secrets(box, g, seat):"
        for field in self.fields:
            if field.seen != PUBLIC:
                yield from self._blanked(field)

    def _blanked(self, field: Field) -> Iterator[str]:
        indent, names = "    ", [f"i{k}" for k in range(len(field.each))]
        for name, size in zip(names, self._shape(field), strict=True):
            yield f"{indent}for {name} in range({size}):"
            indent += "    "
        value = f"g.{field.name}[{', '.join(names)}]" if names else f"g.{field.name}"
        conditions = ["i0 != seat"] if field.seen == OWN else []
        if field.is_things:
            conditions.append(f"{value} >= 0")
        if conditions:
            yield f"{indent}if {' and '.join(conditions)}:"
            indent += "    "
        yield f"{indent}{value} = {HIDDEN if field.is_things else field.low}"

    def _shape(self, field: Field) -> tuple[int, ...]:
        return field.shape(self.seats) if field.name != "rng" else field.each  # type: ignore[return-value]

    def decks(self) -> list[Axis]:
        """The axes of things that can lie where nobody sees them."""
        return list(
            dict.fromkeys(f.of for f in self.fields if f.is_things and f.seen != PUBLIC and isinstance(f.of, Axis))
        )

    def cannot_be_filled(self) -> list[str]:
        """Hidden fields of numbers: how they are dealt anew, only the game can say."""
        general = ("rng", "number")
        return [f.name for f in self.fields if f.seen != PUBLIC and not f.is_things and f.name not in general]

    def room(self) -> int:
        """How many things can be unseen at once."""
        return max((len(deck) * deck.copies for deck in self.decks()), default=1)

    def _fill_secrets(self) -> Iterator[str]:
        yield "def fill_secrets(box, g, seat, room):"
        for deck in self.decks():
            yield from self._unseen(deck)
            yield from [
                "    for i in range(n - 1, 0, -1):",
                "        j = below(g, LUCK, i + 1)",
                "        room[i], room[j] = room[j], room[i]",
            ]
            for field in self._of(deck):
                if field.seen != PUBLIC:
                    yield from self._each_entry(field, f"== {HIDDEN}", "n -= 1", "{value} = room[n]")
        if not self.decks():
            yield "    pass"

    def _can_be_filled(self) -> Iterator[str]:
        yield "def can_be_filled(box, g, seat, room):"
        for deck in self.decks():
            yield from self._unseen(deck, "            return False")
            for field in self._of(deck):
                if field.seen != PUBLIC:
                    yield from self._each_entry(field, f"== {HIDDEN}", "n -= 1")
            yield "    if n < 0:"
            yield "        return False"
        yield "    return True"

    def _of(self, deck: Axis) -> list[Field]:
        return [field for field in self.fields if field.of is deck]

    def _legal_deal(self, deck: Axis, start: int) -> Iterator[str]:
        """The members that lie nowhere yet."""
        yield "def legal(box, g, outcomes):"
        yield "    n = 0"
        yield f"    for member in range({len(deck)}):"
        yield from self._left(deck)
        yield "        if left > 0:"
        yield f"            outcomes[n] = {start} + member"
        yield "            n += 1"
        yield "    return n"

    def _weight_of_deal(self, deck: Axis, start: int) -> Iterator[str]:
        yield "def weight(box, g, outcome):"
        yield f"    for member in range(outcome - {start}, outcome - {start} + 1):"
        yield from self._left(deck)
        yield "    return left"

    def _apply_deal(self, field: Field, start: int) -> Iterator[str]:
        """Put it where the first place is empty; after the last one goes on what comes then."""
        yield "def apply(box, g, outcome):"
        yield "    placed = empty = False"
        if field.each:
            size = "box.players" if field.each[0] is SEAT else str(size_of(field.each[0], self.seats))
            yield f"    for i in range({size}):"
            yield f"        if g.{field.name}[i] == {NONE}:"
            yield "            empty = placed"
            yield "            if not placed:"
            yield f"                g.{field.name}[i] = outcome - {start}"
            yield "            placed = True"
            yield "        if empty:"
            yield "            break"
        else:
            yield f"    g.{field.name} = outcome - {start}"
        yield "    if not empty:"
        yield "        then(box, g)"

    def _unseen(self, deck: Axis, too_often: str = "            left = 0") -> Iterator[str]:
        """Lines that list the members of a deck that are not seen; n is how many. What follows if one is seen more
        often than there are of it, the caller says."""
        yield "    n = 0"
        yield f"    for member in range({len(deck)}):"
        yield from self._left(deck)
        yield "        if left < 0:"
        yield too_often
        yield "        for _ in range(left):"
        yield "            room[n] = member"
        yield "            n += 1"

    def _left(self, deck: Axis) -> Iterator[str]:
        """Lines, in a loop over members, that count how many of one are not seen."""
        yield f"        left = {f'int(there_of_{deck.name}(box, member))' if deck.there else deck.copies}"
        for field in self._of(deck):
            for line in self._each_entry(field, "== member", "left -= 1"):
                yield "    " + line

    def _each_entry(self, field: Field, condition: str, *lines: str) -> Iterator[str]:
        indent, names = "    ", [f"i{k}" for k in range(len(field.each))]
        for name, size in zip(names, field.shape(self.seats), strict=True):
            yield f"{indent}for {name} in range({size}):"
            indent += "    "
        value = f"g.{field.name}[{', '.join(names)}]" if names else f"g.{field.name}"
        yield f"{indent}if {value} {condition}:"
        for line in lines:
            yield f"{indent}    {line.format(value=value)}"
