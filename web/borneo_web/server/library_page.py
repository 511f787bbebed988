"""The pages of an arena's folder and of a training's."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from borneo_env.render.scene import ordinal
from borneo_web.server.html import Html, join, tag
from borneo_web.server.page import page
from borneo_web.server.training_folder import Curves, Learnt, Point

if TYPE_CHECKING:  # whose package takes a while, and few servers need it
    from borneo_web.server.arena_folder import Played, Ranked

GAMES_ON_A_PAGE = 100
WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 640, 240, 56, 12, 12, 26  # of a plot
DASHES = ("", "7 4", "2 3", "10 3 2 3")  # of its lines, so that colour is not all that tells them apart


def arena_page(
    standings: Sequence[Ranked], games: Sequence[Played], recorded: Container[int], first: int, count: int
) -> Html:
    """Standings, and some of all games from the first of them on, with replays of those that were recorded."""
    heads = ("agent", "wins, %", "place", "points", "seats")
    ranked = [(row.agent, *map(_estimate, (row.wins, row.place, row.points)), row.seats) for row in standings]
    table = _table("Standings", heads, ranked) if ranked else tag("p", "Standings come when all games are played.")
    rows = [_game(game, game.number in recorded) for game in games]
    listed = _table("Games", ("game", "players, in turn order"), rows) if rows else tag("p", "None.")
    return page(
        "An arena",
        tag(
            "main",
            tag("section", tag("h2", "Standings"), table, class_="sheet"),
            tag("section", tag("h2", "Games"), listed, _turning(first, count), class_="sheet"),
            class_="start",
        ),
    )


def _estimate(words: str) -> Html:
    """A figure, and its interval, which goes below it where there is little room."""
    value, _, interval = words.partition(" ")
    return join(value, " ", tag("small", interval))


def _game(game: Played, recorded: bool) -> tuple[object, object]:
    players = zip(game.agents, game.scores, game.places, strict=True)
    told = [
        tag("li", tag("span", seat, class_=f"trader player{seat}"), f"{agent}: {score} points, {_place(place)}")
        for seat, (agent, score, place) in enumerate(players)
    ]
    fault = tag("p", game.fault, class_="problem") if game.fault else None
    number = f"game{game.number}"
    replay = tag("a", "replay", href=f"/arena/{game.number}", id=number, aria_label=f"Replay of game {game.number}")
    shown = join(game.number, " ", replay if recorded else tag("small", "no record"))
    return shown, [tag("ul", *told, class_="seats") if told else None, fault]


def _place(place: str) -> str:
    return ordinal(int(place)) if place.isdecimal() else place


def _turning(first: int, count: int) -> Html | None:
    """Links to the games before and after those that are shown."""
    if count <= GAMES_ON_A_PAGE:
        return None
    before, after = first - GAMES_ON_A_PAGE, first + GAMES_ON_A_PAGE
    return tag(
        "nav",
        tag("a", "Earlier games", href=f"/arena?from={max(0, before)}") if first else None,
        tag("a", "Later games", href=f"/arena?from={after}") if after < count else None,
        class_="deeds",
        aria_label="More games",
    )


def training_page(curves: Curves, models: Sequence[Learnt]) -> Html:
    """The curves of a training, and its models."""
    drawn = [
        tag("section", tag("h2", measure), _plot(measure, lines), _last(lines), class_="sheet")
        for measure, lines in curves.items()
    ]
    return page(
        "A training",
        tag(
            "main",
            *(drawn or [tag("section", tag("p", "Nothing was measured yet."), class_="sheet")]),
            tag("section", tag("h2", "Play against it"), _models(curves, models), class_="sheet"),
            class_="start",
        ),
    )


def _models(curves: Curves, models: Sequence[Learnt]) -> Html:
    """Who can be played against, with what was measured of the first measure when it had learnt so much."""
    if not models:
        return tag("p", "There is no model yet: the first one comes with the first evaluation.")
    measure, lines = next(iter(curves.items()), ("", {}))
    told = f" What was measured then is the {measure}." if lines else ""
    words = f"Each of these sits down with you. The numbers are decisions from which it had learnt.{told}"
    heads = ("model", "decisions", *(f"against {against}" for against in lines))
    return join(tag("p", words), _table("Models", heads, [_model(model, lines) for model in models]))


def _model(model: Learnt, lines: dict[str, list[Point]]) -> list[object]:
    if model.card is None:
        return [model.name, tag("p", model.trouble, class_="problem"), *[""] * len(lines)]
    steps = model.card.steps
    measured = [{point.steps: f"{point.value:.3f}" for point in points}.get(steps, "") for points in lines.values()]
    game = {"edition": model.card.edition, "players": min(model.card.players), "against": model.name}
    link = tag("a", model.name, href=f"/?{urlencode(game)}", aria_label=f"Play against {model.name}")
    return [link, f"{steps:,}", *measured]


def _last(lines: dict[str, list[Point]]) -> Html:
    """The newest figures."""
    rows = [
        (_key(number), against, _estimate(f"{points[-1].value:.3f} {points[-1].interval}"), f"{points[-1].steps:,}")
        for number, (against, points) in enumerate(lines.items())
    ]
    return _table("The last figures", ("line", "against", "last (95 % interval)", "decisions"), rows)


def _key(number: int) -> Html:
    """How a line is drawn."""
    return tag("svg", _line(number, "0,6 44,6"), viewBox="0 0 44 12", class_="key plot", aria_hidden="true")


def _plot(measure: str, lines: dict[str, list[Point]]) -> Html:
    """The lines of a measure over the decisions that were learnt from, and their intervals as bands."""
    everything = [point for points in lines.values() for point in points]
    most_steps = max(1, *(point.steps for point in everything))
    heights = [value for point in everything for value in point[1:] if value is not None]
    low, high = min(0.0, *heights), max(1e-9, *heights)

    def x(steps: int) -> float:
        return LEFT + (WIDE - LEFT - RIGHT) * steps / most_steps

    def y(value: float) -> float:
        return TOP + (HIGH - TOP - BOTTOM) * (high - value) / (high - low)

    bands = [
        _band(number, [(x(point.steps), y(point.low), y(point.high)) for point in known])
        for number, points in enumerate(lines.values())
        for known in _stretches(points)
    ]
    drawn = [
        _line(number, " ".join(f"{x(point.steps):.1f},{y(point.value):.1f}" for point in points))
        for number, points in enumerate(lines.values())
    ]
    grid = [part for value in (low, (low + high) / 2, high) for part in _grid(y(value), f"{value:.3g}")]
    ends = _text(LEFT, HIGH - 6, "0"), _text(WIDE - RIGHT, HIGH - 6, f"{most_steps:,} decisions", "end")
    about = f"{measure} by decisions; the table below has the last figures"
    return tag(
        "svg", *grid, *bands, *drawn, *ends, viewBox=f"0 0 {WIDE} {HIGH}", role="img", aria_label=about, class_="plot"
    )


def _stretches(points: Sequence[Point]) -> Iterator[list[Any]]:
    """Points side by side whose intervals are known: what is not known has no band."""
    for known, some in groupby(points, lambda point: None not in point):
        if known:
            yield list(some)


def _band(number: int, ends: Sequence[tuple[float, float, float]]) -> Html:
    low = [f"{x:.1f},{low:.1f}" for x, low, _ in ends]
    high = [f"{x:.1f},{high:.1f}" for x, _, high in reversed(ends)]
    return tag("polygon", points=" ".join([*low, *high]), class_=f"line{number % len(DASHES)}")


def _line(number: int, points: str) -> Html:
    dashes = DASHES[number % len(DASHES)] or None
    return tag("polyline", points=points, stroke_dasharray=dashes, class_=f"line{number % len(DASHES)}")


def _grid(y: float, words: str) -> Iterator[Html]:
    yield tag("line", x1=LEFT, x2=WIDE - RIGHT, y1=f"{y:.1f}", y2=f"{y:.1f}")
    yield _text(LEFT - 6, y + 4, words, "end")


def _text(x: float, y: float, words: str, anchor: str = "start") -> Html:
    return tag("text", words, x=x, y=f"{y:.1f}", text_anchor=anchor)


def _table(label: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> Html:
    return tag(
        "div",
        tag(
            "table",
            tag("thead", tag("tr", *(tag("th", head, scope="col") for head in heads))),
            tag("tbody", *(tag("tr", *(tag("td", cell) for cell in row)) for row in rows)),
            class_="figures",
        ),
        class_="scrolls",
        tabindex="0",
        role="group",
        aria_label=label,
    )
