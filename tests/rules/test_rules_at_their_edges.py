"""Rules where a mistake hides easily: the last card of the box, and one joker for two spices."""

import pytest
from positions import card, position

LAST = 59


def test_r3_2_a_joker_pays_one_spice_only():
    two_of_four = ["pepper single", "cinnamon single"]
    assert position(warehouses={0: [*two_of_four, "joker"]}).legal() == {"contract none"}
    assert "contract each-1" in position(warehouses={0: [*two_of_four, "joker", "joker"]}).legal()


def test_r4_8_the_last_card_of_the_box_can_be_kept():
    ladders, attack = {"blue": [1, 0]}, card("red", "blue")
    game = position(phase="traders", ladders=ladders, hands={0: [attack, "any cargo"], 1: [LAST, "any cargo"]})
    game.play("attack blue 2 1", f"commit {attack}", "commit done", f"defend {LAST}", "defend done")
    assert game.legal() == {f"keep {LAST}", "keep none"}


def test_r7_3_the_last_card_of_the_box_can_be_taken():
    game = position(phase="ship", ladders={"blue": [1]}, hands={0: [LAST]}, ports={0: ["Ternate", "bbb/r"]})
    game.play(f"ship {LAST} 0")
    assert f"take {LAST}" in game.legal()


@pytest.mark.parametrize("number", [0, LAST])
def test_r8_2_the_first_and_the_last_card_of_the_box_can_be_dropped(number):
    hand = [number, *range(20, 25)]
    game = position(phase="ship", hands={0: hand}, draw=[30, 31])
    game.play("ship 20 0")
    assert game.legal() == {f"drop {held}" for held in (number, *range(21, 25), 30, 31)}
