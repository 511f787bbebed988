"""What a person is asked: lines that show the options, and what may be typed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

from borneo_agents.human.options import Shipment, aligned_card, in_colours, options
from borneo_env.cards import COMPANIES
from borneo_env.engine.actions import PASS
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import COMMIT, DEFEND, DROP, LAST_CONTRACT, OPEN_PORTS, PAY, SHIP, TAKE, TRADERS
from borneo_env.pieces import Does, Pieces, Who, listed, paragraph, plain
from borneo_env.render.scene import Scene, count
from borneo_env.render.terminal import details, hands
from borneo_env.render.text import BOLD, CARD, WIDTH, length, packed, padded, paint, wrapped
from borneo_env.story import named_card
from kontor.files import in_short

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


class HumanDecision:
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


def decision(batch: Batch, scene: Scene) -> HumanDecision:
    """What the player of the first game is asked, as the player sees it."""
    return (CardsDecision if scene.g.phase in (COMMIT, DEFEND) else HumanDecision)(batch, scene)


class CardsDecision(HumanDecision):
    """The cards of an attack or a defence: a set, typed in any order."""

    @property
    def prompt(self) -> str:
        verb = "defend" if self._defends else "attack"
        example = " ".join(map(str, range(1, min(2, self._most, len(self._playable)) + 1)))
        some = f"Such as {example}" if example else ""
        none = "0 for none" if self._may_be_none else ""
        return f"Which cards {verb}? {' or '.join(filter(None, (some, none)))}"

    @property
    def lines(self) -> list[str]:
        numbers = {card: str(number) for number, card in enumerate(self._playable, start=1)}
        numbered = [self._numbered(numbers.get(card, "-"), card) for card in self._cards]
        width = 2 + max(map(length, numbered), default=0)
        told = [line for sentence in self.told for line in wrapped(self._plain(sentence))]
        return [*told, *packed((padded(words, width) for words in numbered), "")]

    def parse(self, typed: str) -> list[int]:
        numbers = typed.replace(",", " ").split()
        if numbers == ["0"] and self._may_be_none:
            return [PASS]
        known = {str(number): card for number, card in enumerate(self._playable, start=1)}
        if not numbers or any(number not in known for number in numbers):
            raise NoOption(
                f"{in_short(typed)} is no set of cards. Type {' '.join(known) or '0'}, some of it, or ? for help."
            )
        return self.playing({known[number] for number in numbers})

    def playing(self, cards: Collection[int]) -> list[int]:
        """The actions that play a set of cards, or none; raises NoOption."""
        if not self._playable.keys() >= set(cards):
            raise NoOption("Only your own cards with a flag of the company can be played here (R4.3).")
        if not cards and not self._may_be_none:
            raise NoOption("An attack has at least one card (R4.3).")
        if len(cards) > self._most:
            raise NoOption(f"You may play {count(self._most, 'card')} at most{self._why_so_few}.")
        return [*(self._playable[card] for card in sorted(cards)), PASS]

    def chosen(self, actions: Sequence[int]) -> Pieces:
        cards = self._cards_of(actions)
        if not cards:
            return ("do not defend" if self._defends else "play no more cards",)
        verb, strength = "defend" if self._defends else "attack", count(self._strength(cards), "flag")
        return (f"{verb} with ", *self._listed(cards), f": {strength} of {self._company}")

    def leads_to(self, actions: Sequence[int]) -> list[Pieces]:
        cards = self._cards_of(actions)
        return [(self._verdict(self._strength(cards), len(cards)),)] if cards else []

    def _cards_of(self, actions: Sequence[int]) -> list[int]:
        return [card for card, action in self._playable.items() if action in actions]

    def _strength(self, cards: Sequence[int]) -> int:
        """With those played before."""
        played: int = self._scene.g.strength[self._defends]
        return sum(map(self._flags, cards)) + played

    def _listed(self, cards: Sequence[int]) -> Pieces:
        return listed((named_card(self._batch.ruleset, card),) for card in cards)

    @property
    def _defends(self) -> bool:
        return bool(self._scene.g.phase == DEFEND)

    @property
    def _company(self) -> str:
        return COMPANIES[self._scene.g.company]

    @property
    def _playable(self) -> dict[int, int]:
        """The cards that may be played, each with its action: first come those with low ids, so they come sorted."""
        return {move.parts["card"]: action for action, move, _ in self._options if not move.declines}

    @property
    def _may_be_none(self) -> bool:
        return any(move.declines for _, move, _ in self._options)

    @property
    def _most(self) -> int:
        """How many cards may still be played (R4.4, R4.5)."""
        g = self._scene.g
        spare: int = g.hand_size[g.player] - 1
        return min(spare, g.attack_cards - g.defence_cards) if self._defends else spare

    @property
    def _why_so_few(self) -> str:
        g = self._scene.g
        if self._defends and self._most < g.hand_size[g.player] - 1:
            return ", as many as the attack has (R4.4)"
        return ": nobody plays the last card of the hand (R4.5)"

    def _flags(self, card: int) -> int:
        return self._scene.card(card).flags.count(self._company)

    def _numbered(self, number: str, card: int) -> str:
        flags = count(self._flags(card), "flag")
        return f"{number:>2}  {padded(aligned_card(self._batch.ruleset, card), CARD - 2)} {flags}"

    @property
    def told(self) -> list[Pieces]:
        """Who fights whom, and what is enough."""
        g, scene = self._scene.g, self._scene
        attack, defence = scene.sides
        ranks = f"rank {g.attacker_rank + 1} against rank {g.defender_rank + 1}"
        between = f", +{scene.bonus} for the defence" if scene.bonus else ""
        attacks = Who(attack.player, begins=True), " ", Does(attack.player, "attack"), " ", Who(defence.player)
        fight: Pieces = (*attacks, f" in {self._company}: {ranks}{between}.")
        if attack.cards and self._defends:
            fight += (f" {count(g.strength[0], 'flag')} on ", *self._listed(attack.cards), ".")
        return [fight, (self._enough(defence.player),)]

    def _enough(self, defender: int) -> str:
        g = self._scene.g
        may = f"You may play {count(self._most, 'card')} at most."
        if self._defends:
            return f"{self._needed()} {may}"
        size = g.hand_size[defender]
        return f"Equal flags win (R4.7). {may} The defence may play as many cards as you, and has {size} in hand."

    def _needed(self) -> str:
        """What holds against the attack."""
        g = self._scene.g
        needed = g.strength[0] - self._scene.bonus + 1
        most = g.strength[1] + sum(sorted(map(self._flags, self._playable))[::-1][: self._most])
        if needed <= g.strength[1]:
            return "The defence holds already."
        if most < needed:
            return f"You would need {count(needed, 'flag')} to hold and can have {most} at most."
        return f"You hold with {count(needed, 'flag')}: equal flags win for the attacker (R4.7)."

    def _verdict(self, strength: int, cards: int) -> str:
        g, bonus = self._scene.g, self._scene.bonus
        if self._defends:
            holds = strength + bonus > g.strength[0]
            odds = f"{strength}{f' + {bonus}' * (bonus > 0)} against {g.strength[0]}"
            return f"{odds}: {'you hold' if holds else 'you are beaten'}."
        spare = max(0, g.hand_size[self._scene.sides[1].player] - 1)
        strongest = max(cargo.flags.count(self._company) for cargo in self._scene.ruleset.tables.cargo)
        most = min(cards + g.attack_cards, spare) * strongest + bonus
        sure = "which is not enough to hold" if most <= strength else "so it is open"
        return f"The defence can have {count(most, 'flag')} at most, {sure}."
