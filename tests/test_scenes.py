"""What a picture says of a position: who chooses next, who has won, and how the cards lie."""

from positions import position

from borneo_env.render.scene import Scene


def scene_of(game):
    return Scene(game.ruleset, game.record, None, "", None)


def test_the_winner_is_who_has_the_first_place():
    game = position(phase="last contract", turn=3, player=3, warehouses={2: ["joker"], 1: ["pepper double"]})
    game.play("contract none")
    assert (game.phase, game.places()) == ("over", [3, 1, 1, 3])
    assert scene_of(game).headline == "player 1 and player 2 share the victory"


def test_cards_at_a_port_lie_in_the_order_of_play():
    game = position(ports={1: ["Banda", 40, 3, 17]})
    assert scene_of(game).cards_at(1) == [40, 3, 17]
