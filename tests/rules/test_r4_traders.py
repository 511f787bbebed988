"""R4 Phase 2: a transfer, or a contest."""

import pytest
from positions import card, cards, position

BOTH_EDITIONS = pytest.mark.parametrize("edition", ["board", "card"])

# Cards by the red flags they show: strong ones 3, weak ones 1, the others none.
STRONG = cards("red")
WEAK = cards(minor="red")
NONE = cards(without="red")


def contest(red, attack, defence, *, held=1, **more):
    """Player 0's lowest trader attacks rank 1 of the red ladder; both sides play these cards and keep `held` others."""
    defender, lowest = red[0], len(red)
    hands = {0: [*attack, *NONE[:held]], defender: [*defence, *NONE[held : 2 * held]]}
    game = position(phase="traders", ladders={"red": red, **more.pop("ladders", {})}, hands=hands, **more)
    game.play(f"attack red {lowest} 1", *[f"commit {number}" for number in sorted(attack)], "commit done")
    game.play(*[f"defend {number}" for number in sorted(defence)], "defend done")
    return game


# Transfer


@BOTH_EDITIONS
def test_r4_1_an_own_trader_goes_to_the_end_of_another_company(edition):
    game = position(edition=edition, phase="traders", ladders={"red": [1, 0, 2], "blue": [3, 1]})
    game.play("transfer red 2 blue")
    assert game.ladder("red") == [1, 2]
    assert game.ladder("blue") == [3, 1, 0]


def test_r4_1_any_own_trader_to_any_other_company_with_room():
    ladders = {"red": [1, 0], "yellow": [0], "blue": [1, 2, 3, 1, 2]}
    game = position(phase="traders", ladders=ladders)
    assert game.legal() == {
        "traders none",
        "transfer red 2 yellow",
        "transfer red 2 green",
        "transfer yellow 1 red",
        "transfer yellow 1 green",
    }


def test_r4_1_a_transfer_ends_the_phase():
    game = position(phase="traders", ladders={"red": [1, 0], "yellow": [0]}, hands={0: STRONG[:2]})
    game.play("transfer yellow 1 blue")
    assert (game.phase, game.player) == ("ship", 0)


# Declaring a contest


def test_r4_2_any_trader_above_of_another_player_may_be_attacked_whatever_stands_between():
    game = position(phase="traders", ladders={"red": [1, 0, 2, 0, 3]}, hands={0: [STRONG[0], NONE[0]]})
    assert game.legal("attack") == {"attack red 2 1", "attack red 4 1", "attack red 4 3"}


def test_r4_2_only_in_the_same_company():
    game = position(phase="traders", ladders={"red": [0], "blue": [1]}, hands={0: [STRONG[0], *cards("blue")[:2]]})
    assert game.legal("attack") == set()


def test_r4_2_a_contest_ends_the_phase():
    game = contest([1, 0], attack=STRONG[:1], defence=[])
    game.play("yield slot")
    assert (game.phase, game.player) == ("ship", 0)


def test_r4_2_the_ranks_named_are_the_ones_that_fight():
    game = position(phase="traders", ladders={"red": [1, 2, 0, 3, 0]}, hands={0: [*STRONG[:2], NONE[0]]})
    game.play("attack red 5 4", f"commit {STRONG[0]}", "commit done")
    assert game.player == 3
    game.play("defend done", "yield slot")
    assert game.ladder("red") == [1, 2, 0, 0, 3]


# Playing cards


def test_r4_3_every_card_shows_a_flag_of_that_company():
    game = position(phase="traders", ladders={"red": [1, 0]}, hands={0: [STRONG[0], WEAK[0], *NONE[:2]]})
    game.play("attack red 2 1")
    assert game.legal() == {f"commit {STRONG[0]}", f"commit {WEAK[0]}"}


def test_r4_3_the_attacker_plays_one_card_or_more():
    first, second, third = STRONG[:3]
    game = position(phase="traders", ladders={"red": [1, 0]}, hands={0: [first, second, third, NONE[0]]})
    game.play("attack red 2 1")
    assert "commit done" not in game.legal()
    game.play(f"commit {first}")
    assert game.legal() == {"commit done", f"commit {second}", f"commit {third}"}
    game.play(f"commit {second}", f"commit {third}")
    assert game.legal() == {"commit done"}


def test_r4_3_without_such_a_card_there_is_no_attack():
    game = position(phase="traders", ladders={"red": [1, 0]}, hands={0: NONE[:6]})
    assert game.legal("attack") == set()


def test_r4_3_a_flag_in_the_bottom_row_is_enough():
    bottom = card(flags="yyy/r")
    game = position(phase="traders", ladders={"red": [1, 0]}, hands={0: [bottom, NONE[0]]})
    game.play("attack red 2 1")
    assert game.legal() == {f"commit {bottom}"}


def test_r4_4_the_defender_may_play_cards_with_flags_of_that_company_or_none():
    hands = {0: [STRONG[0], NONE[0]], 1: [STRONG[1], WEAK[0], NONE[1]], 2: [STRONG[2]]}
    game = position(phase="traders", ladders={"red": [1, 2, 0]}, hands=hands)
    game.play("attack red 3 1", f"commit {STRONG[0]}", "commit done")
    assert (game.phase, game.player) == ("defend", 1)
    assert game.legal() == {"defend done", f"defend {STRONG[1]}", f"defend {WEAK[0]}"}


@pytest.mark.parametrize("attacking", [1, 2, 3])
def test_r4_4_the_defender_plays_at_most_as_many_cards_as_the_attacker(attacking):
    attack, defence = STRONG[:attacking], STRONG[5:10]
    hands = {0: [*attack, NONE[0]], 1: [*defence, NONE[1]]}
    game = position(phase="traders", ladders={"red": [1, 0]}, hands=hands)
    game.play("attack red 2 1", *[f"commit {number}" for number in attack], "commit done")
    game.play(*[f"defend {number}" for number in defence[:attacking]])
    assert game.legal() == {"defend done"}


def test_r4_5_with_one_card_there_is_no_attack():
    game = position(phase="traders", ladders={"red": [1, 0]}, hands={0: STRONG[:1]})
    assert game.legal("attack") == set()


def test_r4_5_the_attacker_keeps_one_card():
    game = position(phase="traders", ladders={"red": [1, 0]}, hands={0: STRONG[:2]})
    game.play("attack red 2 1", f"commit {STRONG[0]}")
    assert game.legal() == {"commit done"}


def test_r4_5_with_one_card_nothing_is_added_to_the_defence():
    game = position(phase="traders", ladders={"red": [1, 0]}, hands={0: [STRONG[0], NONE[0]], 1: [STRONG[1]]})
    game.play("attack red 2 1", f"commit {STRONG[0]}", "commit done")
    assert game.legal() == {"defend done"}


def test_r4_5_the_defender_keeps_one_card():
    hands = {0: [*STRONG[:3], NONE[0]], 1: STRONG[3:5]}
    game = position(phase="traders", ladders={"red": [1, 0]}, hands=hands)
    game.play("attack red 2 1", *[f"commit {number}" for number in STRONG[:3]], "commit done", f"defend {STRONG[3]}")
    assert game.legal() == {"defend done"}


# Strength: the attacker wins with at least as much


def attacker_won(game):
    """Whether the beaten defender is being asked where to go."""
    return game.phase == "yield"


@BOTH_EDITIONS
@pytest.mark.parametrize(
    ("attack", "defence", "won"),
    [
        (STRONG[:1], STRONG[1:2], True),
        (WEAK[:1], WEAK[1:2], True),
        (WEAK[:1], STRONG[:1], False),
        (WEAK[:3], STRONG[:1], True),
        (WEAK[:2], STRONG[:1], False),
        (STRONG[:2], [*STRONG[2:3], *WEAK[:1]], True),
        ([*STRONG[:1], *WEAK[:1]], STRONG[1:3], False),
    ],
)
def test_r4_6_a_major_counts_three_and_a_minor_one(edition, attack, defence, won):
    assert attacker_won(contest([1, 0], attack, defence, edition=edition)) == won


@pytest.mark.parametrize(("red", "attack"), [([1, 2, 0], "yyy/r"), ([1, 2, 3, 2, 0], "yrr/r")])
def test_r4_6_the_bottom_flag_counts_too(red, attack):
    assert attacker_won(contest(red, [card(flags=attack)], [])), "with it, as strong as the traders between"


@BOTH_EDITIONS
@pytest.mark.parametrize("red", [[1, 2, 3, 0], [1, 0, 0, 0], [1, 1, 1, 0]])
def test_r4_6_every_trader_between_of_whoever_adds_one_to_the_defence(edition, red):
    assert not attacker_won(contest(red, WEAK[:1], [], edition=edition))
    assert attacker_won(contest(red, WEAK[:2], [], edition=edition))


def test_r4_6_the_bonus_comes_on_top_of_the_cards():
    assert not attacker_won(contest([1, 2, 0], STRONG[:1], STRONG[1:2]))
    assert attacker_won(contest([1, 0], STRONG[:1], STRONG[1:2]))


def test_r4_6_traders_above_and_below_the_two_add_nothing():
    hands = {0: [WEAK[0], NONE[0]], 1: [NONE[1]]}
    game = position(phase="traders", ladders={"red": [2, 1, 0, 3, 2]}, hands=hands)
    game.play("attack red 3 2", f"commit {WEAK[0]}", "commit done", "defend done")
    assert attacker_won(game)


# The attacker wins


@BOTH_EDITIONS
@pytest.mark.parametrize(("red", "defence"), [([1, 0], STRONG[1:2]), ([1, 2, 3, 2, 0], [])])
def test_r4_7_as_many_flags_as_the_defender_are_enough(edition, red, defence):
    assert attacker_won(contest(red, STRONG[:1], defence, edition=edition)), "three against three"


@BOTH_EDITIONS
def test_r4_7_the_attacker_takes_the_slot_and_the_defender_may_take_the_one_left(edition):
    game = contest([1, 3, 0], STRONG[:1], [], edition=edition)
    assert (game.phase, game.player) == ("yield", 1)
    game.play("yield slot")
    assert game.ladder("red") == [0, 3, 1]


def test_r4_7_beaten_defender_may_leave_for_another_company():
    ladders, hands = {"red": [1, 3, 0, 2], "blue": [2]}, {0: [STRONG[0], NONE[0]]}
    game = position(phase="traders", ladders=ladders, hands=hands)
    game.play("attack red 3 1", f"commit {STRONG[0]}", "commit done", "defend done", "yield blue")
    assert game.ladder("red") == [0, 3, 2], "those below the slot left empty move up"
    assert game.ladder("blue") == [2, 1]


def test_r4_7_in_the_board_edition_another_company_with_room():
    full = {"yellow": [1, 2, 3, 1, 2], "blue": [2, 3, 2, 3]}
    game = contest([1, 0], STRONG[:1], [], ladders=full)
    assert game.legal() == {"yield slot", "yield green", "yield blue"}


def test_r4_7_in_the_card_edition_any_company_the_same_one_included():
    long = {"yellow": [1, 2, 3, 1, 2, 3]}
    game = contest([1, 2, 0], STRONG[:1], [], edition="card", ladders=long)
    assert game.legal() == {"yield slot", "yield red", "yield yellow", "yield green", "yield blue"}


def test_r4_7_in_the_card_edition_to_the_end_of_the_same_row():
    hands = {0: [STRONG[0], NONE[0]]}
    game = position(edition="card", phase="traders", ladders={"red": [1, 3, 0, 2]}, hands=hands)
    game.play("attack red 3 1", f"commit {STRONG[0]}", "commit done", "defend done", "yield red")
    assert game.ladder("red") == [0, 3, 2, 1]


def test_r4_7_in_the_card_edition_the_same_row_is_offered_even_where_it_is_the_same_slot():
    game = contest([1, 0], STRONG[:1], [], edition="card")
    assert {"yield slot", "yield red"} <= game.legal()
    game.play("yield red")
    assert game.ladder("red") == [0, 1]


def test_r4_7_a_defence_with_cards_can_be_beaten_and_nothing_is_kept():
    game = contest([1, 0], STRONG[:1], WEAK[:1])
    game.play("yield slot")
    assert game.warehouse(1) == []
    assert (game.phase, game.player) == ("ship", 0)


# The defender wins


@BOTH_EDITIONS
def test_r4_8_both_stay_and_the_defender_may_store_one_defending_card(edition):
    game = contest([1, 2, 0], WEAK[:2], STRONG[:2], edition=edition)
    assert (game.phase, game.player) == ("keep", 1)
    assert game.legal() == {"keep none", f"keep {STRONG[0]}", f"keep {STRONG[1]}"}
    game.play(f"keep {STRONG[1]}")
    assert game.warehouse(1) == [STRONG[1]]
    assert game.ladder("red") == [1, 2, 0]
    assert (game.phase, game.player) == ("ship", 0)


def test_r4_8_or_none():
    game = contest([1, 0], WEAK[:1], STRONG[:1])
    game.play("keep none")
    assert game.warehouse(1) == []
    assert game.ladder("red") == [1, 0]


def test_r4_8_a_defence_without_cards_has_none_to_keep():
    game = contest([1, 2, 3, 0], WEAK[:1], [])
    assert (game.phase, game.player) == ("ship", 0)
    assert game.ladder("red") == [1, 2, 3, 0]


# The cards


def test_r4_9_after_a_won_attack_all_cards_played_are_discarded():
    game = contest([1, 0], STRONG[:2], STRONG[2:4])
    game.play("yield slot")
    assert game.discards() == set(STRONG[:4])


def test_r4_9_after_a_won_defence_all_cards_but_the_one_kept_are_discarded():
    game = contest([1, 0], WEAK[:2], STRONG[:2])
    game.play(f"keep {STRONG[0]}")
    assert game.discards() == {*WEAK[:2], STRONG[1]}


def test_r4_9_after_a_defence_without_cards_the_attack_is_discarded():
    game = contest([1, 2, 3, 0], WEAK[:1], [])
    assert game.discards() == set(WEAK[:1])


def test_r4_9_cards_that_were_not_played_stay_in_the_hands():
    game = contest([1, 0], STRONG[:1], WEAK[:1], held=2)
    game.play("yield slot")
    assert (game.hand(0), game.hand(1)) == (set(NONE[:2]), set(NONE[2:4]))
