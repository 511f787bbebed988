"""Golden games: one record and its story per ruleset, for people to read and for changes to show as readable diffs.

The seeds are chosen so that the games together show everything: every verb, every kind of contract, pirates, a
joker, monopolies with and without traders, a game that ends with the cards, a tie broken by contracts.

A difference here means that old seeds no longer give the old games, or that stories read differently. If that is
meant, renew the files with `python tests/test_golden.py`, read the diff, and say so in the changelog.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from referee import Referee, check_record

from borneo_env.cards import CONTRACT_KINDS
from borneo_env.record import Line, read_record, record_games, verify, write_record
from borneo_env.ruleset import every_ruleset
from borneo_env.story import tell

GOLDEN = Path(__file__).parent / "golden"
RULESETS = {ruleset.name: ruleset for ruleset in every_ruleset()}
SEEDS = {
    "board-3": 148,
    "board-4": 99,
    "board-5": 188,
    "board-3-four-traders": 191,
    "board-3-blackbeard": 2,
    "board-4-blackbeard": 71,
    "board-5-blackbeard": 207,
    "board-3-four-traders-blackbeard": 65,
    "card-3": 196,
    "card-4": 13,
    "card-5": 219,
}

every_golden = pytest.mark.parametrize("name", SEEDS)


def play(name: str) -> list[Line]:
    ruleset = RULESETS[name]
    return record_games(ruleset, 1, seed=SEEDS[name], agents=["random"] * ruleset.players)[0]


def story(record: list[Line]) -> str:
    return "".join(line + "\n" for line in tell(record))


@cache
def golden(name: str) -> list[Line]:
    return read_record(GOLDEN / f"{name}.jsonl")


def test_every_ruleset_has_a_golden_game_and_no_other_file_lies_there():
    expected = {f"{name}.{ending}" for name in RULESETS for ending in ("jsonl", "txt")}
    assert {file.name for file in GOLDEN.iterdir()} == expected


@every_golden
def test_the_seed_still_gives_the_same_game(name, tmp_path):
    write_record(tmp_path / "again", play(name))
    again = (tmp_path / "again").read_text(encoding="utf-8")
    assert again.splitlines() == (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    assert (tmp_path / "again").read_bytes() == (GOLDEN / f"{name}.jsonl").read_bytes()


@every_golden
def test_the_story_still_reads_the_same(name):
    expected = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert story(golden(name)).splitlines() == expected.splitlines()


@every_golden
def test_the_record_is_right(name):
    assert verify(golden(name)).scores()[0].tolist() == golden(name)[-1]["scores"]


@every_golden
def test_the_referee_agrees(name):
    assert check_record(golden(name)).places() == golden(name)[-1]["places"]


@every_golden
def test_the_story_is_true(name):
    """What it says happened is counted against the referee's game."""
    told, game = story(golden(name)).splitlines(), check_record(golden(name))
    open_ports = sum(port is not None for port in game.open_ports)
    distributions = len(game.ports) - len(game.port_pile) - open_ports
    assert count(told, "    Monopoly of ") + count(told, "    Shared distribution: ") == distributions
    assert count(told, "The contract is fulfilled") == sum(game.contracts())
    assert count(told, " takes card ") == sum(line.get("move", "").startswith("take") for line in golden(name))
    left = [i for i, line in enumerate(told) if line.endswith("leaves the game.")]
    assert all(told[i - 1].startswith("    Monopoly of ") for i in left)  # R6.2, and nothing but
    [end] = [i for i, line in enumerate(told) if line.startswith("The game ends")]
    assert count(told[:end], "is shuffled") == sum("shuffle" in line for line in golden(name))
    columns = zip(game.places(), game.scores(), game.contracts(), strict=True)
    for player, (place, points, contracts) in enumerate(columns):
        line = f"    player {player}: place {place}, {points} point, {contracts} contract"
        assert line in [result.replace("s,", ",").removesuffix("s") for result in told[-game.players :]]


def count(lines: list[str], words: str) -> int:
    return sum(words in line for line in lines)


def test_the_games_together_show_everything():
    records = [golden(name) for name in SEEDS]
    finished = [check_record(record) for record in records]
    moves = {line["move"] for record in records for line in record if "move" in line}
    stories = "".join((GOLDEN / f"{name}.txt").read_text(encoding="utf-8") for name in SEEDS)
    verbs = {name.removeprefix("_play_") for name in vars(Referee) if name.startswith("_play_")}
    assert {move.split()[0] for move in moves} == verbs
    assert {"contract none", "traders none", "commit done", "defend done", "keep none", "yield slot"} <= moves
    assert {move.split()[1] for move in moves if move.startswith("contract")} == {*CONTRACT_KINDS, "none"}
    assert {" ".join(move.split()[2:]) for move in moves if move.startswith("pay")} >= {"single", "double", "port", ""}
    assert any(move.startswith("keep ") for move in moves - {"keep none"})
    assert any(game.ship_holder is not None for game in finished)
    assert any(None not in game.open_ports for game in finished), "no game ends with the cards (R8.3)"
    assert any("shuffle" in line for record in records for line in record)
    assert any(tie_broken(record[-1]) for record in records), "no tie is broken by contracts (R8.7)"
    for words in (
        "through the pirates", "with a joker", "the attack succeeds", "the attack fails",
        "and 1 between", "Monopoly of", "Shared distribution", "is shuffled", "takes the slot", "leaves for",
        "keeps card", "keeps no card", "drops card",
    ):  # fmt: skip
        assert words in stories, words
    told = stories.splitlines()
    assert any("Monopoly" in a and b.endswith("leaves the game.") for a, b in pairwise(told))  # R6.2
    last_contracts = stories.split("Last contracts:")[1:]
    assert any("The contract is fulfilled" in rest.split("Result:")[0] for rest in last_contracts)


def tie_broken(result: Line) -> bool:
    """Whether two players with equal points have different places."""
    ranked = sorted(zip(result["scores"], result["places"], strict=True))
    return any(a[0] == b[0] and a[1] != b[1] for a, b in pairwise(ranked))


def renew() -> None:
    for name in SEEDS:
        record = play(name)
        write_record(GOLDEN / f"{name}.jsonl", record)
        (GOLDEN / f"{name}.txt").write_text(story(record), encoding="utf-8")


if __name__ == "__main__":
    renew()
