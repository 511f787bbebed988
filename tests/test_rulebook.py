"""The rules by their ids, in Python and with `borneo rules`."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import borneo_env
from borneo_env.cli import app
from borneo_env.rulebook import UnknownRule, chapters, find_rules, rules

TEXT = (Path(borneo_env.__file__).parent / "RULES.md").read_text(encoding="utf-8")


def test_every_rule_of_the_page_is_found():
    ids = re.findall(r"^(?:- \*\*|\| )(R[\d.]+)", TEXT, re.MULTILINE)
    assert list(rules()) == ids
    assert set(chapters()) == {rule.partition(".")[0] for rule in ids}


def test_no_word_of_a_rule_is_lost():
    plain = " ".join(re.sub(r"[*`|]", " ", TEXT).split())
    for text in rules().values():
        for part in re.split(r"; in the card edition: |: ", text):
            assert " ".join(part.split()) in re.sub(r" ([.,:;)])", r"\1", plain).replace("( ", "("), part


@pytest.mark.parametrize("name", ["R4.7", "r4.7", "4.7", " R4.7 "])
def test_a_rule_by_its_id(name):
    (text,) = find_rules(name).values()
    assert text.startswith("The attack is at least as strong: the attacker takes over")
    assert text.endswith("even if this makes no difference.")


def test_a_chapter_has_its_rules_and_no_others():
    assert list(find_rules("R1")) == [f"R1.{number}" for number in range(1, 9)]


@pytest.mark.parametrize("name", ["", "R99", "R4.70", "R", "\x1b[2J", "4.", "R4.7.1"])
def test_what_is_no_rule_is_refused(name):
    with pytest.raises(UnknownRule, match=r"there is no rule .*; chapters are R0, R1, R2") as caught:
        find_rules(name)
    assert str(caught.value).isprintable()


def test_the_command_prints_a_rule_a_chapter_or_all():
    one, chapter, everything = (CliRunner().invoke(app, ["rules", *ids]).stdout for ids in (["R4.7"], ["R4"], []))
    assert one.startswith("R4.7  The attack is at least as strong")
    assert chapter.startswith("R4 Traders\n") and "R4.1  Transfer" in chapter
    assert max(map(len, everything.splitlines())) <= 80
    assert set(re.findall(r"^R\d+\.\d+", everything, re.MULTILINE)) == {rule for rule in rules() if "." in rule}


def test_the_command_as_json():
    answer = CliRunner().invoke(app, ["rules", "R4.7", "R2", "--json"])
    assert list(json.loads(answer.stdout)) == ["R4.7", "R2"]
