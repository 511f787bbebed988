"""R7 Shared distribution. Ternate holds 3 cards and has the monopoly number 5, Makassar 4 and 6."""

import pytest
from positions import card, position

BOTH_EDITIONS = pytest.mark.parametrize("edition", ["board", "card"])
COMPANIES = ["red", "yellow", "green", "blue"]
ONE_EACH = {company: [player] for player, company in enumerate(COMPANIES)}

# At Makassar: yellow 5, red 4, green 2, blue 2 flags, in this order.
YELLOW_RED_GREEN_BLUE = ["ggr/g", "bbr/b", "yyr/y", "yyy/r"]
# At Ternate: yellow 4, blue 3, red 3; both green flags are covered.
NO_GREEN = ["yyy/g", "bbb/g", "rrr/y"]


def share(pictures, name="Makassar", *, turn=0, place=0, **more):
    """The turn player plays the last of these cards to a port where the others lie already."""
    laid = [card(flags=picture) for picture in pictures]
    game = position(phase="ship", turn=turn, hands={turn: laid[-1:]}, ports={place: [name, *laid[:-1]]}, **more)
    game.play(f"ship {laid[-1]} {place}")
    return game


def order(pictures, name, edition="board"):
    """The companies in the order in which their rank 1 traders choose."""
    return [COMPANIES[player] for player in share(pictures, name, ladders=ONE_EACH, edition=edition).take_all()]


@BOTH_EDITIONS
@pytest.mark.parametrize("ladders", [{}, {"yellow": [1, 2], "red": [3]}])
def test_r7_1_the_port_goes_to_who_played_the_card(edition, ladders):
    game = share(YELLOW_RED_GREEN_BLUE, turn=2, ladders=ladders, edition=edition)
    assert game.warehouse(2)[0] == "Makassar"


@BOTH_EDITIONS
def test_r7_2_the_company_with_most_visible_flags_is_first(edition):
    assert order(YELLOW_RED_GREEN_BLUE, "Makassar", edition)[:2] == ["yellow", "red"]


@BOTH_EDITIONS
def test_r7_2_among_equals_the_first_visible_flag_in_the_order_of_play_decides(edition):
    yellow_3_red_3_blue_2_green_2 = ["byy/y", "bgg/g", "rrr/y"]
    assert order(yellow_3_red_3_blue_2_green_2, "Ternate", edition) == ["yellow", "red", "blue"]


@BOTH_EDITIONS
def test_r7_2_on_one_card_the_reading_order_decides(edition):
    green_3_red_3_blue_2_yellow_2 = ["byy/y", "bgg/g", "grr/r"]
    assert order(green_3_red_3_blue_2_yellow_2, "Ternate", edition) == ["green", "red", "blue"]


@BOTH_EDITIONS
def test_r7_2_a_covered_flag_does_not_come_first(edition):
    yellow_3_blue_3_green_3_red_1 = ["yyy/g", "bbb/r", "ggg/r"]  # the green flag on the first card is covered
    assert order(yellow_3_blue_3_green_3_red_1, "Ternate", edition) == ["yellow", "blue", "green"]


def test_r7_2_a_covered_flag_does_not_count():
    green_3_blue_3_red_3_yellow_1 = ["ggg/b", "bbb/y", "rrr/y"]  # the fourth blue flag is covered
    assert order(green_3_blue_3_red_3_yellow_1, "Ternate") == ["green", "blue", "red"]


@BOTH_EDITIONS
def test_r7_3_rank_1_of_each_company_then_rank_2(edition):
    ladders = {"yellow": [1, 2], "red": [3, 0]}
    assert share(YELLOW_RED_GREEN_BLUE, ladders=ladders, edition=edition).take_all() == [1, 3, 2, 0]


@BOTH_EDITIONS
@pytest.mark.parametrize(
    ("ladders", "choosers"),
    [
        ({"yellow": [1, 2], "red": [0], "blue": [3]}, [1, 0, 3, 2]),  # green has no rank 1
        ({"yellow": [1], "red": [0, 2, 3], "green": []}, [1, 0, 2, 3]),  # yellow has no rank 2, nor 3
    ],
)
def test_r7_3_a_company_without_a_trader_of_that_rank_is_passed_over(edition, ladders, choosers):
    assert share(YELLOW_RED_GREEN_BLUE, ladders=ladders, edition=edition).take_all() == choosers


def test_r7_3_each_chooses_one_of_the_cards_left():
    laid = {card(flags=picture) for picture in YELLOW_RED_GREEN_BLUE}
    game = share(YELLOW_RED_GREEN_BLUE, ladders=ONE_EACH)
    assert (game.player, game.legal()) == (1, {f"take {number}" for number in laid})
    chosen = max(laid)
    game.play(f"take {chosen}")
    assert game.warehouse(1) == [chosen]
    assert (game.player, game.legal()) == (0, {f"take {number}" for number in laid - {chosen}})


@BOTH_EDITIONS
@pytest.mark.parametrize(
    ("ladders", "choosers"),
    [
        ({"yellow": [1], "green": [2, 3]}, [1, 2, 3, 1]),
        ({"blue": [1, 2], "green": [3]}, [3, 1, 2, 3]),
        ({"blue": [2]}, [2, 2, 2, 2]),
    ],
)
def test_r7_4_with_cards_left_it_starts_again_with_rank_1(edition, ladders, choosers):
    assert share(YELLOW_RED_GREEN_BLUE, ladders=ladders, edition=edition).take_all() == choosers


@BOTH_EDITIONS
def test_r7_4_without_any_trader_of_those_companies_the_cards_are_discarded(edition):
    game = share(NO_GREEN, "Ternate", ladders={"green": [1, 2]}, edition=edition)
    assert game.discards() == {card(flags=picture) for picture in NO_GREEN}
    assert game.warehouse(0) == ["Ternate"]
    assert (game.phase, game.player) == ("contract", 1)


@BOTH_EDITIONS
def test_r7_5_a_company_without_a_visible_flag_gets_nothing(edition):
    ladders = {"green": [1, 2], "red": [3]}
    assert share(NO_GREEN, "Ternate", ladders=ladders, edition=edition).take_all() == [3, 3, 3]


@BOTH_EDITIONS
@pytest.mark.parametrize("place", [0, 1, 2])
def test_r7_6_after_sharing_the_next_port_is_turned_up_into_the_free_place(edition, place):
    game = share(NO_GREEN, "Ternate", place=place, ladders=ONE_EACH, port_pile=["Banda", "Aceh"], edition=edition)
    assert game.port(place) is None
    others = [game.port(other) for other in range(3) if other != place]
    game.take_all()
    assert (game.port(place), game.cargo(place), game.port_pile()) == ("Banda", [], ["Aceh"])
    assert [game.port(other) for other in range(3) if other != place] == others


@BOTH_EDITIONS
@pytest.mark.parametrize("ladders", [{"red": [1]}, {}])
def test_r7_6_after_a_monopoly_too(edition, ladders):
    game = share(["yrr/r", "rgr/r"], "Ternate", ladders=ladders, port_pile=["Banda", "Aceh"], edition=edition)
    game.take_all()
    assert (game.port(0), game.cargo(0), game.shown(0), game.port_pile()) == ("Banda", [], {}, ["Aceh"])
