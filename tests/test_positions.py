"""The builder of positions: what it draws is consistent, and it refuses what cannot be."""

import pytest
from positions import card, cards, position

from kontor.engine.check import check_games


def test_a_full_position_is_a_game_that_can_be():
    game = position(
        players=3,
        ladders={"red": [0, 1, 2], "yellow": [2, 0, 1], "blue": [1, 2, 0]},
        hands={0: [card("red")], 1: ["ggg/b", "any cargo"], 2: ["any cargo"]},
        warehouses={0: ["pepper double", "joker"], 2: ["cloves port", "Banda", "nutmeg single"]},
        ports={1: ["Makassar", "bbb/y", "rrr/g"]},
        discards=["yyy/r"],
        fulfilled={1: ["each-1"]},
    )
    check_games(game.ruleset, game.batch.games)


def test_exact_things_are_laid_before_vague_ones():
    first = card(spice="pepper", double=False)
    game = position(warehouses={0: ["pepper port", "pepper single"], 1: ["Makassar", "Malacca", first]})
    assert game.warehouse(1) == ["Makassar", "Malacca", first]
    assert game.warehouse(0) == ["Aceh", cards(spice="pepper", double=False)[1]]


def test_piles_are_drawn_from_the_top():
    game = position(draw=["rrr/y", "ggg/b"], port_pile=["Banda", "Aceh"])
    assert game.draw_pile()[:2] == [card(flags="rrr/y"), card(flags="ggg/b")]
    assert (len(game.draw_pile()), game.port_pile()) == (60, ["Banda", "Aceh"])


@pytest.mark.parametrize("twice", [{"hands": {0: [7], 1: [7]}}, {"ports": {0: ["Banda"], 1: ["Banda"]}}])
def test_a_thing_cannot_lie_in_two_places(twice):
    with pytest.raises(ValueError, match="drawn more often"):
        position(**twice)


def test_an_illegal_move_is_refused_with_the_legal_ones():
    game = position(phase="ship", hands={0: [3]})
    with pytest.raises(AssertionError, match=r"'traders none' is not legal for player 0 in phase ship.*ship 3 0"):
        game.play("traders none")


def test_a_miscounted_record_is_noticed():
    game = position(phase="ship", hands={0: [3, 4]})
    game.record["stock"][1, 0, 0] = 1
    with pytest.raises(AssertionError, match="miscounts stock"):
        game.play("ship 3 0")
