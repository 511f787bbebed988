"""The application: addresses and what is done there. Answers are made from tables; nothing here knows a rule.

| address | |
| --- | --- |
| `/`, `POST /games` | the start page; a new game. With a token, these two ask for it |
| `/game/ID/KEY` | a seat at a table, or watching: the key says which |
| `.../choose`, `.../undo` (POST) | a person's choice, with the number of the decision it answers |
| `.../story`, `.../steps` | what has happened, in words, and step by step |
| `.../preview` | what a set of cards would mean |
| `.../events` | server-sent events: `changed` whenever the table has |
| `.../record`, `.../replay` | after the end |
| `/rules`, `/static/FILE` | the rules, each at its id; style and scripts |
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from urllib.parse import parse_qsl

from borneo_agents.human.game import HUMAN
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from borneo_env.engine.batch import fresh_seed
from borneo_env.engine.state import SPECTATOR
from borneo_env.record import Line
from borneo_env.render import symbols
from borneo_env.render.pen import INK
from borneo_env.render.scene import NUMBER_WORDS
from borneo_env.ruleset import Ruleset, RulesetError
from borneo_web.server.coach import advise
from borneo_web.server.games import LONGEST_NAME, Games
from borneo_web.server.guard import App, Guard
from borneo_web.server.html import Html, join
from borneo_web.server.pages import Listed, refusal_page, rules_page, start_page, story_page, table_page
from borneo_web.server.sight import steps
from borneo_web.server.table import Refused, Table
from borneo_web.server.words import sentence

LARGEST_BODY = 8192  # bytes; a new game takes some 300
MOST_FIELDS = 32
HEARTBEAT = 15.0  # seconds after which a silent stream says that it is there
LOCAL_NAMES = frozenset({"localhost"})
COOKIE = "borneo"
SCRIPTS = ("play.js", "choose.js", "steps.js")
STATIC = {"style.css": "text/css", **dict.fromkeys(SCRIPTS, "text/javascript")}
Replay = Callable[[Sequence[Line]], str]  # the page of a replay, from the record of a finished game


def make_app(
    games: Games,
    *,
    token: str | None = None,
    names: frozenset[str] = LOCAL_NAMES,
    everywhere: bool = False,
    replay: Replay | None = None,
) -> App:
    """The application for some games.

    Arguments:
        token: what the start page asks for; nothing by default, which is right on this machine only.
        names, everywhere: under which names and addresses it may be reached: see `Guard`.
        replay: makes the page that a finished game is replayed on; without it there is no link to one.
    """
    site = Site(games, token, replay)
    game = "/game/{name}/{key}"
    routes = [
        Route("/", site.start),
        Route("/games", site.begin, methods=["POST"]),
        Route(game, site.seat),
        Route(f"{game}/choose", site.choose, methods=["POST"]),
        Route(f"{game}/undo", site.undo, methods=["POST"]),
        Route(f"{game}/story", site.story),
        Route(f"{game}/steps", site.steps),
        Route(f"{game}/preview", site.preview),
        Route(f"{game}/events", site.events),
        Route(f"{game}/record", site.record),
        Route(f"{game}/replay", site.replay),
        Route("/rules", _rules),
        Route("/static/{file}", _static),
    ]
    handlers = {Refused: _refused, HTTPException: _not_found}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), names, everywhere)


class Site:
    """What is done at each address."""

    def __init__(self, games: Games, token: str | None, replay: Replay | None) -> None:
        self._games, self._token, self._replay = games, token, replay

    # ---------------------------------------------------------------- the start

    async def start(self, request: Request) -> Response:
        given = request.query_params.get("token")
        if self._token and given is not None and _same(given, self._token):
            answer = RedirectResponse("/", 303)
            answer.set_cookie(COOKIE, self._token, httponly=True, samesite="strict")
            return answer
        self._check_token(request)
        return HTMLResponse(await run_in_threadpool(lambda: start_page(self._listed())))

    async def begin(self, request: Request) -> Response:
        self._check_token(request)
        fields = await _form(request)
        name = await run_in_threadpool(self._begin, dict(fields))
        table = self._games.table(name)
        humans = table.game.humans
        if len(humans) > 1:
            return RedirectResponse("/", 303)  # with the links of all seats
        return RedirectResponse(_address(name, table.keys[humans[0] if humans else SPECTATOR]), 303)

    def _begin(self, fields: dict[str, str]) -> str:
        if fields.get("players", "") not in map(str, NUMBER_WORDS):
            raise Refused(422, "A game has three, four or five players.")
        players = int(fields["players"])
        seats = [fields.get(f"seat{seat}", HUMAN) for seat in range(players)]
        given = [_name(fields.get(f"name{seat}", "")) for seat in range(players)]
        kinds = ["person" if seat == HUMAN else seat for seat in seats]
        names = [name if name and seats[seat] == HUMAN else f"{kinds[seat]} {seat}" for seat, name in enumerate(given)]
        seed = fields.get("seed", "").strip()
        if seed and not (seed.isascii() and seed.isdigit() and len(seed) <= 18):
            raise Refused(422, "A seed is a whole number of at most 18 digits, or nothing.")
        try:
            traders = 4 if fields.get("four_traders") else 3
            edition = fields.get("edition", "board")
            ruleset = Ruleset(edition, players, traders, bool(fields.get("blackbeard")))
        except (RulesetError, TypeError) as error:
            raise Refused(422, f"{error}.") from None
        return self._games.begin(ruleset, seats, names, int(seed) if seed else fresh_seed())

    def _listed(self) -> list[Listed]:
        listed = []
        for name in self._games:
            try:
                table = self._games.table(name)
            except Refused as error:
                listed.append(Listed(name, f"Game {name}", "", [], str(error)))
                continue
            links = [
                (f"{table.game.names[seat]} plays", _address(name, table.keys[seat])) for seat in table.game.humans
            ]
            links.append(("watch", _address(name, table.keys[SPECTATOR])))
            scene = table.scene(SPECTATOR)
            listed.append(Listed(name, ", ".join(table.game.names), f"{scene.title} · {scene.headline}", links))
        return listed

    def _check_token(self, request: Request) -> None:
        if self._token and not _same(request.cookies.get(COOKIE, ""), self._token):
            raise Refused(403, "This page needs the token: open the address that the server has printed.")

    # ---------------------------------------------------------------- a seat

    def _found(self, request: Request) -> tuple[Table, int, str]:
        name, key = request.path_params["name"], request.path_params["key"]
        table, seat = self._games.seat(name, key)
        return table, seat, _address(name, table.keys[seat])

    async def seat(self, request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(self._seat, request, "coach" in request.query_params))

    def _seat(self, request: Request, coached: bool = False, problem: str = "") -> Html:
        table, seat, address = self._found(request)
        with table.lock:
            asked, number, batch = table.asks(seat), table.choices, table.batch()
        advice = advise(batch) if coached and asked else None  # which takes a while: others may look meanwhile
        with table.lock:
            if advice is not None and number != table.choices:
                advice = None
            return table_page(table, seat, address, problem=problem, advice=advice, replay=self._replay is not None)

    async def choose(self, request: Request) -> Response:
        return await self._do(request, lambda table, seat, number, moves: table.choose(seat, number, moves))

    async def undo(self, request: Request) -> Response:
        return await self._do(request, lambda table, seat, number, moves: table.undo(seat, number))

    async def _do(self, request: Request, deed: Callable[[Table, int, int, list[str]], None]) -> Response:
        table, seat, address = await run_in_threadpool(self._found, request)
        fields = await _form(request)
        number = dict(fields).get("decision", "")
        if not (number.isascii() and number.isdigit() and len(number) < 10):
            raise Refused(422, "The number of the decision is missing.")
        moves = [value for field, value in fields if field == "move"]
        try:
            await run_in_threadpool(deed, table, seat, int(number), moves)
        except Refused as error:
            return HTMLResponse(await run_in_threadpool(self._seat, request, False, str(error)), error.status)
        table.go_on(self._games.pool)
        return RedirectResponse(address, 303)

    async def story(self, request: Request) -> Response:
        table, seat, address = await run_in_threadpool(self._found, request)
        return HTMLResponse(await run_in_threadpool(story_page, table, seat, address))

    async def steps(self, request: Request) -> Response:
        table, seat, _ = await run_in_threadpool(self._found, request)
        since = request.query_params.get("since", "0")
        count = int(since) if since.isascii() and since.isdigit() and len(since) < 10 else 0
        return JSONResponse(await run_in_threadpool(steps, table, seat, count))

    async def preview(self, request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(self._preview, request))

    def _preview(self, request: Request) -> Html:
        table, seat, _ = self._found(request)
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
        table, _, _ = await run_in_threadpool(self._found, request)
        headers = {"x-accel-buffering": "no"}
        return StreamingResponse(_changes(self._games, table), media_type="text/event-stream", headers=headers)

    # ---------------------------------------------------------------- after the end

    async def record(self, request: Request) -> Response:
        table, _, _ = await run_in_threadpool(self._found, request)
        content = "".join(json.dumps(line) + "\n" for line in table.record)
        headers = {"content-disposition": 'attachment; filename="borneo-game.jsonl"'}
        return Response(content, media_type="application/jsonl", headers=headers)

    async def replay(self, request: Request) -> Response:
        table, _, _ = await run_in_threadpool(self._found, request)
        if self._replay is None:
            raise Refused(404, "This server has no replays. Download the record instead.")
        return HTMLResponse(await run_in_threadpool(self._replay, table.record))


async def _changes(games: Games, table: Table) -> AsyncIterator[str]:
    """The events of a table, as long as somebody listens."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def listener() -> None:
        with suppress(RuntimeError):  # the server is ending
            loop.call_soon_threadsafe(changed.set)

    table.listeners.add(listener)
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


async def _form(request: Request) -> list[tuple[str, str]]:
    """The fields of a form that was sent; Refused if it is too large or no form."""
    body = b""
    with suppress(ClientDisconnect):
        async for piece in request.stream():
            body += piece
            if len(body) > LARGEST_BODY:
                raise Refused(413, f"A form has at most {LARGEST_BODY} bytes.")
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        raise Refused(415, "What is sent here is a form (application/x-www-form-urlencoded).")
    try:
        text = body.decode("ascii")
        return parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), errors="strict",
                         max_num_fields=MOST_FIELDS)  # fmt: skip
    except ValueError:
        raise Refused(400, "The form cannot be read.") from None


def _name(given: str) -> str:
    """A person's name as it may be shown: one short line."""
    return "".join(letter if letter.isprintable() else " " for letter in given).strip()[:LONGEST_NAME]


def _same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(), secret.encode())


def _address(name: str, key: str) -> str:
    return f"/game/{name}/{key}"


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return HTMLResponse(refusal_page(str(error)), error.status)


async def _not_found(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return HTMLResponse(refusal_page("There is nothing at this address."), error.status_code)


# ---------------------------------------------------------------- what is the same for everybody


async def _rules(request: Request) -> Response:
    return HTMLResponse(_rules_page())


@cache
def _rules_page() -> Html:
    return rules_page()


async def _static(request: Request) -> Response:
    name = request.path_params["file"]
    made = {"colours.css": _colours, "icon.svg": _icon}
    if name in made:
        return Response(made[name](), media_type="text/css" if name.endswith("css") else "image/svg+xml")
    if name not in STATIC:
        raise Refused(404, "There is nothing at this address.")
    return Response(_file(name), media_type=STATIC[name])


@cache
def _file(name: str) -> bytes:
    return (files("borneo_web.server") / "static" / name).read_bytes()


@cache
def _colours() -> str:
    """The colours of the pictures, for the pages."""
    names = ("PAPER", "PAPER_EDGE", "CARD", "FAINT", "GOLD", "SEA", "FOAM", "WATER", "LAND", "WHITE", "WAX", "GLOW")
    colours = {name.lower().replace("_", "-"): getattr(symbols, name) for name in names} | {"ink": INK}
    players = zip(symbols.PLAYER_COLOURS, symbols.PLAYER_INKS, strict=True)
    chips = (f".player{i}{{background:{fill};color:{ink}}}" for i, (fill, ink) in enumerate(players))
    return f":root{{{''.join(f'--{name}:{value};' for name, value in colours.items())}}}\n{''.join(chips)}\n"


@cache
def _icon() -> str:
    ship = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-14 -14 28 28"><defs>{symbols.SYMBOLS}</defs>'
    return f'{ship}<use href="#ship"/></svg>'
