"""Records of any game whose chance is phases: written, read, replayed from any moment, refused where they are wrong.

Golden records show that old seeds still give the old games. If a difference is meant, renew the files with
`python tests/kontor/test_record.py`, and read the diff.
"""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from kontor import find_game
from kontor.engine.batch import Batch
from kontor.record import (
    MOST_LINES,
    RecordError,
    opening,
    read_record,
    record_games,
    replay,
    result_line,
    step_and_record,
    verify,
    write_record,
)

GOLDEN = Path(__file__).parent / "golden"
EXAMPLES = Path(__file__).parents[2] / "examples"
KUHN = find_game(f"{EXAMPLES / 'kuhn.py'}:KUHN")
LEDUC = find_game(f"{EXAMPLES / 'leduc.py'}:LEDUC")
RULESETS = {ruleset.name: ruleset for ruleset in (KUHN.Ruleset(), KUHN.Ruleset(players=3), LEDUC.Ruleset())}
SEEDS = {"kuhn-2": (0, 1, 2), "kuhn-3": (0, 1, 2), "leduc-2": (0, 1, 2)}
every_ruleset = pytest.mark.parametrize("ruleset", RULESETS.values(), ids=RULESETS)


def a_record(ruleset=RULESETS["leduc-2"], seed=3, **more):
    return record_games(ruleset, 1, seed=seed, **more)[0]


@every_ruleset
def test_records_are_written_read_and_verified(ruleset, tmp_path):
    for record in record_games(ruleset, 40, seed=1, names=["random"] * ruleset.players, legal=True):
        write_record(tmp_path / "game.jsonl", record)
        again = read_record(tmp_path / "game.jsonl")
        assert again == record
        assert verify(again, ruleset.game).scores()[0].tolist() == record[-1]["scores"]


@every_ruleset
def test_a_record_is_of_the_game_that_the_batch_plays(ruleset):
    """Nobody who records disturbs: the records of a batch end as its games do, and as they do alone."""
    records = record_games(ruleset, 20, seed=5)
    batch = Batch(20, ruleset, seed=5, finished="hold", skip_forced=False)
    batch.play_random()
    players = ruleset.players
    assert [record[-1]["scores"] for record in records] == batch.result["scores"][:, :players].tolist()
    for i in (0, 7, 19):
        *_, last = replay(records[i], ruleset.game)
        fields = [name for name in ruleset.game.record.names if name not in ("rng", "number")]
        assert all((last.after[name] == batch.games[name][i]).all() for name in fields)
        assert record_games(ruleset, 1, seed=5, first=i) == [records[i]]


@every_ruleset
def test_who_decides_is_asked_and_forced_moves_are_marked(ruleset):
    record = a_record(ruleset, decide=lambda batch: np.array([np.flatnonzero(batch.mask[0])[-1]]), legal=True)
    moves = [line for line in record if "move" in line]
    assert all(line["move"] == line["legal"][-1] for line in moves)
    assert all(line.get("forced", False) == (len(line["legal"]) == 1) for line in moves)


def test_a_batch_that_somebody_plays_is_recorded():
    batch = Batch(3, LEDUC.Ruleset(), seed=2, first=4, finished="hold", skip_forced=False)
    records = [opening(batch, i, ["a", "b"]) for i in range(3)]
    while (batch.player >= 0).any():
        step_and_record(batch, batch.sample(), records)
    assert [[*record, result_line(batch, i)] for i, record in enumerate(records)] == record_games(
        LEDUC.Ruleset(), 3, seed=2, first=4, names=["a", "b"]
    )
    with pytest.raises(ValueError, match="not as it was dealt"):
        opening(batch, 0)


@every_ruleset
def test_a_record_goes_on_from_any_moment(ruleset):
    """The game at a decision goes on by the rest of the record, and each moment keeps its own."""
    record = a_record(ruleset, seed=8)
    moments = list(replay(record, ruleset.game))
    assert [moment.line for moment in moments] == record[1:]
    assert {moment.kind for moment in moments} == {"chance", "move", "result"}
    for moment in moments:
        if moment.batch.player[0] == -2:
            assert not moment.batch.mask.any() and not moment.batch.legal_moves()
    starts = [at for at, moment in enumerate(moments) if moment.batch.player[0] >= 0]
    for at in starts:
        played = moments[at].batch.copy()
        for later in moments[at + 1 :]:
            if later.kind == "move":
                played.step([played.actions.action(later.line["move"], played.phase_name())])
                assert later.move.text == later.line["move"]
            if later.batch.player[0] == -2 or later.kind == "chance":
                played.lay(later.batch.games)  # what chance brought then
        assert played.games.tobytes() == moments[-1].batch.games.tobytes()


@pytest.mark.parametrize("name", SEEDS)
def test_golden_games(name):
    for seed in SEEDS[name]:
        lines = (GOLDEN / f"{name}-{seed}.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.dumps(line) for line in golden(name, seed)] == lines
        verify(read_record(GOLDEN / f"{name}-{seed}.jsonl"), RULESETS[name].game)


def golden(name, seed):
    return a_record(RULESETS[name], seed, names=["random"] * RULESETS[name].players, legal=True)


# ---------------------------------------------------------------- wrong records

RECORD = [  # a game of Leduc, line by line
    {"format": "leduc-record/1", "ruleset": {"players": 2}},
    {"chance": "deal king 2"},
    {"chance": "deal king 1"},
    {"player": 0, "move": "call"},
    {"player": 1, "move": "call"},
    {"chance": "flop jack 2"},
    {"player": 0, "move": "raise"},
    {"player": 1, "move": "fold"},
    {"scores": [1, -1], "places": [1, 2]},
]


def put(line, **values):
    return lambda record: record[line - 1].update(values)


def without(line, key):
    return lambda record: record[line - 1].pop(key)


@pytest.mark.parametrize(
    ("spoil", "line", "reason"),
    [
        (lambda record: record.clear(), 1, "the file is empty"),
        (put(1, format="leduc-record/2"), 1, "this version reads 'leduc-record/1'"),
        (put(1, format="kuhn-record/1"), 1, "this version reads 'leduc-record/1'"),
        (without(1, "ruleset"), 1, "ruleset: should be an object"),
        (put(1, ruleset={}), 1, "it needs players"),
        (put(1, ruleset={"players": 3}), 1, "players is one of 2, not 3"),
        (put(1, ruleset={"players": True}), 1, "players is one of 2, not True"),
        (put(1, ruleset={"players": "x" * 5000}), 1, "players is one of 2"),
        (put(1, agents=["a"]), 1, "agents: should be 2 names"),
        (put(1, agents=["a", 1]), 1, "agents: should be 2 names"),
        (put(1, seed="1"), 1, "seed: should be a whole number"),
        (put(2, chance="deal ace"), 2, "chance cannot bring 'deal ace'"),
        (put(3, chance="deal king 2"), 3, "it can bring: deal jack 1, deal jack 2, deal queen 1, deal queen 2, "),
        (put(3, chance=4), 3, "chance: should be a text, but is 4"),
        (put(6, chance="deal jack 2"), 6, "chance cannot bring 'deal jack 2' (phase flop)"),
        (lambda record: record.pop(5), 6, "chance decides here (phase flop)"),
        (lambda record: record.insert(3, {"chance": "deal jack 1"}), 4, "a move of player 0 should stand here"),
        (put(4, player=1), 4, "player 0 decides"),
        (put(4, move="fold"), 4, "legal are: call, raise"),
        (put(4, move=["call"]), 4, "move: should be a text"),
        (put(4, forced=True), 4, "forced: 2 moves were legal"),
        (put(4, legal=["call"]), 4, "the legal moves are: call, raise"),
        (put(9, scores=[1, 1]), 9, "scores: should be [1, -1]"),
        (put(9, places=[True, 2]), 9, "places: should be [1, 2]"),
        (lambda record: record.pop(), 9, "was it cut off?"),
        (lambda record: record.append({}), 10, "behind the result"),
    ],
)  # fmt: skip
def test_a_wrong_record_is_refused_with_line_and_reason(spoil, line, reason):
    record = json.loads(json.dumps(RECORD))
    verify(record, LEDUC)
    spoil(record)
    with pytest.raises(RecordError) as refused:
        verify(record, LEDUC)
    assert refused.value.line == line
    assert reason in refused.value.reason and len(str(refused.value)) < 1000 and str(refused.value).isprintable()


def test_a_damaged_file_is_believed_or_refused(tmp_path):
    text, draw = "\n".join(map(json.dumps, RECORD)), random.Random(1)
    refused, rounds = 0, 300
    for _ in range(rounds):
        at = draw.randrange(len(text))
        (tmp_path / "file").write_text(text[:at] + draw.choice('0"{[,x\n') + text[at + draw.randrange(3) :])
        try:
            verify(read_record(tmp_path / "file"), LEDUC)
        except RecordError as error:
            refused += error.line >= 1
    assert refused > rounds / 2


def test_files_that_are_too_large_are_not_read(tmp_path):
    (tmp_path / "long").write_text("{}\n" * (MOST_LINES + 1))
    with pytest.raises(RecordError, match="never has more than"):
        read_record(tmp_path / "long")


@pytest.mark.parametrize("form", ["nothing-record/1", "os:path-record/1", "examples/leduc.py:LEDUC-record/1", 7, None])
def test_a_file_names_installed_games_only(form):
    with pytest.raises(RecordError, match=r"line 1: format: is .* of no game that is installed here"):
        verify([RECORD[0] | {"format": form}, *RECORD[1:]])


def renew():
    for name, seeds in SEEDS.items():
        for seed in seeds:
            write_record(GOLDEN / f"{name}-{seed}.jsonl", golden(name, seed))


if __name__ == "__main__":
    renew()
