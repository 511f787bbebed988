"""What a seat gets tells nothing hidden: all traffic is read, and games that differ in secrets alone look the same."""

from __future__ import annotations

import json
import random
import re

import httpx
import numpy as np
import pytest
from borneo_web.server.sight import steps
from borneo_web.server.table import SteppedGame, Table
from borneo_web.server.table_page import story_page, table_page
from web_games import Person, seats, served

from borneo_env.engine.hidden import resample
from borneo_env.engine.state import CARDS, HAND, SPECTATOR
from borneo_env.ruleset import Ruleset

CARD = re.compile(
    r'data-part=\\?"card (\d+)|<b>(\d+)</b>|\bcard (\d+)|value=\\?"(?:ship|commit|defend|drop|keep) (\d+)'
)
SEED = 912873465


def cards_in(text: str) -> set[int]:
    """The cards that a text names."""
    return {int(number) for found in CARD.findall(text) for number in found if number}


def seen_by_all(table: Table) -> set[int]:
    """The cards that have been played or taken openly."""
    moves = [line["move"] for line in table.game.lines if "move" in line]
    return {int(card) for move in moves for card in re.findall(r"(?:ship|commit|defend|keep|take|drop) (\d+)", move)}


def hand(table: Table, seat: int) -> set[int]:
    return set(np.flatnonzero(table.game.batch.games["place"][0, :CARDS] == HAND + seat).tolist())


def test_no_answer_names_a_card_of_another_hand(tmp_path):
    """Two people, a watcher and all addresses they have, over a whole game; the events too."""
    rng = random.Random(4)
    with served(tmp_path) as (games, address):
        name = games.begin(Ruleset("board", 3), ["human", "human", "random"], ["Anna", "Ben", "random 2"], SEED)
        table, links = games.table(name), seats(games, name)
        everybody = {seat: Person(address, link) for seat, link in links.items()}
        hidden_cards = 0
        for _ in range(25):
            while not (table.game.over or table.asks(table.game.player)):
                pass
            if table.game.over:
                break
            for seat, person in everybody.items():
                traffic = person.client.get(links[seat]).text
                told = len(table.game.told)
                for more in (f"steps?since={max(0, told - 3)}", "story", "preview", "record"):
                    traffic += person.client.get(f"{links[seat]}/{more}").text
                others = [other for other in range(3) if other != seat]
                secret = set().union(*(hand(table, other) for other in others)) - seen_by_all(table)
                hidden_cards += len(secret)
                assert not cards_in(traffic) & secret, (seat, secret)
                if seat >= 0:
                    assert hand(table, seat) <= cards_in(traffic)  # so that the search finds what is there
                foreign = {key for who, key in table.keys.items() if who != seat}
                assert not any(key in traffic for key in foreign) and str(SEED) not in traffic
            deciding = everybody[table.game.player]
            assert deciding.look() == "asked"
            deciding.choose(rng)
        assert hidden_cards > 200


def test_events_say_only_that_something_has_changed(tmp_path):
    with served(tmp_path) as (games, address):
        name = games.begin(Ruleset(players=3, tables="tiny"), ["human", "human", "random"], ["A", "B", "r"], SEED)
        table, links = games.table(name), seats(games, name)
        with httpx.stream("GET", f"{address}{links[SPECTATOR]}/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = stream.iter_lines()
            heard = [next(lines) for _ in range(4)]
            while not table.asks(table.game.player):
                pass
            person = Person(address, links[table.game.player])
            person.look()
            person.send(person.moves[0])
            heard += [next(lines) for _ in range(3)]
        assert heard == ["retry: 1000", "event: changed", "data:", "", "event: changed", "data:", ""]


@pytest.mark.parametrize("edition", ["board", "card"])
def test_games_that_a_seat_cannot_tell_apart_give_it_the_same_pages(tmp_path, edition):
    """Everything hidden is dealt anew, in this position and in all before it: no byte of what a seat gets changes."""
    rng, deal = random.Random(6), np.random.default_rng(6)
    game = SteppedGame(Ruleset(edition, 3), ["human", "human", "random"], SEED)
    table = Table.set_up(game, ["Anna", "Ben", "random 2"], tmp_path / "x.json")
    compared = 0
    for turn in range(140):
        if game.over:
            break
        if turn % 12 == 11:
            for seat in (0, 1, SPECTATOR):
                before = pages(table, seat)
                kept = game.batch.games[0].copy(), game.positions
                deal_anew(game, seat, deal)
                compared += not np.array_equal(kept[0]["place"], game.batch.games[0]["place"])
                assert pages(table, seat) == before
                game.batch.games[0], game.positions = kept
        moves = game.batch.legal_moves()
        game.play(game.batch.actions.action(rng.choice(moves), game.batch.phase_name()))
    assert compared > 12


def pages(table: Table, seat: int) -> str:
    return (
        table_page(table, seat)
        + story_page(table, seat)
        + json.dumps(steps(table, seat, max(0, len(table.game.told) - 3)))
    )


def deal_anew(game: SteppedGame, seat: int, deal: np.random.Generator) -> None:
    """Replace what a seat does not know."""
    recent = sorted(game.positions)[-4:]
    game.positions = game.positions | {told: resample(game.positions[told], seat, deal) for told in recent}
    game.batch.games[0] = resample(game.batch.games[0], seat, deal)
