"""R2 A turn: contract, traders, cargo, drawing; then the player to the left."""

import pytest
from positions import card, position


def test_r2_the_phases_come_in_their_order():
    cargo = card("red")
    drawn = [card("blue"), card("green")]
    game = position(phase="contract", turn=1, hands={1: [cargo]}, draw=drawn)
    phases = []
    for move in ("contract none", "traders none", f"ship {cargo} 0"):
        phases.append((game.phase, game.player))
        game.play(move)
    assert phases == [("contract", 1), ("traders", 1), ("ship", 1)]
    assert game.hand(1) == set(drawn), "two cards were drawn"
    assert (game.phase, game.player) == ("contract", 2)


def test_r2_contract_and_traders_are_optional():
    game = position(warehouses={0: ["pepper double", "pepper double"]}, ladders={"red": [1, 0]}, hands={0: ["rrr/y"]})
    assert "contract none" in game.legal()
    game.play("contract none")
    assert "traders none" in game.legal()


def test_r2_cargo_must_be_played():
    game = position(phase="ship", hands={0: ["rrr/y"]})
    assert game.legal() == game.legal("ship ")


@pytest.mark.parametrize(("players", "turn", "left"), [(3, 0, 1), (3, 2, 0), (4, 3, 0), (5, 3, 4), (5, 4, 0)])
def test_r2_the_player_to_the_left_is_next(players, turn, left):
    cargo = card("red")
    game = position(phase="ship", players=players, turn=turn, hands={turn: [cargo]})
    game.play(f"ship {cargo} 0")
    assert (game.phase, game.turn, game.player) == ("contract", left, left)


def test_r2_the_turn_goes_on_with_its_player_after_others_have_decided():
    attack, last = card("red"), card("blue")
    game = position(phase="traders", turn=1, ladders={"red": [3, 1]}, hands={1: [attack, last], 3: ["rrr/b", "ggg/y"]})
    game.play("attack red 2 1", f"commit {attack}", "commit done", "defend done", "yield slot")
    assert (game.phase, game.player) == ("ship", 1)
