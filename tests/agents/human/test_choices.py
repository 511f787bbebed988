"""What people may choose, what they are told it leads to, and choices taken back."""

from __future__ import annotations

import re

import numpy as np
import pytest
from borneo_agents.human.decision import NoOption
from borneo_agents.human.options import aligned_card, in_colours, option, options
from playing import told_to
from typed_games import at_phase, lines, question, sit, some_choice, table, typed_game

from borneo_env.engine.batch import Batch
from borneo_env.engine.state import HAND
from borneo_env.pieces import Does, Who, paragraph, plain
from borneo_env.ruleset import Ruleset, every_ruleset


def test_a_choice_is_taken_back(tmp_path):
    game = sit()
    _, shown = table(game, lines(1, "u", 3, "what?", ""), tmp_path / "save.json")
    assert "You place a trader in red, rank 1.\nEnter confirms, u takes it back. " in shown
    assert "Enter confirms the choice, u takes it back, q saves and quits." in shown
    moves = [line["move"] for line in game.lines[1:] if line["player"] == 0]
    assert moves[0] == "place green"


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


def test_a_sentence_about_the_reader_begins_with_a_capital():
    ships, gets = (Who(1), " ", Does(1, "ship"), " a card."), (Who(1), " ", Does(1, "get"), " Banda, and ")
    told = paragraph(
        [ships, (*gets, Who(0), " ", Does(0, "have"), " nothing."), (Who(0), " ", Does(0, "take"), " it.")]
    )
    assert plain(told, ["Anna", "Bo"], 1) == "you ship a card. You get Banda, and Anna has nothing. Anna takes it."
    assert plain(told) == "player 1 ships a card. Player 1 gets Banda, and player 0 has nothing. Player 0 takes it."
