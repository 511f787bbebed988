"""What a person is asked: lines that show the options, and what may be typed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from borneo_agents.human.options import Shipment, card_words, options, port_at
from borneo_env.cards import COMPANIES
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
from borneo_env.render.scene import Scene
from borneo_env.render.terminal import details, hands
from borneo_env.render.text import BOLD, CARD, WIDTH, length, packed, padded, paint

CELL = (WIDTH - CARD) // OPEN_PORTS  # columns of a port in the table of shipments
WITH_DETAILS = (PAY, TAKE, LAST_CONTRACT)
HAND_IN_OPTIONS = (SHIP, DROP)


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
        numbers = {str(number): action for number, (action, _) in enumerate(self._options, start=1)}
        if typed not in numbers:
            raise NoOption(f"{in_short(typed)} is no option. Type a number from 1 to {len(numbers)}, or ? for help.")
        return [numbers[typed]]

    def words(self, actions: Sequence[int]) -> str:
        """What choosing these actions would mean, and lead to: "ship 15 [...] to Banda. Monopoly of red. ..."."""
        chosen = dict(self._options)[actions[0]] + "."
        if self._scene.g.phase == SHIP:
            chosen = " ".join([chosen, *Shipment(self._batch, actions[0]).words])
        return chosen

    def _columns(self) -> Iterator[str]:
        numbered = [f"{number:>2}  {words}" for number, (_, words) in enumerate(self._options, start=1)]
        width = 2 + max(map(length, numbered))
        return packed((padded(words, width) for words in numbered), "")

    def _shipments(self) -> Iterator[str]:
        """A line for each card, a column for each port."""
        heads = (padded(paint(port_at(self._batch, place)[: CELL - 4], BOLD), CELL) for place in range(OPEN_PORTS))
        yield (" " * (CARD + 3) + "".join(heads)).rstrip()
        for row in range(0, len(self._options), OPEN_PORTS):
            cells = ""
            for number in range(row, row + OPEN_PORTS):
                short = Shipment(self._batch, self._options[number][0]).short
                cells += padded(f"{number + 1:>2} {short}", CELL)
            yield (padded(card_words(self._batch, self._cards[row // OPEN_PORTS]), CARD) + cells).rstrip()

    @property
    def _cards(self) -> list[int]:
        return self._scene.hands[self._scene.g.player] or []

    def _traders(self) -> Iterator[str]:
        """A line for each trader: where it can go, and whom it can attack."""
        moves: defaultdict[str, list[str]] = defaultdict(list)
        for number, move in enumerate(self._batch.legal_moves(), start=1):
            verb, *words = move.split()
            if verb == "traders":
                yield f"{number:>2}  leave the traders where they are"
                continue
            company, rank, where = words
            if verb == "transfer":
                moves[f"{company} {rank}"].append(f"{number:>2} to {where}  ")
            else:
                between = int(rank) - int(where) - 1
                moves[f"{company} {rank}"].append(
                    f"{number:>2} attack rank {where}{f' (+{between})' * (between > 0)}  "
                )
        for trader in sorted(moves, key=lambda name: COMPANIES.index(name.split()[0])):
            yield from packed(moves[trader], f"    {trader:<9} ")
