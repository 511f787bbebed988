"""The faults of `make mutants` stay applicable; `make mutants-changed` mutates what was changed."""

import ast
import re
import subprocess
from collections import Counter

import pytest
from mutants.changed import changed_lines, mutations, named_tests
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
def test_the_named_tests_the_faults_are_there(test):
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


SOURCE = """\
def rule(g, cards: int = 2) -> int:
    "Words are no mutation: 3."
    if g.left < cards and g.open or False:
        g.stock[1] += 1
    return f"{1}"
"""
MUTATED = {
    "g.left < cards and g.open or False": "((g.left < cards and g.open) and False)",
    "g.left < cards and g.open": "(g.left < cards or g.open)",
    "g.left < cards": "g.left <= cards",
    "False": "True",
    "g.stock[1] += 1": "pass",
    "1": "2",
    'return f"{1}"': "pass",
}


def test_lines_that_were_changed_are_mutated_one_place_at_a_time():
    found = list(mutations(SOURCE, {2, 3, 4, 5}))
    assert {old: new for _, old, new, _ in found} == MUTATED
    assert Counter(line for line, *_ in found) == {3: 4, 4: 3, 5: 1}  # both constants of line 4
    assert all(ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOURCE)) for *_, changed in found)
    assert [(old, new) for _, old, new, _ in mutations(SOURCE, {1})] == [("2", "3")]


def test_lines_that_git_calls_new_are_found():
    diff = "+++ b/a.py\n@@ -1 +2 @@ def f():\n-old\n+new\n@@ -7,2 +8,3 @@\n+++ b/b.py\n@@ -4,2 +3,0 @@\n"
    assert changed_lines(diff) == {"a.py": {2, 8, 9, 10}, "b.py": set()}


def test_every_file_of_the_source_has_tests_for_its_mutations():
    paths = subprocess.run(["git", "ls-files", "*.py"], cwd=PROJECT, capture_output=True, text=True, check=True)
    source = [path for path in paths.stdout.splitlines() if re.match(r"(\w+/)?borneo_\w+/", path)]
    assert len(source) > 200
    missing = {file for file in source if not all((PROJECT / test).exists() for test in named_tests(file)[0])}
    assert not missing and all(named_tests(file)[0] for file in source)
    assert named_tests("tests/conftest.py") == ((), False)
