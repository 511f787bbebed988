"""ISMCTS: information-set Monte Carlo tree search for three to five players.

Every iteration plays down the tree in a new determinization of the view. A node is what the searcher knows at a
decision, whoever decides: determinizations that look alike to the searcher share it, and only what is legal in the
present one can be chosen. Every player is taken to choose what gives them the best win probability, but at first what
the scripted bot would play, since there is no time to find that out by trying. Where a playout meets a new node, the
scripted bot plays on.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.scripted.dispatch import choose
from borneo_agents.search.agent import Search, is_number
from borneo_agents.search.determinization import DETERMINIZED, TRIED
from borneo_agents.search.playouts import begin, determinize_anew, evaluate_playout, make_search_scratch, play
from borneo_env.agent import UnknownAgent, Views
from borneo_env.compile import attributes, entry, rule
from borneo_env.engine.dice import CARRY_MULTIPLIER, HALF, LOW, roll
from borneo_env.engine.game import legal
from borneo_env.engine.hidden import blank_secrets
from borneo_env.engine.state import OVER
from borneo_env.files import in_short

NONE = -1
DEEPEST = 200  # decisions in the tree
EDGES_PER_NODE = 6  # more than trees have on average; when there is no room left, nothing is added
LARGEST_TREE = 20_000  # nodes, when the budget is a time
MOST_EXPLORE = 1000

# What the searcher knows at a decision, how often it came up, its first edge, the next node of its slot, and what the
# scripted bot would play there, if it is the searcher's decision: then it depends on nothing else.
NODE = np.dtype([("key", "u8"), ("visits", "i8"), ("edge", "i8"), ("next", "i8"), ("favourite", "i8")], align=True)
# An action there, how often it was tried, the sum of the decider's win probabilities, and the node's next edge.
EDGE = np.dtype([("action", "i8"), ("visits", "i8"), ("total", "f8"), ("next", "i8")], align=True)

# All nodes and edges, the first node of each slot (the low bits of the key), and how many nodes and edges there are.
Tree = namedtuple("Tree", "nodes edges slots size")
# What a search works with; the path has the edges taken down the tree, and who chose them.
TreeScratch = namedtuple("TreeScratch", "search tree path")
# How actions are selected: the weight of trying, and how much of it goes to the scripted bot's action.
Selection = namedtuple("Selection", "explore trust")


class Ismcts(Search):
    """Searches a tree of what it may come to know: information-set Monte Carlo tree search.

    Arguments:
        explore: how much it tries options that it has tried seldom; 0 is not at all.
        trust: how much it trusts the scripted bot's choice before it has tried others: 0 is not at all, 1 wholly.
    """

    def __init__(
        self,
        budget: int = 1000,
        milliseconds: float | None = None,
        turns: int = 2,
        policy: str = "merchant",
        explore: float = 0.1,
        trust: float = 0.5,
    ) -> None:
        super().__init__(budget, milliseconds, turns, policy)
        if not is_number(explore) or not 0 <= explore <= MOST_EXPLORE:
            raise UnknownAgent(f"explore is a number from 0 to {MOST_EXPLORE}, not {in_short(explore)}")
        if not is_number(trust) or not 0 <= trust <= 1:
            raise UnknownAgent(f"trust is a number from 0 to 1, not {in_short(trust)}")
        self._selection = Selection(float(explore), float(trust))

    def probabilities(self, views: Views) -> NDArray[np.float64]:
        """(n, actions): the share of its tries that each action had; what it plays had the most."""
        tries = np.zeros(views.mask.shape)
        self._in_threads(views, self._count_tries, tries)
        shares: NDArray[np.float64] = tries / tries.sum(1, keepdims=True)
        return shares

    def _count_tries(self, box: Any, games: Any, dice: NDArray[np.uint64], tries: NDArray[np.float64]) -> None:
        scratch = self._make_scratch()
        for i in range(len(dice)):
            self._decide(scratch, box, games, i, dice[i])
            count_tries(scratch.tree, tries[i])

    def _make_scratch(self) -> TreeScratch:
        tree = make_tree(self._budget + 1 if self._milliseconds is None else LARGEST_TREE)
        return TreeScratch(make_search_scratch(), tree, np.zeros((DEEPEST, 2), np.int64))

    def _begin(self, scratch: TreeScratch, games: Any, i: int, dice: np.uint64) -> None:
        begin_tree(games, i, dice, scratch.search, scratch.tree)

    def _search(self, scratch: TreeScratch, box: Any, games: Any, i: int, playouts: int) -> int:
        return int(
            grow(
                box,
                games,
                i,
                scratch.search,
                scratch.tree,
                scratch.path,
                self._playouts,
                self._selection,
                playouts,
            )
        )


def make_tree(nodes: int) -> Tree:
    slots = 1 << nodes.bit_length()
    return Tree(
        nodes=attributes(np.zeros(nodes, NODE)),
        edges=attributes(np.zeros(EDGES_PER_NODE * nodes + 64, EDGE)),
        slots=np.zeros(slots, np.int64),
        size=np.zeros(2, np.int64),
    )


@entry
def begin_tree(views, i, dice, scratch, tree):
    """Plant a tree whose root is the view."""
    begin(scratch, dice)
    tree.slots[:] = NONE
    tree.size[:] = 0
    determinize_anew(scratch, views[i])
    add_node(tree, knowledge(scratch, int(views[i].player)))


@entry
def grow(boxes, views, i, scratch, tree, path, playouts, selection, budget):
    """Play so many playouts; returns the action tried most often so far."""
    box = boxes[0]
    me = int(views[i].player)
    for _ in range(budget):
        determinize_anew(scratch, views[i])
        steps, turns = descend(box, scratch, tree, path, me, playouts, selection)
        evaluate_playout(box, scratch, playouts.policy, turns)
        for k in range(steps):
            tree.edges[path[k, 0]].visits += 1
            tree.edges[path[k, 0]].total += scratch.probabilities[path[k, 1]]
    return most_tried(tree)


@rule
def most_tried(tree):
    best = tree.nodes[0].edge
    edge = best
    while edge != NONE:
        if tree.edges[edge].visits > tree.edges[best].visits:
            best = edge
        edge = tree.edges[edge].next
    return tree.edges[best].action


@entry
def count_tries(tree, tries):
    """Write how often each action of the root was tried."""
    edge = tree.nodes[0].edge
    while edge != NONE:
        tries[tree.edges[edge].action] = tree.edges[edge].visits
        edge = tree.edges[edge].next


@rule
def descend(box, scratch, tree, path, me, playouts, selection):
    """Play down the tree to a new node; writes the edges taken and who chose them: at least one, of the root.

    Returns how many edges they are, and how many turns are left until the playout is cut off.
    """
    g = scratch.games[DETERMINIZED]
    options = scratch.options
    turns = playouts.turns
    steps = 0
    while steps == 0 or (g.phase != OVER and turns > 0 and steps < DEEPEST):
        count = legal(box, g, options)
        if count == 1 and steps > 0:
            turns -= play(box, g, options[0])
        else:
            node = find_or_add(tree, knowledge(scratch, me))
            if node == NONE:
                break
            favourite = favourite_at(box, scratch, tree, node, me, playouts.policy, count)
            edge = select(tree, node, options, count, favourite, selection)
            if edge == NONE:
                break
            path[steps, 0] = edge
            path[steps, 1] = g.player
            steps += 1
            turns -= play(box, g, tree.edges[edge].action)
    return steps, turns


@rule
def favourite_at(box, scratch, tree, node, me, policy, count):
    """What the scripted bot would play; at the searcher's own decisions it is the same every time."""
    g = scratch.games[DETERMINIZED]
    if tree.nodes[node].favourite != NONE:
        return tree.nodes[node].favourite
    favourite = choose(policy, box, g, scratch.options, count, roll(g), scratch.bots[0])
    if g.player == me:
        tree.nodes[node].favourite = favourite
    return favourite


@rule
def knowledge(scratch, me):
    """A number for what a player knows of the determinization."""
    scratch.games[TRIED] = scratch.games[DETERMINIZED]
    blank_secrets(scratch.games[TRIED], me)
    key = np.uint64(1)
    for i in range(scratch.words.shape[1]):
        word = scratch.words[TRIED, i]
        key = ((key ^ word) & LOW) * CARRY_MULTIPLIER + (key >> HALF)
        key = ((key ^ (word >> HALF)) & LOW) * CARRY_MULTIPLIER + (key >> HALF)
    return key


@rule
def slot_of(tree, key):
    return int(key & np.uint64(len(tree.slots) - 1))


@rule
def find_or_add(tree, key):
    """The node of a key; NONE if there was none, which is made now."""
    node = tree.slots[slot_of(tree, key)]
    while node != NONE and tree.nodes[node].key != key:
        node = tree.nodes[node].next
    if node == NONE:
        add_node(tree, key)
    return node


@rule
def add_node(tree, key):
    """A new node, if there is room."""
    node = tree.size[0]
    if node < len(tree.nodes):
        tree.size[0] += 1
        slot = slot_of(tree, key)
        tree.nodes[node].key = key
        tree.nodes[node].visits = 0
        tree.nodes[node].edge = NONE
        tree.nodes[node].next = tree.slots[slot]
        tree.nodes[node].favourite = NONE
        tree.slots[slot] = node


@rule
def find_edge(tree, node, action):
    """The edge of an action, or NONE."""
    edge = tree.nodes[node].edge
    while edge != NONE and tree.edges[edge].action != action:
        edge = tree.edges[edge].next
    return edge


@rule
def add_edge(tree, node, action):
    """A new edge, or NONE if there is no room."""
    edge = tree.size[1]
    if edge == len(tree.edges):
        return NONE
    tree.size[1] += 1
    tree.edges[edge].action = action
    tree.edges[edge].visits = 0
    tree.edges[edge].total = 0.0
    tree.edges[edge].next = tree.nodes[node].edge
    tree.nodes[node].edge = edge
    return edge


@rule
def select(tree, node, options, count, favourite, selection):
    """The edge to follow: what has been good, what the scripted bot would play, what has been tried little."""
    tree.nodes[node].visits += 1
    mean = mean_probability(tree, node)
    reach = selection.explore * np.sqrt(float(tree.nodes[node].visits))
    best = -1.0
    chosen = NONE
    action = options[0]
    for i in range(count):
        prior = (1.0 - selection.trust) / count
        if options[i] == favourite:
            prior += selection.trust
        edge = find_edge(tree, node, options[i])
        tries = 0.0
        value = mean
        if edge != NONE and tree.edges[edge].visits > 0:
            tries = float(tree.edges[edge].visits)
            value = tree.edges[edge].total / tries
        value += reach * prior / (1.0 + tries)
        if value > best:
            best, chosen, action = value, edge, options[i]
    if chosen == NONE:
        chosen = add_edge(tree, node, action)
    return chosen


@rule
def mean_probability(tree, node):
    """The mean win probability of all tries at a node: what an option not tried yet is taken to be worth."""
    visits = 0.0
    total = 0.0
    edge = tree.nodes[node].edge
    while edge != NONE:
        visits += tree.edges[edge].visits
        total += tree.edges[edge].total
        edge = tree.edges[edge].next
    return total / visits if visits > 0 else 0.0
