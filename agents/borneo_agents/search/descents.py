"""What a search does again and again: determinize, play down the tree, play on, note what came of it.

Templates, bound to each game.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from borneo_agents.search.determinization import DETERMINIZED, knowledge
from borneo_agents.search.known_strategy import KnownStrategy, is_known, known_move
from borneo_agents.search.playouts import begin, determinize_anew, evaluate_playout, make_playout_scratch, play
from borneo_agents.search.tree import NONE, add_node, clear, find_or_add, make_tree, most_tried, select
from kontor.compile import entry, rule
from kontor.fields import CHANCE, OVER
from kontor.game import Game
from kontor.templates.dice import roll
from kontor.templates.loops import draw_outcome
from kontor.templates.open_names import choose, has_chance, legal

DEEPEST = 200  # decisions in the tree

# What a search works with; the path has the edges taken down the tree, and who chose them. `known` is what the others
# are known to play, if it is.
TreeScratch = namedtuple("TreeScratch", "playout tree path known")
# How it is made: the number of the bot that plays for all in playouts, the turns that end before one is cut off, the
# weight of priors, the part of them that goes to the bot's action, and the number of the reward that is looked for.
IsmctsConfig = namedtuple("IsmctsConfig", "policy turns c_puct prior_weight value")


def make_tree_scratch(game: Game, nodes: int, known: KnownStrategy) -> TreeScratch:
    return TreeScratch(make_playout_scratch(game), make_tree(nodes), np.zeros((DEEPEST, 2), np.int64), known)


@entry
def begin_tree(boxes, views, i, dice, scratch):
    """Plant a tree whose root is the view."""
    begin(scratch.playout, dice)
    clear(scratch.tree)
    determinize_anew(boxes[0], scratch.playout, views[i], scratch.known)
    add_node(scratch.tree, knowledge(boxes[0], scratch.playout, int(views[i].player)))


@entry
def grow(boxes, views, i, scratch, config, budget):
    """Play so many playouts; returns the action tried most often so far."""
    box, view, playout, tree, path, known = (
        boxes[0],
        views[i],
        scratch.playout,
        scratch.tree,
        scratch.path,
        scratch.known,
    )
    for _ in range(budget):
        determinize_anew(box, playout, view, known)
        steps, turns = descend(box, playout, tree, path, known, int(view.player), config)
        evaluate_playout(box, playout, known, view, config, turns)
        for k in range(steps):
            tree.edges[path[k, 0]].visits += 1
            tree.edges[path[k, 0]].total += playout.values[path[k, 1]]
    return most_tried(tree)


@entry
def count_tries(tree, tries):
    """Write how often each action of the root was tried."""
    edge = tree.nodes[0].edge
    while edge != NONE:
        tries[tree.edges[edge].action] = tree.edges[edge].visits
        edge = tree.edges[edge].next


@rule
def descend(box, playout, tree, path, known, me, config):
    """Play down the tree to a new node; writes the edges taken and who chose them: at least one, of the root.

    Returns how many edges they are, and how many turns are left until the playout is cut off.
    """
    g, options, knows = playout.games[DETERMINIZED], playout.options, is_known(known)
    turns = config.turns
    steps = 0
    while steps == 0 or (g.player != OVER and turns > 0 and steps < DEEPEST):
        count = legal(box, g, options)
        if has_chance and g.player == CHANCE:
            turns -= play(box, g, draw_outcome(box, g, options, count))
        elif count == 1 and steps > 0:
            turns -= play(box, g, options[0])
        elif knows and g.player != me:
            turns -= play(box, g, known_move(box, playout, known, count))
        else:
            node = find_or_add(tree, knowledge(box, playout, me))
            if node == NONE:
                break
            favourite = favourite_at(box, g, playout, tree, node, me, config.policy, count)
            edge = select(tree, node, options, count, favourite, config, playout.bounds)
            if edge == NONE:
                break
            path[steps, 0] = edge
            path[steps, 1] = g.player
            steps += 1
            turns -= play(box, g, tree.edges[edge].action)
    return steps, turns


@rule
def favourite_at(box, g, playout, tree, node, me, policy, count):
    """What the bot would play; at the searcher's own decisions it is the same every time."""
    if tree.nodes[node].favourite != NONE:
        return tree.nodes[node].favourite
    favourite = choose(policy, box, g, playout.options, count, roll(g), playout.bots[0])
    if g.player == me:
        tree.nodes[node].favourite = favourite
    return favourite
