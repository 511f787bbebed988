"""R1 Setup: the deal, and placing the traders."""

import pytest
from positions import Position, position

from borneo_env.engine.batch import Batch
from borneo_env.engine.hiding import redact
from borneo_env.engine.state import UNSEEN
from borneo_env.ruleset import every_ruleset

PLAIN = {"Makassar", "Tidore", "Manila", "Malacca", "Banda", "Ternate", "Brunei", "Batavia"}
MARKED_3_4 = {"Aceh", "Ambon", "Bantam", "Surabaya"}
MARKED_5 = {"Palembang", "Macao"}


def dealt(ruleset=None, number=0, **fields) -> Position:
    """A real game just after the deal."""
    return Position(Batch(1, ruleset, first=number, finished="hold", skip_forced=False, **fields))


def all_ports(game):
    return [game.port(place) for place in range(3)] + game.port_pile()


@pytest.mark.parametrize("ruleset", every_ruleset(), ids=lambda ruleset: ruleset.name)
def test_r1_1_three_cards_are_dealt_to_each_player_and_the_rest_is_the_draw_pile(ruleset):
    game = dealt(ruleset)
    hands = [game.hand(player) for player in range(ruleset.players)]
    assert [len(hand) for hand in hands] == [3] * ruleset.players
    assert sorted([*game.draw_pile(), *(card for hand in hands for card in hand)]) == list(range(60))


def test_r1_1_the_cargo_cards_are_shuffled():
    piles = [dealt(number=number).draw_pile() for number in range(3)]
    assert piles[0] != piles[1] != piles[2] != piles[0]
    assert all(pile not in (sorted(pile), sorted(pile, reverse=True)) for pile in piles)


def test_r1_1_hands_are_hidden_from_the_others():
    game = dealt()
    seen_by_1 = redact(game.record, 1)["place"]
    assert all(seen_by_1[card] == UNSEEN for card in game.hand(0))
    assert all(seen_by_1[card] != UNSEEN for card in game.hand(1))


@pytest.mark.parametrize("players", [3, 4])
def test_r1_2_with_three_or_four_players_what_is_marked_5_stays_in_the_box(players):
    game = dealt(players=players)
    assert set(all_ports(game)) == PLAIN | MARKED_3_4
    assert sum(game.supply().values()) == 12


def test_r1_2_with_five_players_what_is_marked_3_4_stays_in_the_box():
    game = dealt(players=5)
    assert set(all_ports(game)) == PLAIN | MARKED_5
    assert sum(game.supply().values()) == 16


@pytest.mark.parametrize("players", [3, 4, 5])
def test_r1_2_the_card_edition_uses_everything_at_every_player_count(players):
    game = dealt(edition="card", players=players)
    assert set(all_ports(game)) == PLAIN | MARKED_3_4
    assert sum(game.supply().values()) == 12


@pytest.mark.parametrize(("players", "ports"), [(3, 12), (4, 12), (5, 10)])
def test_r1_3_three_ports_are_open_and_the_others_are_the_pile(players, ports):
    game = dealt(players=players)
    assert None not in [game.port(place) for place in range(3)]
    assert len(game.port_pile()) == ports - 3
    assert len(set(all_ports(game))) == ports


def test_r1_3_the_ports_are_shuffled():
    orders = [all_ports(dealt(number=number)) for number in range(3)]
    assert orders[0] != orders[1] != orders[2] != orders[0]


@pytest.mark.parametrize("players", [3, 4])
def test_r1_4_all_contracts_in_play_lie_open_by_kind(players):
    assert dealt(players=players).supply() == {"each-1": 3, "same-4": 3, "each-2": 2, "same-8": 2, "each-3": 2}


def test_r1_4_all_contracts_in_play_lie_open_by_kind_with_five_players():
    assert dealt(players=5).supply() == {"each-1": 4, "same-4": 4, "each-2": 3, "same-8": 3, "each-3": 2}


@pytest.mark.parametrize("players", [3, 4, 5])
def test_r1_5_the_start_player_is_drawn_at_random(players):
    assert {dealt(players=players, number=number).player for number in range(60)} == set(range(players))


@pytest.mark.parametrize("start", [0, 1, 2])
def test_r1_5_the_start_player_places_first_and_takes_the_first_turn(start):
    game = next(game for number in range(60) if (game := dealt(players=3, number=number)).player == start)
    assert game.phase == "place"
    while game.phase == "place":
        game.play(min(game.legal()))
    assert (game.phase, game.player, game.turn) == ("contract", start, start)


def rounds_of_placing(game):
    """Who places, round by round."""
    rounds = []
    while game.phase == "place":
        if not rounds or len(rounds[-1]) == game.ruleset.players:
            rounds.append([])
        rounds[-1].append(game.player)
        game.play(min(game.legal()))
    return rounds


@pytest.mark.parametrize("edition", ["board", "card"])
def test_r1_6_rounds_of_placing_go_forth_back_and_forth(edition):
    game = position(phase="place", edition=edition, players=3, start=1, turn=1)
    assert rounds_of_placing(game) == [[1, 2, 0], [0, 2, 1], [1, 2, 0]]


def test_r1_6_a_fourth_round_goes_back():
    game = position(phase="place", players=3, traders=4, start=2, turn=2)
    assert rounds_of_placing(game) == [[2, 0, 1], [1, 0, 2], [2, 0, 1], [1, 0, 2]]


def test_r1_6_a_trader_goes_on_the_topmost_free_slot():
    game = position(phase="place")
    game.play("place green", "place green", "place red", "place green")
    assert game.ladder("green") == [0, 1, 3]
    assert game.ladder("red") == [2]


def test_r1_6_only_a_company_with_room_can_be_chosen():
    game = position(phase="place", players=5, ladders={"blue": [0, 1, 2, 3, 4]}, player=4)
    assert game.legal() == {"place red", "place yellow", "place green"}


def test_r1_7_in_the_card_edition_no_trader_is_placed_directly_behind_an_own_one():
    ladders = {"red": [0], "yellow": [1, 0], "green": [0, 1]}
    game = position(phase="place", edition="card", players=5, ladders=ladders, player=0)
    assert game.legal() == {"place green", "place blue"}


def test_r1_7_the_board_edition_does_not_mind():
    game = position(phase="place", ladders={"red": [0]}, player=0)
    assert "place red" in game.legal()


def test_r1_7_holds_only_while_placing():
    game = position(phase="traders", edition="card", ladders={"red": [0], "yellow": [1, 0]})
    game.play("transfer yellow 2 red")
    assert game.ladder("red") == [0, 0]


def test_r1_8_the_first_slot_is_rank_1():
    game = position(phase="traders", ladders={"red": [1, 0]}, hands={0: ["rrr/y", "bbb/y"]})
    assert game.legal("attack") == {"attack red 2 1"}


def test_r1_8_when_a_trader_leaves_those_below_move_up():
    game = position(phase="traders", ladders={"red": [1, 0, 2, 3], "blue": [2]})
    game.play("transfer red 2 blue")
    assert game.ladder("red") == [1, 2, 3]
    assert game.ladder("blue") == [2, 0]
