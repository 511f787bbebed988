"""The search against what is known exactly: it finds best responses, and nothing better than they are."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from borneo_agents.search.ismcts import Ismcts, IsmctsResponse

from kontor import PUBLIC, find_game
from kontor.compile import attributes
from kontor.engine.batch import Batch
from kontor.exact import best_response, grow, records, solve, values

KUHN = find_game("examples/kuhn.py:KUHN")
LEDUC = find_game("examples/leduc.py:LEDUC")
OPEN_KUHN = replace(KUHN, name="open_kuhn", fields=[replace(field, seen=PUBLIC) for field in KUHN.fields])
NEAR = {"kuhn": 0.02, "leduc": 0.1}  # the exact best response
CURIOUS = {"c_puct": 1.0, "value": "score"}  # it tries enough of what looks bad at first


@dataclass
class SmallViews:
    """What an agent is asked with."""

    ruleset: Any
    games: Any
    mask: Any
    dice: Any

    def arrays(self):
        return attributes(self.ruleset.game.box(self.ruleset)), attributes(self.games), self.dice

    def __len__(self):
        return len(self.games)


@cache
def tree_of(game, **fields):
    return grow(game.Ruleset(**fields))


@cache
def strategy_of(game, name):
    tree = tree_of(game)
    return tree.uniform() if name == "uniform" else solve(tree, 60)


def ask(agent, tree, infosets, games, seed=1):
    """What an agent plays in games of these information sets; the dice are the same in all games of a set."""
    mask = np.zeros((len(infosets), len(tree.ruleset.game.action_table(tree.ruleset))), np.bool_)
    for row, infoset in enumerate(infosets):
        mask[row, tree.actions[infoset]] = True
    dice = np.random.default_rng(seed).integers(2**64, size=len(tree.widths), dtype=np.uint64)
    return agent.act(SmallViews(tree.ruleset, np.ascontiguousarray(games), mask, dice[infosets]))


def played(tree, others, player, agent, seed=1):
    """The strategy of the others, and what an agent plays in a player's place."""
    strategy, own = others.copy(), np.flatnonzero(tree.owner == player)
    for infoset, action in zip(own, ask(agent, tree, own, tree.views[own], seed), strict=True):
        strategy[tree.slots[infoset] : tree.slots[infoset + 1]] = tree.actions[infoset] == action
    return strategy


def falls_short(game, name, player, budget, seed=1):
    """What an agent that knows the others' strategy gets less than the exact best response."""
    tree, others = tree_of(game), strategy_of(game, name)
    strategy = played(tree, others, player, IsmctsResponse(tree, others, budget=budget, **CURIOUS), seed)
    return best_response(tree, others, player)[0] - values(tree, strategy)[player]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["uniform", "cfr"])
@pytest.mark.parametrize(("game", "budget"), [
    pytest.param(KUHN, 5000, id="kuhn"),
    pytest.param(LEDUC, 10_000, id="leduc", marks=pytest.mark.soak),
])  # fmt: skip
def test_it_finds_the_best_response(game, budget, name, player):
    assert -1e-9 <= falls_short(game, name, player, budget) < NEAR[game.name]


def test_it_finds_a_good_response_in_leduc_soon():
    assert -1e-9 <= falls_short(LEDUC, "cfr", 0, 800) < NEAR["leduc"]


def test_it_plays_the_same_whatever_it_cannot_see():
    """Asked with the cards on the table, it plays what it plays without: so it cannot do better than is possible."""
    tree, others = tree_of(KUHN), strategy_of(KUHN, "uniform")
    nodes = np.flatnonzero(tree.player >= 0)
    sets, agent = tree.infoset[nodes], IsmctsResponse(tree, others, budget=200, **CURIOUS)
    np.testing.assert_array_equal(
        ask(agent, tree, sets, records(tree)[nodes]), ask(agent, tree, sets, tree.views[sets])
    )


@pytest.mark.parametrize("player", [0, 1])
def test_one_that_is_shown_the_cards_beats_the_best_response(player):
    """The same game with open cards and others who play as if they were hidden: so a leak would be seen."""
    tree, others, shown = tree_of(KUHN), strategy_of(KUHN, "cfr"), tree_of(OPEN_KUHN)
    blind = shown.uniform()
    for node in np.flatnonzero(tree.player >= 0):  # both trees are walked in the same order
        known, whole = tree.slots[tree.infoset[node]], shown.slots[shown.infoset[node]]
        width = tree.count[node]
        blind[whole : whole + width] = others[known : known + width]
    assert values(shown, blind) == pytest.approx(values(tree, others))
    strategy = played(shown, blind, player, IsmctsResponse(shown, blind, budget=5000, **CURIOUS))
    reached = values(shown, strategy)[player]
    assert reached > best_response(tree, others, player)[0] + 0.1
    assert reached == pytest.approx(best_response(shown, blind, player)[0], abs=NEAR["kuhn"])


def test_what_the_others_have_played_tells_of_their_cards():
    """Who bets with the king alone is not called with the queen; one who forgets the bet takes it for a jack, too."""
    tree = tree_of(KUHN)
    others = np.tile([1.0, 0.0], len(tree.widths))
    for infoset, view in enumerate(tree.views):
        if tree.owner[infoset] == 0 and view["card"][0] == 2:
            others[tree.slots[infoset] : tree.slots[infoset + 1]] = 0, 1
    agent = IsmctsResponse(tree, others, budget=3000, **CURIOUS)
    best = best_response(tree, others, 1)[0]
    assert values(tree, played(tree, others, 1, agent))[1] == pytest.approx(best)
    strategy = agent._strategy
    agent._strategy = strategy._replace(likely=np.ones_like(strategy.likely))
    assert values(tree, played(tree, others, 1, agent))[1] < best - 0.1


@pytest.mark.parametrize(("game", "players"), [(KUHN, 2), (KUHN, 3), (LEDUC, 2)])
@pytest.mark.parametrize("value", ["win", "score"])
def test_it_plays_any_game_without_bots_of_its_own(game, players, value):
    """Against players at random it wins chips, and the same seed gives the same games."""
    ruleset = game.Ruleset(**({"players": players} if players > 2 else {}))
    first, again = (games_against_random(ruleset, Ismcts(budget=60, value=value)) for _ in range(2))
    assert first.games.tobytes() == again.games.tobytes()
    if value == "score":
        assert first.scores()[:, 0].mean() > 0.1


def games_against_random(ruleset, agent):
    batch = Batch(400, ruleset, seed=4, finished="hold")
    while len(rows := np.flatnonzero(batch.player >= 0)):
        actions, mine = batch.sample()[rows], batch.player[rows] == 0
        if mine.any():
            actions[mine] = agent.act(SmallViews(ruleset, *batch.view(rows[mine])))
        batch.step(actions, rows)
    return batch
