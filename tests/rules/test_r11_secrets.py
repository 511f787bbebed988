"""R11 Who knows what: `redact` leaves what a seat knows, `resample` fills in the rest."""

import numpy as np
import pytest
from positions import card, cards, position, recount

from borneo_env.engine.hiding import redact, resample
from borneo_env.engine.state import AT_PORT, ATTACK, CARDS, DISCARD, HAND, PILE, SPECTATOR, UNSEEN, WAREHOUSE

EVERY_SEAT = pytest.mark.parametrize("seat", [SPECTATOR, 0, 1, 2, 3])
MINE, THEIRS, NEXT, LAST = cards("red")[:4]


def middle_of_a_game(**changes):
    """A position with something in every place; `changes` replace what is drawn."""
    drawn = {
        "phase": "ship",
        "ladders": {"red": [0, 1, 2], "blue": [3, 0]},
        "hands": {0: [MINE, "yyy/r"], 1: [THEIRS], 2: ["yyg/y"], 3: ["bbb/y"]},
        "warehouses": {0: ["pepper double", "joker"], 2: ["cloves single", "nutmeg port"]},
        "ports": {1: ["Ternate", "ggg/b", "bbb/g"]},
        "draw": [NEXT, LAST],
        "discards": ["ggg/r"],
        "port_pile": ["Malacca", "Banda", "Aceh"],
        "fulfilled": {3: ["each-1"]},
    }
    return position(**(drawn | changes))


PUBLIC = (
    "ladder", "height", "open", "laid", "lowest", "shown", "stock", "fulfilled", "supply", "pirates", "hand_size",
    "draw_left", "draw_size", "ports_left", "phase", "player", "turn", "start",
)  # fmt: skip


@EVERY_SEAT
def test_r11_1_ladders_ports_warehouses_contracts_sizes_and_the_decision_are_public(seat):
    game = middle_of_a_game()
    seen = redact(game.record, seat)
    for field in PUBLIC:
        assert np.array_equal(seen[field], game.record[field]), field


@EVERY_SEAT
def test_r11_1_cards_at_ports_in_warehouses_and_in_the_discard_pile_are_public(seat):
    game = middle_of_a_game()
    seen = redact(game.record, seat)["place"]
    public = [AT_PORT, AT_PORT + 1, AT_PORT + 2, WAREHOUSE, WAREHOUSE + 2, DISCARD]
    lying_open = np.isin(game.record["place"], public)
    assert lying_open.sum() == 3 + 2 + 2 + 2 + 1
    assert np.array_equal(seen[lying_open], game.record["place"][lying_open])


@EVERY_SEAT
def test_r11_1_cards_played_in_a_contest_are_public(seat):
    game = middle_of_a_game(phase="traders", turn=1, hands={1: [MINE, THEIRS, "yyg/y"]})
    game.play("attack red 2 1", f"commit {THEIRS}")
    seen = redact(game.record, seat)
    assert seen["place"][THEIRS] == ATTACK
    assert seen["attack_cards"] == 1


@EVERY_SEAT
def test_r11_2_other_hands_are_hidden_and_look_like_the_draw_pile(seat):
    game = middle_of_a_game()
    seen = redact(game.record, seat)["place"]
    for holder in range(4):
        expected = HAND + holder if holder == seat else UNSEEN
        assert {int(seen[number]) for number in game.hand(holder)} == {expected}, f"hand of player {holder}"
    assert {int(seen[number]) for number in game.draw_pile()} == {UNSEEN}


@EVERY_SEAT
def test_r11_2_the_order_of_both_piles_is_hidden(seat):
    seen = redact(middle_of_a_game().record, seat)
    assert set(seen["draw"].tolist()) == {-1}
    assert set(seen["port_pile"].tolist()) == {-1}


@EVERY_SEAT
def test_r11_2_the_random_streams_are_hidden(seat):
    seen = redact(middle_of_a_game().record, seat)
    assert seen["rng"].tolist() == [0, 0]
    assert seen["number"] == 0


def same_to(seat, game, other):
    return redact(game.record, seat).tobytes() == redact(other.record, seat).tobytes()


EXCHANGES = {
    "two cards of the draw pile": {"draw": [LAST, NEXT]},
    "two ports of the port pile": {"port_pile": ["Aceh", "Malacca", "Banda"]},
    "another hand and the draw pile": {
        "hands": {0: [MINE, "yyy/r"], 1: [NEXT], 2: ["yyg/y"], 3: ["bbb/y"]},
        "draw": [THEIRS, LAST],
    },
    "two other hands": {"hands": {0: [MINE, "yyy/r"], 1: ["bbb/y"], 2: ["yyg/y"], 3: [THEIRS]}},
}


@pytest.mark.parametrize("changes", EXCHANGES.values(), ids=EXCHANGES)
def test_r11_2_games_that_differ_in_hidden_things_only_look_the_same(changes):
    game, other = middle_of_a_game(), middle_of_a_game(**changes)
    assert game.record.tobytes() != other.record.tobytes()
    assert same_to(0, game, other)
    assert same_to(SPECTATOR, game, other)


def test_r11_2_the_holder_of_a_hand_sees_the_difference():
    game, other = middle_of_a_game(), middle_of_a_game(**EXCHANGES["two other hands"])
    assert same_to(2, game, other)
    assert not same_to(1, game, other)
    assert not same_to(3, game, other)


# What can be inferred counts as known: from which draw pile every card came

OLD_0, OLD_1, OLD_2, OLD_3 = cards("blue")[:4]  # hand cards from the first draw pile


def after_a_reshuffle():
    """Player 0 has just drawn two cards of the second draw pile; all other hand cards are of the first."""
    shipped = card("red")
    game = position(phase="ship", hands={0: [shipped, OLD_0], 1: [OLD_1], 2: [OLD_2], 3: [OLD_3]}, rest="discards")
    game.play(f"ship {shipped} 0")
    assert len(game.hand(0)) == 3 and game.discards() == set()
    return game


def piles_in_hand(view, player):
    """From which shuffles the cards of a hand are known to come."""
    return [int(since) for since in view["hand_since"][player] if since >= 0]


@EVERY_SEAT
def test_r11_3_everybody_knows_how_many_cards_of_each_pile_a_hand_holds(seat):
    view = redact(after_a_reshuffle().record, seat)
    first, second = 0, int(view["pile_since"])
    assert piles_in_hand(view, 0) == [first, second, second]
    assert [piles_in_hand(view, player) for player in (1, 2, 3)] == [[first]] * 3


@EVERY_SEAT
def test_r11_3_everybody_knows_of_which_pile_an_unseen_card_is(seat):
    game = after_a_reshuffle()
    view = redact(game.record, seat)
    new = [*game.draw_pile(), *(game.hand(0) - {OLD_0})]
    assert {int(view["since"][number]) for number in new} == {int(view["pile_since"])}
    assert {int(view["since"][number]) for number in (OLD_0, OLD_1, OLD_2, OLD_3)} == {0}


@pytest.mark.parametrize("plays_old", [True, False])
def test_r11_3_a_card_shows_its_pile_when_it_is_played(plays_old):
    game = after_a_reshuffle()
    game.record["turn"] = game.record["player"] = 0  # it is player 0's turn once more
    game.batch.refresh(check=False)
    played = OLD_0 if plays_old else min(game.hand(0) - {OLD_0})
    game.play("contract none", "traders none", f"ship {played} 1")
    second = int(game.record["pile_since"])
    assert piles_in_hand(redact(game.record, 2), 0) == ([] if plays_old else [0]) + [second] * (4 if plays_old else 3)


def exchanged(game, card_a, card_b):
    """The same game with two cards in each other's place."""
    other = game.record.copy()
    other["place"][[card_a, card_b]] = other["place"][[card_b, card_a]]
    for name, counted in recount(other, game.ruleset).items():
        other[name] = counted
    return other


def test_r11_3_cards_of_the_same_pile_can_be_exchanged_unnoticed():
    game = after_a_reshuffle()
    assert redact(exchanged(game, OLD_1, OLD_3), 2).tobytes() == redact(game.record, 2).tobytes()


def test_r11_3_cards_of_different_piles_cannot():
    game = after_a_reshuffle()
    new = min(game.hand(0) - {OLD_0})
    assert redact(exchanged(game, OLD_1, new), 2).tobytes() != redact(game.record, 2).tobytes()


SEEDS = pytest.mark.parametrize("seed", range(5))


@SEEDS
def test_r11_3_resampling_deals_unseen_cards_only_where_cards_of_their_pile_are(seed):
    game = after_a_reshuffle()
    place = resample(game.record, 2, np.random.default_rng(seed))["place"]
    old = {OLD_0, OLD_1, OLD_3}
    new = {*game.draw_pile(), *game.hand(0)} - old
    assert sorted(place[list(old)]) == [HAND + 0, HAND + 1, HAND + 3], "older cards are in hands only"
    assert sorted(place[list(new)]) == [PILE] * (len(new) - 2) + [HAND + 0] * 2
    assert place[OLD_2] == HAND + 2, "the own hand is known"


@SEEDS
@EVERY_SEAT
def test_r11_3_a_resampled_game_looks_the_same(seat, seed):
    for game in (middle_of_a_game(), after_a_reshuffle()):
        sampled = resample(game.record, seat, np.random.default_rng(seed))
        assert redact(sampled, seat).tobytes() == redact(game.record, seat).tobytes()


def test_r11_3_resampling_changes_what_is_hidden():
    game = middle_of_a_game()
    samples = [resample(game.record, 0, np.random.default_rng(seed)) for seed in range(20)]
    for field in ("draw", "port_pile", "rng"):
        assert len({sample[field].tobytes() for sample in samples}) > 1, field
    hands_of_1 = {tuple(np.flatnonzero(sample["place"][:CARDS] == HAND + 1)) for sample in samples}
    assert len(hands_of_1) > 1


def test_r11_3_a_resampled_game_can_be_played_on():
    game = after_a_reshuffle()
    game.batch.games[0] = resample(game.record, 1, np.random.default_rng(0))
    game.batch.refresh(check=False)
    game.play("contract none", "traders none", f"ship {OLD_1} 2")
    assert (game.phase, game.player) == ("contract", 2)
