"""Games in words, as JSON: what `borneo_env.view` says of one game, for bots in other languages.

Cards are numbers and seats are counted from 0; the message `rules` has what is on the cards. Most of a table stays as
it is from one decision to the next. So its parts are written once and looked up by the bytes of their fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from borneo_env.cards import COMPANIES, CONTRACT_KINDS, SPICES
from borneo_env.engine.games import results
from borneo_env.engine.state import (
    AT_PORT,
    ATTACK,
    CARDS,
    CHEST,
    COMMIT,
    DEFENCE,
    DISCARD,
    DOUBLE,
    HAND,
    N_COMPANIES,
    N_SPICES,
)
from borneo_env.ruleset import Ruleset

KEPT = 2**14  # parts of tables, of each kind
NUMBERS = ("turn", "player", "draw_left", "ports_left", "contract", "company", "pirates")  # fields that hold one


def in_words(ruleset: Ruleset, games: NDArray[np.void]) -> Iterator[str]:
    """Each of some redacted games as the player who decides may know it."""
    numbers, scores = games[list(NUMBERS)].tolist(), results(ruleset, games).scores.tolist()
    for game, points, (turn, player, draw_left, ports_left, paying, company, pirates) in zip(
        games, scores, numbers, strict=True
    ):
        lying = _lying(game)
        warehouses = ",".join([_warehouse(stock.tobytes()) for stock in game["stock"][: ruleset.players]])
        fulfilled = ",".join(
            [_amounts(CONTRACT_KINDS, kinds.tobytes()) for kinds in game["fulfilled"][: ruleset.players]]
        )
        yield (
            f'{{"turn":{turn},'
            f'"hand":{lying.get(HAND + player, [])},'
            f'"hand_sizes":{game["hand_size"][: ruleset.players].tolist()},'
            f'"draw_left":{draw_left},'
            f'"discards":{lying.get(DISCARD, [])},'
            f'"ports":[{",".join(_ports(ruleset, game, lying))}],'
            f'"ports_left":{ports_left},'
            f'"ladders":{_ladders(game["ladder"].tobytes(), game["height"].tobytes())},'
            f'"warehouses":[{warehouses}],'
            f'"contracts_left":{_amounts(CONTRACT_KINDS, game["supply"].tobytes())},'
            f'"fulfilled":[{fulfilled}],'
            f'"paying":{json.dumps(CONTRACT_KINDS[paying]) if paying >= 0 else "null"},'
            f'"owed":{_amounts(SPICES, game["owed"].tobytes())},'
            f'"contest":{_contest(game) if company >= 0 else "null"},'
            f'"attack":{lying.get(ATTACK, [])},'
            f'"defence":{lying.get(DEFENCE, [])},'
            f'"pirates":{pirates if pirates >= 0 else "null"},'
            f'"scores":{points}}}'
        )


def _lying(game: np.void) -> dict[int, list[int]]:
    """The cards at each place."""
    lying: dict[int, list[int]] = {}
    for card, place in enumerate(game["place"][:CARDS].tolist()):
        lying.setdefault(place, []).append(card)
    return lying


def _ports(ruleset: Ruleset, game: np.void, lying: dict[int, list[int]]) -> Iterator[str]:
    """The open ports, with their cargo in the order of play."""
    order, shown = game["order"].tolist(), game["shown"]
    for place, thing in enumerate(game["open"].tolist()):
        if thing >= 0:
            cards = sorted(lying.get(AT_PORT + place, []), key=order.__getitem__)
            flags = _amounts(COMPANIES, shown[place].tobytes())
            yield f'{{"place":{place},{_port(ruleset)[thing - CARDS]},"cards":{cards},"flags":{flags}}}'


@cache
def _port(ruleset: Ruleset) -> list[str]:
    """What is on each port."""
    ports = ruleset.tables.ports_in_play(ruleset.players)
    facts = [{name: getattr(port, name) for name in ("name", "spice", "limit", "monopoly")} for port in ports]
    return [json.dumps(one)[1:-1] for one in facts]


@lru_cache(KEPT)
def _amounts(names: Sequence[str], amounts: bytes) -> str:
    """So much of each, from fields of one byte or two."""
    numbers = np.frombuffer(amounts, f"i{len(amounts) // len(names)}")
    return json.dumps(dict(zip(names, numbers.tolist(), strict=True)))


@lru_cache(KEPT)
def _ladders(ladder: bytes, height: bytes) -> str:
    rows = np.frombuffer(ladder, np.int8).reshape(N_COMPANIES, -1).tolist()
    return json.dumps({name: row[:n] for name, row, n in zip(COMPANIES, rows, height, strict=True)})


@lru_cache(KEPT)
def _warehouse(stock: bytes) -> str:
    """How many of each spice, of which so many doubles; jokers; and how many cards that are."""
    things = np.frombuffer(stock, np.int8).reshape(N_SPICES + 1, -1)
    doubles = things[:N_SPICES, DOUBLE]
    amounts = things[:N_SPICES].sum(1) + doubles
    return json.dumps(
        {
            "spices": dict(zip(SPICES, amounts.tolist(), strict=True)),
            "doubles": dict(zip(SPICES, doubles.tolist(), strict=True)),
            "jokers": int(things[CHEST].sum()),
            "cards": int(things.sum()),
        }
    )


def _contest(game: np.void) -> str:
    company, upper = int(game["company"]), int(game["defender_rank"])
    attack, defence = game["strength"].tolist()
    return json.dumps(
        {
            "company": COMPANIES[company],
            "attacker": int(game["turn"]),
            "defender": int(game["ladder"][company, upper] if game["phase"] == COMMIT else game["player"]),
            "attack": attack,
            "defence": defence + int(game["attacker_rank"]) - upper - 1,  # with the traders between the two
            "attack_cards": int(game["attack_cards"]),
            "defence_cards": int(game["defence_cards"]),
        }
    )
