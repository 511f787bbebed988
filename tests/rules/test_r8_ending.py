"""R8 Phase 4: drawing; the end and the scoring."""

import pytest
from positions import card, cards, position

from borneo_env.engine.hiding import redact
from borneo_env.engine.state import DISCARD, SPECTATOR

BOTH_EDITIONS = pytest.mark.parametrize("edition", ["board", "card"])
CARGO = card("red", "yellow")  # the card that is shipped so that the turn comes to drawing
FIRST, SECOND, THIRD = cards("blue")[:3]
TWO_RED = [card(flags="yrr/r"), card(flags="rgr/r")]  # a monopoly at Ternate


def ship(**drawn):
    """Player 0 has CARGO alone in hand and ships it; nothing happens at the port."""
    game = position(phase="ship", hands={0: [CARGO], **drawn.pop("hands", {})}, **drawn)
    game.play(f"ship {CARGO} 0")
    return game


def ship_last_port(turn=0, **drawn):
    """The turn player makes a red monopoly at Ternate; the port pile is empty."""
    hands = {turn: TWO_RED[1:], **drawn.pop("hands", {})}
    ports = {0: ["Ternate", TWO_RED[0]], **drawn.pop("ports", {})}
    game = position(phase="ship", turn=turn, hands=hands, ports=ports, port_pile=[], **drawn)
    game.play(f"ship {TWO_RED[1]} 0")
    return game


# Drawing


@BOTH_EDITIONS
def test_r8_1_two_cards_are_drawn_from_the_top(edition):
    game = ship(edition=edition, draw=[FIRST, SECOND, THIRD])
    assert game.hand(0) == {FIRST, SECOND}
    assert game.draw_pile()[0] == THIRD


def test_r8_1_an_empty_draw_pile_stays_empty_until_a_card_must_be_drawn():
    game = ship(draw=[FIRST, SECOND], rest="discards")
    assert game.hand(0) == {FIRST, SECOND}
    assert game.draw_pile() == []
    assert len(game.discards()) == 60 - 3


def test_r8_1_the_discard_pile_is_shuffled_between_the_two_cards_if_one_is_left():
    game = ship(draw=[FIRST], rest="discards")
    assert FIRST in game.hand(0) and len(game.hand(0)) == 2
    assert game.discards() == set()
    assert len(game.draw_pile()) == 60 - 3


def test_r8_1_the_discard_pile_is_shuffled_before_the_first_card_if_none_is_left():
    game = ship(discards=[FIRST, SECOND, THIRD], rest="warehouse 1")
    assert game.hand(0) | set(game.draw_pile()) == {FIRST, SECOND, THIRD}
    assert (len(game.hand(0)), len(game.draw_pile())) == (2, 1)


def test_r8_1_the_new_draw_pile_is_shuffled():
    pile = ship(rest="discards").draw_pile()
    assert pile not in (sorted(pile), sorted(pile, reverse=True))


def test_r8_1_what_is_discarded_after_the_pile_ran_out_is_shuffled_too():
    paid, other = cards(spice="pepper", double=True)[:2], card("green")
    piles = {"draw": [FIRST, SECOND], "discards": [THIRD], "rest": "warehouse 3"}
    game = ship(**piles, hands={1: [other]}, warehouses={1: paid})
    game.play("contract same-4 pepper", "pay pepper double", "pay pepper double", "traders none", f"ship {other} 1")
    assert game.hand(1) | set(game.draw_pile()) == {THIRD, *paid}


# Dropping


def test_r8_2_with_six_cards_nothing_is_dropped():
    game = position(phase="ship", hands={0: cards("red")[:5]})
    game.play(f"ship {cards('red')[0]} 0")
    assert len(game.hand(0)) == 6
    assert (game.phase, game.player) == ("contract", 1)


@BOTH_EDITIONS
def test_r8_2_with_more_than_six_cards_the_player_discards_down_to_six(edition):
    shipped, *kept = cards("red")[:6]
    game = position(edition=edition, phase="ship", hands={0: [shipped, *kept]}, draw=[FIRST, SECOND])
    game.play(f"ship {shipped} 0")
    assert (game.phase, game.player) == ("drop", 0)
    assert game.legal() == {f"drop {number}" for number in [*kept, FIRST, SECOND]}
    game.play(f"drop {FIRST}")
    assert game.hand(0) == {*kept, SECOND}
    assert game.discards() == {FIRST}
    assert (game.phase, game.player) == ("contract", 1)


def test_r8_2_the_discard_pile_is_open_to_all():
    game = position(discards=[FIRST, SECOND])
    seen = redact(game.record, SPECTATOR)
    assert [seen["place"][number] for number in (FIRST, SECOND)] == [DISCARD, DISCARD]


# The end


@BOTH_EDITIONS
@pytest.mark.parametrize("ladders", [{"red": [1, 2]}, {}])
def test_r8_3_the_game_ends_when_a_port_must_be_turned_up_and_none_is_left(edition, ladders):
    game = ship_last_port(edition=edition, ladders=ladders)
    game.take_all()
    assert game.phase == "last contract"


def test_r8_3_the_cards_of_the_last_port_are_still_distributed():
    game = ship_last_port(ladders={"red": [1, 2]})
    game.play(f"take {TWO_RED[0]}", f"take {TWO_RED[1]}")
    assert (game.warehouse(0), game.warehouse(1), game.warehouse(2)) == (["Ternate"], TWO_RED[:1], TWO_RED[1:])


def test_r8_3_at_once_so_no_card_is_drawn_any_more():
    game = ship_last_port(draw=[FIRST, SECOND])
    assert game.draw_pile()[:2] == [FIRST, SECOND]


def test_r8_3_the_game_goes_on_while_a_port_can_be_turned_up():
    game = position(phase="ship", hands={0: TWO_RED[1:]}, ports={0: ["Ternate", TWO_RED[0]]}, port_pile=["Banda"])
    game.play(f"ship {TWO_RED[1]} 0")
    assert (game.phase, game.player) == ("contract", 1)


def test_r8_3_an_empty_port_pile_alone_does_not_end_the_game():
    assert ship(port_pile=[]).phase == "contract"


@BOTH_EDITIONS
def test_r8_3_the_game_ends_when_a_card_must_be_drawn_and_both_piles_are_empty(edition):
    assert ship(edition=edition, rest="warehouse 3").phase == "last contract"


@pytest.mark.parametrize("last", ["draw", "discards"])
def test_r8_3_the_last_card_is_drawn_and_the_game_ends_at_the_second(last):
    game = ship(**{last: [FIRST]}, rest="warehouse 3")
    assert game.phase == "last contract"
    assert game.draw_pile() == []
    assert game.discards() == {CARGO, FIRST}, "drawn, and discarded with the hands"


@pytest.mark.parametrize(("draw", "discards"), [([FIRST, SECOND], []), ([], [FIRST, SECOND]), ([FIRST], [SECOND])])
def test_r8_3_with_two_cards_left_the_game_goes_on(draw, discards):
    game = ship(draw=draw, discards=discards, rest="warehouse 3")
    assert game.hand(0) == {FIRST, SECOND}
    assert (game.phase, game.player) == ("contract", 1)


def test_r8_3_cards_discarded_in_the_same_turn_can_still_be_drawn():
    ports = {0: ["Ternate", TWO_RED[0]]}
    game = position(phase="ship", hands={0: TWO_RED[1:]}, ports=ports, port_pile=["Banda"], rest="warehouse 3")
    game.play(f"ship {TWO_RED[1]} 0")
    assert game.hand(0) == set(TWO_RED)
    assert game.phase == "contract"


def test_r8_4_cards_at_ports_and_in_hands_are_discarded():
    green = cards("green")[:3]
    hands, ports = {0: [TWO_RED[1], FIRST], 1: [SECOND], 3: green[:2]}, {1: ["Makassar", THIRD, green[2]]}
    game = ship_last_port(hands=hands, ports=ports)
    assert game.phase == "last contract"
    assert game.discards() == {*TWO_RED, FIRST, SECOND, THIRD, *green}
    assert [game.hand(player) for player in range(4)] == [set(), set(), set(), set()]


def test_r8_4_warehouses_stay():
    game = ship_last_port(warehouses={1: [FIRST, "Manila"], 2: [SECOND]})
    assert game.warehouse(1) == [FIRST, "Manila"]
    assert game.warehouse(2) == [SECOND]


# Last contracts


def order_of_last_contracts(game):
    order = []
    while game.phase == "last contract":
        order.append(game.player)
        game.play("contract none")
    return order


@BOTH_EDITIONS
@pytest.mark.parametrize("turn", [0, 1, 3])
def test_r8_5_from_the_left_neighbour_to_the_player_in_whose_turn_the_game_ended(edition, turn):
    game = ship_last_port(turn, edition=edition, ladders={"red": [2, 1]})
    game.take_all()
    assert order_of_last_contracts(game) == [(turn + 1) % 4, (turn + 2) % 4, (turn + 3) % 4, turn]


def test_r8_5_also_when_the_cards_have_run_out():
    assert order_of_last_contracts(ship(rest="warehouse 3")) == [1, 2, 3, 0]


def test_r8_5_each_may_fulfil_one_more_contract_as_in_phase_1():
    game = position(phase="last contract", turn=0, warehouses={1: 8 * ["pepper single"], 2: ["nutmeg double"]})
    assert game.legal() == {"contract none", "contract same-4 pepper", "contract same-8 pepper"}
    game.play("contract same-4 pepper", *4 * ["pay pepper single"])
    assert (game.phase, game.player) == ("last contract", 2), "one contract only"
    assert game.legal() == {"contract none"}
    assert game.fulfilled(1) == ["same-4"]
    assert len(game.discards()) == 4


def test_r8_5_what_others_have_taken_is_gone():
    warehouses = {1: 4 * ["pepper single"], 2: 4 * ["nutmeg single"]}
    game = position(phase="last contract", turn=0, warehouses=warehouses, supply={"same-4": 1})
    game.play("contract same-4 pepper", *4 * ["pay pepper single"])
    assert game.legal() == {"contract none"}


def test_r8_5_after_the_last_player_the_game_is_over():
    game = position(phase="last contract", turn=2, player=2, warehouses={2: 2 * ["pepper double"]})
    game.play("contract same-4 pepper", "pay pepper double", "pay pepper double")
    assert (game.phase, game.player, game.legal()) == ("over", -1, set())
    assert game.fulfilled(2) == ["same-4"]


# Points and places


@pytest.mark.parametrize(
    ("goods", "points"),
    [
        (["pepper single", "pepper single"], 2),
        (["pepper double"], 1),
        (["pepper port", "nutmeg port"], 2),
        (["joker"], 1),
        (["cloves single", "cloves double", "cloves port", "joker"], 4),
    ],
)
def test_r8_6_every_card_and_every_port_in_the_warehouse_is_one_point(goods, points):
    assert position(warehouses={2: goods}).scores() == [0, 0, points, 0]


def test_r8_6_contracts_count_their_points():
    kinds = ["each-1", "same-4", "each-2", "same-8", "each-3"]
    game = position(fulfilled={0: ["each-1", "each-1"], 1: kinds}, warehouses={0: ["joker"]})
    assert game.scores() == [6 + 6 + 1, 6 + 8 + 15 + 20 + 25, 0, 0]


def test_r8_6_hands_count_nothing():
    assert position(hands={0: cards("red")[:6]}).scores() == [0, 0, 0, 0]


def test_r8_7_most_points_win_whatever_the_contracts():
    game = position(warehouses={1: 9 * ["pepper single"]}, fulfilled={2: ["same-4"], 0: ["each-1"]})
    assert game.scores() == [6, 9, 8, 0]
    assert game.places() == [3, 1, 2, 4]


def test_r8_7_among_equals_more_contracts_win():
    game = position(warehouses={1: 8 * ["pepper single"], 3: 2 * ["joker"]}, fulfilled={2: ["same-4"], 3: ["each-1"]})
    assert game.scores() == [0, 8, 8, 8]
    assert game.places() == [4, 3, 1, 1], "players 2 and 3 share the victory"


def test_r8_7_the_same_order_gives_every_place():
    fulfilled = {0: ["each-3"], 1: ["each-1"], 4: ["each-1"]}
    game = position(players=5, warehouses={2: 6 * ["pepper single"], 3: 6 * ["nutmeg single"]}, fulfilled=fulfilled)
    assert game.scores() == [25, 6, 6, 6, 6]
    assert game.places() == [1, 2, 4, 4, 2]


def test_r8_7_a_finished_game_has_its_result():
    game = position(phase="last contract", turn=3, player=3, warehouses={3: 2 * ["pepper double"], 0: ["joker"]})
    game.play("contract same-4 pepper", "pay pepper double", "pay pepper double")
    result = {name: list(values[0][:4]) for name, values in game.batch.result.items()}
    assert result == {"scores": [1, 0, 0, 8], "places": [2, 3, 3, 1], "contracts": [0, 0, 0, 1]}
