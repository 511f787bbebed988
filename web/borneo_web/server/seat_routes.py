"""SeatRoutes: what is done at the addresses of a game. The key in the address says for whom."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from weakref import WeakKeyDictionary

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from borneo_env.engine.batch import Batch
from borneo_env.engine.state import SPECTATOR
from borneo_web.server.coach import Advice, advise
from borneo_web.server.html import Html, join
from borneo_web.server.live_game import LiveGame, Refused
from borneo_web.server.live_games import LiveGames
from borneo_web.server.long_work import LongWork, Worker
from borneo_web.server.replays import replay_answer, replay_of
from borneo_web.server.requests import read_form, whole_number
from borneo_web.server.seat_view import steps
from borneo_web.server.table_page import story_page, table_page
from borneo_web.server.words import told

MOST_QUESTIONS, MOST_ANSWERS = 16, 256  # to the coach that wait, of two seconds each; of it that are kept
HEARTBEAT = 15.0  # seconds after which a silent stream says that it is there


class SeatRoutes:
    """All seats of all games."""

    def __init__(self, games: LiveGames, replays: LongWork, coach: Worker) -> None:
        self._games, self._replays = games, replays
        self._turns: WeakKeyDictionary[LiveGame, asyncio.Lock] = WeakKeyDictionary()
        self._coach = LongWork(coach, "The coach", most=MOST_QUESTIONS, each=1, kept=MOST_ANSWERS)

    def routes(self) -> list[Route]:
        game = "/game/{name}/{key}"
        return [
            Route(game, self.seat),
            Route(f"{game}/choose", self.choose, methods=["POST"]),
            Route(f"{game}/undo", self.undo, methods=["POST"]),
            Route(f"{game}/again", self.again, methods=["POST"]),
            Route(f"{game}/story", self.story),
            Route(f"{game}/steps", self.steps),
            Route(f"{game}/preview", self.preview),
            Route(f"{game}/events", self.events),
            Route(f"{game}/record", self.record),
            Route(f"{game}/replay", self.replay),
        ]

    def _found(self, request: Request) -> tuple[LiveGame, int]:
        return self._games.seat(request.path_params["name"], request.path_params["key"])

    async def seat(self, request: Request) -> Response:
        if "coach" in request.query_params:
            return await self._coached(request)
        return HTMLResponse(await run_in_threadpool(self._seat, request))

    def _seat(self, request: Request, problem: str = "", advice: tuple[int, Advice | str] | None = None) -> Html:
        """The page of a seat; advice, with the number of its decision, is shown while that is asked for."""
        table, seat = self._found(request)
        with table.lock:
            shown = advice[1] if advice else None
            if advice and advice[0] != table.choices:
                shown = "The table has changed while the coach was thinking."
            return table_page(table, seat, problem=problem, advice=shown, chosen=_named(table, request))

    async def _coached(self, request: Request) -> Response:
        table, seat = await run_in_threadpool(self._found, request)
        asked, number, batch, chosen = await run_in_threadpool(_asked, table, seat, request)
        if not asked:
            return HTMLResponse(await run_in_threadpool(self._seat, request))
        key, status = table.keys[seat], 200
        advice: Advice | str
        try:  # others may look meanwhile
            advice = await self._coach.do(key, (key, number, *chosen), advise, batch, chosen)
        except Refused as error:
            advice, status = str(error), error.status
        except Exception as error:  # whatever goes wrong with a coach, the game goes on
            traceback.print_exception(error)  # here alone: it may have paths in it
            advice = f"The coach has no answer ({type(error).__name__}). The terminal of the server tells more."
        return HTMLResponse(await run_in_threadpool(self._seat, request, "", (number, advice)), status)

    async def choose(self, request: Request) -> Response:
        return await self._do(request, lambda table, seat, number, moves: table.choose(seat, number, moves))

    async def undo(self, request: Request) -> Response:
        return await self._do(request, lambda table, seat, number, moves: table.undo(seat, number))

    async def _do(self, request: Request, deed: Callable[[LiveGame, int, int, list[str]], None]) -> Response:
        table, seat = await run_in_threadpool(self._found, request)
        fields = await read_form(request)
        number = whole_number(dict(fields).get("decision", ""))
        if number is None:
            raise Refused(422, "The number of the decision is missing.")
        moves = [value for field, value in fields if field == "move"]
        try:
            await run_in_threadpool(deed, table, seat, number, moves)
        except Refused as error:
            return HTMLResponse(await run_in_threadpool(self._seat, request, str(error)), error.status)
        table.go_on(self._games.pool)
        return RedirectResponse(table.address(seat), 303)

    async def again(self, request: Request) -> Response:
        table, seat = await run_in_threadpool(self._found, request)
        if not table.game.over:
            raise Refused(409, "The game is not over yet.")
        if seat == SPECTATOR and table.game.humans and not table.next:
            raise Refused(403, "Who watches cannot deal.")
        following = await run_in_threadpool(self._games.again, table)
        return RedirectResponse(following.address(seat), 303)

    async def story(self, request: Request) -> Response:
        table, seat = await run_in_threadpool(self._found, request)
        async with self._turn(table):
            return HTMLResponse(await run_in_threadpool(story_page, table, seat))

    async def steps(self, request: Request) -> Response:
        table, seat = await run_in_threadpool(self._found, request)
        since = whole_number(request.query_params.get("since", ""))
        async with self._turn(table):
            return JSONResponse(await run_in_threadpool(steps, table, seat, since or 0))

    def _turn(self, table: LiveGame) -> asyncio.Lock:
        """Many pictures are drawn for one at a time of those at a table, so that other tables need not wait for all."""
        return self._turns.setdefault(table, asyncio.Lock())

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
            return told(table, seat, ("You ", *table.question(seat).words(actions)))

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
        table, seat = await run_in_threadpool(self._found, request)
        name, key = request.path_params["name"], request.path_params["key"]
        record = table.record  # refused while the game runs, whatever is kept
        page = await self._replays.do(key, f"game {name}", replay_of, record)
        return replay_answer(page, "Back to the table", table.address(seat))


def _asked(table: LiveGame, seat: int, request: Request) -> tuple[bool, int, Batch, list[int]]:
    """Whether a seat is to decide now, the number of its decision, a copy of the game, and what is chosen so far."""
    with table.lock:
        asked = table.asks(seat)
        return asked, table.choices, table.batch(), _chosen(table, seat, request) if asked else []


def _chosen(table: LiveGame, seat: int, request: Request) -> list[int]:
    """The actions that somebody who asks the coach has chosen for this decision; none if that is no answer yet."""
    moves = _named(table, request)
    try:
        return table.actions(seat, moves) if moves else []
    except Refused:
        return []


def _named(table: LiveGame, request: Request) -> list[str]:
    """The moves that the address of a page names for this decision."""
    asked = whole_number(request.query_params.get("decision", ""))
    return request.query_params.getlist("move") if asked == table.choices else []


async def _changes(games: LiveGames, table: LiveGame, seat: int) -> AsyncIterator[str]:
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
