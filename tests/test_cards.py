"""The card tables: what is printed on every card agrees with the box (R0), and a user's own table is checked."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from borneo_env.cards import (
    CONTRACT_KINDS,
    MAX_PORTS,
    SPICES,
    Contract,
    Port,
    TableError,
    Tables,
    load_tables,
    read_tables,
)
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import PORT
from borneo_env.ruleset import Ruleset

EDITIONS = ("board", "card")
BOARD, CARD = load_tables("board"), load_tables("card")

both_editions = pytest.mark.parametrize("tables", [BOARD, CARD], ids=EDITIONS)


# ---------------------------------------------------------------- against the box


PORTS = [  # R0.11
    Port("Makassar", "nutmeg", 4, 6),
    Port("Tidore", "cloves", 4, 6),
    Port("Manila", "chest", 5, 7),
    Port("Malacca", "pepper", 4, 6),
    Port("Banda", "nutmeg", 5, 7),
    Port("Ternate", "cloves", 3, 5),
    Port("Brunei", "cinnamon", 4, 6),
    Port("Batavia", "chest", 4, 6),
    Port("Aceh", "pepper", 3, 5, "3/4"),
    Port("Ambon", "cinnamon", 3, 5, "3/4"),
    Port("Bantam", "pepper", 5, 7, "3/4"),
    Port("Surabaya", "cinnamon", 4, 6, "3/4"),
    Port("Palembang", "pepper", 6, 8, "5"),
    Port("Macao", "cinnamon", 6, 8, "5"),
]


def test_r0_11_the_ports_of_the_board_edition():
    assert list(BOARD.ports) == PORTS
    assert Counter(port.mark for port in BOARD.ports) == {"": 8, "3/4": 4, "5": 2}  # R0.4


@pytest.mark.parametrize(("players", "marks"), [(3, ("", "3/4")), (4, ("", "3/4")), (5, ("", "5"))])
def test_r1_2_the_ports_in_play(players, marks):
    assert list(BOARD.ports_in_play(players)) == [port for port in PORTS if port.mark in marks]
    assert CARD.ports_in_play(players) == CARD.ports


@pytest.mark.parametrize("players", [3, 4, 5])
def test_r0_11_the_contracts(players):
    three_or_four = {"each-1": 3, "same-4": 3, "each-2": 2, "same-8": 2, "each-3": 2}
    five = {"each-1": 4, "same-4": 4, "each-2": 3, "same-8": 3, "each-3": 2}
    supply = dict(zip(CONTRACT_KINDS, BOARD.supply_in_play(players), strict=True))
    assert supply == (five if players == 5 else three_or_four)
    assert dict(zip(CONTRACT_KINDS, CARD.supply_in_play(players), strict=True)) == three_or_four


# ---------------------------------------------------------------- a table of one's own

CARGO_ROWS = [f'  {{ flags = {json.dumps(card.flags)}, spice = "{card.spice}" }},' for card in BOARD.cargo]
PORT_ROWS = [f'  {{ name = "Port {i}", spice = "pepper", limit = 3, monopoly = 5 }},' for i in range(4)]
CONTRACT_ROWS = ['  { kind = "each-1", points = 6, supply = 3 },', '  { kind = "same-4", points = 8, supply = 3 },']


def toml(
    cargo: list[str] = CARGO_ROWS, ports: list[str] = PORT_ROWS, contracts: list[str] = CONTRACT_ROWS, base: str = ""
) -> str:
    lists = {"cargo": cargo, "ports": ports, "contracts": contracts}
    return base + "\n".join("\n".join([f"{name} = [", *rows, "]"]) for name, rows in lists.items())


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Tables]:
    """Load a table from the text of its file, each from a folder of its own."""

    def load_text(text: str) -> Tables:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        (folder / "own.toml").write_text(text, encoding="utf-8")
        return load_tables(str(folder / "own.toml"))

    return load_text


def test_an_own_table_is_read(load):
    tables = load(toml())
    assert [card.flags for card in tables.cargo] == [card.flags for card in BOARD.cargo]
    assert {card.count for card in tables.cargo} == {1}  # the default
    assert tables.ports == tuple(Port(f"Port {i}", "pepper", 3, 5, "") for i in range(4))
    assert tables.contracts[:2] == (Contract("each-1", 6, 3, 0), Contract("same-4", 8, 3, 0))
    assert [(c.kind, c.supply) for c in tables.contracts[2:]] == [("each-2", 0), ("same-8", 0), ("each-3", 0)]


def test_base_gives_the_lists_that_are_not_in_the_file(load):
    tables = load('base = "board"\nports = [\n' + "\n".join(PORT_ROWS) + "\n]")
    assert tables.cargo == BOARD.cargo
    assert tables.contracts == BOARD.contracts
    assert [port.name for port in tables.ports] == ["Port 0", "Port 1", "Port 2", "Port 3"]


def test_base_alone_is_the_shipped_edition(load):
    assert load('base = "card"') == CARD
    assert load('base = "tiny"') == load_tables("tiny")


def test_base_of_a_base(load):
    """The card edition takes its cargo cards from the board edition."""
    tables = load('base = "card"\ncontracts = []')
    assert tables.cargo == BOARD.cargo
    assert tables.ports == CARD.ports
    assert tables.supply_in_play(5) == (0, 0, 0, 0, 0)


def test_a_path_and_its_text_are_the_same_table(tmp_path):
    (tmp_path / "own.toml").write_text(toml())
    assert load_tables(tmp_path / "own.toml") == load_tables(str(tmp_path / "own.toml"))


def test_an_edited_file_is_read_anew(tmp_path):
    """As in a notebook: edit the table, make the ruleset again, play."""
    file = tmp_path / "own.toml"
    file.write_text(toml())
    assert Ruleset(tables=str(file)).tables.ports[0].limit == 3
    file.write_text(toml(ports=with_row(PORT_ROWS, 0, "limit = 3", "limit = 4")))
    assert Ruleset(tables=str(file)).tables.ports[0].limit == 4


def test_the_name_of_an_edition_is_never_a_file_of_the_folder_one_is_in(tmp_path, monkeypatch):
    (tmp_path / "board").write_text("nonsense")
    monkeypatch.chdir(tmp_path)
    assert load_tables("board") == BOARD


def with_row(rows: list[str], number: int, old: str, new: str) -> list[str]:
    """The rows with something replaced in one of them."""
    assert old in rows[number]
    return [row.replace(old, new, 1) if i == number else row for i, row in enumerate(rows)]


def cargo_with(number: int, old: str, new: str) -> str:
    return toml(cargo=with_row(CARGO_ROWS, number, old, new))


def port_with(number: int, old: str, new: str) -> str:
    return toml(ports=with_row(PORT_ROWS, number, old, new))


def contract_with(number: int, old: str, new: str) -> str:
    return toml(contracts=with_row(CONTRACT_ROWS, number, old, new))


MANY_PORTS = PORT_ROWS * 5
MISTAKES = {  # text of the file, where the mistake is, and a word of the reason
    "unknown company": (cargo_with(17, "yellow", "pink"), "cargo row 17: flags", "red, yellow, green, blue"),
    "three flags": (cargo_with(3, '"red", "red"', '"red"'), "cargo row 3: flags", "four companies"),
    "no flags": (cargo_with(5, "flags", "flag"), "cargo row 5: flag:", "known field"),
    "unknown spice": (cargo_with(59, "cloves", "salt"), "cargo row 59: spice", "pepper, cinnamon, cloves, nutmeg"),
    "a chest on a cargo card": (cargo_with(59, "cloves", "chest"), "cargo row 59: spice", "'chest' is not allowed"),
    "no spice": (cargo_with(0, ', spice = "pepper"', ""), "cargo row 0: spice", "missing"),
    "count 3": (cargo_with(0, " }", ", count = 3 }"), "cargo row 0: count", "from 1 to 2"),
    "unknown field of a card": (cargo_with(0, " }", ", colour = 1 }"), "cargo row 0: colour", "known field"),
    "id out of order": (cargo_with(8, "{ ", "{ id = 9, "), "cargo row 8: id", "must be 8"),
    "59 cards": (toml(cargo=CARGO_ROWS[:-1]), "cargo", "59 rows"),
    "no list of cards": (toml().replace("cargo = [", "cargo_cards = ["), "cargo_cards", "known field"),
    "cards are a text": ('cargo = "all"', "cargo", "list"),
    "a card is a number": (toml(cargo=["  7,", *CARGO_ROWS[1:]]), "cargo row 0", "row of named fields"),
    "limit 0": (port_with(2, "limit = 3", "limit = 0"), "ports row 2: limit", "from 1 to 60"),
    "limit 61": (port_with(2, "limit = 3", "limit = 61"), "ports row 2: limit", "from 1 to 60"),
    "limit huge": (port_with(2, "limit = 3", f"limit = {10**30}"), "ports row 2: limit", "whole number"),
    "no name": (port_with(1, 'name = "Port 1", ', ""), "ports row 1: name", "missing"),
    "a long name": (port_with(1, "Port 1", "x" * 25), "ports row 1: name", "1 to 24"),
    "an unprintable name": (port_with(1, "Port 1", "\\u001b[2J"), "ports row 1: name", "'\\x1b[2J'"),
    "a name is a number": (port_with(1, '"Port 1"', "1"), "ports row 1: name", "name"),
    "unknown spice of a port": (port_with(0, "pepper", "salt"), "ports row 0: spice", "nutmeg, chest"),
    "unknown mark": (port_with(0, " }", ', mark = "4" }'), "ports row 0: mark", "3/4"),
    "2 ports": (toml(ports=PORT_ROWS[:2]), "ports", "2 are in play with 3 or 4 players; 3 to 16"),
    "2 ports for five": (
        toml(ports=[*PORT_ROWS[:2], PORT_ROWS[2].replace(" }", ', mark = "3/4" }')]),
        "ports",
        "2 are in play with 5 players; 3 to 16",
    ),
    "17 ports for five": (
        toml(ports=[*MANY_PORTS[:16], MANY_PORTS[16].replace(" }", ', mark = "5" }')]),
        "ports",
        "17 are in play with 5 players; 3 to 16",
    ),
    "unknown kind": (contract_with(0, "each-1", "each-4"), "contracts row 0: kind", "same-8"),
    "a kind twice": (contract_with(1, "same-4", "each-1"), "contracts row 1: kind", "each-1"),
    "no points": (contract_with(1, "points = 8, ", ""), "contracts row 1: points", "missing"),
    "supply 1000": (contract_with(1, "supply = 3", "supply = 1000"), "contracts row 1: supply", "from 0 to"),
    "marked_5 a text": (contract_with(1, " }", ', marked_5 = "1" }'), "contracts row 1: marked_5", "whole number"),
    "unknown base": (toml(base='base = "dice"\n'), "base", "board, card, tiny"),
    "base a path": (toml(base='base = "../cards/board"\n'), "base", "board, card, tiny"),
    "unknown list": (toml() + "\nships = []", "ships", "base, cargo, ports, contracts"),
    "an empty file": ("", "cargo", "missing"),
    "not TOML": ("cargo = [", "", "not TOML"),
    "a long key": (".a" * 31_000 + " = 1", "", "line 1 has more than 30 dots"),
    "a long key in quotes": ("'#'" + ".a" * 31 + " = 1", "", "line 1 has more than 30 dots"),
    "a number of 5,000 digits": ("cargo = " + "9" * 5000, "", "not TOML: Exceeds the limit"),
    "a large number": (contract_with(1, "points = 8", "points = 0x" + "f" * 5000), "contracts row 1: points",
                       "a number of 20000 bits is not"),
    "a long list": (cargo_with(17, '"cloves"', '["cloves"' + ', "x"' * 9000 + "]"), "cargo row 17: spice",
                             "is not allowed"),
    "a field that paints": (toml() + '\n"\\u001b[2J" = 1', "\\x1b[2J", "is not a known field"),
    "a long field": (toml() + "\n" + "x" * 9000 + " = 1", "xxx", "...: is not a known field"),
    "deeply nested": ("cargo = " + "[" * 20_000 + "]" * 20_000, "", "TOML"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_file_row_and_field(name, load):
    text, where, reason = MISTAKES[name]
    with pytest.raises(TableError) as caught:
        load(text)
    assert re.match(rf".*own\.toml: {re.escape(where)}", str(caught.value))
    assert reason in str(caught.value)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 500


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TableError, match=r"nowhere\.toml: cannot be read: No such file or directory; give the path"):
        load_tables(tmp_path / "nowhere.toml")


def test_a_table_that_is_not_a_table():
    with pytest.raises(TableError, match="header: 7 is not a row of named fields"):
        read_tables(7, "header")  # type: ignore[arg-type]


# ---------------------------------------------------------------- own tables play


@pytest.mark.parametrize("ports", [3, MAX_PORTS])
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("players", [3, 5])
def test_own_tables_with_few_and_many_ports_play(ports, edition, players, load):
    """Without contracts and monopolies all ports end in warehouses, but the two that are open at the end."""
    rows = [f'  {{ name = "P{i}", spice = "cloves", limit = 2, monopoly = 9 }},' for i in range(ports)]
    ruleset = Ruleset(edition, players, tables=load(toml(ports=rows, contracts=[])))
    batch = Batch(20, ruleset, finished="hold")
    batch.play_random()
    assert (batch.games["stock"][:, :, SPICES.index("cloves"), PORT].sum(1) == ports - 2).all()


def test_what_the_table_says_is_what_is_played(load):
    """One company on all cards, every port full with one card, and one contract that costs what every player gets."""
    flags = 'flags = ["red", "red", "red", "red"]'
    cargo = [f'  {{ {flags}, spice = "pepper", count = 2 }},'] * 60
    ports = [f'  {{ name = "P{i}", spice = "chest", limit = 1, monopoly = 5 }},' for i in range(6)]
    contracts = ['  { kind = "same-4", points = 1000, supply = 50 },']
    batch = Batch(50, Ruleset(players=3, tables=load(toml(cargo, ports, contracts))), finished="hold")
    batch.play_random()
    fulfilled = batch.games["fulfilled"]
    assert fulfilled[:, :, CONTRACT_KINDS.index("same-4")].sum() == fulfilled.sum() > 0
    assert (batch.scores() // 1000 == batch.contracts()).all()
