"""Games in words, for bots that read JSON: what `borneo_env.view` says of one game, for many at once and quickly.

Cards are numbers and seats are counted from 0; the message `rules` has what is on the cards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.cards import COMPANIES, CONTRACT_KINDS, SPICES, Port
from borneo_env.engine.games import results
from borneo_env.engine.state import AT_PORT, ATTACK, CARDS, CHEST, COMMIT, DEFENCE, DISCARD, DOUBLE, HAND, OPEN_PORTS
from borneo_env.ruleset import Ruleset

Words = dict[str, Any]

# The fields of a game that are told, most of them in other words.
FIELDS = (
    "turn", "player", "phase", "place", "order", "hand_size", "draw_left", "open", "shown", "ports_left", "ladder",
    "height", "stock", "supply", "fulfilled", "contract", "owed", "company", "attacker_rank", "defender_rank",
    "strength", "attack_cards", "defence_cards", "pirates",
)  # fmt: skip


def in_words(ruleset: Ruleset, games: NDArray[np.void]) -> Iterator[Words]:
    """Each of some redacted games as the player who decides may know it."""
    columns = [games[name].tolist() for name in FIELDS]
    scores = results(ruleset, games).scores.tolist()
    ports, players = _ports(ruleset), ruleset.players
    for values, points in zip(zip(*columns, strict=True), scores, strict=True):
        yield _words(dict(zip(FIELDS, values, strict=True)), points, ports, players)


@cache
def _ports(ruleset: Ruleset) -> tuple[Port, ...]:
    return ruleset.tables.ports_in_play(ruleset.players)


def _words(game: Words, scores: list[int], ports: Sequence[Port], players: int) -> Words:
    lying: dict[int, list[int]] = {}  # the cards at each place
    for card, place in enumerate(game["place"][:CARDS]):
        lying.setdefault(place, []).append(card)
    ladders = {name: row[:n] for name, row, n in zip(COMPANIES, game["ladder"], game["height"], strict=True)}
    return {
        "turn": game["turn"],
        "hand": lying.get(HAND + game["player"], []),
        "hand_sizes": game["hand_size"][:players],
        "draw_left": game["draw_left"],
        "discards": lying.get(DISCARD, []),
        "ports": [
            _port(place, ports[game["open"][place] - CARDS], game, lying.get(AT_PORT + place, []))
            for place in range(OPEN_PORTS)
            if game["open"][place] >= 0
        ],
        "ports_left": game["ports_left"],
        "ladders": ladders,
        "warehouses": [_warehouse(stock) for stock in game["stock"][:players]],
        "contracts_left": dict(zip(CONTRACT_KINDS, game["supply"], strict=True)),
        "fulfilled": [dict(zip(CONTRACT_KINDS, row, strict=True)) for row in game["fulfilled"][:players]],
        "paying": CONTRACT_KINDS[game["contract"]] if game["contract"] >= 0 else None,
        "owed": dict(zip(SPICES, game["owed"], strict=True)),
        "contest": _contest(game, ladders) if game["company"] >= 0 else None,
        "attack": lying.get(ATTACK, []),
        "defence": lying.get(DEFENCE, []),
        "pirates": game["pirates"] if game["pirates"] >= 0 else None,
        "scores": scores,
    }


def _port(place: int, port: Port, game: Words, cards: list[int]) -> Words:
    return {
        "place": place, "name": port.name, "spice": port.spice, "limit": port.limit, "monopoly": port.monopoly,
        "cards": sorted(cards, key=game["order"].__getitem__),
        "flags": dict(zip(COMPANIES, game["shown"][place], strict=True)),
    }  # fmt: skip


def _warehouse(stock: list[list[int]]) -> Words:
    """How many of each spice, of which so many doubles; jokers; and how many cards that are."""
    amounts = {spice: sum(sizes) + sizes[DOUBLE] for spice, sizes in zip(SPICES, stock, strict=False)}
    doubles = {spice: sizes[DOUBLE] for spice, sizes in zip(SPICES, stock, strict=False)}
    return {"spices": amounts, "doubles": doubles, "jokers": sum(stock[CHEST]), "cards": sum(map(sum, stock))}


def _contest(game: Words, ladders: dict[str, list[int]]) -> Words:
    company, upper = COMPANIES[game["company"]], game["defender_rank"]
    attack, defence = game["strength"]
    return {
        "company": company,
        "attacker": game["turn"],
        "defender": ladders[company][upper] if game["phase"] == COMMIT else game["player"],  # nobody else decides in it
        "attack": attack,
        "defence": defence + game["attacker_rank"] - upper - 1,  # with the traders between the two
        "attack_cards": game["attack_cards"],
        "defence_cards": game["defence_cards"],
    }
