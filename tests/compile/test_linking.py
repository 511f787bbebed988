"""Rules are parts of what calls them, and functions of their own for Python. Entries are called where they are."""

import numba
import numpy as np
import pytest
from numba.core.registry import cpu_target

from borneo_env.engine.state import GAME
from kontor.compile import INTERPRETED, entry, rule

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


# ---------------------------------------------------------------- entries that call entries


def make_entries():
    @entry
    def thrice(number):
        return 3 * number

    @rule
    def thrice_and_one(number):
        return thrice(number) + 1

    @entry
    def of_all(numbers):
        total = 0
        for i in range(len(numbers)):
            total += thrice_and_one(numbers[i]) + thrice(2)
        return total

    return thrice, thrice_and_one, of_all


def test_an_entry_calls_another_through_a_rule_and_directly(tmp_path, monkeypatch):
    monkeypatch.setenv("BORNEO_CACHE_DIR", str(tmp_path))
    thrice, _, of_all = make_entries()
    assert of_all(np.arange(4, dtype=np.int16)) == 3 * 6 + 4 + 4 * 6
    (compiled,) = of_all.overloads.values()
    (called,) = thrice.overloads.values()
    defined = [function.name for function in compiled.library.get_defined_functions()]
    assert called.fndesc.mangled_name not in defined, "it was taken in"
    assert thrice(5) == 15


def test_integers_of_any_size_and_arrays_in_records_take_one_compilation(tmp_path, monkeypatch):
    monkeypatch.setenv("BORNEO_CACHE_DIR", str(tmp_path))
    record = np.zeros(1, np.dtype([("small", "i1"), ("numbers", "i2", (3,))]))
    record["numbers"] = 1, 2, 3

    @rule
    def nth(numbers, n):
        return numbers[n]

    @entry
    def both(records, numbers):
        return nth(records[0].numbers, records[0].small) + nth(numbers, 1) + nth(numbers, len(numbers) - 1)

    assert both(record, np.array([4, 5, 6], np.int16)) == 1 + 5 + 6
    assert len(nth.overloads) == 1


@pytest.mark.filterwarnings("ignore:Cannot cache compiled function")
@pytest.mark.parametrize("number", [0, 1], ids=["an entry", "a rule that calls an entry"])
def test_numba_keeps_no_function_of_its_own_that_calls_an_entry(number, tmp_path, monkeypatch):
    """Another process would jump to where the entry was in this one."""
    monkeypatch.setenv("BORNEO_CACHE_DIR", str(tmp_path))
    called = make_entries()[number]

    @numba.njit(cache=True)
    def foreign(number):
        return called(number)

    assert foreign(5) == 15 + number
    (compiled,) = foreign.overloads.values()
    assert compiled.library.has_dynamic_globals
