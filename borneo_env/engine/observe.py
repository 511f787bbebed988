"""The observation: what a seat knows, as named blocks of one int8 vector.

Seats are counted from the viewer (0 is the viewer, 1 the left neighbour, ...) and padded to five, so that one policy
plays every seat of every player count. Everything here comes from what `redact` leaves of a game.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.cards import CHEST, COMPANIES, CONTRACT_KINDS, MAX_PORTS, SPICES
from borneo_env.engine.actions import SIZES
from borneo_env.engine.rules.cargo import sharer_after
from borneo_env.engine.rules.ending import score
from borneo_env.engine.state import (
    AT_PORT,
    ATTACK,
    BOARD_SLOTS,
    CARD_SLOTS,
    CARDS,
    COMMIT,
    DEFENCE,
    DISCARD,
    HAND,
    N_COMPANIES,
    N_KINDS,
    N_SPICES,
    OPEN_PORTS,
    PHASES,
    PILE,
    SEATS,
    TAKE,
    UNSEEN,
    WAREHOUSE,
)
from borneo_env.ruleset import PLAYER_COUNTS
from kontor import layout as layouts
from kontor.compile import rule
from kontor.derived import seat_from
from kontor.fields import Axis
from kontor.layout import Layout, laid_out

OBSERVATION_VERSION = 1  # trained policies are made for one; a test knows when it must change
AGES = ("newest pile", "pile before", "older piles")  # draw piles told apart (R11.3)
N_AGES = len(AGES)
TAKERS = 6  # traders of a distribution told in advance
SMALLEST, LARGEST = -2, 127  # what the numbers can be; larger ones are cut


CARD = Axis("card", tuple(f"card {card}" for card in range(CARDS)))
SEAT = Axis("seat", ("you", "1 to the left", "2 to the left", "3 to the left", "4 to the left"))
PORT = Axis("port", ("port 0", "port 1", "port 2"))
COMPANY = Axis("company", COMPANIES)
SPICE = Axis("spice", SPICES)
GOODS = Axis("spice or chest", (*SPICES, CHEST))
SIZE = Axis("size", SIZES)
KIND = Axis("kind", CONTRACT_KINDS)
AGE = Axis("pile", AGES)
PHASE = Axis("phase", PHASES)
SIDE = Axis("side", ("attack", "defence"))
TAKER = Axis("taker", ("now", *(f"after {i}" for i in range(1, TAKERS))))
PILED = Axis("place in the pile", tuple(f"port {i} from the top" for i in range(1, MAX_PORTS - OPEN_PORTS + 1)))
PORT_FACTS = Axis("spice or chest, limit, monopoly", (*SPICES, CHEST, "limit", "monopoly"))
PLAYER_COUNT = Axis("number", tuple(str(n) for n in PLAYER_COUNTS))


_BLOCKS: tuple[tuple[str, tuple[Axis, ...], str], ...] = (
    ("hand", (CARD,), "own hand: 1 for each card held"),
    ("discards", (CARD,), "discard pile: 1 for each card"),
    ("unseen", (AGE, CARD), "unseen cards by draw pile; those of older piles are certainly in hands"),
    ("hand_ages", (SEAT, AGE), "how many cards of each draw pile every hand holds"),
    ("hand_size", (SEAT,), "cards in every hand"),
    ("draw_left", (), "cards in the draw pile"),
    ("ports_left", (), "ports in the port pile"),
    ("port_cards", (PORT, CARD), "cargo cards at the open ports: 0, or 1, 2, ... in the order of play"),
    ("port_flags", (PORT, COMPANY), "visible flags of each company"),
    ("port_laid", (PORT,), "cargo cards at each port"),
    ("port_limit", (PORT,), "cargo limit of each port, 0 while its cards are distributed"),
    ("port_monopoly", (PORT,), "monopoly number of each port, 0 while its cards are distributed"),
    ("port_spice", (PORT, GOODS), "spice of each port, one-hot"),
    ("warehouse", (SEAT, GOODS, SIZE), "things in every warehouse"),
    ("supply", (KIND,), "contracts left"),
    ("fulfilled", (SEAT, KIND), "contracts fulfilled"),
    ("scores", (SEAT,), "points so far"),
    ("pirates", (SEAT,), "where the pirate ship lies, one-hot"),
    ("phase", (PHASE,), "what is being decided, one-hot"),
    ("player", (SEAT,), "who decides, one-hot"),
    ("turn", (SEAT,), "whose turn it is, one-hot"),
    ("start", (SEAT,), "the start player, one-hot"),
    ("placed", (), "traders placed so far"),
    ("contract", (KIND,), "kind of contract being paid, one-hot"),
    ("owed", (SPICE,), "spices still owed for it"),
    ("contest", (COMPANY,), "the contested company, one-hot"),
    ("attacker", (SEAT,), "the attacking player, one-hot"),
    ("defender", (SEAT,), "the defending player, one-hot"),
    ("ranks", (SIDE,), "ranks of attacker and defender, counted from 1"),
    ("strength", (SIDE,), "flags of the attack and of the defence, without the bonus"),
    ("bonus", (), "traders between the two, which the defence adds"),
    ("attack", (CARD,), "cards played by the attacker"),
    ("defence", (CARD,), "cards played by the defender"),
    ("sharing", (PORT,), "place of the port being distributed, one-hot"),
    ("takers", (TAKER, SEAT), "who chooses from it now and after, one-hot"),
    ("players", (PLAYER_COUNT,), "the number of players, one-hot"),
    ("traders", (), "traders of each player"),
    ("blackbeard", (), "1 with Blackbeard's secret"),
    ("card_edition", (), "1 in the card edition"),
)


# What follows the observation in a state: the secrets of the table.
_SECRETS: tuple[tuple[str, tuple[Axis, ...], str], ...] = (
    ("hands", (SEAT, CARD), "every hand: 1 for each card held"),
    ("draw_order", (CARD,), "draw pile: 1 for its top card, 2 for the next, ..."),
    ("port_order", (PILED, PORT_FACTS), "port pile from its top: spice one-hot, limit, monopoly number"),
)


@cache
def layout(slots: int) -> Layout:
    """The blocks of the observation for ladders of this many slots; only the last block depends on it."""
    rank = Axis("rank", tuple(f"rank {rank}" for rank in range(1, slots + 1)))
    ladders = ("ladders", (COMPANY, rank, SEAT), "player on each rank of each company's ladder, one-hot")
    return laid_out((*_BLOCKS, ladders))


@cache
def state_layout(slots: int) -> Layout:
    """The blocks of the state: an observation and the secrets behind it."""
    return layout(slots) + laid_out(_SECRETS, length(slots))


@cache
def length(slots: int) -> int:
    """How many numbers an observation has."""
    return int(layout(slots)[-1].slice.stop)


@cache
def state_length(slots: int) -> int:
    """How many numbers a state has."""
    return int(state_layout(slots)[-1].slice.stop)


LAYOUT = layout(BOARD_SLOTS)


def split(observation: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The blocks of an observation or a state, or of an array of them, by name; views, not copies."""
    return layouts.split(_layout_of(observation), observation)


def join(blocks: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """The observation made of these blocks: the reverse of `split`."""
    batch = blocks["hand"].shape[:-1]
    return np.concatenate([block.reshape((*batch, -1)) for block in blocks.values()], axis=-1)


def explain(observation: NDArray[Any]) -> str:
    """An observation in words: a line for each block, with everything in it that is not zero."""
    return layouts.explain(_layout_of(observation), observation)


def _layout_of(observation: NDArray[Any]) -> Layout:
    for slots in (BOARD_SLOTS, CARD_SLOTS):
        for blocks in (layout(slots), state_layout(slots)):
            if observation.shape[-1] == blocks[-1].slice.stop:
                return blocks
    lengths = f"{length(BOARD_SLOTS)} (board edition) or {length(CARD_SLOTS)} (card edition)"
    raise ValueError(f"an observation has {lengths} numbers, not {observation.shape[-1]}")


# The first index of every block, as constants for the compiler.
_At = namedtuple("_At", [block.name for block in LAYOUT])  # type: ignore[misc]  # the names are the table's
AT: Any = _At(*(block.start for block in LAYOUT))
SECRETS = state_length(BOARD_SLOTS) - length(BOARD_SLOTS)
DRAW_ORDER, PORT_ORDER = (block.start - length(BOARD_SLOTS) for block in state_layout(BOARD_SLOTS)[-2:])


@rule
def observe(box, g, seat, out):
    """Write what a seat knows into `out`."""
    out[:] = 0
    previous = previous_pile(g)
    observe_cards(g, seat, previous, out)
    observe_ports(box, g, out)
    for player in range(box.players):
        observe_player(box, g, player, seat_from(box, seat, player), previous, out)
    observe_ladders(box, g, seat, out)
    for kind in range(N_KINDS):
        out[AT.supply + kind] = g.supply[kind]
    out[AT.draw_left] = g.draw_left
    out[AT.ports_left] = g.ports_left
    out[AT.placed] = g.placed
    out[AT.phase + int(g.phase)] = 1
    observe_payment(g, out)
    if g.company >= 0:
        observe_contest(box, g, seat, out)
    if g.phase == TAKE:
        observe_distribution(box, g, seat, out)
    out[AT.players + box.players - 3] = 1
    out[AT.traders] = box.traders
    out[AT.blackbeard] = box.blackbeard
    out[AT.card_edition] = box.card_edition


def _cards_by_place() -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """For each place a card can lie: the block that tells it, and the number written there (a port's is the order)."""
    blocks = np.full(WAREHOUSE + SEATS, AT.hand)  # of cards in warehouses the hand tells the 0
    shown = np.zeros(len(blocks), np.int8)
    told = {DISCARD: AT.discards, ATTACK: AT.attack, DEFENCE: AT.defence, PILE: AT.unseen, UNSEEN: AT.unseen}
    for place, block in (told | dict.fromkeys(range(HAND, HAND + SEATS), AT.unseen)).items():
        blocks[place], shown[place] = block, 1
    blocks[AT_PORT : AT_PORT + OPEN_PORTS] = AT.port_cards + CARDS * np.arange(OPEN_PORTS)
    return blocks, shown


BLOCK_OF, SHOWN = _cards_by_place()
NOWHERE = len(BLOCK_OF)  # a spectator's hand


@rule
def observe_cards(g, seat, previous, out):
    """Where each cargo card lies, as far as the seat knows; without branches, which cost twice the time here."""
    own_hand = HAND + seat if seat >= 0 else NOWHERE
    newest = g.pile_since
    for card in range(CARDS):
        place = np.uint64(g.place[card])
        since = g.since[card]
        block = AT.hand if place == np.uint64(own_hand) else BLOCK_OF[place]
        older = CARDS * (since != newest) + CARDS * ((since != newest) & (since != previous))
        block += older if block == AT.unseen else 0
        out[np.uint64(block + card)] = g.order[card] + SHOWN[place]


@rule
def previous_pile(g):
    """The newest pile before the present one of which a hand still holds cards, or -1."""
    previous = -1
    for player in range(SEATS):
        for i in range(g.hand_size[player]):
            since = g.hand_since[player, i]
            if since < g.pile_since and since > previous:
                previous = since
    return previous


@rule
def age(g, since, previous):
    """0 for the newest draw pile, 1 for the one before, 2 for older ones."""
    if since == g.pile_since:
        return 0
    return 1 if since == previous else 2


@rule
def observe_ports(box, g, out):
    for place in range(OPEN_PORTS):
        out[AT.port_laid + place] = g.laid[place]
        for company in range(N_COMPANIES):
            out[AT.port_flags + place * N_COMPANIES + company] = min(LARGEST, int(g.shown[place, company]))
        port = g.open[place]
        if port >= 0:
            out[AT.port_limit + place] = box.limit[port]
            out[AT.port_monopoly + place] = min(LARGEST, int(box.monopoly[port]))
            out[AT.port_spice + place * (N_SPICES + 1) + int(box.spice_of[port])] = 1


@rule
def observe_player(box, g, player, seat, previous, out):
    """What everybody sees of a player; `seat` is counted from the viewer."""
    out[AT.hand_size + seat] = g.hand_size[player]
    for i in range(g.hand_size[player]):
        out[AT.hand_ages + seat * N_AGES + age(g, g.hand_since[player, i], previous)] += 1
    start = AT.warehouse + seat * (N_SPICES + 1) * 3
    for spice in range(N_SPICES + 1):
        for size in range(3):
            out[start + spice * 3 + size] = g.stock[player, spice, size]
    for kind in range(N_KINDS):
        out[AT.fulfilled + seat * N_KINDS + kind] = g.fulfilled[player, kind]
    out[AT.scores + seat] = min(LARGEST, score(box, g, player))
    if g.pirates == player:
        out[AT.pirates + seat] = 1
    if g.player == player:
        out[AT.player + seat] = 1
    if g.turn == player:
        out[AT.turn + seat] = 1
    if g.start == player:
        out[AT.start + seat] = 1


@rule
def observe_ladders(box, g, seat, out):
    for company in range(N_COMPANIES):
        for rank in range(g.height[company]):
            player = seat_from(box, seat, g.ladder[company, rank])
            out[AT.ladders + (company * box.slots + rank) * SEATS + player] = 1


@rule
def observe_payment(g, out):
    if g.contract >= 0:
        out[AT.contract + int(g.contract)] = 1
    for spice in range(N_SPICES):
        out[AT.owed + spice] = g.owed[spice]


@rule
def observe_contest(box, g, seat, out):
    out[AT.contest + int(g.company)] = 1
    out[AT.attacker + seat_from(box, seat, g.turn)] = 1
    defender = g.ladder[g.company, g.defender_rank] if g.phase == COMMIT else g.player
    out[AT.defender + seat_from(box, seat, defender)] = 1
    out[AT.ranks] = g.attacker_rank + 1
    out[AT.ranks + 1] = g.defender_rank + 1
    out[AT.strength] = g.strength[0]
    out[AT.strength + 1] = g.strength[1]
    out[AT.bonus] = g.attacker_rank - g.defender_rank - 1


@rule
def observe_distribution(box, g, seat, out):
    out[AT.sharing + int(g.sharing_port)] = 1
    sharer, rank = int(g.sharer), int(g.sharing_rank)
    for i in range(min(TAKERS, int(g.laid[g.sharing_port]))):
        player = seat_from(box, seat, g.ladder[g.sharers[sharer], rank])
        out[AT.takers + i * SEATS + player] = 1
        sharer, rank = sharer_after(g, sharer, rank)


@rule
def write_state(box, g, seat, out):
    """Write the whole table: what a seat knows, and behind it everything it does not."""
    known = len(out) - SECRETS
    observe(box, g, seat, out[:known])
    secret = out[known:]
    secret[:] = 0
    for card in range(CARDS):
        if HAND <= g.place[card] < HAND + SEATS:
            secret[seat_from(box, seat, g.place[card] - HAND) * CARDS + card] = 1
    for i in range(g.draw_left):
        secret[DRAW_ORDER + int(g.draw[g.draw_left - 1 - i])] = i + 1
    for i in range(g.ports_left):
        port = g.port_pile[g.ports_left - 1 - i]
        at = PORT_ORDER + i * (N_SPICES + 3)
        secret[at + int(box.spice_of[port])] = 1
        secret[at + N_SPICES + 1] = box.limit[port]
        secret[at + N_SPICES + 2] = min(LARGEST, int(box.monopoly[port]))
