"""The faults of `make mutants` stay applicable: each finds its text, and its tests are there."""

import ast
from collections import Counter

import pytest
from mutants.run import PROJECT, Fault, read_faults

FAULTS = read_faults()


@pytest.mark.parametrize("file", sorted({fault.file for fault in FAULTS}))
def test_each_fault_changes_one_place_and_leaves_a_program(file):
    source = (PROJECT / file).read_text(encoding="utf-8")
    for fault in FAULTS:
        if fault.file == file:
            changed = fault.put_into(source)
            assert changed != source, fault.name
            if file.endswith(".py"):
                ast.parse(changed)


@pytest.mark.parametrize("test", sorted({test for fault in FAULTS for test in fault.tests}))
def test_the_tests_of_the_faults_are_there(test):
    file, _, name = test.partition("::")
    assert (PROJECT / file).is_file()
    assert not name or f"def {name.split('[')[0]}(" in (PROJECT / file).read_text(encoding="utf-8")


def test_there_are_many_faults_in_every_layer_and_none_twice():
    layers = Counter(fault.layer for fault in FAULTS)
    assert layers.total() >= 160  # rules, engine and records
    assert min(layers.values()) >= 10
    assert max(Counter((fault.layer, fault.name) for fault in FAULTS).values()) == 1


@pytest.mark.parametrize("source", ["nothing of it", "twice, twice"])
def test_a_fault_that_does_not_fit_is_refused(source):
    fault = Fault("rules", "a fault", "a.py", "twice", "once", (), True)
    with pytest.raises(ValueError, match="it should be there once"):
        fault.put_into(source)
