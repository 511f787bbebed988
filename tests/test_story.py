"""Stories: whatever ports, agents and people are called, the words around their names stay the story's own."""

import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from borneo_agents.human.contest import decision
from borneo_agents.human.game import Game
from borneo_web.replay.replay import Replay
from borneo_web.server.words import told
from hypothesis import example, given, settings
from hypothesis import strategies as st

from borneo_env.cards import load_tables
from borneo_env.engine.hidden import redact
from borneo_env.record import RecordError, parse_record, record_games
from borneo_env.render import Animation
from borneo_env.render.scene import Scene
from borneo_env.ruleset import Ruleset
from borneo_env.story import NO_BREAK, in_story, tell, with_names

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


def story(lines):
    """The story of a record as far as it goes, told to Bram."""
    told = []
    with suppress(RecordError):  # the end is missing
        for line in tell(lines, forced=True):
            told.append(with_names(line, ["Ayu", "Bram", "Citra"], 1))
    return "\n".join(told)


@pytest.fixture(scope="module")
def plain():
    return story(renamed(PLAIN))


@settings(deadline=None, max_examples=10)
@given(names=st.lists(NAMES, min_size=16, max_size=16))
@example(names=ODD[:16])
@example(names=["player 5"] * 16)
def test_whatever_a_port_is_called_the_story_is_the_same(plain, names):
    expected = plain
    for known, name in zip(PLAIN, names, strict=True):
        expected = expected.replace(known, name)
    assert story(renamed(names)).replace(NO_BREAK, " ") == expected


def test_a_name_of_plain_words_is_told_as_it_is():
    assert in_story("Port Royal") == "Port Royal" != in_story("Port 1")


def test_who_is_no_player_of_the_game_gets_no_name():
    assert with_names("player 2 attacks player 7", ["a", "b", "c"], 2) == "you attack player 7"


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
        lines = " ".join(with_names(line, game.names, 0) for line in asked.lines)
        told(game.batch.ruleset, lines)
        game.choose([rng.choice(np.flatnonzero(game.batch.mask[0]).tolist())])
        game.advance()
    assert any(NO_BREAK in line for line in game.news(0))
