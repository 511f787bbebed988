"""What strategies are worth in a tree: values, best responses, and how far from an equilibrium they are.

A strategy is a probability for each option of each information set, one array for all players.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kontor.exact.tree import Tree

Strategy = NDArray[np.float64]


def reaching(tree: Tree, strategy: Strategy, without: int = -1) -> NDArray[np.float64]:
    """For each node how likely play comes there; one player may be left out, as if deciding for it every time."""
    step = edge_probabilities(tree, strategy, without)
    reach = np.ones(len(tree.player))
    for node in range(1, len(reach)):
        reach[node] = reach[tree.parent[node]] * step[node]
    return reach


def edge_probabilities(tree: Tree, strategy: Strategy, without: int = -1) -> NDArray[np.float64]:
    """For each node how likely its parent's decision or draw brings it."""
    parents = tree.parent[1:]
    decided = tree.player[parents] >= 0
    slots = tree.slots[tree.infoset[parents]] + tree.edge[1:]
    step = np.where(decided, strategy[np.where(decided, slots, 0)], tree.chance[1:])
    if without >= 0:
        step[tree.player[parents] == without] = 1
    return np.concatenate([[1.0], step])


def values(tree: Tree, strategy: Strategy) -> NDArray[np.float64]:
    """(players,): what each player gets if all play the strategy."""
    total: NDArray[np.float64] = reaching(tree, strategy) @ tree.points
    return total


def best_response(tree: Tree, strategy: Strategy, player: int) -> tuple[float, Strategy]:
    """What the best answer of a player to the others' strategy gets, and the answer: the strategy, changed there.

    Information sets are decided from the last to the first: with perfect recall those of a player form a tree.
    """
    others = reaching(tree, strategy, without=player)
    worth = others * tree.points[:, player]
    answer = strategy.copy()
    slots = tree.slots
    own_sets: dict[int, list[int]] = {}
    depth = np.zeros(len(tree.player), np.int64)  # decisions of the player above each node
    for node in range(1, len(depth)):
        depth[node] = depth[tree.parent[node]] + (tree.player[tree.parent[node]] == player)
    for node in map(int, np.flatnonzero(tree.player == player)):
        own_sets.setdefault(int(tree.infoset[node]), []).append(node)
    chosen: dict[int, int] = {}
    for level in range(int(depth.max()), -1, -1):
        totals = _totals(tree, worth, player, chosen)
        for infoset, nodes in own_sets.items():
            if depth[nodes[0]] == level:
                each = np.array([sum(totals[node][edge] for node in nodes) for edge in range(tree.widths[infoset])])
                chosen[infoset] = int(each.argmax())
                answer[slots[infoset] : slots[infoset + 1]] = np.arange(len(each)) == chosen[infoset]
    best = reaching(tree, answer) @ tree.points[:, player]
    return float(best), answer


def _totals(tree: Tree, worth: NDArray[np.float64], player: int, chosen: dict[int, int]) -> list[dict[int, float]]:
    """For each node what each of its options leads to, where the player's later decisions are made already."""
    below = worth.copy()
    options: list[dict[int, float]] = [{} for _ in tree.player]
    for node in range(len(below) - 1, 0, -1):
        if tree.player[node] == player:
            choice = chosen.get(int(tree.infoset[node]))
            below[node] = 0.0 if choice is None else options[node].get(choice, 0.0)
        parent = int(tree.parent[node])
        options[parent][int(tree.edge[node])] = below[node]
        if tree.player[parent] != player:
            below[parent] += below[node]
    return options


def nash_conv(tree: Tree, strategy: Strategy) -> float:
    """What all players could gain by answering best, added up: 0 in an equilibrium."""
    now = values(tree, strategy)
    return sum(best_response(tree, strategy, player)[0] - float(now[player]) for player in range(len(now)))


def exploitability(tree: Tree, strategy: Strategy) -> float:
    """The mean of these gains over the players."""
    return nash_conv(tree, strategy) / tree.ruleset.players
