"""Whole games in real terminals: at every decision the board, the hand and the options are on the screen."""

import re

import numpy as np
import pytest
from borneo_agents.human.game import Game
from pty_screen import Screen, Seat

from borneo_env.engine.state import HAND
from borneo_env.record import verify
from borneo_env.ruleset import Ruleset

TINY = Ruleset(players=3, tables="tiny")


def check_decision(game, text):
    """What somebody who decides must see."""
    batch, rows = game.batch, text.splitlines()
    assert rows[-1].endswith("?: help. ") and text.count("?: help.") == 1
    check_board(text, game.names[1:])
    ports = batch.ruleset.tables.ports_in_play(batch.ruleset.players)
    for thing in batch.games["open"][0]:
        assert thing < 0 or f"{ports[thing - 60].name} (" in text
    for card in np.flatnonzero(batch.games["place"][0, :60] == HAND):
        assert re.search(rf"(?<!\d){card} [rygb]{{3}}/[rygb] ", text), f"card {card} of the hand"
    numbers = re.search(r"1 to (\d+)", rows[-1])
    for number in range(1, int(numbers[1]) + 1) if numbers else []:
        assert re.search(rf"(^|\s){number} +(?=\S)", "\n".join(rows[:-1]), re.MULTILINE), f"option {number}"


def check_board(text, others):
    """What is on the screen whatever is asked."""
    players = [f" {seat}  {name}"[:14] for seat, name in enumerate(["you", *others])]
    for words in ("BORNEO", "rank   1", "supply", *players):
        assert words in text, words
    for company in ("red", "yellow", "green", "blue"):
        assert re.search(rf"^{company} +[\d.]", text, re.MULTILINE), company


def answer(row, rng):
    """Something to type at a prompt, by chance."""
    numbers = re.search(r"1 to (\d+)", row)
    if numbers:
        return str(rng.integers(int(numbers[1])) + 1)
    some = re.search(r"Such as ([\d ]+\d|\d)", row)
    if "Which cards" in row:
        return " ".join(reversed(some[1].split())) if some else "0"
    return ""


def play_on_screen(game, seed, tmp_path, rows=24):
    """Play a game to its end at a terminal; what was asked, and the last screen."""
    rng, asked = np.random.default_rng(seed), []
    with Seat(game, tmp_path / "save.json", rows=rows) as seat:
        while (text := seat.wait()) is not None:
            row = seat.screen.rows[-1]
            assert max(map(len, seat.screen.rows)) <= 80 and "is no " not in text.replace("is not", "")
            if "Enter" not in row:
                check_decision(game, text)
            asked.append(row.split("?")[0])
            seat.type(answer(row, rng))
        assert seat.finished
        verify(game.lines)
        return asked, seat.screen.text


def test_what_is_confirmed_counts(tmp_path):
    rng, taken_back, confirmed = np.random.default_rng(1), set(), []
    game = Game(TINY, ["human", "random", "random"], 1)
    with Seat(game, tmp_path / "save.json") as seat:
        while (text := seat.wait()) is not None:
            *above, row = text.splitlines()
            if "Enter confirms, u takes it back." not in row:
                seat.type(answer(row, rng))
                continue
            check_board(text, ["random 1", "random 2"])
            (chosen,) = (line for line in above if line.startswith("You "))
            if len(taken_back) < 3 and chosen not in taken_back:
                taken_back.add(chosen)
                seat.type("u")
                assert seat.wait().endswith("?: help. "), "it is asked again"
            else:
                confirmed.append(chosen)
                seat.type("")
        assert seat.finished and "1st" in seat.screen.text
    verify(game.lines)
    mine = [line["move"] for line in game.lines if line.get("player") == 0]
    shipped = [found[1] for chosen in confirmed if (found := re.match(r"You ship (\d+) ", chosen))]
    assert shipped and {f"ship {card}" for card in shipped} <= {move.rsplit(" ", 1)[0] for move in mine}
    assert len(taken_back) == 3


@pytest.mark.parametrize("seed", [1, 2])
def test_a_whole_game_fits_80_columns_and_24_rows(seed, tmp_path):
    game = Game(TINY, ["human", "random", "random"], seed)
    asked, end = play_on_screen(game, seed, tmp_path)
    assert {"Where does the next trader go", "Which card goes to which port"} <= set(asked)
    assert "1st" in end and ("wins." in end or "You win!" in end or "share the victory" in end)


def test_five_players_fit_too(tmp_path):
    game = Game(Ruleset(players=5, tables="tiny"), ["human"] + ["random"] * 4, 3)
    play_on_screen(game, 3, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("ruleset", [
    Ruleset(players=5), Ruleset(players=4, blackbeard=True), Ruleset("card", 5), Ruleset("card", 3),
    Ruleset(players=3, traders=4, blackbeard=True), Ruleset(players=5, blackbeard=True),
], ids=lambda ruleset: ruleset.name)  # fmt: skip
@pytest.mark.parametrize("seed", range(3))
def test_every_game_fits(ruleset, seed, tmp_path):
    play_on_screen(Game(ruleset, ["human"] + ["merchant"] * (ruleset.players - 1), seed), seed, tmp_path)


@pytest.mark.parametrize(("others", "waits"), [("human", "Enter when ready: "), ("random", "Enter goes on: ")])
def test_q_quits_wherever_a_game_waits(others, waits, tmp_path):
    game, rng, save = Game(TINY, ["human", others, "random"], 1), np.random.default_rng(1), tmp_path / "save.json"
    with Seat(game, save, rows=22) as seat:
        while not seat.wait().endswith(waits):
            seat.type(answer(seat.screen.rows[-1], rng))
        seat.type("q")
        assert seat.wait() is None and seat.finished is False
    assert not game.over and Game.load(save).lines == game.lines


def test_a_larger_window_shows_all_news_with_the_board(tmp_path):
    asked, _ = play_on_screen(Game(TINY, ["human", "random", "random"], 1), 1, tmp_path, rows=60)
    assert asked.count("Enter goes on: ") <= 1, "at the end only"


def test_agents_alone_are_watched_turn_by_turn(tmp_path):
    game = Game(TINY, ["random"] * 3, 4)
    with Seat(game, tmp_path / "save.json") as seat:
        turns = []
        for typed in ("", "2", "x", "0", "", "999999"):
            while "Enter goes on" in (text := seat.wait()):
                seat.type("")
            turns.append(sum(told.event == "turn" for told in game.told))
            assert "Enter: the next turn." in text and len(re.findall("^hand  ", text, re.MULTILINE)) == 3
            seat.type(typed)
        while seat.wait() is not None:
            seat.type("")
        assert turns == [0, 0, 2, 2, 2, 3] and seat.finished and game.over


def test_a_screen_is_read_as_it_looks():
    screen = Screen(10, 3)
    screen.feed("one\r\n\x1b[97;41mtwo\x1b[0m\r\nthree three three")
    assert screen.rows == ["two", "three thre", "e three"]
    screen.feed("\x1b[2")
    screen.feed("J\x1b[Hnew")
    assert screen.rows == ["new"]
    with pytest.raises(AssertionError):
        screen.feed("\a")
