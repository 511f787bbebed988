"""What is forced, seen and imagined in single positions: quick enough for rules that run as plain Python."""

from types import SimpleNamespace

import numpy as np
import pytest
from positions import card, cards, position

from borneo_env import NO_ACTION, SPECTATOR, resample
from borneo_env.engine.observe import seat_from, split
from borneo_env.engine.state import CHOICES, HAND, SHUFFLES


def test_the_only_option_is_forced_and_no_other():
    game = position(hands={0: ["any cargo"]}, ladders={"red": [0]})
    assert (game.legal(), game.batch.forced().tolist()) == ({"contract none"}, [0])
    game.play("contract none")
    assert len(game.legal()) > 1 and game.batch.forced().tolist() == [NO_ACTION]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_spectator_holds_no_cards_of_a_port(place):
    game = position(ports={place: ["Banda", "rrr/y", "ggg/b"]}, hands={0: ["any cargo"] * 3})
    told = split(game.batch.observe(SPECTATOR))
    assert not told["hand"].any() and told["port_cards"][0, place].max() == 2


@pytest.mark.parametrize(("seat", "away"), [(SPECTATOR, 2), (0, 2), (3, 3), (np.int64(3), 3)])
def test_interpreted_rules_count_seats_in_numbers_that_any_index_takes(seat, away):
    """Records hold players in one byte, in which an index into an observation has no room."""
    plain = getattr(seat_from, "py_func", seat_from)
    assert 1000 + plain(SimpleNamespace(players=4), seat, np.int8(2)) == 1000 + away


@pytest.mark.parametrize("stream", [SHUFFLES, CHOICES])
def test_every_imagined_game_has_random_streams_of_its_own(stream):
    game = position(hands={0: ["any cargo"] * 3, 1: ["any cargo"] * 3})
    twins = resample(np.repeat(game.record, 20), 0, np.random.default_rng(1))
    streams = {int(game.record["rng"][stream]), *twins["rng"][:, stream].tolist()}
    assert len(streams) == 21 and 0 not in streams


def test_an_attacker_is_imagined_with_a_card_for_the_attack():
    """Half of all cards show no red flag, so two cards without one are dealt often if nobody minds."""
    hands = {0: [card("red"), card("green", without="red")], 1: ["any cargo"] * 2}
    game = position(phase="traders", ladders={"red": [1, 0]}, hands=hands)
    game.play("attack red 2 1")
    red = sorted({*cards("red"), *cards(minor="red")})
    for twin in resample(np.repeat(game.record, 60), 1, np.random.default_rng(1)):
        assert (twin["place"][red] == HAND).any()
