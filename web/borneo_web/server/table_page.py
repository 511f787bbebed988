"""The pages of a seat at a table: what lies on it, what is asked, and what has happened."""

from __future__ import annotations

from collections.abc import Container
from functools import cache

from borneo_agents.human.decision import RULES

from borneo_env.render.symbols import SYMBOLS
from borneo_env.rulebook import find_rules
from borneo_web.server.coach import Advice
from borneo_web.server.coach_page import coach_section
from borneo_web.server.game.choices import Choice, Question, question
from borneo_web.server.game.end import end
from borneo_web.server.game.legend import legend
from borneo_web.server.game.words import phrase, sentence
from borneo_web.server.html import Html, join, tag
from borneo_web.server.live_game import LiveGame
from borneo_web.server.page import link, page, sheet, sheets_page
from borneo_web.server.page import problem as wrong
from borneo_web.server.seat_view import news, pieces, story

SYMBOLS_OF_PAGE = Html(f"<svg hidden><defs>{SYMBOLS}</defs></svg>")  # all others refer to them
LOST = "The server does not answer. Nothing is lost: the game goes on here when it is started again."


def table_page(
    table: LiveGame, seat: int, *, problem: str = "", advice: Advice | str | None = None, chosen: Container[str] = ()
) -> Html:
    """What a seat, or a spectator, sees of a table; chosen are moves that are marked at first."""
    game, scene, address = table.game, table.scene(seat), table.address(seat)
    asked = question(table, seat) if table.asks(seat) else None
    lying = pieces(scene)
    supply = tag("div", *lying["supply"], class_="supply")
    deciding = (
        wrong(problem),
        wrong(table.trouble),
        tag("p", class_="problem", id="refused", role="alert", hidden=True),
        end(table, seat) if game.over else _status(table, seat, scene.question),
        *lying["underway"],
        _form(table, seat, asked, address, chosen) if asked else None,
        tag("div", id="step", class_="step", hidden=True, aria_live="polite"),
    )
    beside = (
        coach_section(table, seat, address, advice) if asked else None,
        _news(table, seat, address),
        _rules(game.batch.phase_name()),
        legend(game.batch.ruleset.blackbeard),
    )
    opponents = tag("div", *lying["opponents"], class_=f"opponents of{len(lying['opponents'])}")
    content = tag(
        "main",
        tag("div", opponents, tag("div", *lying["sea"], supply, class_="sea"), class_="board", id="board"),
        *lying["own"],
        tag("div", *lying["hand"], tag("div", *deciding, class_="deciding"), class_="dock"),
        tag("aside", *beside, class_="side"),
        id="main",
        data_address=address,
        data_seat=seat,
        data_players=len(game.seats),
        data_told=len(game.told),
        data_state=_state(table, seat),
        data_next=table.next or None,
        class_="play",
    )
    lost = tag("p", LOST, class_="problem lost", id="lost", role="alert", hidden=True)  # shown by a script, as the next
    motion = tag("select", id="motion", hidden=True, aria_label="How fast it moves")
    return page(scene.title, SYMBOLS_OF_PAGE, lost, content, script="play.js", style="table.css", tools=motion)


def _state(table: LiveGame, seat: int) -> str:
    return "over" if table.game.over else "asked" if table.asks(seat) else "waits"


def _status(table: LiveGame, seat: int, question: str) -> Html:
    if table.asks(seat):
        return tag("h2", "You decide", id="status")
    name = table.game.names[table.game.player]
    return tag("h2", f"{name} decides", tag("small", question), id="status", class_="waits")


def _form(table: LiveGame, seat: int, asked: Question, address: str, chosen: Container[str]) -> Html:
    choices = [_choice(table, seat, asked, choice, choice.move in chosen) for choice in asked.choices]
    do = "Play these cards" if asked.several else "Do it"
    undo = tag("button", "Take back my last choice", formaction=f"{address}/undo", formnovalidate=True)
    options = tag("button", "Options", type="button", id="options", hidden=True, aria_expanded="false")
    return tag(
        "form",
        tag("h2", asked.words),
        tag("p", sentence(table, seat, asked.told), class_="told") if asked.told else None,
        tag("input", type="hidden", name="decision", value=table.choices),
        tag("fieldset", tag("legend", "Your options", class_="spoken"), *choices, class_="choices"),
        tag("p", id="preview", aria_live="polite", class_="preview"),
        tag("div", tag("button", do, class_="do", id="do"), options, undo if table.can_undo else None, class_="deeds"),
        method="post",
        action=f"{address}/choose",
        id="choose",
        data_several=asked.several and asked.verb,
        data_none=asked.none,
    )


def _choice(table: LiveGame, seat: int, asked: Question, choice: Choice, chosen: bool) -> Html:
    box = tag("input", type="checkbox" if asked.several else "radio", name="move", value=choice.move,
              required=not asked.several, checked=chosen, data_parts=" > ".join(choice.parts))  # fmt: skip
    what = tag("span", sentence(table, seat, choice.words), class_="what")
    more = tag("span", phrase(table, seat, choice.more), class_="more") if choice.more else None
    return tag("label", box, what, more, class_="choice")


def _news(table: LiveGame, seat: int, address: str) -> Html:
    """What the others have done; the newest at the lower end, which a list shows that is turned round twice."""
    lines, title = news(table, seat), "What has happened"
    listed = tag("ul", *lines, class_="story", id="news") if lines else tag("p", "Nothing yet.")
    return tag(
        "section",
        tag("h2", title),
        tag("div", listed, class_="newest", tabindex="0", role="group", aria_label=title),
        tag("p", tag("a", "The whole story", href=f"{address}/story"), class_="deeds"),
        class_="news",
    )


def story_page(table: LiveGame, seat: int) -> Html:
    """All that has happened, as far as a seat may know it."""
    back = link("Back to the table", table.address(seat))
    lines = tag("ul", *story(table, seat), class_="story")
    return sheets_page("The whole story", SYMBOLS_OF_PAGE, back, sheet(None, lines), back)


@cache
def _rules(phase: str) -> Html | None:
    names = RULES.get(phase)
    if not names:
        return None
    rules = [
        join(tag("dt", tag("a", rule, href=f"/rules#{rule}", target="borneo-rules")), tag("dd", text))
        for name in names
        for rule, text in find_rules(name).items()
    ]
    return tag("details", tag("summary", "The rules for this decision"), tag("dl", *rules), class_="rules")
