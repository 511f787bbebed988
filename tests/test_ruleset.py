"""Rulesets: what exists can be made, what does not is refused in words that say what does."""

from __future__ import annotations

import dataclasses

import pytest

from borneo_env.cards import TableError, Tables, load_tables
from borneo_env.engine.batch import Batch
from borneo_env.ruleset import Ruleset, RulesetError, every_ruleset

NAMES = [
    "board-3", "board-4", "board-5", "board-3-four-traders",
    "board-3-blackbeard", "board-4-blackbeard", "board-5-blackbeard", "board-3-four-traders-blackbeard",
    "card-3", "card-4", "card-5",
]  # fmt: skip


def test_every_ruleset_of_the_box():
    """R9.3: both variants may be played together; R9: none of them in the card edition."""
    rulesets = every_ruleset()
    assert [ruleset.name for ruleset in rulesets] == NAMES
    assert len(set(rulesets)) == 11


def test_without_arguments_the_board_edition_with_four_players():
    ruleset = Ruleset()
    assert (ruleset.edition, ruleset.players, ruleset.traders, ruleset.blackbeard) == ("board", 4, 3, False)
    assert ruleset.tables is load_tables("board")
    assert Ruleset("card").tables is load_tables("card")


@pytest.mark.parametrize("ruleset", every_ruleset(), ids=lambda r: r.name)
def test_every_ruleset_plays(ruleset):
    batch = Batch(5, ruleset, finished="hold")
    assert batch.play_random() > 5 * 50
    assert batch.scores().shape == (5, ruleset.players)
    assert (batch.places().min(1) == 1).all()


REFUSED = [  # fields, and what the message must say: what is wrong, and what is allowed
    ({"players": 2}, "Borneo is for 3, 4 or 5 players, not 2"),
    ({"players": 4.0}, "3, 4 or 5 players, not 4.0"),
    ({"players": True}, "3, 4 or 5 players, not True"),
    ({"edition": "dice"}, "edition 'dice' does not exist; use one of board, card"),
    ({"edition": ["board"]}, "use one of board, card"),
    ({"traders": 2}, "each player has 3 traders, or 4 in the three-player variant, not 2"),
    ({"traders": 5, "players": 3}, "3 traders, or 4 in the three-player variant, not 5"),
    ({"traders": 4, "players": 4}, "board edition with 3 players (R9.1), not of the board edition with 4"),
    ({"traders": 4, "players": 3, "edition": "card"}, "use traders=3 or players=3, edition='board'"),
    ({"blackbeard": True, "edition": "card"}, "a variant of the board edition (R9.2); use edition='board'"),
    ({"blackbeard": 1}, "blackbeard is True or False, not 1"),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED, ids=[str(fields) for fields, _ in REFUSED])
def test_what_does_not_exist_is_refused(fields, message):
    with pytest.raises(RulesetError) as caught:
        Ruleset(**fields)
    assert message in str(caught.value)


@pytest.mark.parametrize("tables", [5, 1.5, [], {}, True, b"tiny"], ids=repr)
def test_tables_that_are_neither_a_path_nor_tables_are_refused(tables):
    with pytest.raises(ValueError, match="tables"):
        Ruleset(tables=tables)


def test_an_unknown_field_is_refused():
    with pytest.raises(TypeError, match="colour"):
        Ruleset(colour="red")  # type: ignore[call-arg]


# ---------------------------------------------------------------- as a value


def test_equal_rulesets_are_equal():
    assert Ruleset(players=3) == Ruleset("board", 3, 3, False)
    assert hash(Ruleset(players=3)) == hash(Ruleset("board", 3))
    assert Ruleset(tables=load_tables("board")) == Ruleset()
    assert Ruleset(tables="tiny") == Ruleset(tables=load_tables("tiny"))


def test_different_rulesets_differ():
    others = [Ruleset(players=3), Ruleset("card"), Ruleset(blackbeard=True), Ruleset(tables="tiny")]
    assert Ruleset() not in others
    assert Ruleset(players=3) != Ruleset(players=3, traders=4)


def test_a_ruleset_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Ruleset().players = 3  # type: ignore[misc]


def test_the_repr_makes_the_ruleset_again():
    for ruleset in every_ruleset():
        assert eval(repr(ruleset), {"Ruleset": Ruleset}) == ruleset
    assert repr(Ruleset()) == "Ruleset(edition='board', players=4, traders=3, blackbeard=False)"


def test_names_say_that_the_cards_are_ones_own():
    assert Ruleset(tables="tiny").name == "board-4-own-cards"
    assert Ruleset("card", 3, tables=load_tables("board")).name == "card-3-own-cards"  # type: ignore[arg-type]
    assert Ruleset("card", 3, tables=load_tables("card")).name == "card-3"  # type: ignore[arg-type]


def test_tables_are_loaded_when_the_ruleset_is_made():
    assert isinstance(Ruleset(tables="tiny").tables, Tables)
    with pytest.raises(ValueError, match=r"nowhere\.toml: cannot be read"):
        Ruleset(tables="nowhere.toml")  # type: ignore[arg-type]


# ---------------------------------------------------------------- tables made by hand


def by_hand(**changes):
    """The cards of the board edition with some lists replaced."""
    return dataclasses.replace(load_tables("board"), **changes)


def first_changed(list_name, **fields):
    """The cards of the board edition with fields of the first card of a list replaced."""
    first, *others = getattr(load_tables("board"), list_name)
    return by_hand(**{list_name: (dataclasses.replace(first, **fields), *others)})


BOARD = load_tables("board")


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        (by_hand(cargo=BOARD.cargo[:3]), "cargo: has 3 rows"),
        (by_hand(cargo=list(BOARD.cargo)), "cargo: is not a tuple of Cargo"),
        (by_hand(ports=()), "ports: 0 are in play"),
        (by_hand(contracts=BOARD.contracts[::-1]), "contracts: need a row for each of each-1"),
        (by_hand(contracts=BOARD.contracts[:1] * 5), "each-1 has a row already"),
        (first_changed("cargo", flags=("red", "red", "red", "pink")), "cargo row 0: flags"),
        (first_changed("cargo", count=3), "cargo row 0: count"),
        (first_changed("ports", limit=0), "ports row 0: limit"),
        (first_changed("ports", monopoly=2.5), "ports row 0: monopoly"),
        (first_changed("contracts", supply=101), "contracts row 0: supply"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tables_made_by_hand_are_checked_as_files_are(tables, reason):
    with pytest.raises(TableError, match=f"^tables: .*{reason}"):
        Ruleset(tables=tables)


def test_tables_made_by_hand_can_be_played_with():
    tables = first_changed("ports", limit=9, name="Home")
    assert Ruleset(tables=tables).tables is tables
    assert Batch(2, tables=tables).play_random(50) == 100
