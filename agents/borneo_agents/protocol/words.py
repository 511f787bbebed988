"""Games in words, as JSON: what `borneo_env.view` says of one game, for bots in other languages.

Cards are numbers and seats are counted from 0; the message `rules` has what is on the cards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_env.cards import COMPANIES, CONTRACT_KINDS, SPICES
from borneo_env.engine.games import results
from borneo_env.engine.state import AT_PORT, ATTACK, CARDS, DEFENCE, DISCARD, HAND
from borneo_env.ruleset import Ruleset
from borneo_env.view import View

NO_MASK = np.zeros(0, np.bool_)


def in_words(ruleset: Ruleset, games: NDArray[np.void]) -> Iterator[dict[str, Any]]:
    """Each of some redacted games as the player who decides may know it."""
    for game, scores in zip(games, results(ruleset, games).scores.tolist(), strict=True):
        view, lying = View(ruleset, game, NO_MASK, 0), defaultdict[int, list[int]](list)
        for card, place in enumerate(game["place"][:CARDS].tolist()):
            lying[place].append(card)
        paying, pirates = int(game["contract"]), int(game["pirates"])
        yield {
            "turn": view.turn,
            "hand": lying[HAND + view.me],
            "hand_sizes": view.hand_sizes,
            "draw_left": int(game["draw_left"]),
            "discards": lying[DISCARD],
            "ports": list(_ports(ruleset, game, lying)),
            "ports_left": view.ports_left,
            "ladders": view.ladders,
            "warehouses": [vars(one) for one in view.warehouses],
            "contracts_left": _amounts(CONTRACT_KINDS, game["supply"]),
            "fulfilled": [_amounts(CONTRACT_KINDS, kinds) for kinds in game["fulfilled"][: view.players]],
            "paying": CONTRACT_KINDS[paying] if paying >= 0 else None,
            "owed": _amounts(SPICES, game["owed"]),
            "contest": vars(view.contest) if view.contest else None,
            "attack": lying[ATTACK],
            "defence": lying[DEFENCE],
            "pirates": pirates if pirates >= 0 else None,
            "scores": scores,
        }


def _ports(ruleset: Ruleset, game: np.void, lying: dict[int, list[int]]) -> Iterator[dict[str, Any]]:
    """The open ports, with their cargo in the order of play."""
    in_play, order, shown = ruleset.tables.ports_in_play(ruleset.players), game["order"].tolist(), game["shown"]
    for place, thing in enumerate(game["open"].tolist()):
        if thing >= 0:
            port = in_play[thing - CARDS]
            yield {
                "place": place,
                **{name: getattr(port, name) for name in ("name", "spice", "limit", "monopoly")},
                "cards": sorted(lying[AT_PORT + place], key=order.__getitem__),
                "flags": _amounts(COMPANIES, shown[place]),
            }


def _amounts(names: tuple[str, ...], amounts: NDArray[Any]) -> dict[str, int]:
    return dict(zip(names, amounts.tolist(), strict=True))
