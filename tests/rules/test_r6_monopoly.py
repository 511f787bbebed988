"""R6 Monopoly. Ternate holds 3 cards and has the monopoly number 5, Makassar 4 and 6."""

import pytest
from positions import card, cards, position

from borneo_env.engine.state import OUT

BOTH_EDITIONS = pytest.mark.parametrize("edition", ["board", "card"])

# Two red cards that make a monopoly at Ternate (5 flags), three that make one at Makassar (1 + 3 + 3 flags).
TWO_RED = [card(flags="yrr/r"), card(flags="rgr/r")]
THREE_RED = [card(flags="ggr/g"), card(flags="rrr/y"), card(flags="rrr/b")]


def ship_last(laid, name, **more):
    """Player 0 plays the last of these cards to port 0, where the others lie already."""
    game = position(phase="ship", hands={0: laid[-1:]}, ports={0: [name, *laid[:-1]]}, **more)
    game.play(f"ship {laid[-1]} 0")
    return game


def monopolist(pictures, name, edition):
    """Which company takes the cards: each has a trader of another player."""
    companies = ["red", "yellow", "green", "blue"]
    ladders = {company: [player] for player, company in enumerate(companies)}
    laid = [card(flags=picture) for picture in pictures]
    choosers = set(ship_last(laid, name, ladders=ladders, edition=edition).take_all())
    assert len(choosers) == 1, f"not a monopoly: players {choosers} choose"
    return companies[choosers.pop()]


@BOTH_EDITIONS
@pytest.mark.parametrize(("last", "first_on_it"), [("rgg/g", "red"), ("ggg/r", "green")])
def test_r6_1_among_equals_the_first_flag_on_the_card_just_played_decides(edition, last, first_on_it):
    both_show_five = ["ggr/g", "rrr/g", last]
    assert monopolist(both_show_five, "Ternate", edition) == first_on_it


RED_SIX_GREEN_SEVEN = ["rrg/r", "ggg/b", "rrr/y"]


@pytest.mark.parametrize(("last", "first_on_it"), [("rgg/g", "red"), ("ggg/r", "green")])
def test_r6_1_in_the_board_edition_the_first_flag_decides_however_many_flags_each_has(last, first_on_it):
    assert monopolist([*RED_SIX_GREEN_SEVEN, last], "Makassar", "board") == first_on_it


@pytest.mark.parametrize("last", ["rgg/g", "ggg/r"])
def test_r6_1_in_the_card_edition_the_company_with_the_most_flags_has_it(last):
    assert monopolist([*RED_SIX_GREEN_SEVEN, last], "Makassar", "card") == "green"


@BOTH_EDITIONS
def test_r6_1_a_company_below_the_number_does_not_count_even_if_its_flag_is_first(edition):
    assert monopolist(["rrr/y", "yrr/r"], "Ternate", edition) == "red"


@pytest.mark.parametrize("red", [[], [1, 2], [0]])
def test_r6_2_in_the_board_edition_the_port_goes_to_who_played_the_card(red):
    game = ship_last(TWO_RED, "Ternate", ladders={"red": red})
    assert "Ternate" in game.warehouse(0)


def test_r6_2_in_the_card_edition_the_port_goes_to_the_first_ranked_trader():
    game = ship_last(TWO_RED, "Ternate", ladders={"red": [2, 0, 1]}, edition="card")
    assert game.warehouse(2) == ["Ternate"]
    assert game.warehouse(0) == []


def test_r6_2_in_the_card_edition_without_a_trader_the_port_leaves_the_game():
    game = ship_last(TWO_RED, "Ternate", ladders={"green": [1]}, edition="card")
    assert game.where("Ternate") == OUT
    assert "Ternate" not in game.port_pile()


@BOTH_EDITIONS
def test_r6_3_the_traders_choose_from_rank_1_down(edition):
    game = ship_last(THREE_RED, "Makassar", ladders={"red": [2, 0, 1, 3], "green": [3]}, edition=edition)
    assert game.take_all() == [2, 0, 1]


@BOTH_EDITIONS
def test_r6_3_with_cards_left_it_starts_again_at_rank_1(edition):
    game = ship_last(THREE_RED, "Makassar", ladders={"red": [3, 1]}, edition=edition)
    assert game.take_all() == [3, 1, 3]


def test_r6_3_a_player_with_two_traders_chooses_twice():
    game = ship_last(THREE_RED, "Makassar", ladders={"red": [1, 1, 2]})
    assert game.take_all() == [1, 1, 2]


def test_r6_3_each_chooses_one_of_the_cards_left_for_the_own_warehouse():
    first, second, third = THREE_RED
    game = ship_last(THREE_RED, "Makassar", ladders={"red": [1, 2, 3]})
    assert game.legal() == {f"take {first}", f"take {second}", f"take {third}"}
    game.play(f"take {third}")
    assert game.legal() == {f"take {first}", f"take {second}"}
    game.play(f"take {first}", f"take {second}")
    assert [game.warehouse(player) for player in (1, 2, 3)] == [[third], [first], [second]]


@BOTH_EDITIONS
def test_r6_4_without_a_trader_the_cargo_cards_are_discarded(edition):
    draw = cards("blue")[:2]
    game = ship_last(TWO_RED, "Ternate", ladders={"green": [1, 2]}, draw=draw, edition=edition)
    assert game.discards() == set(TWO_RED)
    assert game.cargo(0) == []
    assert (game.phase, game.player) == ("contract", 1)
