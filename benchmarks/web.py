"""How long people wait in a browser: `python benchmarks/web.py`. Prints percentiles of the time that an answer takes.

The server of `borneo web` and all people run on this machine. Each person plays a game of their own against merchants:
they think, choose at random, and wait for the page with their next decision. Like a browser, they listen for events and
fetch the page when one comes. The answer is timed from the choice to the whole page. At the end, every game that was
saved is read again: it must have all choices.

Beside them others may ask the coach one question after the other (`--questions 45`), or send a byte now and then
(`--slow 1200`).
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
from collections import Counter
from contextlib import suppress
from html import unescape
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import numpy as np
import typer
from borneo_web.server.live_games import read_table
from rich.console import Console
from rich.table import Table

LARGEST = 2**22  # bytes of a page
MOVE = re.compile(r'name="move" value="([^"]+)"')
DECISION = re.compile(r'name="decision" value="(\d+)"')
FORM = "application/x-www-form-urlencoded"
ARRIVING = 3  # times the time that people think: so long until everybody is there
AGAIN, BUSY = 1.0, 5.0  # seconds between two bytes; those until a coach who was busy is asked again
REHEARSAL = 4.0  # seconds that a server has to itself first: it loads machine code
PERCENTILES = (50, 95, 99, 100)
STATE = re.compile(r'data-state="(\w+)"')


class Connection:
    """A connection to the server, for one request after the other; it is opened again where the server closes it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: asyncio.StreamReader | None = None

    async def ask(self, path: str, form: list[tuple[str, str]] | None = None) -> tuple[int, dict[str, str], str]:
        """Status, headers and content of an answer; a form is posted."""
        status, headers = await self._send(path, form)
        assert self._reader is not None
        body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return status, headers, body.decode()

    async def listen(self, path: str, heard: asyncio.Event) -> None:
        """Tell of each event of a stream, until it ends."""
        await self._send(path, None)
        assert self._reader is not None
        async for line in self._reader:
            if line.startswith(b"event: changed"):
                heard.set()

    async def _send(self, path: str, form: list[tuple[str, str]] | None) -> tuple[int, dict[str, str]]:
        if self._reader is None or self._reader.at_eof():
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=LARGEST)
        body = urlencode(form or []).encode()
        about = f"host: 127.0.0.1\r\ncontent-length: {len(body)}\r\ncontent-type: {FORM}\r\n\r\n"
        self._writer.write(f"{'POST' if form else 'GET'} {path} HTTP/1.1\r\n{about}".encode() + body)
        head, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
        pairs = (line.split(": ", 1) for line in lines)
        return int(head.split(" ")[1]), {name.lower(): value for name, value in pairs}


class Person:
    """Somebody who plays one game against merchants."""

    def __init__(self, number: int, players: int, thinking: float) -> None:
        self._players, self._thinking = players, thinking
        self._rng = random.Random(number)
        self._heard = asyncio.Event()
        self.waited: list[float] = []  # seconds, for each answer
        self.name = ""  # of the game

    async def play(self, port: int, decisions: int) -> None:
        """Deal a game and make so many decisions, or all of it."""
        await asyncio.sleep(self._rng.uniform(0, ARRIVING * self._thinking))
        self._asking, listening = Connection(port), Connection(port)
        merchants = [(f"seat{seat}", "merchant") for seat in range(1, self._players)]
        seed = ("seed", str(self._rng.getrandbits(40)))
        status, headers, _ = await self._asking.ask("/games", [("players", str(self._players)), seed, *merchants])
        assert status == 303, status
        self._address = headers["location"]
        self.name = self._address.split("/")[2]
        stream = asyncio.create_task(listening.listen(f"{self._address}/events", self._heard))
        page = await self._asked()
        while page and len(self.waited) < decisions:
            await asyncio.sleep(self._rng.expovariate(1 / self._thinking))
            began = time.perf_counter()
            await self._choose(page)
            page = await self._asked()
            self.waited.append(time.perf_counter() - began)
        stream.cancel()

    async def _asked(self) -> str:
        """The page with the next decision, once there is one; nothing when the game is over."""
        while True:
            await self._heard.wait()
            self._heard.clear()
            status, _, page = await self._asking.ask(self._address)
            assert status == 200, status
            state = STATE.search(page)
            assert state, page
            if state[1] != "waits":
                return page if state[1] == "asked" else ""

    async def _choose(self, page: str) -> None:
        decision = DECISION.search(page)
        moves = [unescape(move) for move in MOVE.findall(page)]
        assert decision, page
        chosen = [("move", self._rng.choice(moves))] if moves else []
        status = await self._post(decision[1], chosen)
        if status == 422 and "data-several" in page:  # in a contest, whether a card must be played depends on others
            status = await self._post(decision[1], [])
        assert status == 303, status

    async def _post(self, decision: str, chosen: list[tuple[str, str]]) -> int:
        status, _, _ = await self._asking.ask(f"{self._address}/choose", [("decision", decision), *chosen])
        return status


async def ask_on(port: int, number: int, told: Counter[int]) -> None:
    """Ask the coach in a game of one's own, again and again, and count how it answers."""
    asking = Connection(port)
    form = [("players", "4"), ("seed", str(number)), *((f"seat{seat}", "merchant") for seat in range(1, 4))]
    _, headers, _ = await asking.ask("/games", form)
    address = headers["location"]
    while True:
        status, _, page = await asking.ask(f"{address}?coach")
        told[status] += 1
        decision, move = DECISION.search(page), MOVE.search(page)
        if status == 200 and decision and move:
            await asking.ask(f"{address}/choose", [("decision", decision[1]), ("move", unescape(move[1]))])
        else:
            await asyncio.sleep(BUSY)


async def dawdle(port: int) -> None:
    """Send a request byte by byte, and begin anew when the server has had enough of it."""
    while True:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            while not reader.at_eof():
                writer.write(b"G")
                await writer.drain()
                await asyncio.sleep(AGAIN)
        await asyncio.sleep(AGAIN)


async def play(port: int, people: list[Person], decisions: int, questions: int, slow: int) -> Counter[int]:
    """Everybody at once; how the coach answered those who only ask."""
    told: Counter[int] = Counter()
    beside = [ask_on(port, number, told) for number in range(questions)] + [dawdle(port) for _ in range(slow)]
    tasks = [asyncio.create_task(one) for one in beside]
    await asyncio.gather(*(person.play(port, decisions) for person in people))
    for task in tasks:
        task.cancel()
    failed = [one for one in await asyncio.gather(*tasks, return_exceptions=True) if isinstance(one, Exception)]
    if failed:
        raise failed[0]
    return told


def lost_choices(folder: Path, people: list[Person]) -> int:
    """How many choices are missing in the games that were saved. Reading one checks and makes every move again."""
    saved = {path.stem: read_table(path).choices for path in folder.glob("*.json")}
    return sum(len(person.waited) - saved.get(person.name, 0) for person in people)


def measure(
    games: Annotated[int, typer.Option(help="Games at once, each with one person.")] = 200,
    decisions: Annotated[int, typer.Option(help="Decisions of each person.")] = 12,
    players: Annotated[int, typer.Option(help="Players of each game; all others are merchants.")] = 4,
    thinking: Annotated[float, typer.Option(help="Seconds that a person thinks, in the mean.")] = 8.0,
    questions: Annotated[int, typer.Option(help="Others who ask the coach meanwhile, again and again.")] = 0,
    slow: Annotated[int, typer.Option(help="Connections that send a byte a second meanwhile.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure how long people wait for the answers of merchants in a browser."""
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "borneo_env.cli", "web", "--port", "0", "--folder", name, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            assert server.stdout is not None
            port = int(json.loads(server.stdout.readline())["address"].rstrip("/").rpartition(":")[2])
            time.sleep(REHEARSAL)
            people = [Person(number, players, thinking) for number in range(games)]
            began = time.perf_counter()
            try:
                told = asyncio.run(play(port, people, decisions, questions, slow))
            finally:
                seconds = time.perf_counter() - began
                server.send_signal(signal.SIGINT)
        lost = lost_choices(Path(name), people)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = 1000 * (used.ru_utime + used.ru_stime) / sum(len(person.waited) for person in people)
    waited = 1000 * np.array([one for person in people for one in person.waited])
    found = {f"p{share}": round(float(np.percentile(waited, share)), 1) for share in PERCENTILES}
    if as_json:
        about = {"games": games, "answers": len(waited), "seconds": round(seconds, 1), "lost": lost,
                 "coach": told}  # fmt: skip
        print(json.dumps(about | {"processor": round(processor, 1), **found}))
        return
    table = Table(*(f"{share} %" for share in PERCENTILES), title="milliseconds from a choice to the next decision")
    table.add_row(*(f"{value:.0f}" for value in found.values()))
    Console().print(table)
    rate = f"{len(waited) / seconds:.0f} a second, {games} games at once, {players} players"
    Console().print(f"{len(waited):,} answers, {rate}; {lost} choices lost.")
    if questions:
        busy = told.total() - told[200]
        Console().print(f"The coach answered {told[200]:,} questions beside, and was busy for {busy:,}.")
    Console().print(f"The server took {processor:.0f} ms of a processor for each answer, its start included.")


if __name__ == "__main__":
    typer.run(measure)
