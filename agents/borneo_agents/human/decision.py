"""What a person is asked: lines that show the options, and what may be typed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from borneo_agents.human.options import Shipment, aligned_card, in_colours, options
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import (
    DROP,
    LAST_CONTRACT,
    OPEN_PORTS,
    PAY,
    SHIP,
    TAKE,
    TRADERS,
)
from borneo_env.files import in_short
from borneo_env.pieces import Pieces, paragraph, plain
from borneo_env.render.scene import Scene
from borneo_env.render.terminal import details, hands
from borneo_env.render.text import BOLD, CARD, WIDTH, length, packed, padded, paint

CELL = (WIDTH - CARD) // OPEN_PORTS  # columns of a port in the table of shipments
WITH_DETAILS = (PAY, TAKE, LAST_CONTRACT)
HAND_IN_OPTIONS = (SHIP, DROP)
RULES = {  # for each phase, what somebody who decides wants to know
    "place": ("R1.6", "R1.7", "R6.3", "R7.3"),
    "contract": ("R3.1", "R3.2"),
    "pay": ("R3.2", "R3.3", "R9.2"),
    "traders": ("R4.1", "R4.2", "R4.6"),
    "commit": ("R4.3", "R4.5", "R4.6", "R4.7"),
    "defend": ("R4.4", "R4.5", "R4.6", "R4.7", "R4.8"),
    "keep": ("R4.8",),
    "yield": ("R4.7",),
    "ship": ("R5.1", "R5.2", "R6.2", "R7.1", "R7.2"),
    "take": ("R6.3", "R7.3"),
    "drop": ("R8.2",),
    "last contract": ("R8.5", "R3.2"),
}


class NoOption(ValueError):
    """Something typed that cannot be chosen; the message says why."""


class Decision:
    """One option of many, by its number."""

    def __init__(self, batch: Batch, scene: Scene) -> None:
        self._batch = batch
        self._scene = scene
        self._options = options(batch)

    @property
    def prompt(self) -> str:
        return f"{self._scene.question} 1 to {len(self._options)}"

    @property
    def lines(self) -> list[str]:
        """What a player needs to see beside the board: details, the hand, and the options."""
        phase = self._scene.g.phase
        told = list(details(self._scene)) if phase in WITH_DETAILS else []
        hand = [] if phase in HAND_IN_OPTIONS else hands(self._scene)
        drawn = {SHIP: self._shipments, TRADERS: self._traders}.get(phase, self._columns)
        return [*told, *hand, *drawn()]

    def parse(self, typed: str) -> list[int]:
        """The actions of what was typed; raises NoOption."""
        numbers = {str(number): action for number, (action, *_) in enumerate(self._options, start=1)}
        if typed not in numbers:
            raise NoOption(f"{in_short(typed)} is no option. Type a number from 1 to {len(numbers)}, or ? for help.")
        return [numbers[typed]]

    def words(self, actions: Sequence[int]) -> Pieces:
        """What choosing these actions would mean, and lead to: "ship 15 [...] to Banda. Monopoly of red. ..."."""
        return paragraph([(*self.chosen(actions), "."), *self.leads_to(actions)])

    def chosen(self, actions: Sequence[int]) -> Pieces:
        """What these actions are: "ship 15 [...] to Banda"."""
        return next(offer.pieces for offer in self._options if offer.action == actions[0])

    def leads_to(self, actions: Sequence[int]) -> list[Pieces]:
        """What would come of them, in sentences: "Monopoly of red."."""
        return Shipment(self._batch, actions[0]).sentences if self._scene.g.phase == SHIP else []

    def _plain(self, pieces: Pieces) -> str:
        """For the one who decides, at a terminal."""
        return plain(pieces, self._scene.names, int(self._batch.player[0]), in_colours(self._batch.ruleset))

    def _columns(self) -> Iterator[str]:
        numbered = [f"{number:>2}  {self._plain(one.pieces)}" for number, one in enumerate(self._options, start=1)]
        width = 2 + max(map(length, numbered))
        return packed((padded(words, width) for words in numbered), "")

    def _shipments(self) -> Iterator[str]:
        """A line for each card, a column for each port."""
        ports = (self._scene.port(place) for place in range(OPEN_PORTS))
        heads = (padded(paint(port.name[: CELL - 4], BOLD), CELL) for port in ports if port)
        yield (" " * (CARD + 3) + "".join(heads)).rstrip()
        for row in range(0, len(self._options), OPEN_PORTS):
            cells = ""
            for number in range(row, row + OPEN_PORTS):
                short = Shipment(self._batch, self._options[number].action).short
                cells += padded(f"{number + 1:>2} {short}", CELL)
            yield (padded(aligned_card(self._batch.ruleset, self._cards[row // OPEN_PORTS]), CARD) + cells).rstrip()

    @property
    def _cards(self) -> list[int]:
        return self._scene.hands[self._scene.g.player] or []

    def _traders(self) -> Iterator[str]:
        """A line for each trader: where it can go, and whom it can attack."""
        moves: defaultdict[str, list[str]] = defaultdict(list)
        for number, (_, move, pieces) in enumerate(self._options, start=1):
            if move.declines:
                yield f"{number:>2}  {self._plain(pieces)}"
                continue
            if move.verb == "transfer":
                deed = f"to {move.parts['to']}"
            else:
                between = move.parts["rank"] - move.parts["target"] - 1
                deed = f"attack rank {move.parts['target']}" + (f" (+{between})" if between else "")
            moves[f"{move.parts['company']} {move.parts['rank']}"].append(f"{number:>2} {deed}  ")
        for trader, deeds in moves.items():
            yield from packed(deeds, f"    {trader:<9} ")
