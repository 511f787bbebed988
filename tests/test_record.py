"""Game records: what is written, that it is read back and verified, and that a wrong record is never believed."""

from __future__ import annotations

import json
import math
import pickle
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from borneo_env.cards import CONTRACT_KINDS
from borneo_env.cli import app
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import CARDS, HAND
from borneo_env.record import Line, RecordError, read_record, record_games, replay, verify, write_record
from borneo_env.ruleset import Ruleset, every_ruleset
from borneo_env.story import tell

RULESETS = every_ruleset()
TINY = Ruleset(players=3, tables="tiny")  # a short game with everything in it but a shuffle


@cache
def _played(ruleset: Ruleset, seed: int, legal: bool) -> bytes:
    """A right record; a copy is quickest made from a pickle."""
    return pickle.dumps(record_games(ruleset, 1, seed=seed, agents=["random"] * ruleset.players, legal=legal)[0])


def a_record(ruleset: Ruleset = TINY, seed: int = 1, legal: bool = False) -> list[Line]:
    """A right record, a fresh copy for every test to spoil."""
    copied: list[Line] = pickle.loads(_played(ruleset, seed, legal))
    return copied


def a_shuffled_record() -> list[Line]:
    """A right record of a game in which the discard pile was shuffled."""
    return a_record(Ruleset(players=5), seed=2)


def a_record_with_ones() -> list[Line]:
    """A right record whose result has a 1 among scores and places: `true` must not be taken for it."""
    return a_record(seed=0)


def index_of(record: list[Line], key: str) -> int:
    """The first line with this key."""
    found = [i for i, line in enumerate(record) if key in line]
    assert found, f"no line of the record has {key!r}"
    return found[0]


# ---------------------------------------------------------------- writing and reading back


@pytest.mark.parametrize(
    ("ruleset", "legal"),
    [*((ruleset, True) for ruleset in RULESETS), (Ruleset(), False), (Ruleset("card", 3), False)],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_record_is_written_read_and_verified(ruleset, legal, tmp_path):
    record = a_record(ruleset, legal=legal)
    write_record(tmp_path / "game.jsonl", record)
    assert read_record(tmp_path / "game.jsonl") == record
    assert verify(record).scores()[0].tolist() == record[-1]["scores"]


OWN_TABLE = """
base = "card"
ports = [
  { name = "Ødegård", spice = "chest", limit = 2, monopoly = 4 },
  { name = "日本", spice = "pepper", limit = 60, monopoly = 12 },
  { name = 'Q"uote', spice = "cloves", limit = 1, monopoly = 1 },
  { name = "Four", spice = "cloves", limit = 2, monopoly = 9, mark = "3/4" },
  { name = "Five", spice = "cloves", limit = 3, monopoly = 9, mark = "5" },
]
contracts = [{ kind = "each-1", points = 1000, supply = 50, marked_5 = 50 }]
"""


@pytest.mark.parametrize("ruleset", [("board", 3), ("card", 4), ("board", 5)])
def test_a_record_with_own_cards_is_complete(ruleset, tmp_path):
    """The record holds the cards itself: the table is not needed to read it."""
    table = tmp_path / "own.toml"
    table.write_text(OWN_TABLE, encoding="utf-8")
    record = a_record(Ruleset(*ruleset, tables=str(table)))  # type: ignore[arg-type]
    write_record(tmp_path / "game.jsonl", record)
    table.unlink()
    again = read_record(tmp_path / "game.jsonl")
    assert again == record
    assert verify(again).scores()[0].tolist() == record[-1]["scores"]
    marked = "Five" if ruleset[1] == 5 else "Four"
    assert [port["name"] for port in again[0]["ports"]] == ["Ødegård", "日本", 'Q"uote', marked]


def test_a_game_is_the_same_whatever_is_played_beside_it():
    many = record_games(Ruleset(), 9, seed=7, agents=["random"] * 4)
    alone = record_games(Ruleset(), 1, seed=7, agents=["random"] * 4, first=8)
    assert many[8] == alone[0]
    assert many[7] != alone[0]


def test_a_file_is_json_lines_in_ascii_with_unix_line_ends(tmp_path):
    write_record(tmp_path / "game.jsonl", a_record())
    content = (tmp_path / "game.jsonl").read_bytes()
    assert content.isascii() and content.endswith(b"}\n") and b"\r" not in content
    assert content.count(b"\n") == len(a_record())


# ---------------------------------------------------------------- the format (a contract: see the design)


def test_the_header_is_as_the_format_says():
    header = a_record(Ruleset(players=3, traders=4, blackbeard=True), seed=7)[0]
    assert list(header) == [
        "format", "ruleset", "cargo", "ports", "contracts", "contract_points", "deal", "agents", "seed",
    ]  # fmt: skip
    assert header["format"] == "borneo-record/1"
    assert header["ruleset"] == {"edition": "board", "players": 3, "traders": 4, "blackbeard": True}
    assert len(header["cargo"]) == 60
    assert header["cargo"][0] == {"flags": ["yellow", "red", "red", "red"], "spice": "pepper", "count": 1}
    assert header["cargo"][59] == {"flags": ["blue", "green", "blue", "blue"], "spice": "cloves", "count": 2}
    assert header["ports"][0] == {"name": "Makassar", "spice": "nutmeg", "limit": 4, "monopoly": 6}
    assert header["ports"][2] == {"name": "Manila", "spice": "chest", "limit": 5, "monopoly": 7}
    assert header["contracts"] == {"each-1": 3, "same-4": 3, "each-2": 2, "same-8": 2, "each-3": 2}
    assert header["contract_points"] == {"each-1": 6, "same-4": 8, "each-2": 15, "same-8": 20, "each-3": 25}
    assert list(header["deal"]) == ["start", "hands", "draw", "ports"]
    assert header["agents"] == ["random"] * 3
    assert header["seed"] == 7


def test_the_header_has_only_what_is_in_play():
    """R1.2: with five players the ports marked "3/4" stay in the box and four contracts more lie out."""
    five, four = a_record(Ruleset(players=5))[0], a_record(Ruleset(players=4))[0]
    names = [[port["name"] for port in header["ports"]] for header in (five, four)]
    assert set(names[0]) - set(names[1]) == {"Palembang", "Macao"}
    assert set(names[1]) - set(names[0]) == {"Aceh", "Ambon", "Bantam", "Surabaya"}
    assert list(five["contracts"].values()) == [4, 4, 3, 3, 2]
    assert list(four["contracts"].values()) == [3, 3, 2, 2, 2]


@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda r: r.name)
def test_the_deal_is_the_games_own(ruleset):
    deal = a_record(ruleset, seed=3)[0]["deal"]
    game = Batch(1, ruleset, seed=3, skip_forced=False).games[0]
    assert deal["start"] == game["player"]
    hands = [{card for card in range(CARDS) if game["place"][card] == HAND + p} for p in range(ruleset.players)]
    assert [set(hand) for hand in deal["hands"]] == hands
    assert sorted(sum(deal["hands"], deal["draw"])) == list(range(60))
    assert deal["draw"][0] == game["draw"][game["draw_left"] - 1]
    assert sorted(deal["ports"]) == list(range(len(ruleset.tables.ports_in_play(ruleset.players))))
    assert [CARDS + port for port in deal["ports"][:3]] == game["open"].tolist()
    assert CARDS + deal["ports"][3] == game["port_pile"][game["ports_left"] - 1]


def test_moves_have_a_player_a_text_and_a_mark_if_forced():
    moves = [line for line in a_shuffled_record()[1:-1] if "shuffle" not in line]
    assert {tuple(line) for line in moves} == {("player", "move"), ("player", "move", "forced")}
    assert {line["forced"] for line in moves if "forced" in line} == {True}


def test_moves_list_what_was_legal_when_asked_for():
    with_legal, without = a_record(legal=True), a_record()
    assert [{key: line[key] for key in line if key != "legal"} for line in with_legal] == without
    for line in with_legal[1:-1]:
        assert line["move"] in line["legal"]
        assert len(set(line["legal"])) == len(line["legal"])
        assert line.get("forced", False) == (len(line["legal"]) == 1)


def test_the_last_line_is_the_result():
    record = a_record(Ruleset(players=5))
    assert list(record[-1]) == ["scores", "places", "contracts"]
    assert [len(column) for column in record[-1].values()] == [5, 5, 5]
    assert not any("scores" in line for line in record[:-1])


def test_a_shuffle_stands_right_before_the_draw_that_needs_it():
    """Counted by hand: each turn draws two cards, and a shuffle line comes when fewer lie in the pile, not before."""
    left_when_shuffled = set()
    for seed in range(8):
        record = a_record(Ruleset(players=5), seed)
        left = len(record[0]["deal"]["draw"])
        turns = [i for i, line in enumerate(record) if line.get("move", "").startswith("ship")]
        for shipped in turns[:-1]:  # nobody draws in the turn that ends the game
            drawing = shipped + 1
            while record[drawing].get("move", "").startswith("take"):
                drawing += 1
            assert ("shuffle" in record[drawing]) == (left < 2)
            if "shuffle" in record[drawing]:
                left_when_shuffled.add(left)
                left += len(record[drawing]["shuffle"])
            left -= 2
        assert sum("shuffle" in line for line in record[: turns[-1]]) == sum("shuffle" in line for line in record)
    assert left_when_shuffled == {0, 1}


def test_every_moment_keeps_its_own_games():
    record = a_shuffled_record()
    one_by_one = [(moment.before.tobytes(), moment.after.tobytes()) for moment in replay(record)]
    together = [(moment.before.tobytes(), moment.after.tobytes()) for moment in list(replay(record))]
    assert together == one_by_one
    assert len(set(together)) > len(record) / 2


# ---------------------------------------------------------------- told in words


def test_a_story_does_not_betray_hands():
    """Whether to defend or to attack was a choice depends on the hand, so the same is told either way."""
    choices = set()
    for seed in range(3):
        record = a_record(Ruleset(), seed)
        told, moments = "\n".join(tell(record)), list(replay(record))
        declined = [
            moment
            for moment in moments
            if moment.line.get("move") == "defend done" and not moment.before["defence_cards"]
        ]
        assert told.count("does not defend") == len(declined)
        stayed = [moment for moment in moments if moment.line.get("move") == "traders none"]
        assert told.count("leaves the traders where they are") == len(stayed)
        assert "has played" not in told
        choices |= {(moment.line["move"], bool(moment.line.get("forced"))) for moment in declined + stayed}
    assert choices >= {("defend done", True), ("defend done", False), ("traders none", False)}


def test_a_story_of_a_strange_seed_is_short(tmp_path):
    record = a_record()
    record[0]["seed"] = 10**4000
    write_record(tmp_path / "file", record)
    assert max(map(len, tell(read_record(tmp_path / "file")))) < 200


# ---------------------------------------------------------------- wrong records


class Case(NamedTuple):
    """A way to spoil a record, the number of the line that is then wrong, and a word of the reason."""

    name: str
    spoil: Callable[[list[Line]], Any]
    line: int
    reason: str
    start: Callable[[], list[Line]] = a_record


def put(line: int, **values: Any) -> Callable[[list[Line]], Any]:
    return lambda record: record[line].update(values)


def drop(line: int, *keys: str) -> Callable[[list[Line]], Any]:
    """Take a field out of a line, at the end of a path of keys."""

    def spoil(record: list[Line]) -> None:
        where: Any = record[line]
        for key in keys[:-1]:
            where = where[key]
        del where[keys[-1]]

    return spoil


def deal(**values: Any) -> Callable[[list[Line]], Any]:
    return lambda record: record[0]["deal"].update(values)


def card_twice(record: list[Line]) -> None:
    record[0]["deal"]["hands"][1][0] = record[0]["deal"]["hands"][0][0]


def card_missing(record: list[Line]) -> None:
    record[0]["deal"]["draw"].pop()


def port_twice(record: list[Line]) -> None:
    record[0]["deal"]["ports"][3] = record[0]["deal"]["ports"][0]


def port_missing(record: list[Line]) -> None:
    record[0]["deal"]["ports"].pop()


def off_by_one(name: str) -> Callable[[list[Line]], Any]:
    def spoil(record: list[Line]) -> None:
        record[-1][name][1] += 1

    return spoil


def other_player(record: list[Line]) -> None:
    record[5]["player"] = (record[5]["player"] + 1) % 3


def not_so_forced(record: list[Line]) -> None:
    record[1]["forced"] = True


def forced_unmarked(record: list[Line]) -> None:
    del record[index_of(record, "forced")]["forced"]


SHUFFLE = index_of(a_shuffled_record(), "shuffle") + 1  # number of the line
FORCED = index_of(a_record(), "forced") + 1
RESULT = len(a_record())
HUGE = 10**4000

CASES = [
    Case("unknown version", put(0, format="borneo-record/2"), 1, "format"),
    *(Case(f"no {key}", drop(0, key), 1, key) for key in a_record()[0]),
    *(Case(f"no {key} in ruleset", drop(0, "ruleset", key), 1, key) for key in ("edition", "players", "blackbeard")),
    *(Case(f"no {key} in deal", drop(0, "deal", key), 1, key) for key in ("start", "hands", "draw", "ports")),
    Case("no flags on a card", drop(0, "cargo", 17, "flags"), 1, "cargo row 17: flags"),
    Case("no limit of a port", drop(0, "ports", 2, "limit"), 1, "ports row 2: limit"),
    Case("no supply of a kind", drop(0, "contracts", "each-2"), 1, "each-2"),
    Case("two players", lambda r: r[0]["ruleset"].update(players=2), 1, "players"),
    Case("unknown setting", lambda r: r[0]["ruleset"].update(speed=3), 1, "ruleset"),
    Case("59 cards", lambda r: r[0]["cargo"].pop(), 1, "cargo"),
    Case("a port that is not in play", lambda r: r[0]["ports"][3].update(mark="5"), 1, "ports row 3: mark"),
    *(
        Case(f"a large number as {name}", spoil, line, "a number of 13288 bits")
        for name, line, spoil in (
            ("start", 1, deal(start=HUGE)),
            ("score", RESULT, put(-1, scores=HUGE)),
        )
    ),
    Case("long names of agents", put(0, agents=["x" * 2000] * 3), 1, "agents: should be 3 names"),
    Case("card in two places", card_twice, 1, "two places"),
    Case("card nowhere", card_missing, 1, "no place"),
    Case("port in two places", port_twice, 1, "two places"),
    Case("port nowhere", port_missing, 1, "no place"),
    Case("a card that does not exist", lambda r: r[0]["deal"]["draw"].append(60), 1, "draw pile"),
    Case("a port that does not exist", lambda r: r[0]["deal"]["ports"].append(99), 1, "port 99"),
    Case("a hand too many", lambda r: r[0]["deal"]["hands"].append([]), 1, "hands"),
    Case("start player 3 of 3", deal(start=3), 1, "start player"),
    Case("no player", drop(5, "player"), 6, "player"),
    Case("no move", drop(5, "move"), 6, "move"),
    Case("wrong player", other_player, 6, "decides"),
    Case("illegal move", put(5, move="place purple"), 6, "legal"),
    Case("a move of another phase", put(5, move="traders none"), 6, "legal"),
    Case("forced without need", not_so_forced, 2, "forced"),
    Case("forced and not marked", forced_unmarked, FORCED, "forced"),
    Case("a legal move left out", lambda r: r[5]["legal"].pop(), 6, "legal", lambda: a_record(legal=True)),
    Case("a legal move too many", lambda r: r[5]["legal"].append("x"), 6, "legal", lambda: a_record(legal=True)),
    Case("a move twice", lambda r: r.insert(6, r[5]), 7, "player"),
    Case("a move left out", lambda r: r.pop(5), 6, "player"),
    Case("the header twice", lambda r: r.insert(1, r[0]), 2, "move"),
    Case("the result twice", lambda r: r.append(r[-1]), RESULT + 1, "behind the result"),
    Case("wrong score", off_by_one("scores"), RESULT, "scores"),
    Case("a score left out", lambda r: r[-1]["scores"].pop(), RESULT, "scores"),
    Case("no places", drop(-1, "places"), RESULT, "places"),
    Case("no result", lambda r: r.pop(), RESULT, "cut off"),
    Case("a shuffle without need", lambda r: r.insert(5, {"shuffle": []}), 6, "move"),
    Case("shuffle missing", lambda r: r.pop(SHUFFLE - 1), SHUFFLE, "shuffle", a_shuffled_record),
    Case("shuffle twice", lambda r: r.insert(SHUFFLE, r[SHUFFLE - 1]), SHUFFLE + 1, "move", a_shuffled_record),
    Case("not all shuffled", lambda r: r[SHUFFLE - 1]["shuffle"].pop(), SHUFFLE, "discarded", a_shuffled_record),
    Case("other cards shuffled", put(SHUFFLE - 1, shuffle=[0, 1]), SHUFFLE, "discarded", a_shuffled_record),
    Case("cards shuffled twice", lambda r: r[SHUFFLE - 1].update(shuffle=r[SHUFFLE - 1]["shuffle"] * 2), SHUFFLE,
         "discarded", a_shuffled_record),
    Case("shuffle later", lambda r: r.insert(SHUFFLE, r.pop(SHUFFLE - 1)), SHUFFLE, "shuffle", a_shuffled_record),
    Case("shuffle sooner", lambda r: r.insert(SHUFFLE - 2, r.pop(SHUFFLE - 1)), SHUFFLE - 1, "move", a_shuffled_record),
]  # fmt: skip


def test_the_records_to_spoil_are_right():
    for start in {case.start for case in CASES}:
        verify(start())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_wrong_record_is_refused_with_line_and_reason(case, tmp_path):
    record = case.start()
    case.spoil(record)
    file = tmp_path / "game.jsonl"
    write_record(file, record)
    with pytest.raises(RecordError) as caught:
        verify(read_record(file))
    assert str(caught.value).isprintable() and len(str(caught.value)) < 2000
    assert caught.value.line == case.line
    assert case.reason in caught.value.reason


def assert_refused(file: Path, line: int, reason: str) -> None:
    """`borneo verify` says file, line and reason in one line, and returns status 1."""
    result = borneo_verify(file)
    said, summary = result.stdout.splitlines()
    assert said.startswith(f"{file}: line {line}: ")
    assert reason in said
    assert summary == "0 of 1 records are right"
    assert result.exit_code == 1
    result = borneo_verify("--json", file)
    [verdict] = json.loads(result.stdout)
    assert (verdict["file"], verdict["ok"], verdict["line"]) == (str(file), False, line)
    assert reason in verdict["reason"]
    assert result.exit_code == 1


def borneo_verify(*arguments: str | Path) -> Result:
    """Run the command; whatever it raises is a failure of the test."""
    result = CliRunner().invoke(app, ["verify", *map(str, arguments)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


# ---------------------------------------------------------------- wrong files


def lines_of(record: list[Line]) -> list[str]:
    return [json.dumps(line) for line in record]


def test_a_file_cut_off_between_lines_is_refused(tmp_path):
    lines = lines_of(a_record())
    for kept in (1, 2, *range(5, len(lines) - 1, 20), len(lines) - 1):
        (tmp_path / "cut.jsonl").write_text("".join(line + "\n" for line in lines[:kept]))
        with pytest.raises(RecordError, match="cut off") as caught:
            verify(read_record(tmp_path / "cut.jsonl"))
        assert caught.value.line == kept + 1


FILES = {  # name: content, wrong line, reason
    "empty": (b"", 1, "empty"),
    "blank": (b"\n", 1, "not JSON"),
    "garbage": (random.Random(1).randbytes(4000), 1, "UTF-8"),
    "a list": (b"[1, 2]\n", 1, "not a JSON object"),
    "NaN": (b"NaN\n", 1, "not JSON (it holds a number that is none"),
    "an empty object": (b"{}\n", 1, "format"),
    "deeply nested lists": (b"[" * 100_000, 1, "not JSON"),
    "a huge number": (b'{"format": ' + b"9" * 10_000 + b"}", 1, "a number of too many digits"),
    "a key twice": (b'{"format": 1, "format": "borneo-record/1"}', 1, "it has two entries 'format'"),
    "many lines": (b"{}\n" * 20_001, 20_001, "one game"),
    "a long text": (b'{"format": "' + b"9" * 100_000 + b'"}', 1, "format"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_record_is_refused(name, tmp_path):
    content, line, reason = FILES[name]
    (tmp_path / "file").write_bytes(content)
    assert_refused(tmp_path / "file", line, reason)
    with pytest.raises(RecordError) as caught:
        verify(read_record(tmp_path / "file"))
    assert len(str(caught.value)) < 300 and str(caught.value).isprintable()


def test_texts_in_a_record_cannot_paint_the_screen(tmp_path):
    """What a stranger wrote is quoted in the reason: no escape sequences, no second line, nothing unprintable."""
    nasty = "\x1b[2J\nall is well \ud800"
    for spoil in (
        put(0, format=nasty),
        put(0, ruleset={nasty: 1}),
        lambda record: record[0]["ruleset"].update(edition=nasty),
        lambda record: record[0]["cargo"][0].update({nasty: 1}),
        lambda record: record[0]["ports"][0].update(name=nasty),
        put(0, agents=nasty),
        put(5, move=nasty),
        put(5, player=nasty),
        put(-1, scores=nasty),
    ):
        record = a_record()
        spoil(record)
        write_record(tmp_path / "file", record)
        result = borneo_verify(tmp_path / "file")
        assert result.exit_code == 1
        assert len(result.stdout.splitlines()) == 2
        assert result.stdout.replace("\n", "").isprintable()


def test_right_and_wrong_files_are_told_apart(tmp_path):
    write_record(tmp_path / "right", a_record())
    (tmp_path / "wrong").write_bytes(b"")
    result = borneo_verify(tmp_path / "right", tmp_path / "wrong")
    assert result.stdout.splitlines() == [
        f"{tmp_path / 'wrong'}: line 1: the file is empty",
        "1 of 2 records are right",
    ]
    assert result.exit_code == 1
    result = borneo_verify("--json", tmp_path / "right")
    scores = a_record()[-1]["scores"]
    assert json.loads(result.stdout) == [{"file": str(tmp_path / "right"), "ok": True, "scores": scores}]
    assert result.exit_code == 0


# ---------------------------------------------------------------- wrong types, everywhere

WRONG_FOR = {  # what may not stand in place of a value of each type
    str: (None, True, 1, 1.5, [], {}),
    int: (None, True, 1.5, "1", [], {}, [1], math.nan, math.inf, -1, 10**30),
    bool: (None, 0, 1, "true", [], {}),
    list: (None, True, 1, "x", {}, {"0": 1}),
    dict: (None, True, 1, "x", [], [1]),
}


def places_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a line; of a list only its first and last item."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else []
    if isinstance(value, list) and value:
        items = [(0, value[0]), (len(value) - 1, value[-1])]
    for key, item in items:
        yield from places_in(item, (*path, key))


def look_up(line: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        line = line[key]
    return line


TYPED_LINES = [  # one line of each sort, by its index in a record
    ("header", 0, a_record),
    ("move", 5, a_record),
    ("forced", FORCED - 1, a_record),
    ("shuffle", SHUFFLE - 1, a_shuffled_record),
    ("result", len(a_record_with_ones()) - 1, a_record_with_ones),
]


@pytest.mark.parametrize(
    ("start", "index", "path"),
    [
        pytest.param(start, index, path, id=f"{sort}-{'-'.join(map(str, path))}")
        for sort, index, start in TYPED_LINES
        for path in places_in(start()[index])
    ],
)
def test_a_value_of_a_wrong_type_is_refused(start, index, path):
    record = start()
    original = look_up(record[index], path)
    for wrong in WRONG_FOR[type(original)]:
        if path == ("seed",) and wrong in (-1, 10**30):
            continue  # whole numbers like any other
        look_up(record[index], path[:-1])[path[-1]] = wrong
        try:
            verify(record)
        except RecordError as error:
            assert error.line == index + 1
        else:
            pytest.fail(f"{wrong!r} was accepted in place of {original!r}")


@pytest.mark.parametrize("wrong", [None, True, 1, "place red", {}, [1], ["place red"] * 4, [[]], [None]])
def test_wrong_legal_moves_are_refused(wrong):
    record = a_record(legal=True)
    record[1]["legal"] = wrong
    with pytest.raises(RecordError, match="line 2: legal"):
        verify(record)


# ---------------------------------------------------------------- anything at all

Draw = Callable[[st.SearchStrategy[Any]], Any]

CHARACTERS = [*'{}[]",:0123456789-.eE ntfu', "\n", "\t", "\\", "\u2028", "\x00", "é", "\ud800", "null", "1e999", "NaN"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(CONTRACT_KINDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
KEYS = ("move", "player", "legal", "forced", "shuffle", "scores", "places", "contracts", "mark", "id", "base")


def scratched(draw: Draw) -> str:
    """A record with a few characters replaced, put in or taken out."""
    text = "\n".join(lines_of(a_record(legal=draw(st.booleans()))))
    for _ in range(draw(st.integers(1, 4))):
        at, length = draw(st.integers(0, len(text) - 1)), draw(st.integers(0, 3))
        text = text[:at] + draw(st.sampled_from(CHARACTERS)) + text[at + length :]
    return text


def revalued(draw: Draw) -> str:
    """A record with values replaced, added or removed."""
    record = a_record()
    for _ in range(draw(st.integers(1, 3))):
        line = record[draw(st.sampled_from([0, -2, -1]) | st.integers(0, len(record) - 1))]
        *path, key = draw(st.sampled_from([*places_in(line), ("scores",)]))
        holder = look_up(line, tuple(path))
        change = draw(st.sampled_from(["replace", "remove", "add"]))
        if change == "add" and isinstance(holder, dict):
            holder[draw(st.sampled_from(KEYS))] = draw(JSON)
        elif change == "remove" and key in places_of(holder):
            del holder[key]
        else:
            holder[key] = draw(JSON)
    return "\n".join(lines_of(record))


def places_of(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


spoilt_in_any_way = pytest.mark.parametrize("spoilt", [scratched, revalued])


@spoilt_in_any_way
@settings(max_examples=20, deadline=None, derandomize=True)
@given(data=st.data())
def test_whatever_a_file_holds_it_is_believed_or_refused(spoilt, data, tmp_path_factory):
    assert_believed_or_refused(spoilt, data, tmp_path_factory)


@pytest.mark.soak
@spoilt_in_any_way
@settings(max_examples=1000, deadline=None, derandomize=True)
@given(data=st.data())
def test_whatever_many_files_hold_they_are_believed_or_refused(spoilt, data, tmp_path_factory):
    assert_believed_or_refused(spoilt, data, tmp_path_factory)


def assert_believed_or_refused(spoilt, data, tmp_path_factory):
    """A record is right, or a RecordError says why not; nothing else may happen, nor when its story is told."""
    file = tmp_path_factory.getbasetemp() / "fuzzed.jsonl"
    file.write_bytes(spoilt(data.draw).encode("utf-8", "surrogatepass"))
    for use in (verify, lambda lines: list(tell(lines, forced=True))):
        try:
            use(read_record(file))
        except RecordError as error:
            assert error.line >= 1
            assert error.reason
            assert str(error).isprintable() and len(str(error)) < 3000
