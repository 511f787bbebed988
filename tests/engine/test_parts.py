"""Rules are parts of what calls them, and functions of their own for Python."""

import numba
import numpy as np
import pytest
from numba.core.registry import cpu_target

from borneo_env.engine.jit import INTERPRETED, rule
from borneo_env.engine.state import GAME

ENGINE = cpu_target.target_context.codegen()._engine  # knows all functions there is machine code for

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


def make_rules():
    @rule
    def twice(number):
        return 2 * number

    @rule
    def twice_the_turn(g):
        return twice(int(g.turn))

    return twice, twice_the_turn


def entry_of(part):
    @numba.njit
    def total(games):
        found = 0
        for i in range(len(games)):
            found += part(games[i])
        return found

    return total


@pytest.fixture
def games():
    games = np.zeros(3, GAME)
    games["turn"] = 0, 1, 2
    return games


def test_an_entry_takes_in_what_it_calls(games):
    assert entry_of(make_rules()[1])(games) == 6


def test_python_may_call_a_rule_before_an_entry_does_and_after(games):
    """Machine code of its own is made then, and only then: without, Python would jump to nowhere."""
    twice, twice_the_turn = make_rules()
    assert twice(21) == 42
    assert entry_of(twice_the_turn)(games) == 6
    assert twice_the_turn(games[2]) == 4 and twice(5) == 10


def test_a_part_has_no_machine_code(games):
    """It would take longer to make than all the rest."""
    twice, twice_the_turn = make_rules()
    entry = entry_of(twice_the_turn)
    entry(games)
    for part in (twice, twice_the_turn):
        (compiled,) = part.overloads.values()
        assert not ENGINE.is_symbol_defined(compiled.fndesc.mangled_name)
    (compiled,) = entry.overloads.values()
    assert ENGINE.is_symbol_defined(compiled.fndesc.mangled_name)


def test_a_rule_looks_like_its_function():
    twice, _ = make_rules()
    assert (twice.__name__, twice.py_func(4)) == ("twice", 8)
