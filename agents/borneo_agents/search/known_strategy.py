"""A strategy of the others that a search is told: how they decide, and how likely it makes what they have played.

For searches that look for the best response. It comes from the tree of a small game (`kontor.exact`). Templates, bound
to each game.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from borneo_agents.search.determinization import DETERMINIZED, all_of_it, knowledge
from kontor.compile import attributes, entry, rule
from kontor.exact import Tree, records
from kontor.exact.values import Strategy, edge_probabilities
from kontor.templates.dice import CHOICES, below

GRAINS = 1 << 24  # of a random number

# Numbers for what players know when they decide, ascending; where the probabilities of their options begin; these; and
# numbers for complete games that are not over, ascending, with how likely the others have played up to there
# beside the most likely of those that this player cannot tell apart.
KnownStrategy = namedtuple("KnownStrategy", "known first probabilities games likely")

NOTHING = np.zeros(0, np.uint64)
NO_STRATEGY = KnownStrategy(NOTHING, np.zeros(0, np.int64), np.zeros(0), NOTHING, np.zeros(0))


@rule
def is_known(strategy):
    return len(strategy.known) > 0


@rule
def is_likely(scratch, strategy):
    """Whether the determinization is one to take, drawn by how likely the others have played up to there."""
    at = place_of_key(strategy.games, all_of_it(scratch))
    return below(scratch.games[DETERMINIZED], CHOICES, GRAINS) < strategy.likely[at] * GRAINS


@rule
def known_move(box, scratch, strategy, count):
    """A move of the deciding player, drawn by the strategy."""
    g = scratch.games[DETERMINIZED]
    first = strategy.first[place_of_key(strategy.known, knowledge(box, scratch, int(g.player)))]
    left = below(g, CHOICES, GRAINS) / GRAINS
    k = 0
    while k < count - 1 and left >= strategy.probabilities[first + k]:
        left -= strategy.probabilities[first + k]
        k += 1
    return scratch.options[k]


@rule
def place_of_key(keys, key):
    """Where a key stands among ascending ones."""
    low, high = 0, len(keys) - 1
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@entry
def number_games(boxes, games, players, scratch, known, whole):
    """Write the numbers for what a player of each game knows, and for all of it."""
    for i in range(len(games)):
        scratch.games[DETERMINIZED] = games[i]
        known[i] = knowledge(boxes[0], scratch, players[i])
        whole[i] = all_of_it(scratch)


def tabulate(tree: Tree, strategy: Strategy, number: Any, scratch: Any) -> KnownStrategy:
    """A strategy for all players of a tree as searches ask it; `number` is `number_games`, bound to its game."""
    decisions = np.flatnonzero(tree.player >= 0)
    games, players = records(tree)[decisions], tree.player[decisions].astype(np.int64)
    known, whole = np.zeros((2, len(decisions)), np.uint64)
    box = attributes(tree.ruleset.game.box(tree.ruleset))
    number(box, attributes(games), players, scratch, known, whole)
    likely = _likely(tree, strategy)[decisions]
    most = np.zeros(len(tree.widths))
    np.maximum.at(most, tree.infoset[decisions], likely)
    likely /= np.maximum(most[tree.infoset[decisions]], 1e-300)
    known, one_each = np.unique(known, return_index=True)
    whole, places = np.unique(whole, return_index=True)
    first = tree.slots[tree.infoset[decisions]][one_each]
    return KnownStrategy(known, first, np.ascontiguousarray(strategy), whole, likely[places])


def _likely(tree: Tree, strategy: Strategy) -> Strategy:
    """For each node how likely the players but the one who decides there play up to it, if chance brings it."""
    step = edge_probabilities(tree, strategy)
    step[1:][tree.player[tree.parent[1:]] < 0] = 1  # draws
    own = np.ones((len(step), tree.ruleset.players))
    for node in range(1, len(step)):
        own[node] = own[tree.parent[node]]
        own[node, tree.player[tree.parent[node]]] *= step[node]
    others = np.ones(len(step))
    for player in range(tree.ruleset.players):
        others *= np.where(tree.player == player, 1, own[:, player])
    return others
