"""Games saved and continued: whatever ends them, and whatever a file holds."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from borneo_agents.human.game import Game, SaveError
from borneo_agents.human.terminal import Terminal, free_name
from typed_games import SEATS, confirmed, lines, question, run_play, sit, table, typed_game

from kontor.files import FileError

MY_BOT = """
from pathlib import Path
Path("imported").touch()
class Bot:
    def act(self, views):
        return views.mask.argmax(1)
"""


@pytest.mark.parametrize("seats", [SEATS, ["random", "human", "human"]])
def test_a_saved_game_goes_on_to_the_same_end(seats, tmp_path):
    numbers, wanted = typed_game(5, seats, confirm=False)
    for stop in (0, 1, len(numbers) // 2, len(numbers) - 1):
        game, file = sit(seats, 5), tmp_path / f"{stop}.json"
        game.advance()
        for number in numbers[:stop]:
            game.choose(question(game).parse(number))
            game.advance()
        game.save(file)
        again = Game.load(file)
        assert again.lines == game.lines
        assert again.told == game.told and again.can_undo == game.can_undo
        for number in numbers[stop:]:
            again.choose(question(again).parse(number))
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
        (["record", 0, "format"], "x", "format: is 'x'"),
        (["record", 0, "seed"], 4, "line 1: is not what"),
        (["record", 0, "seed"], "3", "seed: should be a whole number"),
        (["record", 0, "agents"], ["human", "random"], "2 seats are named"),
        (["record", 0, "agents"], [1, 2, 3], "a list of names"),
        (["record", 0, "agents"], ["human", "random", "nobody"], "no registered agent 'nobody'.*--trust"),
        (["record", 0, "agents"], ["human", "random", "x" * 10**6], "at most 1000 characters"),
        (["record", 0, "seed"], "\x1b[2J" * 999, "seed: should be a whole number"),
        (["record", 1, "move"], "\x1b[2J" * 10**5, "is not a move"),
        (["record", 1], {"move": "x" * 10**6, "player": [[]]}, "line 2: .* cannot come next"),
        (["record", 0, "deal", "start"], 7, "line 1: is not what"),
        (["record", 1, "move"], "place pink", "'place pink' is not a move"),
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
    with pytest.raises(SaveError, match=complaint) as caught:
        Game.load(file)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 1200 + len(str(file))


def spoilt(text, rng):
    """A saved game with some characters replaced, put in or taken out, or a value replaced."""
    odd = [*'"{}[],', "9" * 5000, "NaN", "\\ud800", "\ufeff", "null", "-1", "1e999", "\0", '"a": 1, ', ""]
    for _ in range(rng.integers(1, 3)):
        at = int(rng.integers(len(text)))
        if rng.integers(2):
            value = re.compile(r'"[^"]*"|-?\d+|true').search(text, at)
            at, end = value.span() if value else (at, at)
        else:
            end = at + int(rng.integers(4))
        text = text[:at] + str(rng.choice(odd)) + text[end:]
    return text


def test_whatever_a_file_holds_it_is_a_game_or_refused(tmp_path):
    game, file, rng = sit(), tmp_path / "save.json", np.random.default_rng(1)
    table(game, confirmed([1, 1, 1]), file)
    with pytest.raises(SaveError, match="cannot be read"):
        Game.load(tmp_path / "nowhere")
    text, refused = file.read_text(), 0
    for _ in range(300):
        file.write_text(spoilt(text, rng), encoding="utf-8")
        try:
            Game.load(file)
        except SaveError as error:
            assert str(error).isprintable() and len(str(error)) < 1200 + len(str(file))
            refused += 1
    assert refused > 250


def test_an_illegal_move_in_a_file_is_refused(tmp_path):
    _, game = typed_game(1)
    number = next(i for i, line in enumerate(game.lines) if line.get("move", "").startswith("ship "))
    card = int(game.lines[number]["move"].split()[1])
    elsewhere = next(other for other in range(60) if other not in game.lines[0]["deal"]["hands"][0] and other != card)
    game.lines[number]["move"] = f"ship {elsewhere} 0"
    game.save(tmp_path / "save.json")
    with pytest.raises(SaveError, match=f"'ship {elsewhere} 0' is not legal"):
        Game.load(tmp_path / "save.json")


@pytest.fixture
def with_a_bot(tmp_path, monkeypatch):
    """A saved game with a bot of one's own, which leaves a mark when it is imported."""
    monkeypatch.chdir(tmp_path)
    Path("my_bot_here.py").write_text(MY_BOT)
    table(sit(["human", "my_bot_here:Bot", "random"]), confirmed([1, 1]), Path("save.json"))
    monkeypatch.delitem(sys.modules, "my_bot_here")
    Path("imported").unlink()
    return Path("save.json")


@pytest.mark.parametrize("name", ["os:mkdir:made", "my_bot_here:Bot", "borneo_env.agent:Random"])
def test_a_saved_game_names_registered_agents_only(name, with_a_bot):
    with_a_bot.write_text(with_a_bot.read_text().replace("my_bot_here:Bot", name))
    with pytest.raises(SaveError, match=r"no registered agent .*; if you trust the file, continue it with --trust"):
        Game.load(with_a_bot)
    assert not Path("made").exists() and not Path("imported").exists()


def test_a_trusted_game_goes_on_with_any_agent(with_a_bot, capsys, monkeypatch):
    status, _, err = run_play(capsys, monkeypatch, "--continue save.json", "q\n")
    assert (status, Path("imported").exists()) == (2, False)
    assert "continue it with --trust" in err
    status, _, err = run_play(capsys, monkeypatch, "--continue save.json --trust", "q\n")
    assert (status, Path("imported").exists()) == (0, True), err


def failing(*_):
    raise OSError(28, "No space left on device")


def test_a_save_that_fails_leaves_the_one_before_and_the_game_goes_on(tmp_path, monkeypatch):
    game, file = sit(), tmp_path / "save.json"
    game.save(file)
    before = file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing)
        typed = io.StringIO(lines("s", 1, "", "q", 2, "q", ""))
        shown = io.StringIO()
        with pytest.raises(FileError, match="cannot be written: No space left on device"):
            Terminal(game, file, typed=typed, shown=shown).run()
    assert [path.name for path in tmp_path.iterdir()] == ["save.json"] and file.read_bytes() == before
    assert shown.getvalue().count(f"Not saved: {file}: cannot be written: No space left on device.") == 3
    assert shown.getvalue().count("The game goes on. Try again") == 2
    assert [line["move"] for line in game.lines[1:] if line["player"] == 0] == ["place red", "place yellow"]
    assert not table(game, "q\n", file)[0]
    assert Game.load(file).lines == game.lines


class Hangup(io.StringIO):
    """Somebody who types, and then the process is told to end."""

    def __init__(self, typed, number):
        super().__init__(typed)
        self.number = number

    def readline(self):
        line = super().readline()
        if not line:
            os.kill(os.getpid(), self.number)
        return line


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_being_told_to_end_saves(name, tmp_path):
    game, file, number = sit(), tmp_path / "save.json", getattr(signal, name)
    before = signal.getsignal(number)
    assert not Terminal(game, file, typed=Hangup("1\n\n", number), shown=io.StringIO()).run()
    assert Game.load(file).lines == game.lines
    assert game.lines[1]["move"] == "place red"
    assert signal.getsignal(number) == before


@pytest.fixture
def hang_ups_are_heard():
    """Whoever runs the tests with nohup has them ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hang_ups_are_heard")
@pytest.mark.parametrize("typed", ["1\n\nq\n", "1\n\n"])
def test_being_told_to_end_while_saving_saves(typed, tmp_path, monkeypatch):
    game, file, synced, sync = sit(), tmp_path / "save.json", [], os.fsync

    def told_while_saving(fd):
        synced.append(fd)
        if len(synced) < 4:  # the first interrupts; the others are one too many
            os.kill(os.getpid(), signal.SIGHUP)
        sync(fd)

    monkeypatch.setattr(os, "fsync", told_while_saving)
    assert not table(game, typed, file)[0]
    assert len(synced) == 2
    assert Game.load(file).lines == game.lines
    assert [path.name for path in tmp_path.iterdir()] == ["save.json"]


class Gone(io.StringIO):
    """A terminal that is closed after a while."""

    def write(self, words):
        if "rank 2" in words:
            raise OSError(5, "Input/output error")
        return super().write(words)


def test_a_terminal_that_is_gone_costs_no_game(tmp_path):
    game, file = sit(), tmp_path / "save.json"
    with pytest.raises(OSError, match="Input/output error"):
        Terminal(game, file, typed=io.StringIO("1\n\n"), shown=Gone()).run()
    assert Game.load(file).lines == game.lines
    assert game.lines[1]["move"] == "place red"


def test_saving_by_default_overwrites_no_other_game(tmp_path):
    file = tmp_path / "game.json"
    assert free_name(file) == file
    file.write_text("")
    assert free_name(file) == tmp_path / "game-2.json"
    (tmp_path / "game-2.json").write_text("")
    assert free_name(file) == tmp_path / "game-3.json"
