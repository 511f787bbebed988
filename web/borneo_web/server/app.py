"""The application: addresses, and who answers there. Nothing here knows a rule.

| address | | |
| --- | --- | --- |
| `/`, `POST /games`, `POST /games/ID/remove` | `start.py` | the start page; a new game; one less |
| `/games/ID` | | the lobby of a game: the links of all seats, and who has come |
| `/game/ID/KEY` | `seat_routes.py` | a seat at a table, or watching: the key says which |
| `.../choose`, `.../undo` (POST) | | a person's choice, with the number of the decision it answers |
| `.../story`, `.../steps`, `.../preview` | | what has happened; step by step; what a set of cards would mean |
| `.../events` | | server-sent events: `changed` whenever the table has |
| `.../record`, `.../replay`, `.../again` (POST) | | after the end; once more with the same people |
| `POST /records`, `/records/KEY` | `library.py` | a record that somebody has sent, replayed |
| `/arena`, `/arena/NUMBER`, `/training`, `/training/curve.png` | | the folders that the server was started with |
| `/rules`, `/static/FILE` | `statics.py` | the rules, for people and each at its id; style and scripts |

With a token, the start and the library ask for it. A seat needs its key alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp

from borneo_web.server import statics
from borneo_web.server.library import Library
from borneo_web.server.live_game import Refused
from borneo_web.server.live_games import LiveGames
from borneo_web.server.long_work import Worker
from borneo_web.server.page import refusal_page
from borneo_web.server.replays import replays
from borneo_web.server.request_guard import RequestGuard
from borneo_web.server.seat_routes import SeatRoutes
from borneo_web.server.start import Start
from borneo_web.server.token import TokenCheck
from borneo_web.server.training_folder import TrainingFolder

if TYPE_CHECKING:  # whose package takes a while, and few servers need it
    from borneo_web.server.arena_folder import ArenaFolder

FAULT = (
    "This went wrong on the server, and the fault is not yours. Nothing that was saved is lost. Load the page again; "
    "if it comes back, the terminal of the server tells what has happened."
)
LATER = "5"  # seconds
LOCAL_NAMES = frozenset({"localhost"})


def make_app(
    games: LiveGames,
    *,
    coach: Worker,
    reader: Worker,
    token: str | None = None,
    names: frozenset[str] = LOCAL_NAMES,
    everywhere: bool = False,
    arena: ArenaFolder | None = None,
    training: TrainingFolder | None = None,
) -> ASGIApp:
    """The application for some games.

    Arguments:
        coach, reader: what answers questions to the coach, and what makes replays and reads folders.
        token: what the start page asks for; nothing by default, which is right on this machine only.
        names, everywhere: under which names and addresses it may be reached: see `RequestGuard`.
        arena, training: folders that can be looked at.
    """
    check, pages = TokenCheck(token), replays(reader)
    library = Library(check, arena, training, pages, reader)
    start = Start(games, check, library.links)
    routes = [*start.routes(), *SeatRoutes(games, pages, coach).routes(), *library.routes(), *statics.routes()]
    handlers = {Refused: _refused, HTTPException: _not_found, Exception: _failed}
    return RequestGuard(Starlette(routes=routes, exception_handlers=handlers), names, everywhere)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    later = {"retry-after": LATER} if error.status in (429, 503) else None
    return HTMLResponse(refusal_page(str(error)), error.status, later)


async def _failed(request: Request, error: Exception) -> Response:
    """A fault of ours. The server's terminal has its traceback; people elsewhere are told no path."""
    return HTMLResponse(refusal_page(FAULT), 500)


async def _not_found(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return HTMLResponse(refusal_page("There is nothing at this address."), error.status_code)
