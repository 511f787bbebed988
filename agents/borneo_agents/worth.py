"""Worth: an estimate of a player's final points, cheap enough for the leaves of a search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from borneo_agents.goods import distributions_left, doubles, income, jokers_of, prospects, spices
from borneo_agents.ladders import rank_share
from borneo_agents.room import make_room, whole
from borneo_agents.weights import *
from borneo_env.engine.jit import attributes, entry, rule
from borneo_env.engine.rules.ending import score
from borneo_env.engine.state import N_COMPANIES, make_box
from borneo_env.ruleset import Ruleset


@rule
def worth(box, g, player, room):
    """A player's points at the end as they may be expected from the table alone; exact once the game is over.

    Points so far, what contracts may add, and what the traders may fetch in the distributions to come.
    """
    left = distributions_left(g)
    hope = prospects(box, g, room, spices(g, player), doubles(g, player), jokers_of(g, player), income(box, g, room))
    if g.ended == 1 and g.finished > (player - g.turn - 1) % box.players:
        hope = 0.0  # has had the last contract
    fetch = room.w[W_RANKS] * shares_of(g, room, player) + room.w[W_LEFT]
    return score(box, g, player) + room.w[W_PROSPECTS] * hope + left * fetch


@rule
def shares_of(g, room, player):
    """The cards that a player's traders may hope for from each distribution."""
    shares = 0.0
    for company in range(N_COMPANIES):
        for rank in range(g.height[company]):
            if g.ladder[company, rank] == player:
                shares += rank_share(room, whole(rank))
    return shares


@entry
def worth_games(boxes, games, players, values, rooms):
    for i in range(len(games)):
        values[i] = worth(boxes[0], games[i], players[i], rooms[0])


def worth_of(ruleset: Ruleset, games: NDArray[np.void], players: ArrayLike) -> NDArray[np.float64]:
    """The worth of each game to a player, on views and complete games alike."""
    values = np.empty(len(games))
    chosen = np.broadcast_to(np.asarray(players, np.int64), len(games)).copy()
    worth_games(attributes(make_box(ruleset)), attributes(games), chosen, values, attributes(make_room()))
    return values
