"""Library: games to watch that were played elsewhere: records that are sent, an arena's folder, and a training's."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from borneo_env.record import LARGEST_FILE
from borneo_web.server.html import Html
from borneo_web.server.library_page import GAMES_ON_A_PAGE, arena_page, training_page
from borneo_web.server.live_game import UNREADABLE, Refused
from borneo_web.server.long_work import LongWork, Worker
from borneo_web.server.replays import EACH, MOST, replay_answer, replay_of_arena, replay_of_sent
from borneo_web.server.requests import address_of, read_body, whole_number
from borneo_web.server.token import TokenCheck
from borneo_web.server.training_folder import TrainingFolder
from kontor.files import FileError

if TYPE_CHECKING:  # whose package takes a while, and few servers need it
    from borneo_web.server.arena_folder import ArenaFolder

Folder = TypeVar("Folder", "ArenaFolder", TrainingFolder)


class Library:
    """What can be looked at. Folders are given when the server is started; a request only names numbers of games."""

    def __init__(
        self,
        token: TokenCheck,
        arena: ArenaFolder | None,
        training: TrainingFolder | None,
        replays: LongWork,
        worker: Worker,
    ) -> None:
        self._token, self._arena, self._training, self._replays = token, arena, training, replays
        self._pages = LongWork(worker, "The reader of folders", most=MOST, each=EACH, kept=0)

    def routes(self) -> list[Route]:
        guarded = self._token.guarded
        return [
            Route("/records", guarded(self.send), methods=["POST"]),
            Route("/records/{key}", guarded(self.sent)),
            Route("/arena", guarded(self.arena)),
            Route("/arena/{number}", guarded(self.game)),
            Route("/training", guarded(self.training)),
            Route("/training/curve.png", guarded(self.curve)),
        ]

    @property
    def links(self) -> list[tuple[str, str]]:
        """Links to what there is, as words and address."""
        arena = [("The arena: standings, games and replays", "/arena")] if self._arena else []
        return [*arena, *([("The training: its curve and its models", "/training")] if self._training else [])]

    async def send(self, request: Request) -> Response:
        key, who = secrets.token_urlsafe(12), address_of(request)
        with self._replays.place(who):
            body = await read_body(request, LARGEST_FILE, "A record")
        await self._replays.do(who, key, replay_of_sent, body)
        return JSONResponse({"address": f"/records/{key}"}, 201)

    async def sent(self, request: Request) -> Response:
        page = self._replays.find(request.path_params["key"])
        if page is None:
            raise Refused(404, "This replay is kept no more. Send the record again.")
        return replay_answer(page, "Back to the start", "/")

    async def arena(self, request: Request) -> Response:
        first = whole_number(request.query_params.get("from", "0")) or 0
        page = self._pages.do(address_of(request), ("arena", first), _arena_page, _present(self._arena), first)
        return HTMLResponse(await page)

    async def game(self, request: Request) -> Response:
        arena, number = _present(self._arena), whole_number(request.path_params["number"])
        page = await self._replays.do(address_of(request), f"arena {number}", replay_of_arena, arena, number)
        first = (number or 0) // GAMES_ON_A_PAGE * GAMES_ON_A_PAGE
        return replay_answer(page, "Back to the arena", f"/arena?from={first}#game{number}")

    async def training(self, request: Request) -> Response:
        page = self._pages.do(address_of(request), "training", _training_page, _present(self._training))
        return HTMLResponse(await page)

    async def curve(self, request: Request) -> Response:
        picture = await run_in_threadpool(_present(self._training).picture)
        if picture is None:
            raise Refused(404, "The training has drawn no curve yet.")
        return Response(picture, media_type="image/png")


def _arena_page(arena: ArenaFolder, first: int) -> Html:
    with _told():
        standings, games = arena.standings(), arena.games()
    first = min(first, max(0, len(games) - 1)) // GAMES_ON_A_PAGE * GAMES_ON_A_PAGE  # there may be fewer than that
    shown = games[first : first + GAMES_ON_A_PAGE]
    return arena_page(standings, shown, set(arena.recorded()), first, len(games))


def _training_page(training: TrainingFolder) -> Html:
    with _told():
        return training_page(training.curves(), training.models(), training.picture() is not None)


@contextmanager
def _told() -> Iterator[None]:
    """A file that is wrong is told without its path."""
    try:
        yield
    except FileError as error:
        raise Refused(UNREADABLE, f"The folder cannot be shown: it {error.reason}.") from None


def _present(folder: Folder | None) -> Folder:
    if folder is None:
        raise Refused(404, "This server was started without such a folder: `borneo web --arena DIR --training DIR`.")
    return folder
