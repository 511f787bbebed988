"""Scene: one position as somebody sees it, in the words of the game. Both the drawing and the terminal read it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import cycle, islice
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from borneo_env.cards import COMPANIES, Cargo, Port
from borneo_env.engine.games import results
from borneo_env.engine.state import (
    AT_PORT,
    ATTACK,
    CARDS,
    COMMIT,
    CONTRACT,
    DEFENCE,
    DEFEND,
    DISCARD,
    DOUBLE,
    DROP,
    GAME,
    HAND,
    HAND_LIMIT,
    KEEP,
    LAST_CONTRACT,
    NO_CARD,
    NOBODY,
    OVER,
    PAY,
    PLACE,
    PORT,
    SHIP,
    SINGLE,
    SPECTATOR,
    TAKE,
    TRADERS,
    YIELD,
)
from borneo_env.render.pen import MINUS, printable
from borneo_env.ruleset import Ruleset

SECRETS = ("rng", "number", "draw", "port_pile")
SHOWN = tuple(name for name in GAME.names or () if name not in SECRETS)
NUMBER_WORDS = {3: "three", 4: "four", 5: "five"}
STEPS = {  # the phases of a turn (R2), and the decisions that belong to each
    "contract": (CONTRACT, PAY),
    "traders": (TRADERS, COMMIT, DEFEND, KEEP, YIELD),
    "cargo": (SHIP, TAKE),
    "drawing": (DROP,),
}
CONTEST = (COMMIT, DEFEND, KEEP, YIELD)


def count(number: int, thing: str) -> str:
    """A number of things: "1 card", "3 cards"."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def ordinal(number: int) -> str:
    """A place: "1st", "2nd", "3rd", "4th"."""
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number, 'th') }"


def signed(number: int) -> str:
    """A number with a real minus sign."""
    return str(number).replace("-", MINUS)


class Trader(NamedTuple):
    company: int
    rank: int
    player: int


class Side(NamedTuple):
    player: int
    deed: str  # "attacks rank 1"
    origin: str  # "from rank 3", for the attacker
    cards: list[int]  # those played, gone once the contest is decided
    played: int  # how many were


class Scene:
    """A position with everything a picture needs, and nothing its viewer may not see.

    `g` has the fields of the record as plain Python numbers and lists, without those that hold secrets.
    """

    def __init__(
        self, ruleset: Ruleset, game: np.void, seat: int | None, last_move: str, names: Sequence[str] | None
    ) -> None:
        self.ruleset = ruleset
        self.players = range(ruleset.players)
        self.seat = seat
        self.last_move = printable(last_move)
        self.names = [printable(name) for name in names or [f"player {player}" for player in self.players]]
        self._check()
        games = np.array(game, GAME, ndmin=1)
        self.g = SimpleNamespace(**{name: games[name][0].tolist() for name in SHOWN})
        self._lying: defaultdict[int, list[int]] = defaultdict(list)
        for thing, place in enumerate(self.g.place[:CARDS]):
            self._lying[place].append(thing)
        self.hands = [self._hand(player) for player in self.players]
        points = results(ruleset, games)
        self.scores, self.places = points.scores[0].tolist(), points.places[0].tolist()

    def _check(self) -> None:
        if self.seat not in (None, SPECTATOR, *self.players):
            raise ValueError(
                f"seat {self.seat!r} does not exist; use 0 to {self.players[-1]}, {SPECTATOR} for a spectator, or None "
                f"for all hands face up"
            )
        if len(self.names) != len(self.players):
            raise ValueError(f"{len(self.players)} names are needed, one for each player, not {len(self.names)}")

    def _hand(self, player: int) -> list[int] | None:
        """The cards of a hand the viewer sees, or None."""
        if self.seat not in (None, player):
            return None
        hand = self._lying[HAND + player]
        if len(hand) != self.g.hand_size[player]:
            viewer = "with all hands face up" if self.seat is None else f"for seat {player}"
            raise ValueError(f"the record does not show the hand of player {player}, so it cannot be drawn {viewer}")
        return hand

    # ---------------------------------------------------------------- cards and ports

    def card(self, card: int) -> Cargo:
        return self.ruleset.tables.cargo[card]

    def port(self, place: int) -> Port | None:
        """The port open at a place, or None while its cards are shared out."""
        thing = self.g.open[place]
        return None if thing == NO_CARD else self.ruleset.tables.ports_in_play(len(self.players))[thing - CARDS]

    def cards_at(self, place: int) -> list[int]:
        """The cargo cards at an open port in the order they were played."""
        return sorted(self._lying[AT_PORT + place], key=self.g.order.__getitem__)

    def cards_in(self, place: int) -> list[int]:
        """The cargo cards that lie in a place, by their ids."""
        return self._lying[place]

    @property
    def discards(self) -> int:
        return len(self._lying[DISCARD])

    # ---------------------------------------------------------------- what is going on

    @property
    def title(self) -> str:
        """Edition, players and variants."""
        four_traders = " · four traders" if self.ruleset.traders == 4 else ""
        blackbeard = " · Blackbeard's secret" if self.ruleset.blackbeard else ""
        players = NUMBER_WORDS[len(self.players)]
        return f"{self.ruleset.edition} edition · {players} players{four_traders}{blackbeard}"

    @property
    def view(self) -> str:
        """Whose eyes see this."""
        if self.seat is None:
            return "all hands face up"
        return "seen by a spectator" if self.seat == SPECTATOR else f"seen by {self.names[self.seat]}"

    @property
    def step(self) -> str | None:
        """The phase of the turn (R2); None before the first turn and after the last."""
        if self.g.ended:
            return None
        return next((step for step, phases in STEPS.items() if self.g.phase in phases), None)

    @property
    def winners(self) -> list[int]:
        return [player for player in self.players if self.places[player] == 1]

    @property
    def headline(self) -> str:
        if self.g.phase == OVER:
            names = " and ".join(self.names[player] for player in self.winners)
            return f"{names} {'wins' if len(self.winners) == 1 else 'share the victory'}"
        return f"{self.names[self.g.player]} decides"

    @property
    def whose_turn(self) -> str:
        """Whose turn it is and which phase of it: "turn of player 2 · cargo"; nothing outside the turns."""
        return f"turn of {self.names[self.g.turn]} · {self.step}" if self.step else ""

    def points_for(self, player: int) -> dict[str, int]:
        """Where a player's points come from; what neither contracts nor the warehouse explain is the pirate ship's."""
        g, contracts = self.g, self.ruleset.tables.contracts
        points = {
            "contracts": sum(n * kind.points for n, kind in zip(g.fulfilled[player], contracts, strict=True)),
            "cargo cards": sum(stock[SINGLE] + stock[DOUBLE] for stock in g.stock[player]),
            "ports": sum(stock[PORT] for stock in g.stock[player]),
        }
        if g.pirates == player:
            points["pirate ship"] = self.scores[player] - sum(points.values())
        return points

    @property
    def question(self) -> str:
        """What is being decided."""
        g = self.g
        company = COMPANIES[g.company] if self.contest else ""
        return {
            PLACE: "Where does the next trader go?",
            CONTRACT: "Fulfil a contract?",
            PAY: "What is given next for the contract?",
            TRADERS: "Transfer a trader, attack, or neither?",
            COMMIT: f"Which cards attack in {company}?",
            DEFEND: f"Which cards defend in {company}, if any?",
            KEEP: "The defence holds. Is one of its cards kept?",
            YIELD: "Beaten: where does the trader go?",
            SHIP: "Which card goes to which port?",
            TAKE: "Which cargo card is taken?",
            DROP: f"More than {HAND_LIMIT} cards: which one is dropped?",
            LAST_CONTRACT: "The game has ended: a last contract?",
            OVER: "The game is over.",
        }[g.phase]

    # ---------------------------------------------------------------- contest and distribution

    @property
    def contest(self) -> bool:
        return self.g.phase in CONTEST

    @property
    def sides(self) -> tuple[Side, Side]:
        """Attacker and defender of the contest; a beaten defender already stands where the attacker was (R4.7)."""
        g = self.g
        low, high = g.attacker_rank, g.defender_rank
        defender = g.ladder[g.company][low if g.phase == YIELD else high]
        attacks, defends = {YIELD: ("takes", "loses"), KEEP: ("fails at", "holds")}.get(g.phase, ("attacks", "defends"))
        return (
            Side(g.turn, f"{attacks} rank {high + 1}", f"from rank {low + 1}", self.cards_in(ATTACK), g.attack_cards),
            Side(defender, f"{defends} rank {high + 1}", "", self.cards_in(DEFENCE), g.defence_cards),
        )

    @property
    def bonus(self) -> int:
        """How many traders stand between attacker and defender (R4.6)."""
        between: int = self.g.attacker_rank - self.g.defender_rank - 1
        return between

    @property
    def traders_to_come(self) -> list[Trader]:
        """Those who will choose the cargo cards of a distribution, the one who chooses now first (R6.3, R7.3, R7.4)."""
        g = self.g
        sharers = g.sharers[: g.n_sharers]
        ranks = range(max(g.height[company] for company in sharers))
        order = [(company, rank) for rank in ranks for company in sharers if rank < g.height[company]]
        now = order.index((g.sharers[g.sharer], g.sharing_rank))
        choosing = islice(cycle(order), now, now + g.laid[g.sharing_port])
        return [Trader(company, rank, g.ladder[company][rank]) for company, rank in choosing]

    @property
    def last_contracts_to_come(self) -> list[int]:
        """The players who may still fulfil a last contract, in their order (R8.5)."""
        players = len(self.players)
        return [(self.g.player + i) % players for i in range(players - self.g.finished)]

    @property
    def distribution(self) -> str:
        """What kind of distribution is under way; nothing without one."""
        if self.g.phase != TAKE:
            return ""
        return f"monopoly of {COMPANIES[self.g.monopoly]}" if self.g.monopoly != NOBODY else "shared distribution"

    def role(self, company: int, rank: int) -> str:
        """What the trader there is doing: "attacks", "defends", "chooses" or nothing."""
        g = self.g
        if self.contest and company == g.company:
            fighters = {g.attacker_rank: "attacks", g.defender_rank: "defends"}
            if g.phase == YIELD:  # they have changed places
                fighters = {g.defender_rank: "attacks", g.attacker_rank: "defends"}
            return fighters.get(rank, "")
        chooses = g.phase == TAKE and (g.sharers[g.sharer], g.sharing_rank) == (company, rank)
        return "chooses" if chooses else ""
