"""R5 Phase 3: a card goes to a port. Ternate holds 3 cards and has the monopoly number 5, Makassar 4 and 6."""

import pytest
from positions import card, position

BOTH_EDITIONS = pytest.mark.parametrize("edition", ["board", "card"])


def ship(flags, onto, name="Makassar", **more):
    """Player 0 plays a card to port 0, where others lie already; all are drawn as pictures."""
    played = card(flags=flags)
    game = position(phase="ship", hands={0: [played]}, ports={0: [name, *onto]}, **more)
    game.play(f"ship {played} 0")
    return game


def test_r5_1_any_hand_card_goes_to_any_open_port():
    first, second = card("red"), card("blue")
    game = position(phase="ship", hands={0: [first, second], 1: ["ggg/b"]})
    assert game.legal() == {f"ship {number} {place}" for number in (first, second) for place in range(3)}


@pytest.mark.parametrize("place", [0, 1, 2])
def test_r5_1_one_card_is_played_below_those_already_there(place):
    first, played, kept = card("green"), card("red"), card("blue")
    game = position(phase="ship", hands={0: [played, kept]}, ports={place: ["Makassar", first]})
    game.play(f"ship {played} {place}")
    assert game.cargo(place) == [first, played]
    assert kept in game.hand(0) and played not in game.hand(0)


@BOTH_EDITIONS
def test_r5_1_of_the_last_card_all_flags_are_visible(edition):
    assert ship("rrr/y", onto=[], edition=edition).shown(0) == {"red": 3, "yellow": 1}


@BOTH_EDITIONS
def test_r5_1_a_card_covers_the_bottom_row_of_the_one_before(edition):
    game = ship("bbb/r", onto=["rrr/y"], edition=edition)
    assert game.shown(0) == {"red": 4, "blue": 3}, "the yellow flag is covered"


def test_r5_1_of_every_earlier_card_the_top_row_stays_visible():
    game = ship("rrr/g", onto=["byy/y", "gyg/g"])
    assert game.shown(0) == {"blue": 1, "yellow": 3, "green": 3, "red": 3}


@BOTH_EDITIONS
def test_r5_1_only_visible_flags_count_for_the_monopoly(edition):
    game = ship("rrr/y", onto=["yrr/r"], ladders={"red": [1]}, edition=edition)
    assert game.shown(0) == {"yellow": 2, "red": 5}, "the sixth red flag is covered"
    assert game.port(0) == "Makassar"


# After the card: monopoly, shared distribution, or nothing


@BOTH_EDITIONS
@pytest.mark.parametrize(("onto", "played"), [("yrr/r", "rgr/r"), ("rrr/y", "rrr/g")])
def test_r5_2_as_many_flags_as_the_number_or_more_are_a_monopoly(edition, onto, played):
    game = ship(played, onto=[onto], name="Ternate", ladders={"red": [1], "green": [2]}, edition=edition)
    assert game.port(0) is None
    assert game.take_all() == [1, 1], "red alone takes all cards"


@BOTH_EDITIONS
def test_r5_2_the_monopoly_goes_before_the_limit(edition):
    ladders = {"red": [1], "green": [2], "blue": [3]}
    game = ship("rrr/y", onto=["ggr/g", "bbr/b"], name="Ternate", ladders=ladders, edition=edition)
    assert game.take_all() == [1, 1, 1], "red shows 5: the third card is no shared distribution"


@BOTH_EDITIONS
def test_r5_2_at_the_limit_without_a_monopoly_the_cards_are_shared(edition):
    ladders = {"red": [1], "green": [2], "blue": [3]}
    game = ship("rrr/y", onto=["ggg/b", "bbb/g"], name="Ternate", ladders=ladders, edition=edition)
    assert game.take_all() == [2, 3, 1]


def test_r5_2_otherwise_nothing_happens():
    game = ship("rrr/y", onto=["ggg/b"], name="Ternate", ladders={"red": [1], "green": [2]})
    assert game.port(0) == "Ternate"
    assert len(game.cargo(0)) == 2
    assert (game.phase, game.player) == ("contract", 1)


MIXED = ["rrr/y", "ggg/b", "bbb/g", "yyy/r", "rgr/r", "gyg/g"]  # far from any monopoly


@pytest.mark.parametrize(("name", "limit"), [("Ternate", 3), ("Makassar", 4), ("Banda", 5), ("Macao", 6)])
def test_r5_2_every_port_has_its_own_limit(name, limit):
    almost = ship(MIXED[limit - 2], onto=MIXED[: limit - 2], name=name, players=5)
    assert almost.port(0) == name
    full = ship(MIXED[limit - 1], onto=MIXED[: limit - 1], name=name, players=5)
    assert full.warehouse(0) == [name]


# Cards at a port and the next one, by the number of red flags they show then
RED = {
    4: (["rrr/y"], "bbb/r"),
    5: (["yrr/r"], "rgr/r"),
    6: (["rrr/y"], "rrr/g"),
    7: (["ggr/g", "rrr/y"], "rrr/b"),
    8: (["yrr/r", "rrr/y"], "rrr/g"),
}


@pytest.mark.parametrize(("name", "number"), [("Ternate", 5), ("Makassar", 6), ("Banda", 7), ("Macao", 8)])
def test_r5_2_every_port_has_its_own_monopoly_number(name, number):
    onto, played = RED[number - 1]
    assert ship(played, onto, name, players=5).port(0) == name
    onto, played = RED[number]
    assert ship(played, onto, name, players=5).warehouse(0) == [name]
