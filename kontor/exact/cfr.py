"""CFR+ (Tammelin, 2014, after Zinkevich and others, 2007): a strategy near an equilibrium, by regrets."""

from __future__ import annotations

import numpy as np

from kontor.exact.tree import Tree
from kontor.exact.values import Strategy, edge_probabilities, reaching


def solve(tree: Tree, iterations: int = 1000) -> Strategy:
    """The mean strategy of so many iterations: near an equilibrium for two players whose points add up to nothing."""
    regrets = np.zeros(int(tree.slots[-1]))
    total = np.zeros_like(regrets)
    decisions = tree.player >= 0
    for iteration in range(1, iterations + 1):
        for player in range(tree.ruleset.players):
            strategy = matching(tree, regrets)
            gains = _regrets(tree, strategy, player)
            regrets = np.maximum(regrets + gains, 0)  # CFR+: regrets never fall below nothing
            own = tree.owner == player
            reach = _own_reach(tree, strategy, player, decisions)
            total += iteration * np.repeat(np.where(own, reach, 0), tree.widths) * strategy  # later ones count for more
    sums = np.add.reduceat(total, tree.slots[:-1])
    each = np.repeat(sums, tree.widths)
    return np.where(each > 0, total / np.maximum(each, 1e-300), tree.uniform())


def matching(tree: Tree, regrets: Strategy) -> Strategy:
    """Regret matching: options in proportion to their regrets."""
    sums = np.repeat(np.add.reduceat(regrets, tree.slots[:-1]), tree.widths)
    return np.where(sums > 0, regrets / np.maximum(sums, 1e-300), tree.uniform())


def _regrets(tree: Tree, strategy: Strategy, player: int) -> Strategy:
    """For each option of the player's information sets what it is worth above the strategy, by the others' reach."""
    below = np.zeros(len(tree.player))
    below[:] = tree.points[:, player]
    step = edge_probabilities(tree, strategy)
    others = reaching(tree, strategy, without=player)
    for node in range(len(below) - 1, 0, -1):
        below[tree.parent[node]] += step[node] * below[node]
    gains = np.zeros_like(strategy)
    parents = tree.parent[1:]
    own = np.flatnonzero(tree.player[parents] == player) + 1
    above = tree.parent[own]
    slots = tree.slots[tree.infoset[above]] + tree.edge[own]
    np.add.at(gains, slots, others[above] * (below[own] - below[above]))
    return gains


def _own_reach(tree: Tree, strategy: Strategy, player: int, decisions: np.ndarray) -> np.ndarray:
    """For each information set how likely its player plays there, if the others let it."""
    step = edge_probabilities(tree, strategy)
    parents = tree.parent[1:]
    step[1:][tree.player[parents] != player] = 1
    reach = np.ones(len(step))
    for node in range(1, len(reach)):
        reach[node] = reach[tree.parent[node]] * step[node]
    found = np.zeros(len(tree.widths))
    nodes = np.flatnonzero(decisions)
    found[tree.infoset[nodes]] = reach[nodes]  # the same in all nodes of a set: perfect recall
    return found
