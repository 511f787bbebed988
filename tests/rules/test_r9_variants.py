"""R9 Variants of the board edition: four traders, and Blackbeard's secret."""

import pytest
from positions import position

from borneo_env.cards import COMPANIES, SPICES
from borneo_env.engine.state import DISCARD, OUT
from borneo_env.ruleset import Ruleset, RulesetError, every_ruleset

ONE_OF_EACH = [f"{spice} single" for spice in SPICES]
NO_NUTMEG = ONE_OF_EACH[:3]
WITH_ANYBODY_ELSE = pytest.mark.parametrize("pirates", [-1, 1, 3])


def test_r9_1_three_players_place_four_traders_each_in_four_rounds():
    game = position(phase="place", players=3, traders=4)
    order = ""
    while game.phase == "place":
        order += "ABC"[game.player]
        game.play(sorted(game.legal())[game.player])
    assert order == "ABC" + "CBA" + "ABC" + "CBA"
    traders = [player for company in COMPANIES for player in game.ladder(company)]
    assert [traders.count(player) for player in range(3)] == [4, 4, 4]


@pytest.mark.parametrize(("edition", "players"), [("board", 4), ("board", 5), ("card", 3), ("card", 4)])
def test_r9_1_three_players_of_the_board_edition_only(edition, players):
    with pytest.raises(RulesetError, match=r"R9\.1"):
        Ruleset(edition=edition, players=players, traders=4)


# Blackbeard's secret


def test_r9_2_the_card_edition_has_no_pirates():
    with pytest.raises(RulesetError, match=r"R9\.2"):
        Ruleset(edition="card", blackbeard=True)


def test_r9_2_without_the_variant_another_spice_pays_nothing():
    game = position(warehouses={0: [*NO_NUTMEG, "pepper single"]})
    assert game.legal() == {"contract none"}


@WITH_ANYBODY_ELSE
def test_r9_2_one_card_of_another_spice_may_be_given_and_the_ship_is_taken(pirates):
    game = position(blackbeard=True, pirates=pirates, warehouses={0: [*NO_NUTMEG, "pepper single"]})
    assert game.legal() == {"contract none", "contract each-1"}
    game.play("contract each-1", "pay pepper single", "pay cinnamon single", "pay cloves single")
    assert game.pirates == pirates
    assert game.legal() == {"pay pepper single"}
    game.play("pay pepper single")
    assert game.pirates == 0, "taken from wherever it was"
    assert game.fulfilled(0) == ["each-1"]


def test_r9_2_only_if_the_ship_does_not_lie_with_the_player():
    game = position(blackbeard=True, pirates=0, warehouses={0: [*NO_NUTMEG, "pepper single"]})
    assert game.legal() == {"contract none"}


def test_r9_2_in_the_payment_of_a_same_contract_too():
    game = position(blackbeard=True, warehouses={0: 3 * ["cloves single"] + ["nutmeg single"]})
    assert game.legal("contract same-4") == {"contract same-4 cloves"}
    game.play("contract same-4 cloves", "pay nutmeg single", *3 * ["pay cloves single"])
    assert (game.fulfilled(0), game.pirates) == (["same-4"], 0)


def test_r9_2_once_only():
    game = position(blackbeard=True, warehouses={0: ["pepper single"] * 2 + ["cloves single"] * 2})
    assert game.legal() == {"contract none"}, "two spices are missing"


def test_r9_2_after_the_trade_no_second_one_is_offered():
    game = position(blackbeard=True, warehouses={0: 4 * ["cloves single"] + 4 * ["nutmeg single"]})
    game.play("contract same-4 cloves")
    assert game.legal() == {"pay cloves single", "pay nutmeg single"}
    game.play("pay nutmeg single")
    assert game.legal() == {"pay cloves single"}


def test_r9_2_not_again_in_a_later_turn_while_the_ship_lies_with_the_player():
    game = position(blackbeard=True, pirates=2, turn=2, warehouses={2: 4 * ["cloves single"] + ["nutmeg single"]})
    game.play("contract same-4 cloves")
    assert game.legal() == {"pay cloves single"}


def test_r9_2_the_trade_is_offered_even_if_it_is_not_needed():
    game = position(blackbeard=True, warehouses={0: [*ONE_OF_EACH, "nutmeg single"]})
    game.play("contract each-1")
    assert game.legal() == {"pay pepper single", "pay nutmeg single"}
    game.play("pay pepper single")
    assert game.pirates == -1, "paying with the spice that is owed needs no pirates"


def test_r9_2_a_card_that_is_needed_for_its_own_spice_cannot_be_traded():
    no_pepper = ONE_OF_EACH[1:]
    game = position(blackbeard=True, warehouses={0: [*no_pepper, "cinnamon single"]})
    game.play("contract each-1")
    assert game.legal() == {"pay cinnamon single"}, "only cinnamon is there twice"


def test_r9_2_a_double_counts_one_for_another_spice():
    game = position(blackbeard=True, warehouses={0: ["cloves single", "cloves single", "nutmeg double"]})
    assert game.legal() == {"contract none"}, "two cloves and one for the nutmeg double are three"
    game = position(blackbeard=True, warehouses={0: 3 * ["cloves single"] + ["nutmeg double"]})
    game.play("contract same-4 cloves", "pay nutmeg double", "pay cloves single", "pay cloves single")
    assert game.legal() == {"pay cloves single"}, "one is still owed"


def test_r9_2_a_double_cannot_pay_its_own_spice_and_the_pirates():
    without_nutmeg = ["pepper double", "cinnamon single", "cloves single"]
    assert "contract each-1" not in position(blackbeard=True, warehouses={0: without_nutmeg}).legal()
    assert "contract each-1" in position(blackbeard=True, warehouses={0: [*without_nutmeg, "pepper single"]}).legal()


@pytest.mark.parametrize("own", ["single", "double"])
def test_r9_2_of_a_single_and_a_double_either_may_go_to_the_pirates(own):
    traded = "double" if own == "single" else "single"
    warehouse = ["pepper double", "pepper single", "cinnamon single", "cloves single"]
    game = position(blackbeard=True, warehouses={0: warehouse})
    game.play("contract each-1", f"pay pepper {own}", "pay cinnamon single", "pay cloves single")
    game.play(f"pay pepper {traded}")
    assert (game.warehouse(0), game.pirates) == ([], 0)


def test_r9_2_not_in_the_last_contracts():
    warehouses = {1: [*NO_NUTMEG, "pepper single"], 2: [*ONE_OF_EACH, "nutmeg single"]}
    game = position(blackbeard=True, phase="last contract", turn=0, warehouses=warehouses)
    assert game.legal() == {"contract none"}
    game.play("contract none", "contract each-1")
    assert game.legal() == {"pay pepper single"}, "the pirates do not take the spare nutmeg"


def test_r9_2_whoever_has_the_ship_at_the_end_loses_two_points():
    warehouses = {1: 5 * ["pepper single"]}
    game = position(blackbeard=True, phase="last contract", turn=2, player=2, pirates=1, warehouses=warehouses)
    game.play("contract none")
    assert game.phase == "over"
    assert game.scores() == [0, 3, 0, 0]


def test_r9_2_the_two_points_count_for_the_places():
    game = position(blackbeard=True, pirates=1, warehouses={0: 4 * ["pepper single"], 1: 5 * ["nutmeg single"]})
    assert (game.scores(), game.places()) == ([4, 3, 0, 0], [1, 2, 3, 3])


def test_r9_2_a_joker_needs_no_pirates():
    game = position(blackbeard=True, pirates=3, warehouses={0: [*NO_NUTMEG, "joker"]})
    game.play("contract each-1", "pay pepper single", "pay cinnamon single", "pay cloves single", "pay joker")
    assert (game.fulfilled(0), game.pirates) == (["each-1"], 3)


def test_r9_2_a_joker_and_the_pirates_together_cover_two_missing_spices():
    game = position(blackbeard=True, warehouses={0: ["pepper single", "pepper single", "joker", "cloves single"]})
    game.play("contract each-1", "pay pepper single")
    assert game.legal() == {"pay pepper single", "pay joker"}
    game.play("pay joker", "pay cloves single", "pay pepper single")
    assert (game.fulfilled(0), game.pirates) == (["each-1"], 0)


def test_r9_2_the_pirates_take_a_port_with_a_spice():
    game = position(blackbeard=True, warehouses={0: [*NO_NUTMEG, "Malacca"]})
    game.play("contract each-1", "pay pepper single", "pay cinnamon single", "pay cloves single", "pay pepper port")
    assert game.pirates == 0
    assert game.where("Malacca") == OUT


def test_r9_2_a_card_given_to_the_pirates_is_discarded_like_any_other():
    game = position(blackbeard=True, warehouses={0: 3 * ["cloves single"] + ["nutmeg single"]})
    nutmeg = game.warehouse(0)[3]
    game.play("contract same-4 cloves", "pay nutmeg single")
    assert game.where(nutmeg) == DISCARD


def test_r9_3_both_variants_together():
    game = position(players=3, traders=4, blackbeard=True, warehouses={0: [*NO_NUTMEG, "pepper single"]})
    assert "contract each-1" in game.legal()
    assert Ruleset(players=3, traders=4, blackbeard=True) in every_ruleset()
