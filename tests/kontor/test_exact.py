"""Small games against what is known of them exactly: sizes of trees, values, best responses, equilibria."""

import numpy as np
import pytest

from kontor import find_game
from kontor.exact import best_response, grow, nash_conv, solve, values

KUHN = find_game("examples/kuhn.py:KUHN")
LEDUC = find_game("examples/leduc.py:LEDUC")
KNOWN = {  # draws, decisions, ends, information sets; NashConv of playing at random
    "kuhn-2": ((4, 24, 30, 12), 11 / 12),
    "leduc-2": ((157, 3780, 5520, 936), 4.747222222222222),
    "kuhn-3": ((17, 288, 312, 48), 2.0625),
}


@pytest.fixture(scope="module")
def trees():
    rulesets = [KUHN.Ruleset(), LEDUC.Ruleset(), KUHN.Ruleset(players=3)]
    return {ruleset.name: grow(ruleset) for ruleset in rulesets}


@pytest.mark.parametrize("name", KNOWN)
def test_trees_have_the_sizes_that_are_known(trees, name):
    sizes, conv = KNOWN[name]
    assert tuple(trees[name].sizes().values()) == sizes
    assert nash_conv(trees[name], trees[name].uniform()) == pytest.approx(conv, abs=1e-12)


@pytest.mark.parametrize(("name", "value", "near", "iterations"), [
    ("kuhn-2", -1 / 18, 0.001, 300), ("leduc-2", -0.085606, 0.01, 60),
])  # fmt: skip
def test_cfr_comes_near_the_value_of_the_game(trees, name, value, near, iterations):
    strategy = solve(trees[name], iterations)
    assert values(trees[name], strategy) == pytest.approx([value, -value], abs=near)
    assert nash_conv(trees[name], strategy) < 0.1


def test_a_best_response_gets_what_playing_it_gets(trees):
    tree = trees["kuhn-2"]
    best, answer = best_response(tree, tree.uniform(), 1)
    assert best == pytest.approx(values(tree, answer)[1])
    passes = np.tile([1.0, 0.0], len(tree.widths))  # who never bets loses its chip to every bet
    assert best_response(tree, passes, 0)[0] == pytest.approx(1)
