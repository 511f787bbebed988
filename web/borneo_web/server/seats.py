"""Seats: what is done at the addresses of a game. The key in the address says for whom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from borneo_web.server.coach import counsel
from borneo_web.server.games import Games
from borneo_web.server.html import Html, join
from borneo_web.server.replays import Replays, replay_answer
from borneo_web.server.requests import read_form, whole_number
from borneo_web.server.sight import steps
from borneo_web.server.table import Refused, Table
from borneo_web.server.table_page import story_page, table_page
from borneo_web.server.words import sentence

HEARTBEAT = 15.0  # seconds after which a silent stream says that it is there


class Seats:
    """All seats of all games."""

    def __init__(self, games: Games) -> None:
        self._games, self._replays = games, Replays()

    def routes(self) -> list[Route]:
        game = "/game/{name}/{key}"
        return [
            Route(game, self.seat),
            Route(f"{game}/choose", self.choose, methods=["POST"]),
            Route(f"{game}/undo", self.undo, methods=["POST"]),
            Route(f"{game}/story", self.story),
            Route(f"{game}/steps", self.steps),
            Route(f"{game}/preview", self.preview),
            Route(f"{game}/events", self.events),
            Route(f"{game}/record", self.record),
            Route(f"{game}/replay", self.replay),
        ]

    def _found(self, request: Request) -> tuple[Table, int]:
        return self._games.seat(request.path_params["name"], request.path_params["key"])

    async def seat(self, request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(self._seat, request, "coach" in request.query_params))

    def _seat(self, request: Request, coached: bool = False, problem: str = "") -> Html:
        table, seat = self._found(request)
        with table.lock:
            asked, number, batch = table.asks(seat), table.choices, table.batch()
            chosen = _chosen(table, seat, request) if coached and asked else []
        advice = counsel(batch, chosen) if coached and asked else None  # it takes a while: others may look meanwhile
        with table.lock:
            if advice is not None and number != table.choices:
                advice = "The table has changed while the coach was thinking."
            return table_page(table, seat, problem=problem, advice=advice)

    async def choose(self, request: Request) -> Response:
        return await self._do(request, lambda table, seat, number, moves: table.choose(seat, number, moves))

    async def undo(self, request: Request) -> Response:
        return await self._do(request, lambda table, seat, number, moves: table.undo(seat, number))

    async def _do(self, request: Request, deed: Callable[[Table, int, int, list[str]], None]) -> Response:
        table, seat = await run_in_threadpool(self._found, request)
        fields = await read_form(request)
        number = whole_number(dict(fields).get("decision", ""))
        if number is None:
            raise Refused(422, "The number of the decision is missing.")
        moves = [value for field, value in fields if field == "move"]
        try:
            await run_in_threadpool(deed, table, seat, number, moves)
        except Refused as error:
            return HTMLResponse(await run_in_threadpool(self._seat, request, False, str(error)), error.status)
        table.go_on(self._games.pool)
        return RedirectResponse(table.address(seat), 303)

    async def story(self, request: Request) -> Response:
        table, seat = await run_in_threadpool(self._found, request)
        return HTMLResponse(await run_in_threadpool(story_page, table, seat))

    async def steps(self, request: Request) -> Response:
        table, seat = await run_in_threadpool(self._found, request)
        since = whole_number(request.query_params.get("since", ""))
        return JSONResponse(await run_in_threadpool(steps, table, seat, since or 0))

    async def preview(self, request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(self._preview, request))

    def _preview(self, request: Request) -> Html:
        table, seat = self._found(request)
        with table.lock:
            if not table.asks(seat):
                raise Refused(409, "It is not your decision.")
            try:
                actions = table.actions(seat, request.query_params.getlist("move"))
            except Refused as error:
                return join(str(error))
            words = f"You {table.question(seat).words(actions)}"
        return sentence(table.game.batch.ruleset, table.words(seat, words))

    async def events(self, request: Request) -> Response:
        table, seat = await run_in_threadpool(self._found, request)
        headers = {"x-accel-buffering": "no"}
        return StreamingResponse(_changes(self._games, table, seat), media_type="text/event-stream", headers=headers)

    async def record(self, request: Request) -> Response:
        table, _ = await run_in_threadpool(self._found, request)
        content = "".join(json.dumps(line) + "\n" for line in table.record)
        headers = {"content-disposition": 'attachment; filename="borneo-game.jsonl"'}
        return Response(content, media_type="application/jsonl", headers=headers)

    async def replay(self, request: Request) -> Response:
        table, _ = await run_in_threadpool(self._found, request)
        record = table.record  # refused while the game runs, whatever is kept
        return replay_answer(await run_in_threadpool(self._replays.page, request.path_params["name"], lambda: record))


def _chosen(table: Table, seat: int, request: Request) -> list[int]:
    """The actions that somebody who asks the coach has chosen for this decision; none if that is no answer yet."""
    moves = request.query_params.getlist("move")
    if not moves or whole_number(request.query_params.get("decision", "")) != table.choices:
        return []
    try:
        return table.actions(seat, moves)
    except Refused:
        return []


async def _changes(games: Games, table: Table, seat: int) -> AsyncIterator[str]:
    """The events of a table, as long as somebody in a seat listens."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def listener() -> None:
        with suppress(RuntimeError):  # the server is ending
            loop.call_soon_threadsafe(changed.set)

    table.listeners.add(listener)
    table.here[seat] += 1
    try:
        yield "retry: 1000\nevent: changed\ndata:\n\n"
        while not games.closing:
            try:
                await asyncio.wait_for(changed.wait(), HEARTBEAT)
            except TimeoutError:
                yield ":\n\n"
                continue
            changed.clear()
            if not games.closing:
                yield "event: changed\ndata:\n\n"
    finally:
        table.listeners.discard(listener)
        table.here[seat] -= 1
