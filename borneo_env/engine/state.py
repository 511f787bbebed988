"""GAME: the NumPy record that holds one game, and BOX: the cards and settings of a ruleset beside it.

Every card lies in exactly one place, and `place` says which: the cargo cards are things 0 to 59, the ports in play
are things 60 and up. Everything else in the record is order, counts, or the decision that is being asked for.
A batch of games is an array of such records: `games["ladder"][:, 0]` are the red ladders of all games.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from borneo_env.cards import CARGO_CARDS, COMPANIES, CONTRACT_KINDS, MAX_PORTS, SPICES
from borneo_env.cards import CHEST as CHEST_NAME
from borneo_env.engine import actions
from borneo_env.ruleset import Ruleset
from kontor.engine.records import copy_games as copy_games
from kontor.fields import SPECTATOR as SPECTATOR
from kontor.fields import Field, record_type
from kontor.templates.dice import CHOICES as CHOICES
from kontor.templates.dice import LUCK

SHUFFLES = LUCK  # the random stream of all that chance does
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

CLOCK_MAX = 32_000

# What is counted of each player's doings. A contest counts for the attacker, or for the defender who won it.
TALLIES = ("transfers", "contests started", "contests won", "contests defended", "monopolies", "shared distributions")
TRANSFERS, CONTESTS_STARTED, CONTESTS_WON, CONTESTS_DEFENDED, MONOPOLIES, SHARED = range(len(TALLIES))

FIELDS = (
    Field("rng", (0, 2**64 - 1), (2,), "random streams: shuffles, random choices; secret", dtype="u8"),
    Field("number", (0, 2**63 - 1), (), "which game of its seed this is; secret, as it tells the deal", dtype="i8"),
    Field("fighters", (0, 2**60 - 1), (), "contest: bit c is set if card c shows a flag of the company", dtype="u8"),
    Field("clock", (0, CLOCK_MAX), (), "counts the arrivals of cards on the table and the shuffles"),
    Field("since", (0, CLOCK_MAX), (THINGS,), "clock when a thing came to its port or warehouse; for a card in a "
          "hand or in the draw pile, the clock of the shuffle that made its pile (R11.3)"),
    Field("pile_since", (0, CLOCK_MAX), (), "clock of the shuffle that made the draw pile: the newest pile"),
    Field("hand_since", (-1, CLOCK_MAX), (SEATS, HAND_ROOM), "`since` of each player's hand cards, ascending, -1 "
          "behind them: public, where the cards themselves are not"),
    Field("tally", (0, CLOCK_MAX), (SEATS, len(TALLIES)), "what each player has done so far: see TALLIES"),
    Field("shown", (0, 4 * CARDS), (OPEN_PORTS, N_COMPANIES), "visible flags of each company at each open port"),
    Field("place", (0, WAREHOUSE + SEATS - 1), (THINGS,), "where each thing lies"),
    Field("draw", (-1, CARDS - 1), (CARDS,), "draw pile, its top card at draw_left - 1; secret"),
    Field("draw_left", (0, CARDS), (), "cards in the draw pile"),
    Field("draw_size", (0, CARDS), (), "cards the draw pile had when it was shuffled"),
    Field("port_pile", (-1, THINGS - 1), (MAX_PORTS,), "port pile, its top port at ports_left - 1; secret"),
    Field("ports_left", (0, MAX_PORTS - OPEN_PORTS), (), "ports in the port pile"),
    Field("open", (-1, THINGS - 1), (OPEN_PORTS,), "the open ports; -1 while a port's cards are distributed"),
    Field("laid", (0, CARDS), (OPEN_PORTS,), "cargo cards at each open port"),
    Field("lowest", (-1, CARDS - 1), (OPEN_PORTS,), "the card played last at each open port, or -1"),
    Field("order", (0, CARDS), (THINGS,), "for a card at a port, its place in the order of play from 1; else 0"),
    Field("ladder", (-1, SEATS - 1), (N_COMPANIES, CARD_SLOTS), "player of the trader on each rank, or -1"),
    Field("height", (0, CARD_SLOTS), (N_COMPANIES,), "traders on each ladder"),
    Field("hand_size", (0, HAND_ROOM - 1), (SEATS,), "cards in each hand"),
    Field("stock", (0, THINGS), (SEATS, N_SPICES + 1, 3), "warehouse of each player: things by spice (a chest is "
          "the fifth) and size (single, double, port)"),
    Field("fulfilled", (0, 100), (SEATS, N_KINDS), "contracts of each kind each player has fulfilled"),
    Field("supply", (0, 100), (N_KINDS,), "contracts of each kind left"),
    Field("pirates", (-1, SEATS - 1), (), "player the pirate ship lies with, or -1 (R9.2)"),
    Field("phase", (0, len(PHASES) - 1), (), "what is being decided"),
    Field("player", (-1, SEATS - 1), (), "who decides; -1 when the game is over"),
    Field("turn", (0, SEATS - 1), (), "whose turn it is"),
    Field("start", (0, SEATS - 1), (), "the start player"),
    Field("placed", (0, SEATS * 4), (), "traders placed so far"),
    Field("ended", (0, 1), (), "1 once the last contracts have begun (R8.3)"),
    Field("finished", (0, SEATS), (), "players who have had their last contract"),
    Field("contract", (-1, N_KINDS - 1), (), "kind of contract being paid, or -1"),
    Field("owed", (0, 8), (N_SPICES,), "spices still owed for it"),
    Field("company", (-1, N_COMPANIES - 1), (), "contest: the company, or -1 without a contest"),
    Field("attacker_rank", (0, CARD_SLOTS - 1), (), "contest: rank of the attacker, 0 is the top"),
    Field("defender_rank", (0, CARD_SLOTS - 1), (), "contest: rank of the defender"),
    Field("attack_cards", (0, HAND_ROOM), (), "contest: cards the attacker has played"),
    Field("defence_cards", (0, HAND_ROOM), (), "contest: cards the defender has played"),
    Field("strength", (0, 4 * HAND_ROOM), (2,), "contest: flags of the attack, and of the defence without bonus"),
    Field("last_played", (-1, CARDS - 1), (), "contest: the side's last card; the next has a higher id"),
    Field("sharing_port", (-1, OPEN_PORTS - 1), (), "distribution: place of the port, or -1 without one"),
    Field("monopoly", (-1, N_COMPANIES - 1), (), "distribution: who has the monopoly, or -1; kept until the next"),
    Field("sharers", (0, N_COMPANIES - 1), (N_COMPANIES,), "distribution: the companies in their order"),
    Field("n_sharers", (0, N_COMPANIES), (), "distribution: how many companies share"),
    Field("sharer", (-1, N_COMPANIES - 1), (), "distribution: index of the company that chooses"),
    Field("sharing_rank", (0, CARD_SLOTS - 1), (), "distribution: rank of the trader who chooses"),
    Field("turns", (0, 32_000), (), "how many turns have begun"),
)  # fmt: skip

GAME = record_type(FIELDS, SEATS)

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
