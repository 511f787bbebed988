"""What a seat gets tells nothing hidden: all traffic is read, and games that differ in secrets alone look the same."""

from __future__ import annotations

import random
from itertools import count

import httpx
import numpy as np
import pytest
from borneo_web.server.live_game import LiveGame, SteppedGame
from borneo_web.server.live_games import LiveGames
from web_games import TINY, Person, cards_in, hand, seats, seen_by_all, served, unseen_by

from borneo_env import every_ruleset
from borneo_env.engine.hiding import resample
from borneo_env.engine.state import SPECTATOR
from borneo_env.record import record_games
from borneo_env.ruleset import Ruleset

SEED = 912873465


def test_events_say_only_that_something_has_changed(tmp_path):
    with served(tmp_path) as (games, address):
        name = games.begin(TINY, ["human", "human", "random"], ["A", "B", "r"], SEED)
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


# ---------------------------------------------------------------- games that differ in secrets alone


@pytest.mark.parametrize(
    ("every", "positions"),
    [pytest.param(3, 4, id="some"), pytest.param(1, 1001, id="a-thousand", marks=pytest.mark.soak)],
)
def test_traffic_tells_nothing_hidden_in_any_ruleset(tmp_path, hasty, every, positions):
    """Two players and a watcher ask for all they can. No card they may not know is named, and when everything hidden
    is dealt anew, here and in the positions before, no byte changes."""
    rulesets = list(every_ruleset())[::every]
    with served(tmp_path) as (games, address):
        watched = Watched(games, address, positions // len(rulesets))
        for number, ruleset in enumerate(rulesets):
            watched.play(ruleset, number)
    assert watched.positions == positions
    assert watched.dealt_anew > 2.5 * positions and watched.secrets > 20 * positions


class Watched:
    """Plays random games, and reads what is sent to their seats in some positions of each."""

    def __init__(self, games: LiveGames, address: str, often: int) -> None:
        self.games, self.often = games, often
        self.client = Person(address, "").client
        self.positions = self.dealt_anew = self.secrets = 0

    def play(self, ruleset: Ruleset, seed: int) -> None:
        """Every seat is a person's. One looks where a person is asked: elsewhere the server plays meanwhile."""
        rng, deal = random.Random(seed), np.random.default_rng(seed)
        players = range(ruleset.players)
        length = len(record_games(ruleset, 1, seed=seed, agents=["random"] * ruleset.players)[0]) // 2
        stops = sorted(rng.sample(range(8, max(length, self.often + 8)), self.often))
        name = self.games.begin(ruleset, ["human"] * ruleset.players, [f"Person{player}" for player in players], SEED)
        table, held = self.games.table(name), [hand(self.games.table(name), player) for player in players]
        for move in count():
            if move >= stops[0] and table.game.asks_a_person():
                self.positions += 1
                del stops[0]
                for seat in (table.game.player, (table.game.player + 1) % ruleset.players, SPECTATOR):
                    self.look(table, seat, held[seat] if seat >= 0 else set(), deal)
                if not stops:
                    return
            moves = table.game.batch.legal_moves()
            table.game.play(table.game.batch.actions.action(rng.choice(moves), table.game.batch.phase_name()))
            table.choices += 1  # or the coach would answer what it has answered before
            for player in players:
                held[player] |= hand(table, player)

    def look(self, table: LiveGame, seat: int, held: set[int], deal: np.random.Generator) -> None:
        """What a seat is sent, now and when all that it does not know is other than it was."""
        sent = self.traffic(table, seat)
        secret = unseen_by(table, seat) - seen_by_all(table) - held
        self.secrets += len(secret)
        assert not cards_in(sent) & secret, (table.game.batch.ruleset.name, seat)
        assert seat < 0 or hand(table, seat) <= cards_in(sent)  # so that the search finds what is there
        assert str(SEED) not in sent and not any(key in sent for who, key in table.keys.items() if who != seat)
        game = table.game
        kept = game.batch.games[0].copy(), game.positions
        deal_anew(game, seat, deal)
        self.dealt_anew += not np.array_equal(kept[0]["place"], game.batch.games[0]["place"])
        assert self.traffic(table, seat) == sent, (game.batch.ruleset.name, seat)
        game.batch.games[0], game.positions = kept

    def traffic(self, table: LiveGame, seat: int) -> str:
        """All that a seat can ask for, headers too."""
        link, told = table.address(seat), len(table.game.told)
        paths = ("", "?coach", "/story", f"/steps?since={max(0, told - 3)}", "/preview", "/record", "/replay")
        answers = [self.client.get(link + path, timeout=120) for path in paths]
        assert [answer.status_code for answer in answers[-2:]] == [409, 409]
        assert ("would do this in your place" in answers[1].text) == (seat == table.game.player)
        return "".join(f"{sorted(answer.headers)}{answer.headers['content-length']}{answer.text}" for answer in answers)


def deal_anew(game: SteppedGame, seat: int, deal: np.random.Generator) -> None:
    """Replace what a seat does not know."""
    recent = sorted(game.positions)[-4:]
    game.positions = game.positions | {told: resample(game.positions[told], seat, deal) for told in recent}
    game.batch.games[0] = resample(game.batch.games[0], seat, deal)
