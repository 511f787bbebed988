"""Every rule of RULES.md has at least one test here that bears its id: `test_r3_1_...` is a test of R3.1."""

import re
from pathlib import Path

RULES = Path(__file__).parents[2] / "borneo_env" / "RULES.md"
LIST_ITEM_OR_TABLE_ROW = re.compile(r"^\s*(?:-\s*\**|\|\s*\**)(R\d+\.\d+)\b", re.MULTILINE)
CHAPTER = re.compile(r"^#+\s*(R\d+)\b", re.MULTILINE)
TEST = re.compile(r"^def (test_r\w+)\(", re.MULTILINE)


def rule_ids(text):
    """All rules; a chapter without numbered rules, such as R2, is one itself."""
    rules = LIST_ITEM_OR_TABLE_ROW.findall(text)
    chapters = {rule.split(".")[0] for rule in rules}
    return rules + [chapter for chapter in CHAPTER.findall(text) if chapter not in chapters]


def names_of_tests():
    files = Path(__file__).parent.glob("test_r*.py")
    return [name for file in files for name in TEST.findall(file.read_text(encoding="utf-8"))]


def is_test_of(rule, test):
    return test.startswith(f"test_{rule.lower().replace('.', '_')}_")


def test_every_rule_has_a_test():
    rules = rule_ids(RULES.read_text(encoding="utf-8"))
    assert rules, f"no rules found in {RULES}"
    without = [rule for rule in rules if not any(is_test_of(rule, test) for test in names_of_tests())]
    assert not without, f"rules without a test: {', '.join(without)}"


def test_every_test_is_of_a_rule():
    rules = rule_ids(RULES.read_text(encoding="utf-8"))
    stray = [test for test in names_of_tests() if not any(is_test_of(rule, test) for rule in rules)]
    assert not stray, f"tests that name no rule: {', '.join(stray)}"


def test_rules_are_found_in_list_items_table_rows_and_headings():
    text = "## R2 A turn\n## R3 Contracts\n- **R3.1** Choose\n- **R3.2 Pay.** Not R9.9\n| R0.1 | companies |\nsee R8.8"
    assert rule_ids(text) == ["R3.1", "R3.2", "R0.1", "R2"]
