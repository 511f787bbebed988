"""ISMCTS: information-set Monte Carlo tree search for three to five players.

It is the search with a single observer of Cowling, Powley and Whitehouse (2012, IEEE TCIAIG 4). Every iteration plays
down the tree in a new determinization of the view. A node is what the searcher knows at a decision: determinizations
that look alike to the searcher share it, and only what is legal in the present one can be chosen. Every player is taken
to choose what gives them the best win probability. Actions are selected by PUCT (Rosin 2011, AMAI 61; in the form of
AlphaGo Zero, Silver et al. 2017, Nature 550): a prior probability leads, and here a part of it is the scripted bot's
action's alone. Where a playout meets a new node, the scripted bot plays on.
"""

from __future__ import annotations

import time
from collections import namedtuple
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.scripted.dispatch import BOTS, choose
from borneo_agents.search.determinization import DETERMINIZED, TRIED
from borneo_agents.search.playouts import begin, determinize_anew, evaluate_playout, make_playout_scratch, play
from borneo_env.agent import UnknownAgent, Views
from borneo_env.engine.game import legal
from borneo_env.engine.hidden import blank_secrets
from borneo_env.engine.state import OVER
from kontor.compile import attributes, entry, rule
from kontor.engine.threads import available_cores, in_parallel
from kontor.files import in_short
from kontor.templates.dice import CARRY_MULTIPLIER, HALF, LOW, roll

NONE = -1
DEEPEST = 200  # decisions in the tree
EDGES_PER_NODE = 6  # more than trees have on average; when there is no room left, nothing is added
LARGEST_TREE = 20_000  # nodes, when the budget is a time
SLICE = 32  # playouts between two looks at the clock
MOST_PLAYOUTS, MOST_MILLISECONDS, MOST_TURNS, MOST_C_PUCT = 1_000_000, 3_600_000, 1000, 1000

# What the searcher knows at a decision, how often it came up, its first edge, the next node of its slot, and what the
# scripted bot would play there, if it is the searcher's decision: then it depends on nothing else.
NODE = np.dtype([("key", "u8"), ("visits", "i8"), ("edge", "i8"), ("next", "i8"), ("favourite", "i8")], align=True)
# An action there, how often it was tried, the sum of the decider's win probabilities, and the node's next edge.
EDGE = np.dtype([("action", "i8"), ("visits", "i8"), ("total", "f8"), ("next", "i8")], align=True)

# All nodes and edges, the first node of each slot (the low bits of the key), and how many nodes and edges there are.
Tree = namedtuple("Tree", "nodes edges slots size")
# What a search works with; the path has the edges taken down the tree, and who chose them.
TreeScratch = namedtuple("TreeScratch", "playout tree path")
# How it is made: the scripted bot that plays for all in playouts, the turns that begin before one is cut off, the
# weight of priors, and the part of them that goes to the scripted bot's action.
IsmctsConfig = namedtuple("IsmctsConfig", "policy turns c_puct prior_weight")


class Ismcts:
    """Searches a tree of what it may come to know: information-set Monte Carlo tree search.

    It keeps nothing from one call to the next, so that several threads may ask the same one.

    Arguments:
        budget: playouts for each decision.
        milliseconds: time for each decision instead; such a bot is not repeatable.
        turns: how many turns begin before a playout is cut off.
        policy: the scripted bot that plays for all in the playouts: random, contractor, climber or merchant.
        c_puct: how much it tries options that it has tried seldom; 0 is not at all.
        prior_weight: the part of the prior probability that the scripted bot's action has beyond its share: 0 to 1.
    """

    memoryless = True

    def __init__(
        self,
        budget: int = 1000,
        milliseconds: float | None = None,
        turns: int = 2,
        policy: str = "merchant",
        c_puct: float = 0.1,
        prior_weight: float = 0.5,
    ) -> None:
        if type(budget) is not int or not 1 <= budget <= MOST_PLAYOUTS:
            raise UnknownAgent(f"a budget is a number of playouts from 1 to {MOST_PLAYOUTS}, not {in_short(budget)}")
        if milliseconds is not None and not (is_number(milliseconds) and 0 < milliseconds <= MOST_MILLISECONDS):
            raise UnknownAgent(
                f"milliseconds are a number above 0, up to {MOST_MILLISECONDS}, not {in_short(milliseconds)}"
            )
        if type(turns) is not int or not 0 <= turns <= MOST_TURNS:
            raise UnknownAgent(f"turns are a number from 0 to {MOST_TURNS}, not {in_short(turns)}")
        if policy not in tuple(BOTS):
            raise UnknownAgent(f"there is no policy {in_short(policy)} for playouts; use one of {', '.join(BOTS)}")
        if not is_number(c_puct) or not 0 <= c_puct <= MOST_C_PUCT:
            raise UnknownAgent(f"c_puct is a number from 0 to {MOST_C_PUCT}, not {in_short(c_puct)}")
        if not is_number(prior_weight) or not 0 <= prior_weight <= 1:
            raise UnknownAgent(f"prior_weight is a number from 0 to 1, not {in_short(prior_weight)}")
        self._budget = budget
        self._milliseconds = milliseconds
        self._config = IsmctsConfig(BOTS[policy], turns, float(c_puct), float(prior_weight))

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        return self._searched(views)[0]

    def probabilities(self, views: Views) -> NDArray[np.float64]:
        """(n, actions): the share of its tries that each action had; what it plays had the most."""
        _, tries = self._searched(views)
        shares: NDArray[np.float64] = tries / tries.sum(1, keepdims=True)
        return shares

    def _searched(self, views: Views) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The best action of each view, and how often each was tried, on all cores. Times are those of one core."""
        chosen, tries = np.zeros(len(views), np.int64), np.zeros(views.mask.shape)
        boxes, games, dice = views.arrays()
        threads = available_cores() if self._milliseconds is None else 1
        in_parallel(threads, self._search, (boxes,), (games, dice, chosen, tries), 1)
        return chosen, tries

    def _search(
        self,
        boxes: Any,
        games: Any,
        dice: NDArray[np.uint64],
        chosen: NDArray[np.int64],
        tries: NDArray[np.float64],
    ) -> None:
        """Write what is found of some views, in one thread."""
        scratch = self._make_scratch()
        for i in range(len(dice)):
            begin_tree(boxes, games, i, dice[i], scratch)
            if self._milliseconds is None:
                chosen[i] = grow(boxes, games, i, scratch, self._config, self._budget)
            else:
                end = time.perf_counter() + self._milliseconds / 1000
                chosen[i] = grow(boxes, games, i, scratch, self._config, SLICE)
                while time.perf_counter() < end:
                    chosen[i] = grow(boxes, games, i, scratch, self._config, SLICE)
            count_tries(scratch.tree, tries[i])

    def _make_scratch(self) -> TreeScratch:
        tree = make_tree(self._budget + 1 if self._milliseconds is None else LARGEST_TREE)
        return TreeScratch(make_playout_scratch(), tree, np.zeros((DEEPEST, 2), np.int64))


def is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))


def make_tree(nodes: int) -> Tree:
    slots = 1 << nodes.bit_length()
    return Tree(
        nodes=attributes(np.zeros(nodes, NODE)),
        edges=attributes(np.zeros(EDGES_PER_NODE * nodes + 64, EDGE)),
        slots=np.zeros(slots, np.int64),
        size=np.zeros(2, np.int64),
    )


@entry
def begin_tree(boxes, views, i, dice, scratch):
    """Plant a tree whose root is the view."""
    begin(scratch.playout, dice)
    scratch.tree.slots[:] = NONE
    scratch.tree.size[:] = 0
    determinize_anew(boxes[0], scratch.playout, views[i])
    add_node(scratch.tree, knowledge(boxes[0], scratch.playout, int(views[i].player)))


@entry
def grow(boxes, views, i, scratch, config, budget):
    """Play so many playouts; returns the action tried most often so far."""
    box, tree, path = boxes[0], scratch.tree, scratch.path
    me = int(views[i].player)
    for _ in range(budget):
        determinize_anew(box, scratch.playout, views[i])
        steps, turns = descend(box, scratch, me, config)
        evaluate_playout(box, scratch.playout, config.policy, turns)
        for k in range(steps):
            tree.edges[path[k, 0]].visits += 1
            tree.edges[path[k, 0]].total += scratch.playout.probabilities[path[k, 1]]
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
def descend(box, scratch, me, config):
    """Play down the tree to a new node; writes the edges taken and who chose them: at least one, of the root.

    Returns how many edges they are, and how many turns are left until the playout is cut off.
    """
    tree, path, options = scratch.tree, scratch.path, scratch.playout.options
    g = scratch.playout.games[DETERMINIZED]
    turns = config.turns
    steps = 0
    while steps == 0 or (g.phase != OVER and turns > 0 and steps < DEEPEST):
        count = legal(box, g, options)
        if count == 1 and steps > 0:
            turns -= play(box, g, options[0])
        else:
            node = find_or_add(tree, knowledge(box, scratch.playout, me))
            if node == NONE:
                break
            favourite = favourite_at(box, scratch, node, me, config.policy, count)
            edge = select(tree, node, options, count, favourite, config)
            if edge == NONE:
                break
            path[steps, 0] = edge
            path[steps, 1] = g.player
            steps += 1
            turns -= play(box, g, tree.edges[edge].action)
    return steps, turns


@rule
def favourite_at(box, scratch, node, me, policy, count):
    """What the scripted bot would play; at the searcher's own decisions it is the same every time."""
    playout, nodes = scratch.playout, scratch.tree.nodes
    g = playout.games[DETERMINIZED]
    if nodes[node].favourite != NONE:
        return nodes[node].favourite
    favourite = choose(policy, box, g, playout.options, count, roll(g), playout.bots[0])
    if g.player == me:
        nodes[node].favourite = favourite
    return favourite


@rule
def knowledge(box, scratch, me):
    """A number for what a player knows of the determinization."""
    scratch.games[TRIED] = scratch.games[DETERMINIZED]
    blank_secrets(box, scratch.games[TRIED], me)
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
def select(tree, node, options, count, favourite, config):
    """The edge to follow by PUCT: what has been good, what the scripted bot would play, what has been tried little."""
    tree.nodes[node].visits += 1
    mean = mean_probability(tree, node)
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
