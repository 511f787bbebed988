"""Worth: an estimate of a player's final points, cheap enough for the leaves of a search."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from borneo_agents.goods import distributions_left, doubles, income, jokers_of, prospects, spices
from borneo_agents.ladders import rank_share
from borneo_agents.room import whole
from borneo_env.engine.jit import attributes, entry, rule
from borneo_env.engine.rules.ending import score
from borneo_env.engine.state import N_COMPANIES, make_box
from borneo_env.ruleset import Ruleset

# Fitted to the points that merchants and climbers got from 200,000 positions on.
PER_SHARE = 0.5  # points of a card that a trader may hope for
AT_LEAST = 0.7  # points of a distribution, whatever the ranks


@rule
def worth(box, g, player):
    """A player's points at the end as they may be expected from the table alone; exact once the game is over.

    Points so far, what contracts may add, and what the traders may fetch in the distributions to come.
    """
    left = distributions_left(g)
    hope = prospects(box, g, spices(g, player), doubles(g, player), jokers_of(g, player), income(box, g))
    if g.ended == 1 and g.finished > (player - g.turn - 1) % box.players:
        hope = 0.0  # has had the last contract
    fetch = PER_SHARE * shares_of(g, player) + AT_LEAST
    return score(box, g, player) + hope + left * fetch


@rule
def shares_of(g, player):
    """The cards that a player's traders may hope for from each distribution."""
    shares = 0.0
    for company in range(N_COMPANIES):
        for rank in range(g.height[company]):
            if g.ladder[company, rank] == player:
                shares += rank_share(whole(rank))
    return shares


@entry
def worth_games(boxes, games, players, values):
    for i in range(len(games)):
        values[i] = worth(boxes[0], games[i], players[i])


def worth_of(ruleset: Ruleset, games: NDArray[np.void], players: ArrayLike) -> NDArray[np.float64]:
    """The worth of each game to a player, on views and complete games alike."""
    values = np.empty(len(games))
    chosen = np.broadcast_to(np.asarray(players, np.int64), len(games)).copy()
    worth_games(attributes(make_box(ruleset)), attributes(games), chosen, values)
    return values
