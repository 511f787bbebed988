"""A server for tests, and people who sit at its tables: they read pages and send forms, as a browser does."""

from __future__ import annotations

import json
import random
import re
import threading
import time
import zlib
from base64 import b64decode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from borneo_agents.human.game import HUMAN
from borneo_web.replay.page import RAW
from borneo_web.server.app import make_app
from borneo_web.server.live_game import LiveGame, SteppedGame
from borneo_web.server.live_games import LiveGames
from borneo_web.server.serve import Server
from borneo_web.server.serve import settings as serving

from borneo_env.engine.hiding import redact
from borneo_env.engine.state import CARDS, HAND, UNSEEN
from borneo_env.ruleset import Ruleset

TINY = Ruleset(players=3, tables="tiny")
GOLDEN = Path(__file__).parent / "golden"
CARD = re.compile(
    r'data-part=\\?"card (\d+)|<b>(\d+)</b>|\bcard (\d+)|value=\\?"(?:ship|commit|defend|drop|keep) (\d+)'
)
CLIENTS: list[httpx.Client] = []  # open connections


@contextmanager
def served(folder, port: int = 0, opponents=dict, **settings) -> Iterator[tuple[LiveGames, str]]:
    """Games in a folder, and the address of a server for them."""
    games = LiveGames(folder, opponents)
    coach, reader = ThreadPoolExecutor(1), ThreadPoolExecutor(1)  # processes would take a while to begin
    app = make_app(games, coach=coach, reader=reader, **settings)
    server = Server(serving(app, port), games.close)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.002)
        yield games, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        while CLIENTS:
            CLIENTS.pop().close()
        server.should_exit = True
        thread.join()
        games.end()
        coach.shutdown()
        reader.shutdown()


class Person:
    """Somebody with the link of a seat."""

    def __init__(self, server: str, address: str) -> None:
        self.client = httpx.Client(base_url=server, timeout=30)
        CLIENTS.append(self.client)
        self.address = address
        self.page = ""

    def look(self) -> str:
        """The page as it is now; the state it shows."""
        answer = self.client.get(self.address)
        assert answer.status_code == 200, answer.text
        self.page = answer.text
        return re.search(r'data-state="(\w+)"', self.page)[1]

    def wait(self) -> str:
        """The same, once nobody but a person decides."""
        until = time.monotonic() + 20
        while (state := self.look()) == "waits":
            assert time.monotonic() < until, "nothing happens"
            time.sleep(0.003)
        return state

    @property
    def moves(self) -> list[str]:
        return [unescape(move) for move in re.findall(r'name="move" value="([^"]+)"', self.page)]

    @property
    def decision(self) -> str:
        return re.search(r'name="decision" value="(\d+)"', self.page)[1]

    @property
    def problem(self) -> str:
        found = re.search(r'class="problem"[^>]*>([^<]+)<', self.page)
        return unescape(found[1]) if found else ""

    def send(self, *moves: str, decision: str | None = None, deed: str = "choose", **headers) -> int:
        """Send a choice; the status of the answer."""
        fields = {"decision": self.decision if decision is None else decision, "move": list(moves)}
        answer = self.client.post(f"{self.address}/{deed}", data=fields, headers=headers)
        if answer.status_code != 303:
            self.page = answer.text
        return answer.status_code

    def choose(self, rng: random.Random) -> None:
        """Any option of those on the page."""
        move = rng.choice(self.moves) if self.moves else None
        several = "data-several" in self.page
        decision = self.decision
        moves = [] if move is None or (several and rng.random() < 0.3) else [move]
        status = self.send(*moves, decision=decision)
        if status == 422 and several:  # an attack has a card, or no card may be played
            status = self.send(*([move] if not moves and move else []), decision=decision)
        assert status == 303, self.problem


def begin(server: str, **fields: str) -> httpx.Response:
    """A new game by the form of the start page."""
    three = {"edition": "board", "players": "3", "seat0": "human", "seat1": "random", "seat2": "random", "seed": "5"}
    return httpx.post(f"{server}/games", data=three | fields, follow_redirects=False, timeout=30)


def seats(games: LiveGames, name: str) -> dict[int, str]:
    """The addresses of all who may look at a game."""
    return {seat: f"/game/{name}/{key}" for seat, key in games.table(name).keys.items()}


def table_at(games: LiveGames, phase: str, ruleset: Ruleset, seed: int = 1, cards: int = 0) -> LiveGame:
    """A table at which seat 0, a person's, is asked in a phase and holds so many cards; the others are random."""
    while True:
        game = SteppedGame(ruleset, [HUMAN, *["random"] * (ruleset.players - 1)], seed)
        rng = random.Random(seed)
        while not game.over:
            game.advance()
            if game.batch.phase_name() == phase and game.batch.games["hand_size"][0, 0] >= cards:
                table = LiveGame.set_up(
                    game, [f"Person{seat}" for seat in range(ruleset.players)], games.folder / "set.json"
                )
                games._tables["set"] = table
                return table
            if not game.over:
                moves = [move for move in game.batch.legal_moves() if not move.startswith("contract")]
                move = rng.choice(moves or game.batch.legal_moves())
                game.choose([game.batch.actions.action(move, game.batch.phase_name())])
        seed += 1


def unpacked(text: str) -> Any:
    """The content that is packed in the page of a replay."""
    return json.loads(zlib.decompress(b64decode(text), wbits=RAW))


# ---------------------------------------------------------------- secrets


def cards_in(text: str) -> set[int]:
    """The cards that a text names."""
    return {int(number) for found in CARD.findall(text) for number in found if number}


def seen_by_all(table: LiveGame) -> set[int]:
    """The cards that have been played or taken openly."""
    moves = [line["move"] for line in table.game.lines if "move" in line]
    return {int(card) for move in moves for card in re.findall(r"(?:ship|commit|defend|keep|take|drop) (\d+)", move)}


def hand(table: LiveGame, seat: int) -> set[int]:
    return set(np.flatnonzero(table.game.batch.games["place"][0, :CARDS] == HAND + seat).tolist())


def unseen_by(table: LiveGame, seat: int) -> set[int]:
    """The cards of which this seat cannot say where they are."""
    seen = redact(table.game.batch.games[0], seat)
    return set(np.flatnonzero(seen["place"][:CARDS] == UNSEEN).tolist())
