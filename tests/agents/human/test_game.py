"""People at the terminal: whole games typed in, choices taken back, games saved and continued."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from borneo_agents.human.contest import decision
from borneo_agents.human.decision import NoOption
from borneo_agents.human.game import AgentFailed, Game, SaveError
from borneo_agents.human.options import aligned_card, in_colours, option, options
from borneo_agents.human.terminal import Terminal, free_name
from borneo_agents.human.window import FORGET
from playing import told_to

from borneo_env import cli
from borneo_env.agent import UnknownAgent
from borneo_env.engine.batch import Batch
from borneo_env.engine.hiding import redact
from borneo_env.engine.state import HAND
from borneo_env.files import FileError
from borneo_env.pieces import Does, Who, paragraph, plain
from borneo_env.record import read_record, verify
from borneo_env.render.scene import Scene
from borneo_env.ruleset import Ruleset, every_ruleset

TINY = Ruleset(players=3, tables="tiny")
SEATS = ["human", "random", "random"]


def sit(seats=SEATS, seed=3, ruleset=TINY):
    return Game(ruleset, seats, seed)


def table(game, typed, save_to, **more):
    """Play with what is typed; whether the game was finished, and all that was shown."""
    shown = io.StringIO()
    finished = Terminal(game, save_to, typed=io.StringIO(typed), shown=shown, **more).run()
    return finished, shown.getvalue()


def question(game):
    """What the person who decides is asked."""
    scene = Scene(game.batch.ruleset, redact(game.batch.games[0], game.player), game.player, "", game.names)
    return decision(game.batch, scene)


def some_choice(game, rng):
    """Something to type: the number of an option, or of cards in any order."""
    asked = question(game)
    count = len(options(game.batch))
    if game.batch.phase_name() not in ("commit", "defend"):
        return str(rng.integers(count) + 1)
    cards = rng.permutation(len(asked._playable))[: rng.integers(asked._most + 1)] + 1
    return " ".join(map(str, cards)) or ("0" if asked._may_be_none else "1")


def typed_game(seed, seats=SEATS, ruleset=TINY, confirm=True):
    """Words that play a game of these seats to its end, chosen by chance; and the finished game."""
    rng = np.random.default_rng(seed)
    game, words = sit(seats, seed, ruleset), []
    game.advance()
    while not game.over:
        words.append(some_choice(game, rng))
        actions = question(game).parse(words[-1])
        words += [""] * (confirm and game.is_final(actions))
        game.choose(actions)
        game.advance()
    return words, game


def lines(*words):
    return "".join(f"{word}\n" for word in words)


def confirmed(numbers):
    return lines(*(word for number in numbers for word in (number, "")))


# ---------------------------------------------------------------- a game


@pytest.mark.parametrize("seed", range(4))
def test_a_whole_game_is_typed(seed, tmp_path):
    numbers, wanted = typed_game(seed)
    game = sit(seed=seed)
    finished, shown = table(game, lines(*numbers), tmp_path / "save.json")
    assert finished
    assert game.lines == wanted.lines
    verify(game.lines)
    assert not (tmp_path / "save.json").exists()
    result = game.lines[-1]
    for seat, name in enumerate(["you", *game.names[1:]]):
        assert f"{name}: place {result['places'][seat]}, {result['scores'][seat]} point" in shown
    assert "\x1b[" not in shown, "no colours where there is no terminal"


def test_the_board_is_that_of_the_person(tmp_path):
    game = sit()
    _, shown = table(game, "q\n", tmp_path / "save.json")
    hands = [np.flatnonzero(game.batch.games["place"][0] == HAND + seat).tolist() for seat in range(3)]
    first = shown[shown.index("hand  0") :].splitlines()[0]
    assert [int(card) for card in re.findall(r"(\d+) [rygb]{3}/", first)] == hands[0]
    assert len(re.findall(r"^hand ", shown, re.MULTILINE)) == 1


def test_what_happened_since_the_last_decision_is_told_once(tmp_path):
    game = sit()
    _, shown = table(game, confirmed([1, 1, 1, 1]), tmp_path / "save.json")
    news = [line for line in told_to(game, 0) if "places a trader" in line or "you place" in line]
    assert [line for line in shown.splitlines() if line in news] == news
    assert len(news) == 9, "three rounds of placing"
    assert "    random 1 places a trader in" in shown


def test_a_person_is_told_what_was_drawn_and_nobody_else():
    _, game = typed_game(5, ["human", "human", "random"])
    for seat in (0, 1):
        news = "\n".join(told_to(game, seat))
        dealt = game.lines[0]["deal"]["hands"][seat]
        assert f"you are dealt card {dealt[0]} [" in news
        assert re.search(r"you draw card \d+ \[.*\], card \d+ \[", news)
        assert not re.search(rf"human {1 - seat} (draws|is dealt)", news)
    assert not re.search("draw|dealt", "\n".join(told_to(game, -1)))


@pytest.mark.parametrize("mark", ["  ", "0", "5", "-1", "x", "1.0", "²", "1 2"])
def test_what_is_no_option_is_asked_again(mark, tmp_path):
    game = sit()
    finished, shown = table(game, lines(mark, 2, "", "q"), tmp_path / "save.json")
    assert not finished
    assert f"{mark.strip()!r} is no option. Type a number from 1 to 4" in shown
    moves = [line for line in game.lines if line.get("player") == 0]
    assert moves[0]["move"] == "place yellow"


def test_many_digits_are_no_option(tmp_path):
    finished, shown = table(sit(), lines("9" * 5000, "\x1b[2J", "q"), tmp_path / "save.json")
    assert not finished
    assert len(re.findall(r"'9+\.\.\.9+' is no option", shown)) == 1
    assert r"'\x1b[2J' is no option" in shown
    assert max(map(len, shown.splitlines())) < 1200 and shown.replace("\n", "").isprintable()
    assert (tmp_path / "save.json").exists()


def test_a_choice_is_taken_back(tmp_path):
    game = sit()
    _, shown = table(game, lines(1, "u", 3, "what?", ""), tmp_path / "save.json")
    assert "You place a trader in red, rank 1.\nEnter confirms, u takes it back. " in shown
    assert "Enter confirms the choice, u takes it back, q saves and quits." in shown
    moves = [line["move"] for line in game.lines[1:] if line["player"] == 0]
    assert moves[0] == "place green"


def test_without_confirmation_a_number_is_a_move(tmp_path):
    numbers, wanted = typed_game(1, confirm=False)
    game = sit(seed=1)
    finished, shown = table(game, lines(*numbers), tmp_path / "save.json", confirm=False)
    assert finished
    assert game.lines == wanted.lines
    assert "Enter confirms" not in shown


def test_help_board_and_history(tmp_path):
    game = sit()
    _, shown = table(game, lines("?", "? R4.7", "? R77", 1, "", "b", "h", "q"), tmp_path / "save.json")
    assert "`borneo play --continue FILE` goes on" in shown
    words = " ".join(shown.split())
    assert "R1.6 Each player places one trader a round" in words, "a rule for this decision"
    assert "R4.7 The attack is at least as strong" in words
    assert "there is no rule 'R77'" in shown
    assert shown.count("three players") == 3, "at both decisions, and once more"
    assert shown.count("    you place a trader in red, rank 1\n") == 3, "as news, with the board, and in the history"


# ---------------------------------------------------------------- undo


def at_phase(phase, seed=0, ruleset=TINY):
    """A game in which the person is at a phase, played there by chance."""
    for number in range(seed, seed + 40):
        rng, game = np.random.default_rng(number), sit(seed=number, ruleset=ruleset)
        game.advance()
        while not game.over:
            if game.batch.phase_name() == phase:
                return game
            game.choose(question(game).parse(some_choice(game, rng)))
            game.advance()
    raise AssertionError(f"no {phase}")


def test_a_choice_nobody_has_learnt_of_can_be_undone(tmp_path):
    game = at_phase("traders", ruleset=Ruleset(players=3))
    before, told = game.batch.games.tobytes(), len(game.told)
    moves = len(game.lines)
    _, shown = table(game, lines(2, "u", "u"), tmp_path / "save.json")
    assert game.batch.games.tobytes() == before
    assert (len(game.lines), len(game.told)) == (moves, told)
    assert ", u: undo, ?: help. " in shown
    assert "Taken back." in shown and "There is nothing to take back." in shown


def test_undone_choices_leave_no_trace_in_the_rest_of_the_game(tmp_path):
    """Every choice that can be is taken back once, and made again."""
    numbers, wanted = typed_game(3, ruleset=Ruleset(players=3), confirm=False)
    game, undone = sit(seed=3, ruleset=Ruleset(players=3)), 0
    game.advance()
    for number in numbers:
        actions = question(game).parse(number)
        if not game.is_final(actions):
            game.choose(actions)
            assert game.can_undo
            game.undo()
            undone += 1
        game.choose(actions)
        game.advance()
    assert game.lines == wanted.lines and undone > 5
    assert game.told == wanted.told


def test_what_was_revealed_cannot_be_undone():
    """Neither a drawn card nor a decision of another player is ever taken back."""
    numbers, _ = typed_game(4, confirm=False)
    game = sit(seed=4)
    game.advance()
    for number in numbers:
        actions, before = question(game).parse(number), game.batch.games[0].copy()
        game.choose(actions)
        game.advance()
        others = any(line.get("player") not in (0, None) for line in game.lines[-1:])
        drawn = (game.batch.games["place"][0, :60] == HAND) & (before["place"][:60] != HAND)
        if drawn.any() or others or game.over:
            assert not game.can_undo


# ---------------------------------------------------------------- contests


def test_the_cards_of_a_contest_are_a_set_in_any_order():
    for phase in ("commit", "defend"):
        game = next(
            game
            for seed in range(0, 400, 40)
            for game in [at_phase(phase, seed, Ruleset(players=3))]
            if min(question(game)._most, len(question(game)._playable)) >= 2
        )
        asked = question(game)
        assert asked.parse("2 1") == asked.parse("1, 2") == [*sorted(asked.parse("1 2 2")[:-1]), 0]
        card = list(asked._playable)[:2]
        game.choose(asked.parse("2 1"))
        verb = "commit" if phase == "commit" else "defend"
        written = [line["move"] for line in game.lines[-3:]]
        assert written == [f"{verb} {card[0]}", f"{verb} {card[1]}", f"{verb} done"]


@pytest.mark.parametrize("typed", ["", "0", "9", "x", "1 x", "1 1 9"])
def test_what_is_no_set_of_cards_is_refused(typed):
    with pytest.raises(NoOption, match="is no set of cards"):
        question(at_phase("commit", ruleset=Ruleset(players=3))).parse(typed)


def test_what_is_enough_is_said():
    """R4.7: what is promised about a defence is what the contest comes to."""
    held = beaten = 0
    for seed in range(0, 40, 10):
        game = at_phase("defend", seed, Ruleset(players=3))
        asked = question(game)
        typed = some_choice(game, np.random.default_rng(seed))
        promised = plain(asked.words(asked.parse(typed)))
        game.choose(asked.parse(typed))
        told = " ".join(told_to(game, 0)[-3:])
        if "against" in promised:
            held += "you hold" in promised and "the attack fails" in told
            beaten += "you are beaten" in promised and "the attack succeeds" in told
            assert ("you hold" in promised) == ("the attack fails" in told)
    assert held and beaten


def test_a_shipment_is_told_as_it_then_happens():
    outcomes = set()
    for seed in range(2):
        rng, game = np.random.default_rng(seed), sit(seed=seed, ruleset=Ruleset(players=3))
        game.advance()
        while not game.over:
            asked = question(game)
            actions = asked.parse(some_choice(game, rng))
            if game.batch.phase_name() == "ship":
                words, before = plain(asked.words(actions)), game.batch.games[0].copy()
                game.choose(actions)
                after = game.batch.games[0]
                if "Monopoly" in words or "Shared" in words:
                    outcomes.add(words.split(". ")[1].split()[0])
                    assert ("Monopoly" in words) == (after["tally"][0, 4] > before["tally"][0, 4])
                    first = re.search(r"order: player (\d)", words)
                    assert first is None or after["phase"] != 9 or int(first[1]) == after["player"]
            else:
                game.choose(actions)
            game.advance()
    assert outcomes == {"Monopoly", "Shared"}


# ---------------------------------------------------------------- terminals


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_has_colours(tmp_path):
    shown = Screen()
    Terminal(sit(), tmp_path / "save.json", typed=io.StringIO("q\n"), shown=shown).run()
    assert "\x1b[97;41m" in shown.getvalue()
    assert FORGET not in shown.getvalue(), "one person has nothing to hide"


def test_several_people_hand_over_without_seeing_hands(tmp_path):
    seats = ["human", "human", "random"]
    numbers, wanted = typed_game(2, seats, confirm=False)
    game, shown, typed = sit(seats, 2), io.StringIO(), []
    seats_asked, copy = [], sit(seats, 2)
    copy.advance()
    for number in numbers:
        if seats_asked[-1:] != [copy.player]:
            typed.append("")  # ready
        seats_asked.append(copy.player)
        typed.append(number)
        copy.choose(question(copy).parse(number))
        copy.advance()
    assert Terminal(game, tmp_path / "s", typed=io.StringIO(lines(*typed)), shown=shown, confirm=False).run()
    assert game.lines == wanted.lines
    parts = shown.getvalue().split("\n\n\n")
    handed = [part.split(" is next. ")[0].strip() for part in parts[1:]]
    changes = [seat for i, seat in enumerate(seats_asked) if seat != (seats_asked[i - 1] if i else None)]
    assert handed == [f"human {seat}" for seat in changes]
    for part, seat in zip(parts[1:-1], changes, strict=False):
        assert part.index("Enter when ready") < part.index("BORNEO")
        assert set(re.findall(r"^hand  (\d)", part, re.MULTILINE)) <= {str(seat)}


TELLTALE = ("traders", "attack", "transfer", "commit", "defend")


@pytest.mark.parametrize(("seats", "asked"), [(SEATS, False), (["human", "human", "random"], True)])
def test_nobody_learns_from_who_is_asked_what_somebody_holds(seats, asked):
    """With several people, one with a single option is asked too in phases where that depends on the hand."""
    verbs = set()
    for seed in range(3):
        game, rng, alone = sit(seats, seed, Ruleset(players=3)), np.random.default_rng(seed), set()
        game.advance()
        while not game.over:
            choices = options(game.batch)
            if len(choices) == 1:
                alone.add(len(game.lines))
            game.play(choices[rng.integers(len(choices))][0])
            game.advance()
        forced = {i for i, line in enumerate(game.lines) if line.get("forced") and line["player"] in game.humans}
        forced = {i for i in forced if game.lines[i]["move"].split()[0] in TELLTALE}
        assert alone == (forced if asked else set())
        verbs |= {game.lines[i]["move"].split()[0] for i in forced}
        verify(game.lines)
    assert verbs >= {"commit", "defend"}


# ---------------------------------------------------------------- saving


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
        assert again.told == game.told
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


def test_saving_goes_on(tmp_path):
    game = sit()
    table(game, lines(1, "", "s", 2, "", "q"), tmp_path / "save.json")
    assert len([line for line in game.lines if line.get("player") == 0]) == 2


def test_a_continued_game_tells_what_happened_last(tmp_path):
    game = sit()
    table(game, lines(1, "", 1, "", "q"), tmp_path / "save.json")
    _, shown = table(Game.load(tmp_path / "save.json"), "q\n", tmp_path / "save.json")
    assert told_to(game, 0)[-1] in shown


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
        (["record", 0, "agents"], ["human", "random", "nobody"], "no registered agent 'nobody'.*--trust"),
        (["record", 0, "agents"], ["human", "random", "x" * 10**6], "at most 1000 characters"),
        (["record", 0, "seed"], 10**4000, "a seed is a whole number"),
        (["record", 0, "seed"], "\x1b[2J" * 999, "seed: should be a whole number"),
        (["record", 1, "move"], "\x1b[2J" * 10**5, "is not a move"),
        (["record", 1], {"move": "x" * 10**6, "player": [[]]}, "line 2: .* cannot come next"),
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
    with pytest.raises(SaveError, match=complaint) as caught:
        Game.load(file)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 1200 + len(str(file))


def spoilt(text, rng):
    """A saved game with some characters replaced, put in or taken out, or a value replaced."""
    odd = [
        '"',
        "{",
        "}",
        "[",
        "]",
        ",",
        "9" * 5000,
        "NaN",
        "\\ud800",
        "\ufeff",
        "null",
        "-1",
        "1e999",
        "\0",
        '"a": 1, ',
        "",
    ]
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


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "is not JSON"),
        ("[]", "no saved game"),
        ("[" * 100_000, "is not JSON: it is nested too deeply"),
        ('{"format": 1, "format": 2}', "is not JSON: it has two entries 'format'"),
        ('{"format": ' + "9" * 5000 + "}", "is not JSON: it holds a number of too many digits"),
        ('{"format": NaN}', "is not JSON: it holds a number that is none"),
        ('{"format": "\\ud800"}', "is not JSON: it holds half a character"),
    ],
)
def test_a_file_that_holds_no_game(text, complaint, tmp_path):
    (tmp_path / "x").write_text(text)
    with pytest.raises(SaveError, match=complaint):
        Game.load(tmp_path / "x")
    with pytest.raises(SaveError, match="cannot be read"):
        Game.load(tmp_path / "y")


@pytest.mark.parametrize("path", ["/dev/zero", "pipe", "."])
def test_what_is_no_plain_file_is_not_read(path, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SaveError, match="cannot be read"):
        Game.load(tmp_path / path)


# A name in a file may run no code


MY_BOT = """
from pathlib import Path
Path("imported").touch()
class Bot:
    def act(self, views):
        return views.mask.argmax(1)
"""


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
    status, _, err = run(capsys, monkeypatch, "play --continue save.json", "q\n")
    assert (status, Path("imported").exists()) == (2, False)
    assert "continue it with --trust" in err
    status, _, err = run(capsys, monkeypatch, "play --continue save.json --trust", "q\n")
    assert (status, Path("imported").exists()) == (0, True), err


# The game is kept whatever happens


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


def test_saving_overwrites_no_file_of_others(tmp_path):
    others = [tmp_path / name for name in (".save.json.saving", "save.json.tmp", ".save.json")]
    for other in others:
        other.write_text("not yours")
    sit().save(tmp_path / "save.json")
    assert all(other.read_text() == "not yours" for other in others)


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
        assert sorted(one.action for one in choices) == np.flatnonzero(batch.mask[0]).tolist()
        assert len({plain(one.pieces) for one in choices}) == len(choices)
        for _, move, pieces in choices:
            verbs.add(move.verb)
            assert option(batch, move) == pieces
            if "card" in move.parts:
                card = aligned_card(ruleset, move.parts["card"]).lstrip()
                assert card in plain(pieces, shown=in_colours(ruleset))
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
            action, _, pieces = choices[rng.integers(len(choices))]
            words = plain(pieces)
            start = len(game.told)
            game.play(action)
            news = " ".join(told_to(game, 0, start))
            if words.startswith(("place", "transfer", "attack player", "leave for")):
                verb, rest = plain(pieces, game.names, 0).split(" ", 1)
                rest = re.sub(r", \d+ flags? more for the defence", "", rest)
                if verb != "leave":
                    assert f"you {verb} {rest}" in news
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
    numbers, wanted = typed_game(7, confirm=False)
    half = len(numbers) // 2
    start = "play --seats human,random,random --tables tiny --seed 7 --record done.jsonl --yes"
    status, out, err = run(capsys, monkeypatch, start + " --json", lines(*numbers[:half], "q"))
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


def test_a_place_that_cannot_be_written_is_told_before_the_game(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for place in ("--save nowhere/game.json", "--record nowhere/game.jsonl", "--save /dev/null", "--record ."):
        status, out, err = run(capsys, monkeypatch, f"play --tables tiny {place}", "q\n")
        assert (status, out) == (2, "")
        assert f"{place.split()[1]}: cannot be written" in err
    assert list(tmp_path.iterdir()) == []


def test_a_record_that_fails_at_the_end_costs_no_game(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    numbers, wanted = typed_game(7, confirm=False)
    with monkeypatch.context() as patch:
        patch.setattr("borneo_env.record.write_file", lambda path, *_, **__: fail_to_write(path))
        start = "play --seats human,random,random --tables tiny --seed 7 --yes --record done.jsonl"
        status, _, err = run(capsys, patch, start, lines(*numbers))
    assert status == 2
    assert "done.jsonl: cannot be written; the game is in borneo-game.json: continue it with another --record" in err
    status, _, err = run(capsys, monkeypatch, "play --continue borneo-game.json --record done.jsonl")
    assert status == 0, err
    assert read_record("done.jsonl") == wanted.lines


def fail_to_write(path):
    raise FileError(path, "cannot be written")


def test_bytes_that_are_no_text_are_asked_again(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys, "argv", ["borneo", "play", "--seats", "human,random,random", "--tables", "tiny", "--seed", "3"]
    )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\n2\n\nq\n"), encoding="utf-8"))
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert not left.value.code
    assert r"'\\xff' is no option" in capsys.readouterr().out
    assert Game.load(Path("borneo-game.json")).lines[1]["move"] == "place yellow"


@pytest.mark.soak
def test_ctrl_c_saves(tmp_path):
    game = subprocess.Popen(
        [sys.executable, "-m", "borneo_env.cli", "play", "--seats", "human,random,random", "--tables", "tiny", "--yes",
         "--seed", "3"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell in the background ignores it
    )  # fmt: skip
    game.stdin.write("1\n")
    game.stdin.flush()
    shown = ""
    while shown.count("?: help. ") < 2:
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


def test_opponents_have_names_by_strength_and_play_both_editions():
    for ruleset in (TINY, Ruleset("card", 3)):
        game = Game(ruleset, ["easy", "normal", "hard:budget=4"], 1)
        game.play_turn()
        assert [type(agent).__name__ for agent in game.agents.values()] == ["Climber", "Merchant", "Ismcts"]


def test_the_opponents_are_normal_by_default(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    _, out, _ = run(capsys, monkeypatch, "play --tables tiny --seed 1 --json", "q\n")
    assert json.loads(out)["seats"] == ["human", "normal", "normal"]


def test_a_sentence_about_the_reader_begins_with_a_capital():
    ships, gets = (Who(1), " ", Does(1, "ship"), " a card."), (Who(1), " ", Does(1, "get"), " Banda, and ")
    told = paragraph(
        [ships, (*gets, Who(0), " ", Does(0, "have"), " nothing."), (Who(0), " ", Does(0, "take"), " it.")]
    )
    assert plain(told, ["Anna", "Bo"], 1) == "you ship a card. You get Banda, and Anna has nothing. Anna takes it."
    assert plain(told) == "player 1 ships a card. Player 1 gets Banda, and player 0 has nothing. Player 0 takes it."
