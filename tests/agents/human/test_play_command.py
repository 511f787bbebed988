"""The command `borneo play`."""

from __future__ import annotations

import io
import json
from pathlib import Path

from borneo_agents.human.game import Game
from typed_games import SEATS, TINY, lines, run_play, typed_game

from borneo_env.record import read_record
from borneo_env.ruleset import Ruleset
from kontor.files import FileError


def test_the_command_plays_saves_and_continues(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    numbers, wanted = typed_game(7, confirm=False)
    half = len(numbers) // 2
    start = "--seats human,random,random --tables tiny --seed 7 --record done.jsonl --yes"
    status, out, err = run_play(capsys, monkeypatch, start + " --json", lines(*numbers[:half], "q"))
    assert status == 0, err
    assert json.loads(out) == {"seats": SEATS, "result": None, "saved": "borneo-game.json"}
    assert "Saved. `borneo play --continue borneo-game.json` goes on." in err
    assert not Path("done.jsonl").exists()
    line = "--continue borneo-game.json --record done.jsonl --yes --json"
    status, out, err = run_play(capsys, monkeypatch, line, lines(*numbers[half:]))
    assert status == 0, err
    assert json.loads(out) == {"seats": SEATS, "result": wanted.lines[-1], "saved": None}
    assert read_record("done.jsonl") == wanted.lines


def test_the_number_of_players_is_that_of_the_seats(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    status, out, _ = run_play(capsys, monkeypatch, "--seats human,random,random,random,random --seed 1", "q\n")
    assert status == 0
    assert "five players" in out
    status, out, err = run_play(capsys, monkeypatch, "--seats human,random")
    assert status == 2
    assert "3, 4 or 5 players" in err
    status, out, err = run_play(capsys, monkeypatch, "--continue nowhere.json")
    assert status == 2
    assert "nowhere.json: cannot be read" in err


def test_a_place_that_cannot_be_written_is_told_before_the_game(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for place in ("--save nowhere/game.json", "--record nowhere/game.jsonl", "--save /dev/null", "--record ."):
        status, out, err = run_play(capsys, monkeypatch, f"--tables tiny {place}", "q\n")
        assert (status, out) == (2, "")
        assert f"{place.split()[1]}: cannot be written" in err
    assert list(tmp_path.iterdir()) == []


def test_a_record_that_fails_at_the_end_costs_no_game(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    numbers, wanted = typed_game(7, confirm=False)
    with monkeypatch.context() as patch:
        patch.setattr("kontor.record.write_file", lambda path, *_, **__: fail_to_write(path))
        start = "--seats human,random,random --tables tiny --seed 7 --yes --record done.jsonl"
        status, _, err = run_play(capsys, patch, start, lines(*numbers))
    assert status == 2
    assert "done.jsonl: cannot be written; the game is in borneo-game.json: continue it with another --record" in err
    status, _, err = run_play(capsys, monkeypatch, "--continue borneo-game.json --record done.jsonl")
    assert status == 0, err
    assert read_record("done.jsonl") == wanted.lines


def fail_to_write(path):
    raise FileError(path, "cannot be written")


def test_bytes_that_are_no_text_are_asked_again(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    typed = io.TextIOWrapper(io.BytesIO(b"\xff\n2\n\nq\n"), encoding="utf-8")
    status, out, _ = run_play(capsys, monkeypatch, "--seats human,random,random --tables tiny --seed 3", typed)
    assert status == 0 and r"'\\xff' is no option" in out
    assert Game.load(Path("borneo-game.json")).lines[1]["move"] == "place yellow"


def test_opponents_have_names_by_strength_and_play_both_editions():
    for ruleset in (TINY, Ruleset("card", 3)):
        game = Game(ruleset, ["easy", "normal", "hard:budget=4"], 1)
        game.play_turn()
        assert [type(agent).__name__ for agent in game.agents.values()] == ["Climber", "Merchant", "Ismcts"]
