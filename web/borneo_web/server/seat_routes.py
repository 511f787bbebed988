"""SeatRoutes: what is done at the addresses of a game. The key in the address says for whom."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from weakref import WeakKeyDictionary

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from borneo_env.engine.batch import Batch
from borneo_env.engine.state import SPECTATOR
from borneo_web.server.coach import Advice, advise
from borneo_web.server.game.words import phrase
from borneo_web.server.html import Html, join
from borneo_web.server.live_game import LiveGame, Refused
from borneo_web.server.live_games import LiveGames
from borneo_web.server.long_work import LongWork, Worker
from borneo_web.server.replays import replay_answer, replay_of
from borneo_web.server.requests import read_form, whole_number
from borneo_web.server.seat_view import steps
from borneo_web.server.table_page import story_page, table_page

MOST_QUESTIONS, MOST_ANSWERS = 16, 256  # to the coach that wait, of two seconds each; of it that are kept
HEARTBEAT = 15.0  # seconds after which a silent stream says that it is there


Answering = Callable[[Request, LiveGame, int], Awaitable[Response]]


class SeatRoutes:
    """All seats of all games."""

    def __init__(self, games: LiveGames, replays: LongWork, coach: Worker) -> None:
        self._games, self._replays = games, replays
        self._turns: WeakKeyDictionary[LiveGame, asyncio.Lock] = WeakKeyDictionary()
        self._coach = LongWork(coach, "The coach", most=MOST_QUESTIONS, each=1, kept=MOST_ANSWERS)

    def routes(self) -> list[Route]:
        looked_at = {"": self._seat, "/story": self._story, "/steps": self._steps, "/preview": self._preview,
                     "/events": self._events, "/record": self._record, "/replay": self._replay}  # fmt: skip
        done = {"/choose": self._choose, "/undo": self._undo, "/again": self._again}
        return [
            *(self._route(path, answer, "GET") for path, answer in looked_at.items()),
            *(self._route(path, answer, "POST") for path, answer in done.items()),
        ]

    def _route(self, path: str, answer: Answering, method: str) -> Route:
        """Whoever asks there must have the key of a seat."""

        async def answered(request: Request) -> Response:
            table, seat = await run_in_threadpool(self._games.seat, **request.path_params)
            return await answer(request, table, seat)

        return Route("/game/{name}/{key}" + path, answered, methods=[method])

    async def _seat(self, request: Request, table: LiveGame, seat: int) -> Response:
        if "coach" not in request.query_params:
            return await _page(request, table, seat)
        asked, number, batch, chosen = await run_in_threadpool(_asked, request, table, seat)
        if not asked:
            return await _page(request, table, seat)
        key, status = table.keys[seat], 200
        advice: Advice | str
        try:  # others may look meanwhile
            advice = await self._coach.do(key, (key, number, *chosen), advise, batch, chosen)
        except Refused as error:
            advice, status = str(error), error.status
        except Exception as error:  # whatever goes wrong with a coach, the game goes on
            traceback.print_exception(error)  # here alone: it may have paths in it
            advice = f"The coach has no answer ({type(error).__name__}). The terminal of the server tells more."
        return await _page(request, table, seat, status, advice=(number, advice))

    async def _choose(self, request: Request, table: LiveGame, seat: int) -> Response:
        return await self._do(request, table, seat, lambda number, moves: table.choose(seat, number, moves))

    async def _undo(self, request: Request, table: LiveGame, seat: int) -> Response:
        return await self._do(request, table, seat, lambda number, moves: table.undo(seat, number))

    async def _do(
        self, request: Request, table: LiveGame, seat: int, deed: Callable[[int, list[str]], None]
    ) -> Response:
        fields = await read_form(request)
        number = whole_number(dict(fields).get("decision", ""))
        if number is None:
            raise Refused(422, "The number of the decision is missing.")
        try:
            await run_in_threadpool(deed, number, [value for field, value in fields if field == "move"])
        except Refused as error:
            return await _page(request, table, seat, error.status, problem=str(error))
        table.go_on(self._games.pool)
        return RedirectResponse(table.address(seat), 303)

    async def _again(self, request: Request, table: LiveGame, seat: int) -> Response:
        if not table.game.over:
            raise Refused(409, "The game is not over yet.")
        if seat == SPECTATOR and table.game.humans and not table.next:
            raise Refused(403, "Who watches cannot deal.")
        following = await run_in_threadpool(self._games.again, table)
        return RedirectResponse(following.address(seat), 303)

    async def _story(self, request: Request, table: LiveGame, seat: int) -> Response:
        async with self._turn(table):
            return HTMLResponse(await run_in_threadpool(story_page, table, seat))

    async def _steps(self, request: Request, table: LiveGame, seat: int) -> Response:
        since = whole_number(request.query_params.get("since", ""))
        async with self._turn(table):
            return JSONResponse(await run_in_threadpool(steps, table, seat, since or 0))

    def _turn(self, table: LiveGame) -> asyncio.Lock:
        """Many pictures are drawn for one at a time of those at a table, so that other tables need not wait for all."""
        return self._turns.setdefault(table, asyncio.Lock())

    async def _preview(self, request: Request, table: LiveGame, seat: int) -> Response:
        return HTMLResponse(await run_in_threadpool(_preview, request, table, seat))

    async def _events(self, request: Request, table: LiveGame, seat: int) -> Response:
        headers = {"x-accel-buffering": "no"}
        return StreamingResponse(_changes(self._games, table, seat), media_type="text/event-stream", headers=headers)

    async def _record(self, request: Request, table: LiveGame, seat: int) -> Response:
        content = "".join(json.dumps(line) + "\n" for line in table.record)
        headers = {"content-disposition": 'attachment; filename="borneo-game.jsonl"'}
        return Response(content, media_type="application/jsonl", headers=headers)

    async def _replay(self, request: Request, table: LiveGame, seat: int) -> Response:
        record = table.record  # refused while the game runs, whatever is kept
        page = await self._replays.do(table.keys[seat], f"game {table.path.stem}", replay_of, record)
        return replay_answer(page, "Back to the table", table.address(seat))


async def _page(
    request: Request,
    table: LiveGame,
    seat: int,
    status: int = 200,
    *,
    problem: str = "",
    advice: tuple[int, Advice | str] | None = None,
) -> Response:
    """The page of a seat; advice, with the number of its decision, is shown while that is asked for."""

    def made() -> Html:
        with table.lock:
            shown = advice[1] if advice else None
            if advice and advice[0] != table.choices:
                shown = "The table has changed while the coach was thinking."
            return table_page(table, seat, problem=problem, advice=shown, chosen=_named(request, table))

    return HTMLResponse(await run_in_threadpool(made), status)


def _preview(request: Request, table: LiveGame, seat: int) -> Html:
    """What a set of cards would mean."""
    with table.lock:
        if not table.asks(seat):
            raise Refused(409, "It is not your decision.")
        try:
            actions = table.actions(seat, request.query_params.getlist("move"))
        except Refused as error:
            return join(str(error))
        return phrase(table, seat, ("You ", *table.question(seat).words(actions)))


def _asked(request: Request, table: LiveGame, seat: int) -> tuple[bool, int, Batch, list[int]]:
    """Whether a seat is to decide now, the number of its decision, a copy of the game, and what is chosen so far."""
    with table.lock:
        asked, moves, chosen = table.asks(seat), _named(request, table), list[int]()
        with suppress(Refused):  # what is no answer yet
            chosen = table.actions(seat, moves) if asked and moves else []
        return asked, table.choices, table.batch(), chosen


def _named(request: Request, table: LiveGame) -> list[str]:
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
