"""R10 Worked examples: they must come out so."""

import pytest
from positions import card, cards, position

from borneo_env.cards import COMPANIES


def test_r10_1_three_rounds_of_placing_with_four_players():
    game = position(phase="place", players=4)
    order = ""
    while game.phase == "place":
        order += "ABCD"[game.player]
        game.play(sorted(game.legal())[game.player % 2])
    assert order == "ABCD" + "DCBA" + "ABCD"


@pytest.mark.parametrize(("attack", "defender", "bonus"), [("attack red 3 1", 1, 1), ("attack red 3 2", 2, 0)])
def test_r10_2_from_rank_3_to_rank_1_the_bonus_is_1_on_neighbouring_ranks_0(attack, defender, bonus):
    mine, theirs = cards("red")[:2]
    hands = {0: [mine, "ggg/b"], defender: [theirs, "bbb/g"]}
    game = position(phase="traders", ladders={"red": [1, 2, 0]}, hands=hands)
    game.play(attack, f"commit {mine}", "commit done", f"defend {theirs}", "defend done")
    assert game.phase == ("keep" if bonus else "yield"), "with equal cards the bonus decides"


def red_monopoly(name, edition):
    """Player 3 brings red to six visible flags at a port; red's traders are those of players 1, 2 and 0."""
    before, last = card(flags="rrr/y"), card(flags="rrr/g")
    ladders, hands, ports = {"red": [1, 2, 0]}, {3: [last]}, {0: [name, before]}
    game = position(edition=edition, phase="ship", turn=3, ladders=ladders, hands=hands, ports=ports)
    assert game.shown(0)["red"] == 3
    game.play(f"ship {last} 0")
    return game, before, last


def test_r10_3_makassar_goes_to_the_player_of_the_last_card_and_red_chooses_by_rank():
    game, before, last = red_monopoly("Makassar", "board")
    assert game.warehouse(3) == ["Makassar"]
    assert game.player == 1
    game.play(f"take {last}")
    assert game.player == 2
    game.play(f"take {before}")
    assert (game.warehouse(1), game.warehouse(2), game.warehouse(0)) == ([last], [before], [])


def test_r10_3_makassar_is_then_a_nutmeg():
    game = position(warehouses={3: ["nutmeg single", "nutmeg double", "Makassar"]}, turn=3)
    assert "contract same-4 nutmeg" in game.legal()


def test_r10_3_in_the_card_edition_tidore_goes_to_reds_rank_1_who_chooses_first():
    game, before, last = red_monopoly("Tidore", "card")
    assert (game.warehouse(1), game.warehouse(3)) == (["Tidore"], [])
    assert game.player == 1
    game.play(f"take {before}")
    assert game.player == 2
    game.play(f"take {last}")
    assert (game.warehouse(1), game.warehouse(2)) == (["Tidore", before], [last])


@pytest.mark.parametrize("edition", ["board", "card"])
def test_r10_4_yellow_5_red_4_green_2_blue_2(edition):
    *laid, last = [card(flags=picture) for picture in ("ggr/g", "bbr/b", "yyr/y", "yyy/r")]
    ladders = {company: [player] for player, company in enumerate(COMPANIES)}
    hands, ports = {0: [last]}, {0: ["Makassar", *laid]}
    game = position(edition=edition, phase="ship", ladders=ladders, hands=hands, ports=ports)
    game.play(f"ship {last} 0")
    assert [COMPANIES[player] for player in game.take_all()] == ["yellow", "red", "green", "blue"]


def test_r10_4_the_four_cards_show_these_flags():
    """The same cards at Banda, which holds five, so that they stay and can be counted."""
    *laid, last = [card(flags=picture) for picture in ("ggr/g", "bbr/b", "yyr/y", "yyy/r")]
    game = position(phase="ship", hands={0: [last]}, ports={0: ["Banda", *laid]})
    game.play(f"ship {last} 0")
    assert game.shown(0) == {"yellow": 5, "red": 4, "green": 2, "blue": 2}


def test_r10_5_same_4_may_be_paid_with_two_doubles():
    game = position(warehouses={0: 2 * ["cinnamon double"]})
    game.play("contract same-4 cinnamon", "pay cinnamon double", "pay cinnamon double")
    assert (game.fulfilled(0), game.warehouse(0)) == (["same-4"], [])


def test_r10_5_each_1_paid_with_three_singles_and_a_double_refunds_nothing():
    game = position(warehouses={0: ["pepper single", "cinnamon single", "cloves double", "nutmeg single"]})
    game.play("contract each-1", "pay pepper single", "pay cinnamon single", "pay cloves double", "pay nutmeg single")
    assert (game.fulfilled(0), game.warehouse(0)) == (["each-1"], [])
    assert game.scores()[0] == 6


def test_r10_6_a_hand_full_of_pepper_pays_nothing():
    game = position(hands={0: cards(spice="pepper", double=False)[:6]})
    assert game.legal() == {"contract none"}
