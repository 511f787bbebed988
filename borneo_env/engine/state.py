"""GAME: the NumPy record that holds one game, and BOX: the cards and settings of a ruleset beside it.

Every card lies in exactly one place, and `place` says which: the cargo cards are things 0 to 59, the ports in play
are things 60 and up. Everything else in the record is order, counts, or the decision that is being asked for.
A batch of games is an array of such records: `games["ladder"][:, 0]` are the red ladders of all games.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from borneo_env.cards import CARGO_CARDS, COMPANIES, CONTRACT_KINDS, MAX_PORTS, SPICES
from borneo_env.cards import CHEST as CHEST_NAME
from borneo_env.engine import actions
from borneo_env.ruleset import Ruleset

CARDS = CARGO_CARDS
THINGS = CARDS + MAX_PORTS
SEATS = 5  # records have room for five players, whatever the ruleset
N_COMPANIES = len(COMPANIES)
N_SPICES = len(SPICES)
N_KINDS = len(CONTRACT_KINDS)
# R0.10, from the names of the kinds: how many spices are owed, and whether of one spice or of each.
AMOUNT = tuple(int(kind[-1]) for kind in CONTRACT_KINDS)
OF_ONE_SPICE = tuple(kind.startswith("same") for kind in CONTRACT_KINDS)
OPEN_PORTS = 3
FIRST_HAND = 3  # cards dealt (R1.1)
HAND_LIMIT = 6  # R8.2
HAND_ROOM = HAND_LIMIT + 2  # two cards are drawn before any is dropped
BOARD_SLOTS = 5  # R0.7
CARD_SLOTS = SEATS * 3  # no limit: room for all traders of five players
NOBODY = -1
SPECTATOR = -1  # in place of a seat: somebody who sees no hand
NO_CARD = -1

# The sizes of a thing in a warehouse, and the column of a chest behind the four spices.
SINGLE, DOUBLE, PORT = range(3)
CHEST = N_SPICES

# Where a thing lies. The last three stand for one place per open port or player: HAND + 2 is the hand of player 2.
OUT, PILE, DISCARD, ATTACK, DEFENCE, UNSEEN = range(6)
AT_PORT = 6
HAND = AT_PORT + OPEN_PORTS
WAREHOUSE = HAND + SEATS

# What is being decided.
PHASES = (
    "place", "contract", "pay", "traders", "commit", "defend", "keep", "yield", "ship", "take", "drop",
    "last contract", "over",
)  # fmt: skip
PLACE, CONTRACT, PAY, TRADERS, COMMIT, DEFEND, KEEP, YIELD, SHIP, TAKE, DROP, LAST_CONTRACT, OVER = range(len(PHASES))

# Whether one of these decisions is forced can follow from a hidden hand. So where forced ones are not asked for, that
# one was asked for is a secret of who decides.
TELLTALE = frozenset((TRADERS, COMMIT, DEFEND))

# The two random streams of a game: the table's shuffles, and the choices of players who play at random.
SHUFFLES, CHOICES = range(2)


class Field(NamedTuple):
    name: str
    dtype: str
    shape: tuple[int, ...]
    low: int  # smallest and largest value in any real game: a loaded file is checked against them
    high: int
    meaning: str


CLOCK_MAX = 32_000

# What is counted of each player's doings. A contest counts for the attacker, or for the defender who won it.
TALLIES = ("transfers", "contests started", "contests won", "contests defended", "monopolies", "shared distributions")
TRANSFERS, CONTESTS_STARTED, CONTESTS_WON, CONTESTS_DEFENDED, MONOPOLIES, SHARED = range(len(TALLIES))

FIELDS = (
    Field("rng", "u8", (2,), 0, 2**64 - 1, "random streams: shuffles, random choices; secret"),
    Field("number", "i8", (), 0, 2**63 - 1, "which game of its seed this is; secret, as it tells the deal"),
    Field("fighters", "u8", (), 0, 2**60 - 1, "contest: bit c is set if card c shows a flag of the contested company"),
    Field("clock", "i2", (), 0, CLOCK_MAX, "counts the arrivals of cards on the table and the shuffles"),
    Field("since", "i2", (THINGS,), 0, CLOCK_MAX, "clock when a thing came to its port or warehouse; for a card in a "
          "hand or in the draw pile, the clock of the shuffle that made its pile (R11.3)"),
    Field("pile_since", "i2", (), 0, CLOCK_MAX, "clock of the shuffle that made the draw pile: the newest pile"),
    Field("hand_since", "i2", (SEATS, HAND_ROOM), -1, CLOCK_MAX, "`since` of each player's hand cards, ascending, -1 "
          "behind them: public, where the cards themselves are not"),
    Field("tally", "i2", (SEATS, len(TALLIES)), 0, CLOCK_MAX, "what each player has done so far: see TALLIES"),
    Field("shown", "i2", (OPEN_PORTS, N_COMPANIES), 0, 4 * CARDS, "visible flags of each company at each open port"),
    Field("place", "i1", (THINGS,), 0, WAREHOUSE + SEATS - 1, "where each thing lies"),
    Field("draw", "i1", (CARDS,), -1, CARDS - 1, "draw pile, its top card at draw_left - 1; secret"),
    Field("draw_left", "i1", (), 0, CARDS, "cards in the draw pile"),
    Field("draw_size", "i1", (), 0, CARDS, "cards the draw pile had when it was shuffled"),
    Field("port_pile", "i1", (MAX_PORTS,), -1, THINGS - 1, "port pile, its top port at ports_left - 1; secret"),
    Field("ports_left", "i1", (), 0, MAX_PORTS - OPEN_PORTS, "ports in the port pile"),
    Field("open", "i1", (OPEN_PORTS,), -1, THINGS - 1, "the open ports; -1 while a port's cards are distributed"),
    Field("laid", "i1", (OPEN_PORTS,), 0, CARDS, "cargo cards at each open port"),
    Field("lowest", "i1", (OPEN_PORTS,), -1, CARDS - 1, "the card played last at each open port, or -1"),
    Field("order", "i1", (THINGS,), 0, CARDS, "for a card at a port, its place in the order of play from 1; else 0"),
    Field("ladder", "i1", (N_COMPANIES, CARD_SLOTS), -1, SEATS - 1, "player of the trader on each rank, or -1"),
    Field("height", "i1", (N_COMPANIES,), 0, CARD_SLOTS, "traders on each ladder"),
    Field("hand_size", "i1", (SEATS,), 0, HAND_ROOM - 1, "cards in each hand"),
    Field("stock", "i1", (SEATS, N_SPICES + 1, 3), 0, THINGS, "warehouse of each player: things by spice (a chest is "
          "the fifth) and size (single, double, port)"),
    Field("fulfilled", "i1", (SEATS, N_KINDS), 0, 100, "contracts of each kind each player has fulfilled"),
    Field("supply", "i1", (N_KINDS,), 0, 100, "contracts of each kind left"),
    Field("pirates", "i1", (), -1, SEATS - 1, "player the pirate ship lies with, or -1 (R9.2)"),
    Field("phase", "i1", (), 0, len(PHASES) - 1, "what is being decided"),
    Field("player", "i1", (), -1, SEATS - 1, "who decides; -1 when the game is over"),
    Field("turn", "i1", (), 0, SEATS - 1, "whose turn it is"),
    Field("start", "i1", (), 0, SEATS - 1, "the start player"),
    Field("placed", "i1", (), 0, SEATS * 4, "traders placed so far"),
    Field("ended", "i1", (), 0, 1, "1 once the last contracts have begun (R8.3)"),
    Field("finished", "i1", (), 0, SEATS, "players who have had their last contract"),
    Field("contract", "i1", (), -1, N_KINDS - 1, "kind of contract being paid, or -1"),
    Field("owed", "i1", (N_SPICES,), 0, 8, "spices still owed for it"),
    Field("company", "i1", (), -1, N_COMPANIES - 1, "contest: the company, or -1 without a contest"),
    Field("attacker_rank", "i1", (), 0, CARD_SLOTS - 1, "contest: rank of the attacker, 0 is the top"),
    Field("defender_rank", "i1", (), 0, CARD_SLOTS - 1, "contest: rank of the defender"),
    Field("attack_cards", "i1", (), 0, HAND_ROOM, "contest: cards the attacker has played"),
    Field("defence_cards", "i1", (), 0, HAND_ROOM, "contest: cards the defender has played"),
    Field("strength", "i1", (2,), 0, 4 * HAND_ROOM, "contest: flags of the attack, and of the defence without bonus"),
    Field("last_played", "i1", (), -1, CARDS - 1, "contest: the side's last card; the next has a higher id"),
    Field("sharing_port", "i1", (), -1, OPEN_PORTS - 1, "distribution: place of the port, or -1 without one"),
    Field("monopoly", "i1", (), -1, N_COMPANIES - 1, "distribution: who has the monopoly, or -1; kept until the next"),
    Field("sharers", "i1", (N_COMPANIES,), 0, N_COMPANIES - 1, "distribution: the companies in their order"),
    Field("n_sharers", "i1", (), 0, N_COMPANIES, "distribution: how many companies share"),
    Field("sharer", "i1", (), -1, N_COMPANIES - 1, "distribution: index of the company that chooses"),
    Field("sharing_rank", "i1", (), 0, CARD_SLOTS - 1, "distribution: rank of the trader who chooses"),
    # Every byte belongs to a field, so that equal games have equal bytes.
    Field("padding", "i1", (4,), 0, 0, "nothing"),
)  # fmt: skip

GAME = np.dtype([(f.name, f.dtype, f.shape) for f in FIELDS], align=True)
assert GAME.itemsize == sum(GAME[field.name].itemsize for field in FIELDS), "adapt the padding field"

_WHOLE = np.dtype((np.void, GAME.itemsize))


def copy_games(games: NDArray[np.void], rows: Any = slice(None)) -> NDArray[np.void]:
    """A copy of an array of games, or of some of them, as whole blocks of memory: NumPy copies field by field."""
    chosen = np.ascontiguousarray(games).view(_WHOLE)[rows]
    copies: NDArray[np.void] = (chosen.copy() if isinstance(rows, slice) else chosen).view(GAME)
    return copies


BOX = np.dtype(
    [
        ("players", "i8"),
        ("traders", "i8"),
        ("slots", "i8"),  # of a ladder
        ("ports", "i8"),  # in play
        ("card_edition", "?"),
        ("blackbeard", "?"),
        ("flags_of", "i1", (CARDS, 4)),  # companies in reading order
        ("strength", "i1", (CARDS, N_COMPANIES)),  # how many of the four flags are each company's
        ("spice_of", "i1", (THINGS,)),
        ("size_of", "i1", (THINGS,)),  # SINGLE, DOUBLE or PORT
        ("limit", "i2", (THINGS,)),  # of ports; 0 for cargo cards
        ("monopoly", "i2", (THINGS,)),
        ("points", "i2", (N_KINDS,)),
        ("first_contest", "i8"),  # the first action of each block that begins at another id in each edition
        ("first_ship", "i8"),
        ("first_card", "i8"),
    ],
    align=True,
)


@cache
def make_box(ruleset: Ruleset) -> np.ndarray:
    """The cards and settings of a ruleset as an array of one BOX record."""
    box = np.zeros(1, BOX)
    slots = slots_of(ruleset)
    table = actions.action_table(slots)
    box["players"], box["traders"], box["slots"] = ruleset.players, ruleset.traders, slots
    box["card_edition"], box["blackbeard"] = ruleset.edition == "card", ruleset.blackbeard
    spices = (*SPICES, CHEST_NAME)
    for card, cargo in enumerate(ruleset.tables.cargo):
        flags = [COMPANIES.index(flag) for flag in cargo.flags]
        box["flags_of"][0, card] = flags
        box["strength"][0, card] = np.bincount(flags, minlength=N_COMPANIES)
        box["spice_of"][0, card] = spices.index(cargo.spice)
        box["size_of"][0, card] = DOUBLE if cargo.count == 2 else SINGLE
    ports = ruleset.tables.ports_in_play(ruleset.players)
    box["ports"] = len(ports)
    for thing, port in enumerate(ports, start=CARDS):
        box["spice_of"][0, thing], box["size_of"][0, thing] = spices.index(port.spice), PORT
        box["limit"][0, thing], box["monopoly"][0, thing] = port.limit, port.monopoly
    box["points"] = [contract.points for contract in ruleset.tables.contracts]
    box["first_contest"] = table.block("contest").start
    box["first_ship"] = table.block("ship").start
    box["first_card"] = table.block("card").start
    return box


def slots_of(ruleset: Ruleset) -> int:
    """How many traders a ladder of this edition has room for (R0.7)."""
    return BOARD_SLOTS if ruleset.edition == "board" else CARD_SLOTS


def make_blank(ruleset: Ruleset) -> np.ndarray:
    """An array of one GAME record as it is before the deal: all cards in their piles, in the order of their ids."""
    blank = np.zeros(1, GAME)
    ports = len(ruleset.tables.ports_in_play(ruleset.players))
    for name in ("hand_since", "draw", "port_pile", "open", "lowest", "ladder", "pirates", "contract", "company",
                 "last_played", "sharing_port", "monopoly", "sharer"):  # fmt: skip
        blank[name] = -1
    blank["place"][0, : CARDS + ports] = PILE
    blank["draw"] = np.arange(CARDS)
    blank["draw_left"] = blank["draw_size"] = CARDS
    blank["port_pile"][0, :ports] = CARDS + np.arange(ports)
    blank["ports_left"] = ports
    blank["supply"] = ruleset.tables.supply_in_play(ruleset.players)
    return blank
