"""The tree of a search: nodes and their edges in arrays, found by what the searcher knows."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from kontor.compile import attributes, rule

NONE = -1
EDGES_PER_NODE = 6  # more than trees have on average; when there is no room left, nothing is added

# What the searcher knows at a decision, how often it came up, its first edge, the next node of its slot, and what the
# bot would play there, if it is the searcher's decision: then it depends on nothing else.
NODE = np.dtype([("key", "u8"), ("visits", "i8"), ("edge", "i8"), ("next", "i8"), ("favourite", "i8")], align=True)
# An action there, how often it was tried, the sum of the decider's values, and the node's next edge.
EDGE = np.dtype([("action", "i8"), ("visits", "i8"), ("total", "f8"), ("next", "i8")], align=True)

# All nodes and edges, the first node of each slot (the low bits of the key), and how many nodes and edges there are.
SearchTree = namedtuple("SearchTree", "nodes edges slots size")


def make_tree(nodes: int) -> SearchTree:
    slots = 1 << nodes.bit_length()
    return SearchTree(
        nodes=attributes(np.zeros(nodes, NODE)),
        edges=attributes(np.zeros(EDGES_PER_NODE * nodes + 64, EDGE)),
        slots=np.zeros(slots, np.int64),
        size=np.zeros(2, np.int64),
    )


@rule
def clear(tree):
    tree.slots[:] = NONE
    tree.size[:] = 0


@rule
def most_tried(tree):
    """The action of the root tried most often."""
    best = tree.nodes[0].edge
    edge = best
    while edge != NONE:
        if tree.edges[edge].visits > tree.edges[best].visits:
            best = edge
        edge = tree.edges[edge].next
    return tree.edges[best].action


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
def select(tree, node, options, count, favourite, config, bounds):
    """The edge to follow by PUCT: what has been good, what the bot would play, what has been tried little.

    Values count as parts of the way between their bounds, as in MuZero (Schrittwieser et al. 2020, Nature 588).
    """
    tree.nodes[node].visits += 1
    low, scale = bounds[0], 1.0 / (bounds[1] - bounds[0])
    mean = mean_value(tree, node, low)
    reach = config.c_puct * np.sqrt(float(tree.nodes[node].visits))
    best = -1.0
    chosen = NONE
    action = options[0]
    for i in range(count):
        prior = (1.0 - config.prior_weight) / count
        if options[i] == favourite:
            prior += config.prior_weight
        edge = find_edge(tree, node, options[i])
        tries = 0.0
        value = mean
        if edge != NONE and tree.edges[edge].visits > 0:
            tries = float(tree.edges[edge].visits)
            value = tree.edges[edge].total / tries
        value = (value - low) * scale + reach * prior / (1.0 + tries)
        if value > best:
            best, chosen, action = value, edge, options[i]
    if chosen == NONE:
        chosen = add_edge(tree, node, action)
    return chosen


@rule
def mean_value(tree, node, lowest):
    """The mean value of all tries at a node: what an option not tried yet is taken to be worth."""
    visits = 0.0
    total = 0.0
    edge = tree.nodes[node].edge
    while edge != NONE:
        visits += tree.edges[edge].visits
        total += tree.edges[edge].total
        edge = tree.edges[edge].next
    return total / visits if visits > 0 else lowest
