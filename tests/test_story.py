"""Stories: whatever ports, agents and people are called, the words around their names stay the story's own."""

import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from borneo_agents.human.decision import decision
from borneo_agents.human.game import Game
from borneo_web.replay.replay import Replay
from hypothesis import example, given, settings
from hypothesis import strategies as st

from borneo_env.cards import load_tables
from borneo_env.engine.hiding import redact
from borneo_env.pieces import Does, Mention, Who, as_json, briefly, filled, listed, plain
from borneo_env.record import RecordError, parse_record, record_games
from borneo_env.render import Animation
from borneo_env.render.scene import Scene
from borneo_env.ruleset import Ruleset
from borneo_env.story import story, tell

BEGINNING = 70  # lines: all of a game takes longer
GAME = Path(__file__).parent / "golden" / "board-3.jsonl"
PLAIN = [f"Port{letter}" for letter in "ABCDEFGHIJKLMNOP"]  # names that nothing else has in it
ODD = [
    "player 5", "player 1", "card 3 [red]", "17 rrg/b pepper x2", "(a, limit 1, monopoly 1)", "You", "you ship", "<b>",
    "The port shows", "Turn 3: player 1", "[/bold]", "%s {0}", "\\1", " ", "x" * 24, ". player 2", "player 9 has",
]  # fmt: skip
LETTERS = st.sampled_from(" player5card[0](.):<>") | st.characters(exclude_categories=["C", "Z"])
NAMES = st.sampled_from(ODD) | st.text(LETTERS.filter(str.isprintable), min_size=1, max_size=24)


def renamed(ports, agents=()):
    """A recorded game whose ports, and agents, have other names; the first ones are used again if there are too few."""
    lines = parse_record(GAME.read_text())[:BEGINNING]
    for i, port in enumerate(lines[0]["ports"]):
        port["name"] = ports[i % len(ports)]
    lines[0]["agents"] = list(agents) or lines[0]["agents"]
    return lines


def ruleset_of(names):
    """Short games with ports of these names."""
    tables = load_tables("tiny")
    ports = tuple(replace(port, name=name) for port, name in zip(tables.ports, names, strict=False))
    return Ruleset(players=3, tables=replace(tables, ports=ports))


def told_to_bram(lines):
    """The story of a record as far as it goes, told to Bram."""
    told = []
    with suppress(RecordError):  # the end is missing
        for line in story(lines, forced=True):
            told.append(line.line(["Ayu", "Bram", "Citra"], 1))
    return "\n".join(told)


@pytest.fixture(scope="module")
def as_it_is():
    return told_to_bram(renamed(PLAIN))


@settings(deadline=None, max_examples=10)
@given(names=st.lists(NAMES, min_size=16, max_size=16))
@example(names=ODD[:16])
@example(names=["player 5"] * 16)
def test_whatever_a_port_is_called_the_story_is_the_same(as_it_is, names):
    expected = as_it_is
    for known, name in zip(PLAIN, names, strict=True):
        expected = expected.replace(known, name)
    assert told_to_bram(renamed(names)) == expected


def test_the_text_of_a_story_is_that_of_its_pieces():
    lines = parse_record(GAME.read_text())
    assert [told.line() for told in story(lines)] == list(tell(lines))
    events = {told.event for told in story(lines)}
    assert {"turn", "place", "ship", "attack", "monopoly", "shared", "contest", "fulfilled", "result"} <= events


def test_a_template_names_pieces_several_pieces_and_numbers():
    card = Mention("card", 17, "card 17 [red]", "card 17")
    told = filled("{who} with {cards}, {n} times", who=Who(0), cards=listed([(card,), (card,)]), n=2)
    assert told == (Who(0), " with ", card, ", ", card, ", ", "2", " times")
    assert plain(told, ["Ayu"]) == "Ayu with card 17 [red], card 17 [red], 2 times"
    assert plain(told, shown=briefly) == "player 0 with card 17, card 17, 2 times"
    assert as_json(told)[:3] == [["player", 0, "player 0"], " with ", ["card", 17, "card 17"]]


def test_a_verb_has_the_form_of_who_does_it():
    verbs = [Does(1, verb) for verb in ("ship", "pass", "have", "do", "are")]
    assert [plain([verb], you=1) for verb in verbs] == ["ship", "pass", "have", "do", "are"]
    assert [plain([verb], you=0) for verb in verbs] == ["ships", "passes", "has", "does", "is"]


def test_replays_films_and_pictures_of_odd_names_are_made():
    lines = renamed(ODD, ODD[:3])
    assert Replay.of(lines).content["names"] == ODD[:3]
    (lines,) = record_games(ruleset_of(ODD), 1, seed=1, agents=["random"] * 3, names=ODD[3:6])
    assert "player 1 1" not in Animation.of(lines).svg()


def test_a_game_at_a_table_with_odd_names_is_told_and_asked():
    game = Game(ruleset_of(ODD), ["human", "random", "random"], 3)
    rng = random.Random(1)
    game.advance()
    while not game.over:
        scene = Scene(game.batch.ruleset, redact(game.batch.games[0], 0), 0, "", game.names)
        asked = decision(game.batch, scene)
        assert asked.lines
        game.choose([rng.choice(np.flatnonzero(game.batch.mask[0]).tolist())])
        game.advance()
    shown = [one for told in game.news(0) for one in told.pieces if isinstance(one, Mention) and one.kind == "port"]
    assert {one.short for one in shown} & {*ODD}
