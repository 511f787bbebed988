"""The pages of an arena's folder and of a training's."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from borneo_env.render.scene import ordinal
from borneo_web.server.html import Html, join, tag
from borneo_web.server.page import figures, sheet, sheets_page
from borneo_web.server.training_folder import Curves, Learnt, Point

if TYPE_CHECKING:  # whose package takes a while, and few servers need it
    from borneo_web.server.arena_folder import ArenaGame

GAMES_ON_A_PAGE = 100


def arena_page(
    standings: Sequence[Sequence[str]], games: Sequence[ArenaGame], recorded: Container[int], first: int, count: int
) -> Html:
    """Standings, and some of all games from the first of them on, with replays of those that were recorded."""
    ranked = [(agent, *map(_estimate, measured), seats) for agent, *measured, seats in standings]
    table = figures("Standings", ("agent", "wins, %", "place", "points", "seats"), ranked)
    rows = [_game(game, game.number in recorded) for game in games]
    listed = figures("Games", ("game", "players, in turn order"), rows)
    return sheets_page(
        "An arena",
        sheet("Standings", table if ranked else tag("p", "Standings come when all games are played.")),
        sheet("Games", listed if rows else tag("p", "None."), _turning(first, count)),
    )


def _estimate(words: str) -> Html:
    """A figure, and its interval, which goes below it where there is little room."""
    value, _, interval = words.partition(" ")
    return join(value, " ", tag("small", interval))


def _game(game: ArenaGame, recorded: bool) -> tuple[object, object]:
    told = [
        tag("li", tag("span", seat, class_=f"trader player{seat}"), f"{agent}: {score} points, {_place(place)}")
        for seat, (agent, score, place) in enumerate(game.seats)
    ]
    fault = tag("p", game.fault, class_="problem") if game.fault else None
    anchor = f"game{game.number}"
    replay = tag("a", "replay", href=f"/arena/{game.number}", id=anchor, aria_label=f"Replay of game {game.number}")
    shown = join(game.number, " ", replay if recorded else tag("small", "no record"))
    return shown, [tag("ul", *told, class_="seats") if told else None, fault]


def _place(place: str) -> str:
    return ordinal(int(place)) if place.isdecimal() else place


def _turning(first: int, count: int) -> Html | None:
    """Links to the games before and after those that are shown."""
    if count <= GAMES_ON_A_PAGE:
        return None
    before, after = max(0, first - GAMES_ON_A_PAGE), first + GAMES_ON_A_PAGE
    earlier = tag("a", "Earlier games", href=f"/arena?from={before}") if first else None
    later = tag("a", "Later games", href=f"/arena?from={after}") if after < count else None
    return tag("nav", earlier, later, class_="deeds", aria_label="More games")


def training_page(curves: Curves, models: Sequence[Learnt], pictured: bool) -> Html:
    """The curve of a training as it has drawn it, the newest figures, and its models."""
    alt = "The measures by decisions; the tables below have the last figures"
    picture = tag("img", src="/training/curve.png", alt=alt, class_="curve") if pictured else None
    measured = [sheet(measure, _last(lines)) for measure, lines in curves.items()]
    return sheets_page(
        "A training",
        sheet("The curve", picture or tag("p", "It is drawn with every evaluation.")),
        *(measured or [sheet(None, tag("p", "Nothing was measured yet."))]),
        sheet("Play against it", _models(curves, models)),
    )


def _last(lines: dict[str, list[Point]]) -> Html:
    """The newest figures."""
    rows = [
        (against, _estimate(f"{points[-1].value:.3f} {points[-1].interval}"), f"{points[-1].steps:,}")
        for against, points in lines.items()
    ]
    return figures("The last figures", ("against", "last (95 % interval)", "decisions"), rows)


def _models(curves: Curves, models: Sequence[Learnt]) -> Html:
    """Who can be played against, with what was measured of the first measure when it had learnt so much."""
    if not models:
        return tag("p", "There is no model yet: the first one comes with the first evaluation.")
    measure, lines = next(iter(curves.items()), ("", {}))
    told = f" What was measured then is the {measure}." if lines else ""
    words = f"Each of these sits down with you. The numbers are decisions from which it had learnt.{told}"
    heads = ("model", "decisions", *(f"against {against}" for against in lines))
    return join(tag("p", words), figures("Models", heads, [_model(model, lines) for model in models]))


def _model(model: Learnt, lines: dict[str, list[Point]]) -> list[object]:
    if model.card is None:
        return [model.name, tag("p", model.trouble, class_="problem"), *[""] * len(lines)]
    steps = model.card.steps
    measured = [{point.steps: f"{point.value:.3f}" for point in points}.get(steps, "") for points in lines.values()]
    game = {"edition": model.card.edition, "players": min(model.card.players), "against": model.name}
    link = tag("a", model.name, href=f"/?{urlencode(game)}", aria_label=f"Play against {model.name}")
    return [link, f"{steps:,}", *measured]
