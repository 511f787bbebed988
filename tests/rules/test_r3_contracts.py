"""R3 Phase 1: fulfilling a contract."""

from dataclasses import replace

import pytest
from positions import cards, position

from borneo_env.cards import CONTRACT_KINDS, SPICES, load_tables
from borneo_env.engine.state import OUT

ONE_OF_EACH = [f"{spice} single" for spice in SPICES]
BOTH_EDITIONS = pytest.mark.parametrize("edition", ["board", "card"])


@BOTH_EDITIONS
def test_r3_1_only_what_ones_own_warehouse_can_pay_is_offered(edition):
    mine, theirs = [*ONE_OF_EACH, "cloves double", "cloves single"], 8 * ["pepper single"]
    game = position(edition=edition, warehouses={0: mine, 1: theirs})
    assert game.legal() == {"contract none", "contract each-1", "contract same-4 cloves"}


def test_r3_1_an_empty_warehouse_pays_nothing():
    assert position().legal() == {"contract none"}


@pytest.mark.parametrize("kind", CONTRACT_KINDS)
def test_r3_1_only_kinds_still_in_supply_are_offered(kind):
    rich = {0: 8 * ONE_OF_EACH}
    one_left, none_left = position(warehouses=rich, supply={kind: 1}), position(warehouses=rich, supply={kind: 0})
    assert one_left.legal(f"contract {kind}")
    assert none_left.legal() == one_left.legal() - one_left.legal(f"contract {kind}")


@pytest.mark.parametrize("spice", SPICES)
def test_r3_1_the_spice_of_a_same_contract_is_chosen(spice):
    game = position(warehouses={0: [f"{s} single" for s in SPICES for _ in range(8)]})
    assert game.legal("contract same-8") == {f"contract same-8 {s}" for s in SPICES}
    game.play(f"contract same-8 {spice}")
    assert game.legal() == {f"pay {spice} single"}


def test_r3_1_the_contract_is_taken_once_it_is_paid():
    game = position(warehouses={0: 2 * ["pepper double"]})
    game.play("contract same-4 pepper", "pay pepper double")
    assert (game.fulfilled(0), game.supply()["same-4"]) == ([], 3), "two pepper are still owed"
    game.play("pay pepper double")
    assert (game.fulfilled(0), game.supply()["same-4"]) == (["same-4"], 2)


@pytest.mark.parametrize(
    ("contract", "points"),
    [("each-1", 6), ("same-4 pepper", 8), ("each-2", 15), ("same-8 pepper", 20), ("each-3", 25)],
)
def test_r3_1_the_contract_counts_its_points(contract, points):
    game = position(warehouses={0: 3 * ONE_OF_EACH + 5 * ["pepper single"]})
    game.play(f"contract {contract}")
    while game.phase == "pay":
        game.play(min(game.legal()))
    assert game.scores()[0] == points + len(game.warehouse(0))


def test_r3_1_at_most_one_contract_a_turn():
    game = position(warehouses={0: 8 * ["pepper single"]})
    game.play("contract same-4 pepper", *4 * ["pay pepper single"])
    assert game.phase == "traders"


@BOTH_EDITIONS
def test_r3_2_cargo_cards_doubles_and_ports_pay(edition):
    game = position(edition=edition, warehouses={0: ["pepper single", "pepper double", "pepper port"]})
    game.play("contract same-4 pepper", "pay pepper single", "pay pepper double", "pay pepper port")
    assert game.warehouse(0) == []


@pytest.mark.parametrize("missing", ["pepper single", "pepper double", "pepper port"])
def test_r3_2_a_single_and_a_port_count_one_a_double_two(missing):
    enough = ["pepper single", "pepper double", "pepper port"]
    enough.remove(missing)
    assert position(warehouses={0: enough}).legal() == {"contract none"}


def test_r3_2_a_joker_pays_one_of_any_spice():
    game = position(warehouses={0: ["pepper single", "joker", "joker", "nutmeg single"]})
    game.play("contract each-1", "pay pepper single", "pay joker", "pay joker", "pay nutmeg single")
    assert game.fulfilled(0) == ["each-1"]


def test_r3_2_any_number_of_jokers_may_be_used():
    board = load_tables("board")
    all_chests = replace(board, ports=tuple(replace(port, spice="chest") for port in board.ports))
    game = position(tables=all_chests, warehouses={0: 8 * ["joker"]})
    game.play("contract each-2", *8 * ["pay joker"])
    assert game.fulfilled(0) == ["each-2"]


def test_r3_2_whole_cards_are_given():
    game = position(warehouses={0: 3 * ["pepper single"] + ["pepper double"]})
    game.play("contract same-4 pepper", *3 * ["pay pepper single"], "pay pepper double")
    assert game.warehouse(0) == [], "the second pepper of the double is not given back"


def test_r3_2_hand_cards_do_not_pay():
    game = position(hands={0: cards(spice="pepper")[:4]}, warehouses={0: 3 * ["pepper single"]})
    assert game.legal() == {"contract none"}


def test_r3_3_the_payer_chooses_which_cards_pay():
    game = position(warehouses={0: ["pepper single", "pepper single", "pepper double", "pepper port", "joker"]})
    game.play("contract same-4 pepper")
    assert game.legal() == {"pay pepper single", "pay pepper double", "pay pepper port", "pay joker"}
    game.play("pay joker")
    assert game.legal() == {"pay pepper single", "pay pepper double", "pay pepper port"}


def test_r3_3_a_card_may_be_given_even_if_a_later_one_would_have_covered_it():
    game = position(warehouses={0: ["pepper single", "pepper double", "pepper double"]})
    game.play("contract same-4 pepper", "pay pepper single", "pay pepper double", "pay pepper double")
    assert game.fulfilled(0) == ["same-4"]
    assert game.warehouse(0) == [], "five pepper for four, nothing is refunded"


def test_r3_3_a_spice_that_is_no_longer_owed_cannot_be_given():
    game = position(warehouses={0: [*ONE_OF_EACH, "pepper single"]})
    game.play("contract each-1", "pay pepper single")
    assert game.legal() == {"pay cinnamon single"}


def test_r3_3_only_cards_after_which_the_rest_can_still_be_paid():
    game = position(warehouses={0: ["pepper single", "joker", "cloves single", "nutmeg single"]})
    game.play("contract each-1")
    assert game.legal() == {"pay pepper single"}, "the joker is needed for cinnamon"
    game.play("pay pepper single")
    assert game.legal() == {"pay joker"}


def test_r3_3_a_joker_may_be_given_while_another_one_is_left_for_what_is_missing():
    game = position(warehouses={0: ["pepper single", "joker", "joker", "cloves single", "nutmeg single"]})
    game.play("contract each-1")
    assert game.legal() == {"pay pepper single", "pay joker"}
    game.play("pay joker", "pay joker")
    assert game.legal() == {"pay cloves single"}


@pytest.mark.parametrize("size", ["single", "double"])
def test_r3_3_of_equal_cards_the_one_that_has_lain_longest_is_given(size):
    first, second, third = cards(spice="cloves", double=size == "double")[:3]
    game = position(warehouses={0: [second, third, first, "cloves port", "cloves port"]})
    game.play("contract same-4 cloves", f"pay cloves {size}")
    assert game.discards() == {second}
    assert game.warehouse(0)[:2] == [third, first]


def test_r3_3_of_equal_ports_the_one_that_has_lain_longest_is_given():
    game = position(warehouses={0: ["Aceh", "Bantam", "Malacca", "Batavia", "Manila"]})
    game.play("contract same-4 pepper", "pay pepper port", "pay joker")
    assert game.warehouse(0) == ["Bantam", "Malacca", "Manila"]


def test_r3_3_cards_age_from_when_they_were_taken():
    late, early = cards("red", spice="pepper", double=False)[:2]
    hands, warehouses, ports = {3: [early]}, {0: ["pepper double"]}, {0: ["Ternate", late]}
    ending = {"turn": 3, "ladders": {"red": [0]}, "port_pile": []}  # player 0 takes both cards, then a last contract
    game = position(phase="ship", hands=hands, warehouses=warehouses, ports=ports, **ending)
    game.play(f"ship {early} 0", f"take {early}", f"take {late}")
    game.play("contract same-4 pepper", "pay pepper single")
    assert game.warehouse(0)[1:] == [late]


def test_r3_4_paid_cargo_cards_go_to_the_discard_pile():
    paid = cards(spice="nutmeg", double=True)[:2]
    game = position(warehouses={0: paid})
    game.play("contract same-4 nutmeg", "pay nutmeg double", "pay nutmeg double")
    assert game.discards() == set(paid)


@pytest.mark.parametrize(
    ("edition", "port", "payment"),
    [("board", "Tidore", "pay cloves port"), ("board", "Manila", "pay joker"), ("card", "Tidore", "pay cloves port")],
)
def test_r3_4_paid_ports_leave_the_game(edition, port, payment):
    game = position(edition=edition, warehouses={0: ["cloves double", "cloves single", port]})
    pile = game.port_pile()
    game.play("contract same-4 cloves", "pay cloves double", "pay cloves single", payment)
    assert game.where(port) == OUT
    assert game.port_pile() == pile


def test_r3_4_fulfilled_contracts_pay_for_nothing():
    game = position(fulfilled={0: ["each-1", "same-4", "each-2", "same-8", "each-3"]})
    assert game.legal() == {"contract none"}
