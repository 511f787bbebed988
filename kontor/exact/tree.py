"""The whole tree of a small game, walked by the very functions that play it in batches: arrays, no recursion later.

Nodes are numbered in the order of a walk, so that a node comes after its parent. Two nodes are of one information set
if the player who decides sees the same record: `blank_secrets` says what that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kontor.compile import attributes
from kontor.fields import CHANCE, OVER
from kontor.ruleset import Ruleset

MOST_NODES = 2_000_000


class TooLarge(ValueError):
    """A game with more positions than a walk has room for."""


@dataclass(frozen=True, eq=False)
class Tree:
    """All positions of a game.

    Attributes:
        player: for each node who decides; CHANCE, or OVER.
        parent: for each node the one it follows; -1 for the first.
        edge: for each node which of its parent's options leads there.
        count: for each node how many options it has.
        infoset: for each decision its information set; else -1.
        chance: for each node after a draw how likely it is there; else 1.
        points: (nodes, players): at the ends what the players have; else 0.
        widths: for each information set how many options it has.
        owner: for each information set who decides.
        views: for each information set the record as its player sees it.
        actions: for each information set the ids of its options.
    """

    ruleset: Ruleset
    player: NDArray[np.int8]
    parent: NDArray[np.int64]
    edge: NDArray[np.int64]
    count: NDArray[np.int64]
    infoset: NDArray[np.int64]
    chance: NDArray[np.float64]
    points: NDArray[np.float64]
    widths: NDArray[np.int64]
    owner: NDArray[np.int64]
    views: NDArray[np.void]
    actions: list[NDArray[np.int64]]

    def sizes(self) -> dict[str, int]:
        """How many draws, decisions, ends and information sets there are."""
        kinds = {"chance": self.player == CHANCE, "decisions": self.player >= 0, "ends": self.player == OVER}
        return {name: int(which.sum()) for name, which in kinds.items()} | {"information sets": len(self.widths)}

    @property
    def slots(self) -> NDArray[np.int64]:
        """For each information set where its options begin in a strategy, and behind the last one their number."""
        return np.concatenate([[0], np.cumsum(self.widths)])

    def uniform(self) -> NDArray[np.float64]:
        """The strategy that takes all options alike: a probability for each option of each information set."""
        return np.repeat(1 / self.widths, self.widths)


def grow(ruleset: Ruleset, most: int = MOST_NODES) -> Tree:
    """Walk a game from its deal to all its ends."""
    game = ruleset.game
    nodes: list[tuple[int, int, int, int, int, float]] = []
    points: list[list[int]] = []
    sets: dict[bytes, int] = {}
    views: list[Any] = []
    actions: list[NDArray[np.int64]] = []
    owners: list[int] = []
    box = attributes(game.box(ruleset))[0]
    first = game.blank_record(ruleset).copy()
    game.deal(box, attributes(first)[0])
    waiting = [(first, -1, -1, 1.0)]
    while waiting:
        record, parent, edge, chance = waiting.pop()
        if len(nodes) == most:
            raise TooLarge(f"{ruleset.name} has more than {most:,} positions: too many to be walked")
        options = _options(game, box, record)
        player, infoset, number = int(record["player"][0]), -1, len(nodes)
        if player >= 0:
            view = record.copy()
            game.blank_secrets(box, attributes(view)[0], player)
            infoset = sets.setdefault(view.tobytes(), len(sets))
            if infoset == len(views):
                views.append(view[0])
                actions.append(options)
                owners.append(player)
        nodes.append((player, parent, edge, len(options), infoset, chance))
        ends = player == OVER
        points.append([int(game.score(box, attributes(record)[0], p)) if ends else 0 for p in range(ruleset.players)])
        waiting += list(_after(game, box, record, number, options))[::-1]
    columns = [np.array(column) for column in zip(*nodes, strict=True)]
    widths = [len(options) for options in actions]
    return Tree(
        ruleset, columns[0], columns[1], columns[2], columns[3], columns[4], columns[5],
        np.array(points, float), np.array(widths), np.array(owners), np.array(views), actions,
    )  # fmt: skip


def records(tree: Tree) -> NDArray[np.void]:
    """(nodes,): the complete record of each position of a tree."""
    game = tree.ruleset.game
    box = attributes(game.box(tree.ruleset))[0]
    found = np.repeat(game.blank_record(tree.ruleset), len(tree.player))
    game.deal(box, attributes(found)[0])
    for node in range(1, len(found)):
        parent = found[tree.parent[node]].copy().reshape(1)
        option = _options(game, box, parent)[tree.edge[node]]
        game.apply(box, attributes(parent)[0], int(option))
        found[node] = parent[0]
    return found


def _options(game: Any, box: Any, record: NDArray[np.void]) -> NDArray[np.int64]:
    options = np.zeros(game.most_options_of_all, np.int16)
    return options[: game.legal(box, attributes(record)[0], options)].astype(np.int64)


def _after(game: Any, box: Any, record: NDArray[np.void], number: int, options: NDArray[np.int64]) -> Iterator[Any]:
    """The positions after one: each with how likely chance brings it."""
    drawn = int(record["player"][0]) == CHANCE
    weights = [int(game.weight(box, attributes(record)[0], option)) if drawn else 1 for option in options]
    for edge, option in enumerate(options):
        after = record.copy()
        game.apply(box, attributes(after)[0], int(option))
        yield after, number, edge, weights[edge] / sum(weights) if drawn else 1.0
