"""People at the terminal: whole games typed in, choices taken back, games saved and continued."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from borneo_agents.options import option, options
from borneo_agents.play import CLEAR, AgentFailed, Game, SaveError, Table, free_name

from borneo_env import cli
from borneo_env.agent import UnknownAgent
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import HAND
from borneo_env.record import read_record, verify
from borneo_env.ruleset import Ruleset, every_ruleset
from borneo_env.story import card_name

TINY = Ruleset(players=3, tables="tiny")
SEATS = ["human", "random", "random"]


def sit(seats=SEATS, seed=3, ruleset=TINY):
    return Game(ruleset, seats, seed)


def table(game, typed, save_to, **more):
    """Play with what is typed; whether the game was finished, and all that was shown."""
    shown = io.StringIO()
    finished = Table(game, save_to, typed=io.StringIO(typed), shown=shown, **more).run()
    return finished, shown.getvalue()


def typed_game(seed, seats=SEATS, ruleset=TINY):
    """Numbers that play a game of these seats to its end, chosen by chance; and the finished game."""
    rng = np.random.default_rng(seed)
    game, numbers = sit(seats, seed, ruleset), []
    game.advance()
    while not game.over:
        choices = options(game.batch)
        numbers.append(int(rng.integers(len(choices))) + 1)
        game.play(choices[numbers[-1] - 1][0])
        game.advance()
    return numbers, game


def lines(*words):
    return "".join(f"{word}\n" for word in words)


def confirmed(numbers):
    return lines(*(word for number in numbers for word in (number, "")))


# ---------------------------------------------------------------- a game


@pytest.mark.parametrize("seed", range(4))
def test_a_whole_game_is_typed(seed, tmp_path):
    numbers, wanted = typed_game(seed)
    game = sit(seed=seed)
    finished, shown = table(game, confirmed(numbers), tmp_path / "save.json")
    assert finished
    assert game.lines == wanted.lines
    verify(game.lines)
    assert not (tmp_path / "save.json").exists()
    result = game.lines[-1]
    for seat, name in enumerate(game.names):
        assert f"{name}: place {result['places'][seat]}, {result['scores'][seat]} point" in shown
    assert "\x1b[" not in shown, "no colours where there is no terminal"


def test_the_board_is_that_of_the_person(tmp_path):
    game = sit()
    _, shown = table(game, "q\n", tmp_path / "save.json")
    hands = [np.flatnonzero(game.batch.games["place"][0] == HAND + seat).tolist() for seat in range(3)]
    assert "seen by human 0" in shown
    first = shown[shown.index("hand  0") :].splitlines()[0]
    assert [int(card) for card in re.findall(r"(\d+) [rygb]{3}/", first)] == hands[0]
    assert len(re.findall(r"^hand ", shown, re.MULTILINE)) == 1


def test_what_happened_since_the_last_decision_is_told_once(tmp_path):
    game = sit()
    _, shown = table(game, confirmed([1, 1, 1, 1]), tmp_path / "save.json")
    told = [line for line in shown.splitlines() if line in game.told]
    assert told == game.told[: len(told)]
    assert len(told) >= 9, "three rounds of placing at least"
    assert "    random 1 places a trader in" in shown


@pytest.mark.parametrize("mark", [" ", "0", "5", "-1", "x", "1.0", "²", "1 2"])
def test_what_is_no_option_is_asked_again(mark, tmp_path):
    game = sit()
    finished, shown = table(game, lines(mark, 2, "", "q"), tmp_path / "save.json")
    assert not finished
    assert f"{mark.strip()!r} is no option. Type a number from 1 to 4" in shown
    moves = [line for line in game.lines if line.get("player") == 0]
    assert moves[0]["move"] == "place yellow"


def test_a_choice_is_taken_back(tmp_path):
    game = sit()
    _, shown = table(game, lines(1, "u", 3, "what?", ""), tmp_path / "save.json")
    assert "You place a trader in red, rank 1. Enter confirms, u takes it back: " in shown
    assert "Enter confirms the choice, u takes it back, q saves and quits." in shown
    moves = [line["move"] for line in game.lines[1:] if line["player"] == 0]
    assert moves[0] == "place green"


def test_without_confirmation_a_number_is_a_move(tmp_path):
    numbers, wanted = typed_game(1)
    game = sit(seed=1)
    finished, shown = table(game, lines(*numbers), tmp_path / "save.json", confirm=False)
    assert finished
    assert game.lines == wanted.lines
    assert "Enter confirms" not in shown


def test_help_board_and_history(tmp_path):
    game = sit()
    _, shown = table(game, lines("?", 1, "", "b", "h", "q"), tmp_path / "save.json")
    assert "u takes it back\n" in shown.replace("takes it back.", "takes it back\n")
    assert "`borneo play --continue FILE` goes on" in shown
    assert shown.count("BORNEO  board edition") == 3, "at both decisions, and once more"
    assert shown.count("    human 0 places a trader in red, rank 1\n") == 2, "as news, and in the history"
    assert shown.count("  1  place a trader in red, rank 2\n") == 2, "the options come again with the board"


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_has_colours(tmp_path):
    shown = Screen()
    Table(sit(), tmp_path / "save.json", typed=io.StringIO("q\n"), shown=shown).run()
    assert "\x1b[97;41m" in shown.getvalue()
    assert CLEAR not in shown.getvalue(), "one person has nothing to hide"


def test_several_people_hand_over_without_seeing_hands(tmp_path):
    seats = ["human", "human", "random"]
    numbers, wanted = typed_game(2, seats)
    game, shown, typed = sit(seats, 2), Screen(), []
    seats_asked, copy = [], sit(seats, 2)
    copy.advance()
    for number in numbers:
        if seats_asked[-1:] != [copy.player]:
            typed.append("")  # ready
        seats_asked.append(copy.player)
        typed.append(number)
        copy.play(options(copy.batch)[number - 1][0])
        copy.advance()
    assert Table(game, tmp_path / "s", typed=io.StringIO(lines(*typed)), shown=shown, confirm=False).run()
    assert game.lines == wanted.lines
    parts = shown.getvalue().split(CLEAR)
    handed = [part.split(" is next. ")[0].strip() for part in parts[1:]]
    changes = [seat for i, seat in enumerate(seats_asked) if seat != (seats_asked[i - 1] if i else None)]
    assert handed == [f"human {seat}" for seat in changes]
    for part, seat in zip(parts[1:-1], changes, strict=False):
        assert part.index("Enter when ready") < part.index(f"seen by human {seat}")
        assert f"seen by human {1 - seat}" not in part
        assert part.count("hand \x1b[") == part.count("BORNEO"), "one hand on every board"


# ---------------------------------------------------------------- saving


@pytest.mark.parametrize("seats", [SEATS, ["random", "human", "human"]])
def test_a_saved_game_goes_on_to_the_same_end(seats, tmp_path):
    numbers, wanted = typed_game(5, seats)
    for stop in (0, 1, len(numbers) // 2, len(numbers) - 1):
        game, file = sit(seats, 5), tmp_path / f"{stop}.json"
        game.advance()
        for number in numbers[:stop]:
            game.play(options(game.batch)[number - 1][0])
            game.advance()
        game.save(file)
        again = Game.load(file)
        assert again.lines == game.lines
        assert again.told == game.told
        for number in numbers[stop:]:
            again.play(options(again.batch)[number - 1][0])
            again.advance()
        assert again.lines == wanted.lines


def test_quitting_saves_wherever_it_happens(tmp_path):
    for typed in ("q\n", "", "1\nq\n", "1\n", "1\n\n"):
        file = tmp_path / "save.json"
        game = sit()
        finished, shown = table(game, typed, file)
        assert not finished
        assert f"Saved. `borneo play --continue {file}` goes on." in shown
        assert Game.load(file).lines == game.lines
        file.unlink()


def test_saving_goes_on(tmp_path):
    game = sit()
    table(game, lines(1, "", "s", 2, "", "q"), tmp_path / "save.json")
    assert len([line for line in game.lines if line.get("player") == 0]) == 2


def test_a_continued_game_tells_what_happened_last(tmp_path):
    game = sit()
    table(game, lines(1, "", 1, "", "q"), tmp_path / "save.json")
    _, shown = table(Game.load(tmp_path / "save.json"), "q\n", tmp_path / "save.json")
    assert game.told[-1] in shown


def change(saved, place, value):
    *path, last = place
    inner = saved
    for key in path:
        inner = inner[key]
    inner[last] = value


@pytest.mark.parametrize(
    ("place", "value", "complaint"),
    [
        (["format"], "borneo-play/9", "no saved game"),
        (["record"], [], "holds no record"),
        (["record"], {"0": 1}, "holds no record"),
        (["record", 0, "format"], "x", "format: is 'x'"),
        (["record", 0, "seed"], 4, "line 1: is not what"),
        (["record", 0, "seed"], "3", "seed: should be a whole number"),
        (["record", 0, "seed"], -1, "a seed is a whole number"),
        (["record", 0, "agents"], ["human", "random"], "2 seats are named"),
        (["record", 0, "agents"], [1, 2, 3], "a list of names"),
        (["record", 0, "agents"], ["human", "random", "nobody"], "there is no agent 'nobody'"),
        (["record", 0, "deal", "start"], 7, "line 1: is not what"),
        (["record", 1, "move"], "place pink", "'place pink' is not a move"),
        (["record", 1, "move"], ["place"], "line 2: .* cannot come next"),
        (["record", 1, "move"], "take 5", "'take 5' is not a move of the phase place"),
        (["record", 1, "player"], 2, "line 2: .* cannot come next"),
        (["record", 2, "forced"], True, "line 3: is not what"),
        (["record", -1], {"shuffle": [1]}, "is not what|is too much"),
    ],
)
def test_a_changed_file_is_refused(place, value, complaint, tmp_path):
    game, file = sit(), tmp_path / "save.json"
    table(game, confirmed([1, 1, 1]), file)
    saved = json.loads(file.read_text())
    assert saved["record"][1]["move"] == "place red"
    change(saved, place, value)
    file.write_text(json.dumps(saved))
    with pytest.raises(SaveError, match=complaint):
        Game.load(file)


def test_an_illegal_move_in_a_file_is_refused(tmp_path):
    _, game = typed_game(1)
    number = next(i for i, line in enumerate(game.lines) if line.get("move", "").startswith("ship "))
    card = int(game.lines[number]["move"].split()[1])
    elsewhere = next(other for other in range(60) if other not in game.lines[0]["deal"]["hands"][0] and other != card)
    game.lines[number]["move"] = f"ship {elsewhere} 0"
    game.save(tmp_path / "save.json")
    with pytest.raises(SaveError, match=f"'ship {elsewhere} 0' is not legal"):
        Game.load(tmp_path / "save.json")


@pytest.mark.parametrize(
    ("text", "complaint"), [("{", "is not JSON"), ("[]", "no saved game"), ("[" * 100_000, "is not JSON")]
)
def test_a_file_that_holds_no_game(text, complaint, tmp_path):
    (tmp_path / "x").write_text(text)
    with pytest.raises(SaveError, match=complaint):
        Game.load(tmp_path / "x")
    with pytest.raises(SaveError, match="cannot be read"):
        Game.load(tmp_path / "y")


def test_saving_by_default_overwrites_no_other_game(tmp_path):
    file = tmp_path / "game.json"
    assert free_name(file) == file
    file.write_text("")
    assert free_name(file) == tmp_path / "game-2.json"
    (tmp_path / "game-2.json").write_text("")
    assert free_name(file) == tmp_path / "game-3.json"


# ---------------------------------------------------------------- agents


class Odd:
    def __init__(self, answer):
        self.answer = answer

    def act(self, views):
        if self.answer is None:
            raise RuntimeError("no idea")
        return np.array([self.answer])


@pytest.mark.parametrize(("answer", "complaint"), [(None, "RuntimeError: no idea"), (369, "action 369"), (-1, "-1")])
def test_an_agent_that_fails_does_not_cost_the_game(answer, complaint, tmp_path):
    game = sit()
    game.agents[1] = Odd(answer)
    with pytest.raises(AgentFailed, match=f"random 1 .*{complaint}"):
        table(game, confirmed([1, 1]), tmp_path / "save.json")
    assert Game.load(tmp_path / "save.json").lines == game.lines
    assert len(game.lines) == 2


def test_agents_see_no_hands(tmp_path):
    seen = []

    class Spy(Odd):
        def act(self, views):
            seen.append(views.games[0].copy())
            return views.mask.argmax(1)

    game = sit()
    game.agents[1] = Spy(0)
    table(game, confirmed([1] * 8), tmp_path / "save.json")
    assert seen
    for view in seen:
        assert not (view["place"] == HAND).any(), "the person's hand"
        assert (view["place"] == HAND + 1).sum() == view["hand_size"][1]


def test_wrong_seats():
    with pytest.raises(UnknownAgent, match="2 seats are named"):
        sit(["human", "random"])
    with pytest.raises(UnknownAgent, match="no agent 'nobody'"):
        sit(["human", "random", "nobody"])


# ---------------------------------------------------------------- options in words


@pytest.mark.parametrize("ruleset", every_ruleset(), ids=lambda ruleset: ruleset.name)
def test_every_option_has_words_of_its_own(ruleset):
    batch = Batch(1, ruleset, seed=1, finished="hold")
    verbs = set()
    while batch.player[0] >= 0:
        choices = options(batch)
        assert [action for action, _ in choices] == np.flatnonzero(batch.mask[0]).tolist()
        assert len({words for _, words in choices}) == len(choices)
        for move in batch.legal_moves():
            verbs.add(move.split()[0])
            for card in re.findall(r"(?:ship|commit|defend|keep|take|drop) (\d+)", move):
                assert card_name(ruleset, int(card)) in option(batch, move)
        batch.step(batch.sample())
    assert {"place", "contract", "traders", "transfer", "ship", "take"} <= verbs


def test_options_say_what_they_lead_to():
    """What is announced is what the story then tells."""
    told = 0
    for seed in range(3):
        game, rng = sit(seed=seed, ruleset=Ruleset(players=3)), np.random.default_rng(seed)
        game.advance()
        while not game.over:
            choices = options(game.batch)
            action, words = choices[rng.integers(len(choices))]
            start = len(game.told)
            game.play(action)
            news = " ".join(game.told[start:])
            if words.startswith(("place", "transfer", "attack player", "leave for")):
                verb, rest = game.with_names(words).split(" ", 1)
                rest = re.sub(r", \d+ flags? more for the defence", "", rest)
                if verb != "leave":
                    assert f"human 0 {verb}s {rest}" in news
                    told += 1
            game.advance()
    assert told > 20


# ---------------------------------------------------------------- the command


def run(capsys, monkeypatch, line, typed=""):
    monkeypatch.setattr(sys, "argv", ["borneo", *line.split()])
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    with pytest.raises(SystemExit) as left:
        cli.main()
    return (left.value.code or 0, *capsys.readouterr())


def test_the_command_plays_saves_and_continues(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    numbers, wanted = typed_game(7)
    half = len(numbers) // 2
    start = "play --seats human,random,random --tables tiny --seed 7 --record done.jsonl"
    status, out, err = run(capsys, monkeypatch, start + " --json", confirmed(numbers[:half]) + "q\n")
    assert status == 0, err
    assert json.loads(out) == {"seats": SEATS, "result": None, "saved": "borneo-game.json"}
    assert "Saved. `borneo play --continue borneo-game.json` goes on." in err
    assert not Path("done.jsonl").exists()
    line = "play --continue borneo-game.json --record done.jsonl --yes --json"
    status, out, err = run(capsys, monkeypatch, line, lines(*numbers[half:]))
    assert status == 0, err
    assert json.loads(out) == {"seats": SEATS, "result": wanted.lines[-1], "saved": None}
    assert read_record("done.jsonl") == wanted.lines


def test_the_number_of_players_is_that_of_the_seats(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    status, out, _ = run(capsys, monkeypatch, "play --seats human,random,random,random,random --seed 1", "q\n")
    assert status == 0
    assert "five players" in out
    status, out, err = run(capsys, monkeypatch, "play --seats human,random")
    assert status == 2
    assert "3, 4 or 5 players" in err
    status, out, err = run(capsys, monkeypatch, "play --continue nowhere.json")
    assert status == 2
    assert "nowhere.json: cannot be read" in err


def test_ctrl_c_saves(tmp_path):
    game = subprocess.Popen(
        [sys.executable, "-m", "borneo_env.cli", "play", "--tables", "tiny", "--seed", "3", "--yes"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell in the background ignores it
    )  # fmt: skip
    game.stdin.write("1\n")
    game.stdin.flush()
    shown = ""
    while shown.count(" or ? for help: ") < 2:
        character = game.stdout.read(1)
        assert character, game.stderr.read()
        shown += character
    time.sleep(0.1)
    game.send_signal(signal.SIGINT)
    game.wait(timeout=30)  # while it could still be typed to
    out, err = game.communicate()
    assert "Saved." in out, err
    assert Game.load(tmp_path / "borneo-game.json").lines[1]["move"] == "place red"
    assert "Traceback" not in err
