"""R0 Components: what is in the box of each edition."""

from collections import Counter
from dataclasses import replace

import pytest
from positions import card, cards, position

from borneo_env.cards import COMPANIES, CONTRACT_KINDS, SHIPPED, SPICES, load_tables
from borneo_env.ruleset import every_ruleset

EDITIONS = ("board", "card")
BOARD, CARD = load_tables("board"), load_tables("card")


@pytest.mark.parametrize("edition", EDITIONS)
def test_r0_1_four_companies(edition):
    flags = {flag for cargo in load_tables(edition).cargo for flag in cargo.flags}
    assert COMPANIES == ("red", "yellow", "green", "blue")
    assert flags == set(COMPANIES)


@pytest.mark.parametrize("edition", EDITIONS)
def test_r0_2_four_spices(edition):
    spices = {cargo.spice for cargo in load_tables(edition).cargo}
    assert SPICES == ("pepper", "cinnamon", "cloves", "nutmeg")
    assert spices == set(SPICES)


@pytest.mark.parametrize("edition", EDITIONS)
def test_r0_3_sixty_cargo_cards(edition):
    assert len(load_tables(edition).cargo) == 60


def test_r0_4_board_edition_has_14_ports_of_three_marks():
    assert Counter(port.mark for port in BOARD.ports) == {"": 8, "3/4": 4, "5": 2}


def test_r0_4_card_edition_has_12_ports_for_any_number_of_players():
    assert len(CARD.ports) == 12
    assert {port.mark for port in CARD.ports} == {""}


def test_r0_5_board_edition_has_16_contracts_four_of_them_marked_5():
    assert sum(contract.supply for contract in BOARD.contracts) == 12
    assert sum(contract.marked_5 for contract in BOARD.contracts) == 4


def test_r0_5_card_edition_has_12_contracts():
    assert sum(contract.supply for contract in CARD.contracts) == 12
    assert sum(contract.marked_5 for contract in CARD.contracts) == 0


@pytest.mark.parametrize("ruleset", every_ruleset(), ids=lambda ruleset: ruleset.name)
def test_r0_6_every_player_has_three_traders_or_four_in_the_variant(ruleset):
    players, traders = ruleset.players, 4 if "four-traders" in ruleset.name else 3
    game = position(phase="place", edition=ruleset.edition, players=players, traders=traders)
    while game.phase == "place":
        game.play(sorted(game.legal())[game.player % len(game.legal())])
    placed = Counter(player for company in COMPANIES for player in game.ladder(company))
    assert placed == dict.fromkeys(range(players), traders)


def test_r0_7_a_board_ladder_has_five_slots():
    game = position(phase="traders", ladders={"red": [1, 2, 3, 1, 2], "yellow": [1, 2, 3, 1], "green": [0]})
    assert game.legal("transfer") == {"transfer green 1 yellow", "transfer green 1 blue"}


def test_r0_7_a_card_ladder_has_no_limit():
    everyone_else = [1, 2, 3, 4] * 3
    game = position(edition="card", players=5, phase="traders", ladders={"red": everyone_else, "green": [0, 0, 0]})
    game.play("transfer green 1 red")
    assert game.ladder("red") == [*everyone_else, 0]


def test_r0_8_a_cargo_card_has_three_flags_of_its_major_and_one_of_its_minor():
    for cargo in BOARD.cargo:
        assert sorted(Counter(cargo.flags).values()) == [1, 3], cargo


def test_r0_8_the_minor_flag_may_stand_in_any_of_the_four_places():
    places = {cargo.flags.index(min(cargo.flags, key=cargo.flags.count)) for cargo in BOARD.cargo}
    assert places == {0, 1, 2, 3}


def test_r0_8_the_bottom_row_is_the_fourth_flag_in_reading_order():
    first, second = card(flags="rrr/y"), card(flags="bbb/g")
    game = position(phase="ship", hands={0: [second]}, ports={0: ["Makassar", first]})
    game.play(f"ship {second} 0")
    assert game.shown(0) == {"red": 3, "blue": 3, "green": 1}, "only the yellow flag, the fourth, is covered"


def test_r0_8_a_double_counts_two_in_a_payment():
    game = position(warehouses={0: ["pepper double", "pepper double"]})
    assert "contract same-4 pepper" in game.legal()


def test_r0_8_a_double_is_one_card_at_a_port():
    double = card("red", double=True)
    game = position(phase="ship", hands={0: [double]}, ports={0: ["Ternate", "bbb/y"]})
    game.play(f"ship {double} 0")
    assert game.port(0) == "Ternate", "two cards do not reach the limit of 3"


def test_r0_8_a_double_is_one_card_in_a_contest():
    attack, double, single = card(flags="rrr/g"), card("red", double=True), card(flags="rrr/b")
    hands = {0: [attack, "bbb/y"], 1: [double, single, "ggg/b"]}
    game = position(phase="traders", ladders={"red": [1, 0]}, hands=hands)
    game.play("attack red 2 1", f"commit {attack}", "commit done", f"defend {double}")
    assert game.legal() == {"defend done"}, "one card has been played against one card"


def test_r0_9_a_port_has_a_monopoly_number_a_limit_and_a_spice_or_a_chest():
    for port in BOARD.ports + CARD.ports:
        assert port.monopoly > 0 and port.limit > 0 and port.spice in (*SPICES, "chest"), port


def test_r0_9_only_the_board_edition_has_chests():
    assert {port.name for port in BOARD.ports if port.spice == "chest"} == {"Manila", "Batavia"}
    assert not [port.name for port in CARD.ports if port.spice == "chest"]


@pytest.mark.parametrize("spice", SPICES)
def test_r0_9_a_chest_is_one_of_any_spice(spice):
    game = position(warehouses={0: [f"{spice} double", f"{spice} single", "joker"]})
    assert game.legal("contract same-4") == {f"contract same-4 {spice}"}


@pytest.mark.parametrize("edition", EDITIONS)
def test_r0_10_five_kinds_of_contracts_and_their_points(edition):
    points = {contract.kind: contract.points for contract in load_tables(edition).contracts}
    assert points == {"each-1": 6, "same-4": 8, "each-2": 15, "same-8": 20, "each-3": 25}


@pytest.mark.parametrize(("kind", "amount"), [("each-1", 1), ("each-2", 2), ("each-3", 3)])
def test_r0_10_each_kind_asks_for_so_many_of_each_spice(kind, amount):
    enough = amount * [f"{spice} single" for spice in SPICES]
    assert f"contract {kind}" in position(warehouses={0: enough}).legal()
    assert f"contract {kind}" not in position(warehouses={0: enough[1:]}).legal()


@pytest.mark.parametrize(("kind", "amount"), [("same-4", 4), ("same-8", 8)])
def test_r0_10_same_kind_asks_for_so_many_of_one_spice(kind, amount):
    enough = amount * ["cloves single"]
    assert f"contract {kind} cloves" in position(warehouses={0: enough}).legal()
    assert f"contract {kind} cloves" not in position(warehouses={0: enough[1:]}).legal()


def test_r0_10_the_points_are_data_of_the_edition():
    as_printed = [replace(c, points=8) if c.kind == "same-8" else c for c in CARD.contracts]
    game = position(edition="card", fulfilled={0: ["same-8"]}, tables=replace(CARD, contracts=tuple(as_printed)))
    assert game.scores()[0] == 8


def test_r0_11_the_cargo_cards_are_the_reconstruction():
    expected = []
    for m, major in enumerate(COMPANIES):
        for j, minor in enumerate(company for company in COMPANIES if company != major):
            singles = [((s + j + m) % 4, spice, 1) for s, spice in enumerate(SPICES)]
            for place, spice, count in [*singles, ((m + j) % 4, SPICES[COMPANIES.index(minor)], 2)]:
                flags = tuple(minor if flag == place else major for flag in range(4))
                expected.append((flags, spice, count))
    assert [(cargo.flags, cargo.spice, cargo.count) for cargo in BOARD.cargo] == expected
    assert CARD.cargo == BOARD.cargo


def test_r0_11_all_cargo_cards_differ_and_are_evenly_spread():
    assert len(set(BOARD.cargo)) == 60
    assert [len(cards(major)) for major in COMPANIES] == [15, 15, 15, 15]
    assert [len(cards(spice=spice, double=True)) for spice in SPICES] == [3, 3, 3, 3]
    minors_at = Counter(cargo.flags.index(min(cargo.flags, key=cargo.flags.count)) for cargo in BOARD.cargo)
    assert minors_at == {0: 15, 1: 15, 2: 15, 3: 15}


PORTS = {
    "Makassar": ("nutmeg", 4, 6, ""),
    "Tidore": ("cloves", 4, 6, ""),
    "Manila": ("chest", 5, 7, ""),
    "Malacca": ("pepper", 4, 6, ""),
    "Banda": ("nutmeg", 5, 7, ""),
    "Ternate": ("cloves", 3, 5, ""),
    "Brunei": ("cinnamon", 4, 6, ""),
    "Batavia": ("chest", 4, 6, ""),
    "Aceh": ("pepper", 3, 5, "3/4"),
    "Ambon": ("cinnamon", 3, 5, "3/4"),
    "Bantam": ("pepper", 5, 7, "3/4"),
    "Surabaya": ("cinnamon", 4, 6, "3/4"),
    "Palembang": ("pepper", 6, 8, "5"),
    "Macao": ("cinnamon", 6, 8, "5"),
}


def test_r0_11_the_ports_are_the_reconstruction():
    assert {p.name: (p.spice, p.limit, p.monopoly, p.mark) for p in BOARD.ports} == PORTS


def test_r0_11_the_card_edition_uses_the_ports_without_5_and_without_chests():
    unmarked = {name: (*shows, "") for name, (*shows, mark) in PORTS.items() if mark != "5"}
    expected = unmarked | {"Manila": ("nutmeg", 5, 7, ""), "Batavia": ("cloves", 4, 6, "")}
    assert {p.name: (p.spice, p.limit, p.monopoly, p.mark) for p in CARD.ports} == expected


def test_r0_11_the_contracts_are_the_reconstruction():
    expected = {"each-1": (3, 1), "same-4": (3, 1), "each-2": (2, 1), "same-8": (2, 1), "each-3": (2, 0)}
    assert {c.kind: (c.supply, c.marked_5) for c in BOARD.contracts} == expected
    assert {c.kind: c.supply for c in CARD.contracts} == {kind: expected[kind][0] for kind in CONTRACT_KINDS}


def test_r0_11_a_users_own_table_replaces_the_cards(tmp_path):
    own = tmp_path / "own.toml"
    ports = [f'{{ name = "Home {i}", spice = "nutmeg", limit = 2, monopoly = 9 }}' for i in range(4)]
    own.write_text(f'base = "board"\nports = [{", ".join(ports)}]')
    first, second = card(flags="rrr/y"), card(flags="bbb/g")
    game = position(tables=own, phase="ship", hands={0: [second]}, ports={0: ["Home 0", first]})
    game.play(f"ship {second} 0")
    assert game.warehouse(0) == ["Home 0"], "its limit is 2"


@pytest.mark.parametrize("edition", EDITIONS)
def test_r0_11_the_shipped_tables_say_that_they_are_a_reconstruction(edition):
    text = (SHIPPED / f"{edition}.toml").read_text(encoding="utf-8")
    assert "Tables version 1" in text
    assert "Reconstructed" in text
