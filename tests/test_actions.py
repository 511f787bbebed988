"""The action table: ids are frozen, and every action has its texts, both ways.

The snapshots in `snapshots/` list every id with its block and its texts. Trained policies and old records depend on
them: they change only together with the version of the environment (Borneo-v0 becomes Borneo-v1), never to make a
test pass. `python tests/test_actions.py` writes them anew.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from borneo_env.cards import COMPANIES, CONTRACT_KINDS, SPICES
from borneo_env.cli import app
from borneo_env.engine import actions
from borneo_env.engine.actions import ACTION_VERSION, DECLINING, ActionTable, action_table
from borneo_env.engine.batch import Batch
from borneo_env.engine.observe import OBSERVATION_VERSION, layout
from borneo_env.engine.state import PHASES, slots_of
from borneo_env.ruleset import EDITIONS, Ruleset, every_ruleset

SNAPSHOTS = Path(__file__).parent / "snapshots"
TABLES = {edition: action_table(slots_of(Ruleset(edition))) for edition in EDITIONS}
SIZES = {"board": 370, "card": 870}
SIZES_OF_THINGS = ("single", "double", "port")

both_editions = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def snapshot(table: ActionTable) -> str:
    rows = ((i, table.block_of(i).name, " | ".join(table.texts(i))) for i in range(len(table)))
    return "".join(f"{number}\t{block}\t{texts}\n" for number, block, texts in rows)


@pytest.mark.parametrize("edition", EDITIONS)
def test_ids_are_frozen(edition):
    assert snapshot(TABLES[edition]) == (SNAPSHOTS / f"actions-{edition}.txt").read_text(encoding="utf-8")


# What trained policies are made for, by the versions in their cards. A line is added for a new version, none changed.
ACTIONS = {1: "1f03f9d62a1f56fd"}
OBSERVATIONS = {1: "89841c48281c9601"}


def blocks_of_observations(slots: int) -> str:
    """Every block of an observation with its place and what its axes run over."""
    return "".join(
        f"{block.start}\t{block.name}\t{[(axis.name, axis.labels) for axis in block.axes]}\n" for block in layout(slots)
    )


@pytest.mark.parametrize(
    ("name", "version", "known", "parts"),
    [
        ("ACTION_VERSION", ACTION_VERSION, ACTIONS, [snapshot(table) for table in TABLES.values()]),
        (
            "OBSERVATION_VERSION",
            OBSERVATION_VERSION,
            OBSERVATIONS,
            [blocks_of_observations(slots_of(Ruleset(edition))) for edition in EDITIONS],
        ),
    ],
    ids=["actions", "observations"],
)
def test_a_layout_that_changes_gets_a_new_version(name, version, known, parts):
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    assert known.get(version) == digest, (
        f"the layout is another one, which policies trained before would misread: raise {name} above {max(known)}, and "
        f"add its digest {digest!r} to this test; never change that of an old version"
    )


@pytest.mark.parametrize("ruleset", every_ruleset(), ids=lambda r: r.name)
def test_players_and_variants_share_the_table_of_their_edition(ruleset):
    batch = Batch(1, ruleset)
    assert snapshot(batch.actions) == snapshot(TABLES[ruleset.edition])
    assert batch.mask.shape == (1, SIZES[ruleset.edition])


# ---------------------------------------------------------------- texts


def spoken_moves(table: ActionTable) -> list[tuple[int, str, str]]:
    """Every action in every phase in which it has a meaning: id, phase, text."""
    moves = [(i, phase, table.text(i, phase)) for i in range(len(table)) for phase in PHASES]
    return [(i, phase, text) for i, phase, text in moves if not text.startswith("action ")]


@both_editions
def test_from_text_to_id_and_back(table):
    moves = spoken_moves(table)
    assert {i for i, _, _ in moves} == set(range(len(table)))
    for action, phase, text in moves:
        assert table.action(text, phase) == action


@both_editions
def test_every_text_names_one_action(table):
    named = [text for action in range(len(table)) for text in table.texts(action)]
    assert len(named) == len(set(named))
    assert set(named) == {text for _, _, text in spoken_moves(table)}


@both_editions
def test_texts_are_as_the_design_says(table):
    company, spice = f"({'|'.join(COMPANIES)})", f"({'|'.join(SPICES)})"
    card, rank = r"[1-5]?\d", r"1?\d"
    grammar = [
        f"place {company}", f"yield {company}", "yield slot",
        "contract none", "contract each-[123]", f"contract same-[48] {spice}",
        f"pay {spice} (single|double|port)", "pay joker",
        "traders none", f"transfer {company} {rank} {company}", f"attack {company} {rank} {rank}",
        "(commit|defend) done", "keep none", f"(commit|defend|keep|take|drop) {card}", f"ship {card} [012]",
    ]  # fmt: skip
    texts = [text for action in range(len(table)) for text in table.texts(action)]
    assert [text for text in texts if not re.fullmatch("|".join(grammar), text)] == []


@both_editions
def test_a_move_has_the_parts_that_its_text_names(table):
    values = {
        "company": COMPANIES, "spice": (*SPICES, "joker"), "size": SIZES_OF_THINGS, "contract": CONTRACT_KINDS,
        "rank": range(1, 16), "card": range(60), "port": range(3),
    }  # fmt: skip
    for action, phase, text in spoken_moves(table):
        move = table.move(action, phase)
        assert move in table.moves(action) and table.moves_in(phase)[action] == move and move.text == text
        assert text.split()[: 1 + len(move.parts)] == [move.verb, *map(str, move.parts.values())]
        assert all(move.parts[name] in values[kind] for name, kind in move.kinds.items())
        assert move.declines == (action == actions.PASS) and (move.event == move.verb) == bool(move.parts)
    attack = table.move(table.action("attack red 3 1", "traders"), "traders")
    assert attack[:2] == ("attack", {"company": "red", "rank": 3, "target": 1})
    assert attack.kinds == {"company": "company", "rank": "rank", "target": "rank"}


@both_editions
def test_phases_that_share_an_id(table):
    assert table.texts(actions.PASS) == ["contract none", "traders none", "commit done", "defend done", "keep none"]
    for company in COMPANIES:
        assert table.action(f"place {company}", "place") == table.action(f"yield {company}", "yield")
    for card in range(60):
        ids = {table.action(f"{phase} {card}", phase) for phase in ("commit", "defend", "keep", "take", "drop")}
        assert len(ids) == 1


@both_editions
def test_last_contracts_are_spoken_of_as_contracts(table):
    for action, phase, text in spoken_moves(table):
        if phase == "contract":
            assert table.text(action, "last contract") == text
            assert table.action(text, "last contract") == action


@both_editions
@pytest.mark.parametrize(
    "text",
    ["", "pass", "place purple", "Place red", "place red ", "ship 60 0", "ship 0 3", "attack red 1 2", "take"],
)
def test_a_text_that_no_move_has_is_refused(table, text):
    for phase in PHASES:
        with pytest.raises(ValueError, match=f"^{re.escape(repr(text))} is not a move of this game$"):
            table.action(text, phase)


@both_editions
def test_a_text_of_another_phase_is_refused(table):
    phases_of: dict[str, set[str]] = {}
    for _, phase, text in spoken_moves(table):
        phases_of.setdefault(text, set()).add(phase)
    for text, phases in phases_of.items():
        for phase in set(PHASES) - phases:
            with pytest.raises(ValueError) as refused:
                table.action(text, phase)
            assert str(refused.value) == f"'{text}' is not a move of the phase {phase}"


def test_ranks_of_the_card_edition_are_no_moves_of_the_board_edition():
    assert TABLES["card"].action("attack red 15 1", "traders") > 0
    with pytest.raises(ValueError, match="not a move of this game"):
        TABLES["board"].action("attack red 6 1", "traders")


@both_editions
def test_an_action_without_a_meaning_in_a_phase_is_shown_with_its_number(table):
    assert table.text(actions.SLOT, "ship") == f"action {actions.SLOT} (yield slot)"
    assert table.text(-1, "ship") == f"action -1 (there are 0 to {len(table) - 1})"
    assert table.text(len(table), "ship") == f"action {len(table)} (there are 0 to {len(table) - 1})"


# ---------------------------------------------------------------- blocks


@both_editions
def test_the_blocks_follow_each_other_without_gaps(table):
    ids = [i for block in table.blocks for i in range(block.start, block.start + block.size)]
    assert ids == list(range(len(table)))
    for block in table.blocks:
        assert {table.block_of(i) for i in range(block.start, block.start + block.size)} == {block}
        assert block.meaning


@both_editions
def test_the_constants_are_the_beginnings_of_the_blocks(table):
    starts = {block.name: block.start for block in table.blocks}
    assert starts["pass"] == actions.PASS
    assert starts["company"] == actions.COMPANY
    assert starts["slot"] == actions.SLOT
    assert starts["contract"] == actions.BARGAIN
    assert starts["pay"] == actions.PAYMENT
    assert table.texts(actions.JOKER) == ["pay joker"]
    assert starts["transfer"] == actions.TRANSFER


def test_declining_has_a_word_in_every_phase_that_allows_it():
    assert list(DECLINING) == ["contract", "traders", "commit", "defend", "keep"]


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize("edition", EDITIONS)
def test_borneo_actions_prints_the_whole_table(edition):
    table = TABLES[edition]
    printed = CliRunner().invoke(app, ["actions", "--edition", edition]).stdout
    rows = [line.split(maxsplit=2) for line in printed.splitlines() if re.match(r" *\d+  \w+ ", line)]
    assert rows == [[str(i), table.block_of(i).name, " | ".join(table.texts(i))] for i in range(len(table))]
    for block in table.blocks:
        assert f"{block.start} to {block.start + block.size - 1}" in printed


@pytest.mark.parametrize("edition", EDITIONS)
def test_borneo_actions_as_json(edition):
    table = TABLES[edition]
    rows = json.loads(CliRunner().invoke(app, ["actions", "--edition", edition, "--json"]).stdout)
    assert rows == [{"id": i, "block": table.block_of(i).name, "texts": table.texts(i)} for i in range(len(table))]


if __name__ == "__main__":
    for edition, table in TABLES.items():
        (SNAPSHOTS / f"actions-{edition}.txt").write_text(snapshot(table), encoding="utf-8")
