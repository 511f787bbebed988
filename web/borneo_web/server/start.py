"""Start: the start page, new games, and games that are removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from borneo_agents.human.game import HUMAN
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from borneo_env.engine.batch import fresh_seed
from borneo_env.engine.state import SPECTATOR
from borneo_env.render.scene import NUMBER_WORDS
from borneo_env.ruleset import Ruleset, RulesetError
from borneo_web.server.door import Door
from borneo_web.server.games import LONGEST_NAME, Games
from borneo_web.server.html import Html
from borneo_web.server.requests import LARGEST_FORM, read_body, read_form
from borneo_web.server.start_page import Listed, start_page
from borneo_web.server.table import Refused, Table

MOST_DIGITS = 18  # of a seed
FIRST_GAMES = 6  # that are listed at once: all moves of a saved game are made again when it is read first
DAMAGED, MOST_READ = 3, 200  # damaged ones that are listed; games that are read to find the first ones


class Start:
    """The start page. `shelves` are links to what else can be looked at: words and address."""

    def __init__(self, games: Games, door: Door, shelves: Sequence[tuple[str, str]]) -> None:
        self._games, self._door, self._shelves = games, door, shelves

    def routes(self) -> list[Route]:
        return [
            Route("/", self.page),
            Route("/games", self.begin, methods=["POST"]),
            Route("/games/{name}/remove", self.remove, methods=["POST"]),
        ]

    async def page(self, request: Request) -> Response:
        welcome = self._door.welcome(request)
        if welcome:
            return welcome
        self._door.check(request)
        return HTMLResponse(await run_in_threadpool(self._page, request.query_params))

    def _page(self, asked: Mapping[str, str]) -> Html:
        names = list(self._games)
        games, damaged, read = self._first(names, len(names) if "all" in asked else FIRST_GAMES)
        opponents = list(self._games.opponents())
        return start_page(games, opponents, self._shelves, asked, len(names) - read, damaged)

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
        self._door.check(request)
        fields = await read_form(request)
        name = await run_in_threadpool(self._begin, dict(fields))
        table = self._games.table(name)
        humans = table.game.humans
        if len(humans) > 1:
            return RedirectResponse("/", 303)  # with the links of all seats
        return RedirectResponse(table.address(humans[0] if humans else SPECTATOR), 303)

    def _begin(self, fields: dict[str, str]) -> str:
        if fields.get("players", "") not in map(str, NUMBER_WORDS):
            raise Refused(422, "A game has three, four or five players.")
        players = int(fields["players"])
        seats = [fields.get(f"seat{seat}", HUMAN) for seat in range(players)]
        given = [_name(fields.get(f"name{seat}", "")) for seat in range(players)]
        kinds = ["person" if seat == HUMAN else seat for seat in seats]
        names = [name if name and seats[seat] == HUMAN else f"{kinds[seat]} {seat}" for seat, name in enumerate(given)]
        seed = fields.get("seed", "").strip()
        if seed and not (seed.isascii() and seed.isdigit() and len(seed) <= MOST_DIGITS):
            raise Refused(422, f"A seed is a whole number of at most {MOST_DIGITS} digits, or nothing.")
        try:
            traders = 4 if fields.get("four_traders") else 3
            edition = fields.get("edition", "board")
            ruleset = Ruleset(edition, players, traders, bool(fields.get("blackbeard")))
        except (RulesetError, TypeError) as error:
            raise Refused(422, f"{error}.") from None
        return self._games.begin(ruleset, seats, names, int(seed) if seed else fresh_seed())

    async def remove(self, request: Request) -> Response:
        self._door.check(request)
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
        return Listed(name, ", ".join(table.game.names), f"{scene.title} · {scene.headline}", _links(table))


def _links(table: Table) -> list[tuple[str, str]]:
    seats = [(f"{table.game.names[seat]} plays", table.address(seat)) for seat in table.game.humans]
    links = [*seats, ("watch", table.address(SPECTATOR))]
    return [*links, ("replay", f"{table.address(SPECTATOR)}/replay")] if table.game.over else links


def _name(given: str) -> str:
    """A person's name as it may be shown: one short line."""
    return "".join(letter if letter.isprintable() else " " for letter in given).strip()[:LONGEST_NAME]
