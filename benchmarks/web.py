"""How long people wait in a browser: `python benchmarks/web.py`. Prints percentiles of the time that an answer takes.

The server of `borneo web` and all people run on this machine. Each person plays a game of their own against merchants:
they think, choose at random, and wait for the page with their next decision. Like a browser, they listen for events and
fetch the page when one comes. The answer is timed from the choice to the whole page. At the end, every game that was
saved is read again: it must have all choices.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from html import unescape
from pathlib import Path
from typing import Annotated

import httpx
import numpy as np
import typer
from borneo_web.server.live_games import read_table
from rich.console import Console
from rich.table import Table

MOVE = re.compile(r'name="move" value="([^"]+)"')
DECISION = re.compile(r'name="decision" value="(\d+)"')
ARRIVING = 3  # times the time that people think: so long until everybody is there
REHEARSAL = 4.0  # seconds that a server has to itself first: it loads machine code
PERCENTILES = (50, 95, 99, 100)
STATE = re.compile(r'data-state="(\w+)"')


class Person:
    """Somebody who plays one game against merchants."""

    def __init__(self, number: int, players: int, thinking: float) -> None:
        self._players, self._thinking = players, thinking
        self._rng = random.Random(number)
        self._heard = asyncio.Event()
        self.waited: list[float] = []  # seconds, for each answer
        self.name = ""  # of the game

    async def play(self, server: str, decisions: int) -> None:
        """Deal a game and make so many decisions, or all of it."""
        await asyncio.sleep(self._rng.uniform(0, ARRIVING * self._thinking))
        async with httpx.AsyncClient(base_url=server, timeout=None) as self._client:
            merchants = {f"seat{seat}": "merchant" for seat in range(1, self._players)}
            game = {"players": str(self._players), "seed": str(self._rng.getrandbits(40)), **merchants}
            answer = await self._client.post("/games", data=game)
            assert answer.status_code == 303, answer
            self._address = answer.headers["location"]
            self.name = self._address.split("/")[2]
            stream = asyncio.create_task(self._listen())
            page = await self._asked()
            while page and len(self.waited) < decisions:
                await asyncio.sleep(self._rng.expovariate(1 / self._thinking))
                began = time.perf_counter()
                await self._choose(page)
                page = await self._asked()
                self.waited.append(time.perf_counter() - began)
            stream.cancel()

    async def _listen(self) -> None:
        async with self._client.stream("GET", f"{self._address}/events") as events:
            async for line in events.aiter_lines():
                if line.startswith("event: changed"):
                    self._heard.set()

    async def _asked(self) -> str:
        """The page with the next decision, once there is one; nothing when the game is over."""
        while True:
            await self._heard.wait()
            self._heard.clear()
            answer = await self._client.get(self._address)
            assert answer.status_code == 200, answer
            state = STATE.search(answer.text)
            assert state, answer.text
            if state[1] != "waits":
                return answer.text if state[1] == "asked" else ""

    async def _choose(self, page: str) -> None:
        decision = DECISION.search(page)
        moves = [unescape(move) for move in MOVE.findall(page)]
        assert decision, page
        chosen = [self._rng.choice(moves)] if moves else []
        status = await self._post(decision[1], chosen)
        if status == 422 and "data-several" in page:  # in a contest, whether a card must be played depends on others
            status = await self._post(decision[1], [])
        assert status == 303, status

    async def _post(self, decision: str, moves: list[str]) -> int:
        answer = await self._client.post(f"{self._address}/choose", data={"decision": decision, "move": moves})
        return answer.status_code


async def play(server: str, people: list[Person], decisions: int) -> None:
    """Everybody at once."""
    await asyncio.gather(*(person.play(server, decisions) for person in people))


def lost_choices(folder: Path, people: list[Person]) -> int:
    """How many choices are missing in the games that were saved. Reading one checks and makes every move again."""
    saved = {path.stem: read_table(path).choices for path in folder.glob("*.json")}
    return sum(len(person.waited) - saved.get(person.name, 0) for person in people)


def measure(
    games: Annotated[int, typer.Option(help="Games at once, each with one person.")] = 200,
    decisions: Annotated[int, typer.Option(help="Decisions of each person.")] = 12,
    players: Annotated[int, typer.Option(help="Players of each game; all others are merchants.")] = 4,
    thinking: Annotated[float, typer.Option(help="Seconds that a person thinks, in the mean.")] = 8.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure how long people wait for the answers of merchants in a browser."""
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "borneo_env.cli", "web", "--port", "0", "--folder", name, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            assert server.stdout is not None
            address = json.loads(server.stdout.readline())["address"]
            time.sleep(REHEARSAL)
            people = [Person(number, players, thinking) for number in range(games)]
            began = time.perf_counter()
            try:
                asyncio.run(play(address, people, decisions))
            finally:
                seconds = time.perf_counter() - began
                server.send_signal(signal.SIGINT)
        lost = lost_choices(Path(name), people)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = 1000 * (used.ru_utime + used.ru_stime) / sum(len(person.waited) for person in people)
    waited = 1000 * np.array([one for person in people for one in person.waited])
    found = {f"p{share}": round(float(np.percentile(waited, share)), 1) for share in PERCENTILES}
    if as_json:
        about = {"games": games, "answers": len(waited), "seconds": round(seconds, 1), "lost": lost}
        print(json.dumps(about | {"processor": round(processor, 1), **found}))
        return
    table = Table(*(f"{share} %" for share in PERCENTILES), title="milliseconds from a choice to the next decision")
    table.add_row(*(f"{value:.0f}" for value in found.values()))
    Console().print(table)
    rate = f"{len(waited) / seconds:.0f} a second, {games} games at once, {players} players"
    Console().print(f"{len(waited):,} answers, {rate}; {lost} choices lost.")
    Console().print(f"The server took {processor:.0f} ms of a processor for each answer, its start included.")


if __name__ == "__main__":
    typer.run(measure)
