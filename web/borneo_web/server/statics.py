"""What is the same for everybody: style, scripts, the icon and the rules."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from borneo_env.render import chart, symbols
from borneo_web import look
from borneo_web.server.game.guide import rules_page
from borneo_web.server.html import Html
from borneo_web.server.live_game import Refused

FOLDER = files("borneo_web.server") / "static"
TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


def routes() -> list[Route]:
    """Where they are."""
    return [Route("/rules", _rules), Route("/static/{file}", _static)]


async def _rules(request: Request) -> Response:
    return HTMLResponse(_rules_page())


async def _static(request: Request) -> Response:
    name = request.path_params["file"]
    if name not in _contents():
        raise Refused(404, "There is nothing at this address.")
    return Response(_contents()[name], media_type=TYPES[name.rpartition(".")[2]])


@cache
def _rules_page() -> Html:
    return rules_page()


@cache
def _contents() -> dict[str, str]:
    """All files by their names: those of the folder, and those that are made from the pictures."""
    kept = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()}
    return kept | {
        "base.css": look.style(),
        "theme.js": look.theme_script(),
        "icon.svg": _icon(),
        "chart.svg": _chart(),
    }


def _icon() -> str:
    ship = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-14 -14 28 28"><defs>{symbols.SYMBOLS}</defs>'
    return f'{ship}<use href="#ship"/></svg>'


def _chart() -> str:
    """The sea with the island, on which ports lie."""
    box = f"{chart.LEFT + chart.MARGIN} {chart.TOP + chart.MARGIN} {chart.RIGHT - chart.LEFT - 2 * chart.MARGIN}"
    height = chart.BOTTOM - chart.TOP - 2 * chart.MARGIN
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box} {height}">{chart.BACKGROUND}</svg>'
