"""Library: games to watch that were played elsewhere: records that are sent, an arena's folder, and a training's."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from borneo_env.files import FileError
from borneo_env.record import LARGEST_FILE, Line, RecordError, parse_record
from borneo_web.server.door import Door
from borneo_web.server.html import Html
from borneo_web.server.library_page import GAMES_ON_A_PAGE, arena_page, training_page
from borneo_web.server.replays import Replays, replay_answer
from borneo_web.server.requests import read_body, whole_number
from borneo_web.server.table import Refused
from borneo_web.server.training_folder import TrainingFolder

if TYPE_CHECKING:  # whose package takes a while, and few servers need it
    from borneo_web.server.arena_folder import ArenaFolder

Folder = TypeVar("Folder", "ArenaFolder", TrainingFolder)


class Library:
    """What can be looked at. Folders are given when the server is started; a request only names numbers of games."""

    def __init__(self, door: Door, arena: ArenaFolder | None, training: TrainingFolder | None) -> None:
        self._door, self._arena, self._training = door, arena, training
        self._replays = Replays()

    def routes(self) -> list[Route]:
        return [
            Route("/records", self.send, methods=["POST"]),
            Route("/records/{key}", self.sent),
            Route("/arena", self.arena),
            Route("/arena/{number}", self.game),
            Route("/training", self.training),
        ]

    @property
    def shelves(self) -> list[tuple[str, str]]:
        """Links to what there is, as words and address."""
        arena = [("The arena: standings, games and replays", "/arena")] if self._arena else []
        return [*arena, *([("The training: its curve and its models", "/training")] if self._training else [])]

    async def send(self, request: Request) -> Response:
        self._door.check(request)
        body = await read_body(request, LARGEST_FILE, "A record")
        key = secrets.token_urlsafe(12)
        await run_in_threadpool(self._page, key, lambda: parse_record(_text(body)))
        return JSONResponse({"address": f"/records/{key}"}, 201)

    async def sent(self, request: Request) -> Response:
        self._door.check(request)
        page = self._replays.find(request.path_params["key"])
        if page is None:
            raise Refused(404, "This replay is kept no more. Send the record again.")
        return replay_answer(page)

    async def arena(self, request: Request) -> Response:
        self._door.check(request)
        first = whole_number(request.query_params.get("from", "0")) or 0
        return HTMLResponse(await run_in_threadpool(self._arena_page, first))

    def _arena_page(self, first: int) -> Html:
        arena = _present(self._arena)
        try:
            standings, games = arena.standings(), arena.games()
        except FileError as error:
            raise Refused(500, f"{error.reason}.") from None
        shown = games[first : first + GAMES_ON_A_PAGE]
        return arena_page(standings, shown, set(arena.recorded()), first, len(games))

    async def game(self, request: Request) -> Response:
        self._door.check(request)
        arena, number = _present(self._arena), whole_number(request.path_params["number"])

        def record() -> list[Line]:
            found = None if number is None else arena.record(number)
            if found is None:
                raise Refused(404, "There is no record of this game. `borneo arena --records` writes them.")
            return found

        return replay_answer(await run_in_threadpool(self._page, f"arena {number}", record))

    async def training(self, request: Request) -> Response:
        self._door.check(request)
        return HTMLResponse(await run_in_threadpool(self._training_page))

    def _training_page(self) -> Html:
        training = _present(self._training)
        try:
            return training_page(training.curves(), training.models())
        except FileError as error:
            raise Refused(500, f"{error.reason}.") from None

    def _page(self, name: str, record: Callable[[], list[Line]]) -> str:
        try:
            return self._replays.page(name, record)
        except RecordError as error:
            raise Refused(422, f"Records are files that end in .jsonl, and this one is wrong: {error}") from None


def _present(folder: Folder | None) -> Folder:
    if folder is None:
        raise Refused(404, "This server was started without such a folder: `borneo web --arena DIR --training DIR`.")
    return folder


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        raise RecordError(1, "the file is not text in UTF-8") from None
