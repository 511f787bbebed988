"""Start: the start page, new games with their lobbies, and games that are removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from borneo_agents.human.game import HUMAN
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from borneo_env.engine.batch import fresh_seed
from borneo_env.engine.state import SPECTATOR
from borneo_env.render.scene import Scene
from borneo_web.server.game.ruleset_form import ruleset_of
from borneo_web.server.html import Html
from borneo_web.server.live_game import LiveGame, Refused
from borneo_web.server.live_games import LONGEST_NAME, LiveGames
from borneo_web.server.lobby import lobby_page
from borneo_web.server.opponents import opponents
from borneo_web.server.requests import LARGEST_FORM, read_body, read_form
from borneo_web.server.start_page import Listed, start_page
from borneo_web.server.token import TokenCheck
from kontor.files import in_short

MOST_DIGITS = 18  # of a seed
FIRST_GAMES = 6  # that are listed at once: all moves of a saved game are made again when it is read first
DAMAGED, MOST_READ = 3, 200  # damaged ones that are listed; games that are read to find the first ones


class Start:
    """The start page. `links` are links to what else can be looked at: words and address."""

    def __init__(self, games: LiveGames, token: TokenCheck, links: Sequence[tuple[str, str]]) -> None:
        self._games, self._token, self._links = games, token, links

    def routes(self) -> list[Route]:
        guarded = self._token.guarded
        return [
            Route("/", self.page),
            Route("/games", guarded(self.begin), methods=["POST"]),
            Route("/games/{name}", guarded(self.lobby)),
            Route("/games/{name}/remove", guarded(self.remove), methods=["POST"]),
        ]

    async def page(self, request: Request) -> Response:
        welcome = self._token.welcome(request)
        if welcome:
            return welcome
        self._token.check(request)
        return HTMLResponse(await run_in_threadpool(self._page, request.query_params))

    def _page(self, asked: Mapping[str, str], problem: str = "") -> Html:
        names = list(self._games)
        games, damaged, read = self._first(names, len(names) if "all" in asked else FIRST_GAMES)
        players = opponents(self._games.opponents())
        return start_page(games, players, self._links, asked, len(names) - read, damaged, problem)

    def _first(self, names: Sequence[str], most: int) -> tuple[list[Listed], int, int]:
        """So many games, with a few damaged ones among them; how many more are damaged; how many were read for it."""
        games, damaged, read = list[Listed](), 0, 0
        for read, name in enumerate(names[: max(most, MOST_READ)], start=1):
            game = self._listed(name)
            damaged += bool(game.trouble)
            if not game.trouble or damaged <= DAMAGED:
                games.append(game)
            if read - damaged == most:
                break
        return games, max(0, damaged - DAMAGED), read

    async def begin(self, request: Request) -> Response:
        fields = dict(await read_form(request))
        try:
            name = await run_in_threadpool(self._begin, fields)
        except Refused as error:
            return HTMLResponse(await run_in_threadpool(self._page, fields, str(error)), error.status)
        table = self._games.table(name)
        humans = table.game.humans
        if len(humans) > 1:
            return RedirectResponse(_lobby(name), 303)
        return RedirectResponse(table.address(humans[0] if humans else SPECTATOR), 303)

    async def lobby(self, request: Request) -> Response:
        table = await run_in_threadpool(self._games.table, request.path_params["name"])
        return HTMLResponse(await run_in_threadpool(lobby_page, table, request.base_url))

    def _begin(self, fields: dict[str, str]) -> str:
        ruleset = ruleset_of(fields)
        seats = [fields.get(f"seat{seat}", HUMAN) for seat in range(ruleset.players)]
        names = names_of(seats, [_name(fields.get(f"name{seat}", "")) for seat in range(ruleset.players)])
        seed = fields.get("seed", "").strip()
        if seed and not (seed.isascii() and seed.isdigit() and len(seed) <= MOST_DIGITS):
            raise Refused(422, f"A seed is a whole number of at most {MOST_DIGITS} digits, or nothing.")
        for one in opponents(self._games.opponents()):
            if one.name in seats and (ruleset.edition, ruleset.players) not in one.games:
                raise Refused(422, f"{one.name} cannot play this game: it was trained for the {one.only}.")
        return self._games.begin(ruleset, seats, names, int(seed) if seed else fresh_seed())

    async def remove(self, request: Request) -> Response:
        await read_body(request, LARGEST_FORM, "A form")  # one that breaks off removes nothing
        await run_in_threadpool(self._games.remove, request.path_params["name"])
        return RedirectResponse("/", 303)

    def _listed(self, name: str) -> Listed:
        try:
            table = self._games.table(name)
            scene = table.scene(SPECTATOR)
        except Refused as error:
            return Listed(name, f"Game {name}", "", [], str(error))
        except Exception as error:  # of a damaged game that could be read
            return Listed(name, f"Game {name}", "", [], f"The game cannot be shown: {type(error).__name__}.")
        state = " · ".join(filter(None, (scene.title, _state(table, scene), _when(table.path))))
        return Listed(name, ", ".join(table.game.names), state, _links_of(name, table))


def _when(path: Path) -> str:
    """When a game was saved last; nothing if its file has gone."""
    try:
        return f"{datetime.fromtimestamp(path.stat().st_mtime):%d %B %Y, %H:%M}"
    except OSError:
        return ""


def _state(table: LiveGame, scene: Scene) -> str:
    """Who has won, or who is waited for."""
    if not table.game.over:
        return scene.headline
    return f"over, {' and '.join(scene.names[winner] for winner in scene.winners)} won"


def _links_of(name: str, table: LiveGame) -> list[tuple[str, str]]:
    seats = [(f"{table.game.names[seat]} {'played' if table.game.over else 'plays'}", table.address(seat))
             for seat in table.game.humans]  # fmt: skip
    lobby = [("invite", _lobby(name))] if len(seats) > 1 and not table.game.over else []
    replay = [("replay", f"{table.address(SPECTATOR)}/replay")] if table.game.over else []
    return [*lobby, *seats, ("watch", table.address(SPECTATOR)), *replay]


def _lobby(name: str) -> str:
    return f"/games/{name}"


def names_of(seats: Sequence[str], given: Sequence[str]) -> list[str]:
    """What the players are called: people as they say, agents by their kind and the number on their traders.

    People of the same name get that number too.
    """
    names = [name or "person" if kind == HUMAN else f"{kind} {seat}"
             for seat, (kind, name) in enumerate(zip(seats, given, strict=True))]  # fmt: skip
    while len(set(folded := [name.casefold() for name in names])) < len(names):
        names = [f"{name} {seat}" if seats[seat] == HUMAN and folded.count(name.casefold()) > 1 else name
                 for seat, name in enumerate(names)]  # fmt: skip
    return names


def _name(given: str) -> str:
    """A person's name as it may be shown: one short line."""
    name = "".join(letter if letter.isprintable() else " " for letter in given).strip()
    if len(name) > LONGEST_NAME:
        raise Refused(422, f"A name has at most {LONGEST_NAME} characters: {in_short(name)} has {len(name)}.")
    return name
