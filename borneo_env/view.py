"""One game in the game's words, for bots and for people: `View` and `Option`.

A `View` is one game as the deciding player sees it. An `Option` is a legal move with a verb and its parts. Both work
what they tell out when they are asked for it, so that a decision costs little. What a view tells is what the player may
know (R11), and nothing hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from borneo_env.cards import CHEST as CHEST_NAME
from borneo_env.cards import COMPANIES, CONTRACT_KINDS, SPICES
from borneo_env.engine.state import (
    AMOUNT,
    AT_PORT,
    CARDS,
    CHEST,
    DISCARD,
    DOUBLE,
    HAND,
    OPEN_PORTS,
)
from borneo_env.ruleset import Ruleset
from kontor import view as kontor
from kontor.view import MoveOption

Amounts = dict[str, int]  # by company, or by spice


@dataclass(frozen=True)
class Card:
    """A cargo card (R0.8)."""

    number: int
    flags: tuple[str, str, str, str]  # three in the top row, one in the bottom row
    spice: str
    count: int  # 2 for a double

    def strength(self, company: str) -> int:
        """How many of its flags are a company's: what it counts in a contest (R4.6)."""
        return self.flags.count(company)


@dataclass(frozen=True)
class ContractKind:
    """A kind of contract (R0.10)."""

    kind: str
    points: int
    left: int  # in supply

    @property
    def amount(self) -> int:
        """How many of a spice, or of each spice, it asks for."""
        return AMOUNT[CONTRACT_KINDS.index(self.kind)]

    def missing(self, warehouse: Warehouse, spice: str | None = None) -> int:
        """How many spices a warehouse lacks to pay it, with its jokers; of one spice: of this, or of the best."""
        lacks = {name: max(0, self.amount - warehouse.spices[name]) for name in SPICES}
        if self.kind.startswith("each"):
            return max(0, sum(lacks.values()) - warehouse.jokers)
        return max(0, (min(lacks.values()) if spice is None else lacks[spice]) - warehouse.jokers)


@dataclass(frozen=True)
class Warehouse:
    """What a player has stored, and what of it contracts can be paid with (R3.2)."""

    spices: Amounts  # how many of each spice: a double is two
    doubles: Amounts  # how many doubles of each spice
    jokers: int  # ports with a chest
    cards: int  # cargo cards and ports: a point each


@dataclass(frozen=True)
class Contest:
    """The contest under way (R4.2)."""

    company: str
    attacker: int  # seats
    defender: int
    attack: int  # flags on the cards played so far
    defence: int  # the same, with what the defender gets for traders between the two (R4.6)
    attack_cards: int
    defence_cards: int


class OpenPort:
    """An open port (R0.9) with the cargo that lies there."""

    def __init__(self, view: View, place: int) -> None:
        card = view.ruleset.tables.ports_in_play(view.players)[int(view.game["open"][place]) - CARDS]
        self._view = view
        self.place = place
        self.name, self.spice, self.limit, self.monopoly = card.name, card.spice, card.limit, card.monopoly

    @property
    def joker(self) -> bool:
        """Whether it shows a chest: it pays as one of any spice."""
        return self.spice == CHEST_NAME

    @cached_property
    def cards(self) -> tuple[Card, ...]:
        """The cargo, in the order of play."""
        order = self._view.game["order"]
        return tuple(sorted(self._view.cards_at(AT_PORT + self.place), key=lambda card: order[card.number]))

    @cached_property
    def flags(self) -> Amounts:
        """How many flags of each company are to be seen."""
        return dict(zip(COMPANIES, self._view.game["shown"][self.place].tolist(), strict=True))

    def flags_after(self, card: Card) -> Amounts:
        """The same once a card has been shipped there: it covers the bottom row of the last one (R5.1)."""
        flags = {company: number + card.flags.count(company) for company, number in self.flags.items()}
        lowest = int(self._view.game["lowest"][self.place])
        if lowest >= 0:
            flags[self._view.card(lowest).flags[3]] -= 1
        return flags

    def result_of(self, card: Card) -> str:
        """What shipping a card there leads to: `monopoly`, `shared` or `nothing` (R5.2)."""
        if max(self.flags_after(card).values()) >= self.monopoly:
            return "monopoly"
        return "shared" if int(self._view.game["laid"][self.place]) + 1 >= self.limit else "nothing"

    def __repr__(self) -> str:
        return f"Port({self.name}: {self.spice}, cargo {len(self.cards)}/{self.limit}, {self.flags} of {self.monopoly})"


class Option(MoveOption):
    """A legal move: its verb, its parts, and its text. Parts that a verb does not have are None.

    Verbs are `place`, `contract`, `pay`, `traders` (none), `transfer`, `attack`, `commit`, `defend`, `keep`, `yield`,
    `ship`, `take` and `drop`. To decline is `contract none`, `commit done` and the like.
    """

    __slots__ = ()
    view: View
    company: str | None  # of the trader that moves or fights, or where a trader is placed
    to: str | None  # the company that a trader is transferred to
    rank: int | None  # of the own trader that moves or attacks; 1 is the top
    target: int | None  # the rank that is attacked
    spice: str | None  # of a contract of one spice, or of a payment (`joker` for a joker)
    size: str | None  # what is paid with: `single`, `double` or `port`

    @property
    def card(self) -> Card | None:
        """The cargo card that is played, kept, taken or dropped."""
        number = self.parts.get("card")
        return None if number is None else self.view.card(number)

    @property
    def port(self) -> OpenPort | None:
        """The port that is shipped to."""
        place = self.parts.get("port")
        return None if place is None else self.view.port_at(place)

    @property
    def contract(self) -> ContractKind | None:
        """The contract that is fulfilled."""
        kind = self.parts.get("contract")
        return None if kind is None else self.view.contracts[CONTRACT_KINDS.index(kind)]


class View(kontor.View):
    """One game as the player who decides sees it."""

    ruleset: Ruleset

    @cached_property
    def hand(self) -> tuple[Card, ...]:
        """The own hand cards."""
        return self.cards_at(HAND + self.me)

    @cached_property
    def hand_sizes(self) -> tuple[int, ...]:
        """How many cards each player has in hand."""
        return tuple(self.game["hand_size"][: self.players].tolist())

    @cached_property
    def ports(self) -> tuple[OpenPort, ...]:
        """The open ports."""
        return tuple(self.port_at(place) for place in range(OPEN_PORTS) if self.game["open"][place] >= 0)

    @cached_property
    def ports_left(self) -> int:
        """How many ports are in the pile: when one must be turned up and there is none, the game ends (R8.3)."""
        return int(self.game["ports_left"])

    @cached_property
    def ladders(self) -> dict[str, tuple[int, ...]]:
        """The seats of the traders in each company, from rank 1 down."""
        heights = self.game["height"].tolist()
        rows = self.game["ladder"].tolist()
        return {name: tuple(row[:height]) for name, row, height in zip(COMPANIES, rows, heights, strict=True)}

    def rank(self, company: str, seat: int | None = None) -> int | None:
        """The best rank of a player's traders in a company, or None; one's own by default."""
        ladder, player = self.ladders[company], self.me if seat is None else seat
        return ladder.index(player) + 1 if player in ladder else None

    @cached_property
    def warehouses(self) -> tuple[Warehouse, ...]:
        """What each player has stored."""
        return tuple(map(_warehouse, self.game["stock"][: self.players].tolist()))

    @property
    def warehouse(self) -> Warehouse:
        """The own warehouse."""
        return self.warehouses[self.me]

    @cached_property
    def contracts(self) -> tuple[ContractKind, ...]:
        """All kinds of contracts, with how many are left of each."""
        left = self.game["supply"].tolist()
        return tuple(
            ContractKind(card.kind, card.points, n) for card, n in zip(self.ruleset.tables.contracts, left, strict=True)
        )

    @property
    def payable(self) -> tuple[ContractKind, ...]:
        """The contracts in supply that the own warehouse can pay, without pirates."""
        return tuple(one for one in self.contracts if one.left and not one.missing(self.warehouse))

    @cached_property
    def contest(self) -> Contest | None:
        """The contest under way, if there is one."""
        if self.game["company"] < 0:
            return None
        company = COMPANIES[self.game["company"]]
        upper, lower = int(self.game["defender_rank"]), int(self.game["attacker_rank"])
        attack, defence = self.game["strength"].tolist()
        defender = self.ladders[company][upper] if self.phase == "commit" else self.me  # nobody else decides in it
        return Contest(
            company, self.turn, defender, attack, defence + lower - upper - 1,
            int(self.game["attack_cards"]), int(self.game["defence_cards"]),
        )  # fmt: skip

    @cached_property
    def discards(self) -> tuple[Card, ...]:
        """The discard pile, which lies open."""
        return self.cards_at(DISCARD)

    def card(self, number: int) -> Card:
        """A cargo card by its number."""
        return _cards(self.ruleset)[number]

    def cards_at(self, place: int) -> tuple[Card, ...]:
        cards = _cards(self.ruleset)
        return tuple(cards[number] for number in np.flatnonzero(self.game["place"][:CARDS] == place).tolist())

    def port_at(self, place: int) -> OpenPort:
        if place not in self._ports:
            self._ports[place] = OpenPort(self, place)
        return self._ports[place]

    @cached_property
    def _ports(self) -> dict[int, OpenPort]:
        return {}

    @cached_property
    def options(self) -> list[Option]:
        """The legal moves."""
        known = self._known_moves
        return [Option(self, action, *known[action]) for action in self._legal_actions()]


def _warehouse(stock: Sequence[Sequence[int]]) -> Warehouse:
    """From the things by spice and size."""
    spices = {spice: sum(stock[i]) + stock[i][DOUBLE] for i, spice in enumerate(SPICES)}
    doubles = {spice: stock[i][DOUBLE] for i, spice in enumerate(SPICES)}
    return Warehouse(spices, doubles, sum(stock[CHEST]), sum(map(sum, stock)))


@cache
def _cards(ruleset: Ruleset) -> tuple[Card, ...]:
    return tuple(Card(i, card.flags, card.spice, card.count) for i, card in enumerate(ruleset.tables.cargo))
