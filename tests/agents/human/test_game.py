"""People at the terminal: whole games typed in, what each is shown, and agents that fail."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from borneo_agents.human.game import AgentFailed, Game
from borneo_agents.human.options import options
from borneo_agents.human.terminal import Terminal
from borneo_agents.human.window import FORGET
from playing import told_to
from typed_games import SEATS, confirmed, lines, question, sit, table, typed_game

from borneo_env.engine.state import HAND
from borneo_env.record import verify
from borneo_env.ruleset import Ruleset

TELLTALE = ("traders", "attack", "transfer", "commit", "defend")


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
