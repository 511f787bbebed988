"""The end of a game on the page of a seat: who has won, where the points come from, and one game more."""

from __future__ import annotations

from borneo_env.engine.state import SPECTATOR
from borneo_env.render.scene import Scene, count, ordinal, signed
from borneo_web.server.game.pieces import chip
from borneo_web.server.html import Html, tag
from borneo_web.server.live_game import LiveGame


def end(table: LiveGame, seat: int) -> Html:
    """The winner, everybody's points, and what can be had of the game now."""
    scene, address = table.scene(seat), table.address(seat)
    order = sorted(scene.players, key=scene.places.__getitem__)
    sources = list(dict.fromkeys(source for player in order for source in scene.points_for(player)))
    heads = tag("tr", tag("td"), tag("td"), *(tag("th", source, scope="col") for source in (*sources, "points")))
    deeds = (
        tag("form", _again(table, seat), method="post", action=f"{address}/again"),
        tag("a", "Replay", href=f"{address}/replay", class_="do", data_busy="The replay is being made …"),
        tag("a", "Download the record", href=f"{address}/record", download=True, class_="ask"),
        tag("a", "Another game", href="/", class_="ask"),
    )
    return tag(
        "section",
        _winners(scene, seat),
        tag("table", heads, *(_row(scene, player, sources) for player in order), class_="result"),
        tag("div", *deeds, class_="deeds"),
        class_="end",
    )


def _winners(scene: Scene, seat: int) -> Html:
    """Who has won, on a medal."""
    chips = (chip(player, scene.names[player]) for player in scene.winners)
    words = "You win!" if scene.winners == [seat] else f"{scene.headline}!"
    best = count(max(scene.scores), "point")
    return tag("div", tag("span", *chips, class_="medal", aria_hidden="true"),
               tag("h2", words, tag("small", f"The game is over: {best}"), id="status"), class_="winner")  # fmt: skip


def _row(scene: Scene, player: int, sources: list[str]) -> Html:
    name, points = scene.names[player], scene.points_for(player)
    return tag(
        "tr",
        tag("td", ordinal(scene.places[player])),
        tag("th", chip(player, name), " ", name, scope="row"),
        *(tag("td", signed(points.get(source, 0)), class_="number") for source in sources),
        tag("td", tag("strong", signed(scene.scores[player])), class_="number"),
    )


def _again(table: LiveGame, seat: int) -> Html | None:
    """The same people once more, with a new deal. Who only watches can follow them there."""
    if table.next:
        return tag("button", "To the next game", class_="do")
    return None if seat == SPECTATOR and table.game.humans else tag("button", "Play again", class_="do")
