"""Whether all things of a game lie where they can: cards, piles, ports, warehouses, ladders."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from borneo_env.engine.state import (
    AT_PORT,
    ATTACK,
    CARDS,
    CLOCK_MAX,
    DEFENCE,
    DISCARD,
    HAND,
    HAND_ROOM,
    N_COMPANIES,
    NO_CARD,
    NOBODY,
    OPEN_PORTS,
    OUT,
    PILE,
    PLACE,
    SEATS,
    THINGS,
    UNSEEN,
    WAREHOUSE,
)
from borneo_env.ruleset import Ruleset

Wrong = tuple[str, NDArray[np.bool_]]  # a statement that should hold, and where it does not


def somewhere(wrong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Per game: whether it is wrong at any of the further axes."""
    return np.asarray(wrong.any(axis=tuple(range(1, wrong.ndim))))


def wrong_cards(ruleset: Ruleset, box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    place, since = games["place"], games["since"]
    cards, ports = place[:, :CARDS], place[:, CARDS:]
    yield "no thing is unseen in a complete game", somewhere(place == UNSEEN)
    yield "cargo cards are in the game", somewhere(cards == OUT)
    yield "things that are not in play lie outside", somewhere(ports[:, int(box["ports"]) :] != OUT)
    yield "only cargo cards are in hands", somewhere((ports >= HAND) & (ports < WAREHOUSE))
    yield "only cargo cards are discarded or played", somewhere(np.isin(ports, (DISCARD, ATTACK, DEFENCE)))
    held = cards[:, None] == (HAND + np.arange(SEATS))[:, None]
    yield "hand_size counts the cards in hands", somewhere(held.sum(2) != games["hand_size"])
    yield "only players have hands", somewhere(games["hand_size"][:, ruleset.players :] > 0)
    piles = np.sort(np.where(held, since[:, None, :CARDS], CLOCK_MAX + 1), 2)[..., :HAND_ROOM]
    piles = np.where(piles > CLOCK_MAX, -1, piles)
    yield "hand_since tells the piles of the hand cards", somewhere(piles != games["hand_since"])
    yield "the clock is not behind a card", games["clock"] < np.maximum(since.max(1), games["pile_since"])
    newest_held = games["hand_since"].max((1, 2))
    yield "hands were drawn from this pile or older ones", newest_held > games["pile_since"]
    newest = since[:, :CARDS] == games["pile_since"][:, None]
    yield "the draw pile is of one shuffle", somewhere((cards == PILE) & ~newest)
    unseen = (newest & ((cards == PILE) | held.any(1))).sum(1)
    yield "the draw pile was not smaller than what is unseen of it", unseen > games["draw_size"]
    first = games["pile_since"] == 0
    yield "the first draw pile has all cards", first & (games["draw_size"] != CARDS)
    at_port = (cards >= AT_PORT) & (cards < HAND)
    yield "only cards at ports have an order", somewhere((games["order"][:, :CARDS] > 0) != at_port)
    yield "ports have no order", somewhere(games["order"][:, CARDS:] > 0)
    yield from _arrivals(place, since)


def _arrivals(place: NDArray[np.int8], since: NDArray[np.int16]) -> Iterator[Wrong]:
    """One thing after the other came to the table."""
    lying = (place >= WAREHOUSE) | ((place >= AT_PORT) & (place < HAND))
    lying[:, CARDS:] &= place[:, CARDS:] >= WAREHOUSE  # open ports have no time
    yield "what lies on the table came there", somewhere(lying & (since == 0))
    times = np.sort(np.where(lying, since, -np.arange(1, THINGS + 1, dtype=np.int16)), 1)
    yield "things came to the table one after the other", somewhere(times[:, 1:] == times[:, :-1])


def wrong_piles(games: NDArray[np.void]) -> Iterator[Wrong]:
    piles = (("draw", "draw_left", slice(0, CARDS)), ("port_pile", "ports_left", slice(CARDS, THINGS)))
    for pile, left, things in piles:
        lying = games["place"][:, things] == PILE
        listed = np.zeros_like(lying)
        in_pile = np.arange(games[pile].shape[1]) < games[left][:, None]
        game, spot = np.nonzero(in_pile)
        thing = games[pile][game, spot].astype(int) - things.start
        yield f"{pile} lists things of its kind", np.isin(np.arange(len(games)), game[thing < 0])
        listed[game, thing] = True
        counted = lying.sum(1) == games[left]
        yield f"{pile} lists the {left} things that lie in it", somewhere(listed != lying) | ~counted
    yield "the draw pile has not grown", games["draw_left"] > games["draw_size"]


def wrong_ports(box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    everywhere, ended = np.arange(len(games)), games["ended"] == 1
    bottom = np.eye(N_COMPANIES, dtype=int)[box["flags_of"][:, 3]]
    for k in range(OPEN_PORTS):
        cards = games["place"][:, :CARDS] == AT_PORT + k
        yield f"laid counts the cards at port {k}", cards.sum(1) != games["laid"][:, k]
        opened = games["place"][:, CARDS:] == AT_PORT + k
        port = games["open"][:, k].astype(int)
        shut = port == NO_CARD
        yield f"port {k} is a port that lies there", ~shut & ((port < CARDS) | (opened.sum(1) != 1))
        yield f"port {k} is the port that lies there", ~shut & (games["place"][everywhere, port] != AT_PORT + k)
        yield f"no port lies at port {k} while it is shut", shut & opened.any(1)
        yield (
            f"port {k} is shut while it is shared, or for want of another at the end",
            np.where(ended, shut & (games["ports_left"] > 0), shut != (games["sharing_port"] == k)),
        )
        since = np.where(cards, games["since"][:, :CARDS], CLOCK_MAX + 1)
        order = np.where(cards, since.argsort(1).argsort(1) + 1, 0)
        lowest = np.where(~shut & cards.any(1), order.argmax(1), NO_CARD)
        yield f"lowest is the last card at port {k}", games["lowest"][:, k] != lowest
        played = np.where(cards, games["order"][:, :CARDS], CARDS + 1)
        yield f"order is the order of play at port {k}", somewhere(cards & (played.argsort(1).argsort(1) + 1 != order))
        yield f"order counts the cards at port {k}", ~shut & (np.where(cards, played, 0).max(1) != games["laid"][:, k])
        whole = np.where(lowest < 0, 0, 1)[:, None] * bottom[lowest]
        shown = np.where(shut[:, None], 0, cards @ (box["strength"] - bottom) + whole)
        yield f"shown counts the visible flags at port {k}", somewhere(shown != games["shown"][:, k])
        yield f"port {k} is not full yet", ~shut & (games["laid"][:, k] >= box["limit"][port])
        yield f"nobody has the monopoly of port {k} yet", ~shut & (shown.max(1) >= box["monopoly"][port])


def wrong_warehouses(ruleset: Ruleset, box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    game, thing = np.nonzero(games["place"] >= WAREHOUSE)
    where = (game, games["place"][game, thing] - WAREHOUSE, box["spice_of"][thing], box["size_of"][thing])
    shape = games["stock"].shape
    stock = np.bincount(np.ravel_multi_index(where, shape), minlength=games["stock"].size).reshape(shape)
    yield "stock counts the things in warehouses", somewhere(stock != games["stock"])
    yield "only players have warehouses", somewhere(stock[:, ruleset.players :] > 0)
    made = games["fulfilled"].sum(1, dtype=int) + games["supply"]
    total = ruleset.tables.supply_in_play(ruleset.players)
    yield "contracts are in supply or fulfilled", somewhere(made != np.array(total))
    yield "only players have contracts", somewhere(games["fulfilled"][:, ruleset.players :] > 0)
    yield "the pirate ship sails in Blackbeard's secret only", (games["pirates"] != NOBODY) & (not ruleset.blackbeard)


def wrong_ladders(ruleset: Ruleset, box: np.void, games: NDArray[np.void]) -> Iterator[Wrong]:
    ladder, height, placed = games["ladder"], games["height"], games["placed"].astype(int)
    standing = np.arange(ladder.shape[2]) < height[..., None]
    yield "ladders have no gaps", somewhere((ladder >= 0) != standing)
    yield "traders belong to players", somewhere(ladder >= ruleset.players)
    traders = np.stack([(ladder == p).sum((1, 2)) for p in range(ruleset.players)], 1)
    yield "placed counts the traders", traders.sum(1) != placed
    placing = games["phase"] == PLACE
    all_stand = placed >= ruleset.players * ruleset.traders
    yield "placing ends when all traders stand", placing == all_stand
    seats = np.arange(placed.max(initial=0))
    placers = placing_player(ruleset, games["start"][:, None], seats)
    due = np.stack([((placers == p) & (seats < placed[:, None])).sum(1) for p in range(ruleset.players)], 1)
    yield "everybody has placed as many traders as the order of placing says", somewhere(traders != due)
    behind_own = (ladder[..., 1:] == ladder[..., :-1]) & standing[..., 1:]
    yield (
        "nobody places a trader behind an own one in the card edition",
        placing & somewhere(behind_own) & bool(box["card_edition"]),
    )


def placing_player(ruleset: Ruleset, start: NDArray[np.int8], placed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Who places when so many traders have been placed (R1.6)."""
    players = ruleset.players
    rounds, seat = placed // players, placed % players
    placing: NDArray[np.int64] = (start.astype(int) + np.where(rounds % 2 == 1, players - 1 - seat, seat)) % players
    return placing
