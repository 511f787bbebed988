"""R7 Shared distribution. Ternate holds 3 cards and has the monopoly number 5, Makassar 4 and 6."""

import pytest
from positions import card, position

BOTH_EDITIONS = pytest.mark.parametrize("edition", ["board", "card"])
COMPANIES = ["red", "yellow", "green", "blue"]
ONE_EACH = {company: [player] for player, company in enumerate(COMPANIES)}

# At Makassar: yellow 5, red 4, green 2, blue 2 flags, in this order.
YELLOW_RED_GREEN_BLUE = ["ggr/g", "bbr/b", "yyr/y", "yyy/r"]
# At Ternate: yellow 3, blue 3, red 1; no green flag is visible.
NO_GREEN = ["yyy/g", "bbb/r", "rbb/b"]


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


def test_r7_2_a_covered_flag_does_not_add_to_the_number():
    pass
