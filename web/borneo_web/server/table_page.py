"""The pages of a seat at a table: the picture, what is asked, what has happened, and the end."""

from __future__ import annotations

from borneo_agents.human.decision import RULES

from borneo_env.render.picture import DEFINITIONS, Picture
from borneo_env.render.scene import count, ordinal
from borneo_env.rulebook import find_rules
from borneo_web.server.choices import Choice, Question, question
from borneo_web.server.coach import Advice
from borneo_web.server.coach_page import coach_section
from borneo_web.server.html import Html, join, tag
from borneo_web.server.legend import legend
from borneo_web.server.page import page
from borneo_web.server.sight import drawing, news, picture, story
from borneo_web.server.table import Table
from borneo_web.server.words import sentence, told


def table_page(table: Table, seat: int, *, problem: str = "", advice: Advice | str | None = None) -> Html:
    """What a seat, or a spectator, sees of a table."""
    game, scene, address = table.game, table.scene(seat), table.address(seat)
    asked = question(table, seat) if table.asks(seat) else None
    lines = game.news(seat)
    last = next((line.strip() for line in reversed(lines) if line.startswith(" ")), "")
    shown = picture(table, seat, last=last)
    content = tag(
        "main",
        tag(
            "section",
            tag("div", drawing(shown), class_="board", id="board", role="group",
                aria_label="The table, drawn; the list of options says the same"),
            tag("p", id="step", class_="step", hidden=True, aria_live="polite"),
            _in_words(shown),
            class_="table",
        ),
        tag(
            "section",
            tag("p", problem, class_="problem", role="alert") if problem else None,
            tag("p", table.trouble, class_="problem", role="alert") if table.trouble else None,
            _end(table, address) if game.over else _status(table, seat, scene.question),
            _form(table, seat, asked, address) if asked else None,
            coach_section(table, seat, address, advice) if asked else None,
            _news(table, seat, address),
            _rules(game.batch.phase_name()),
            legend(game.batch.ruleset.blackbeard),
            class_="side",
        ),
        id="main",
        data_address=address,
        data_told=len(game.told),
        data_heard=table.heard.get(seat, 0),
        data_state=_state(table, seat),
        class_="play",
    )  # fmt: skip
    motion = tag("button", "Motion: on", type="button", id="motion", hidden=True)
    return page(scene.title, _lost(), content, script="play.js", tools=motion)


def _lost() -> Html:
    """What is shown by a script while the server does not answer."""
    words = "The server does not answer. Nothing is lost: the game goes on here when it is started again."
    return tag("p", words, class_="problem lost", id="lost", role="alert", hidden=True)


def _state(table: Table, seat: int) -> str:
    return "over" if table.game.over else "asked" if table.asks(seat) else "waits"


def _in_words(shown: Picture) -> Html:
    text = shown.ansi(colour=False)
    return tag("details", tag("summary", "The table in words"), tag("pre", text, tabindex="0"), class_="words")


def _status(table: Table, seat: int, question: str) -> Html:
    if table.asks(seat):
        return tag("h2", "You decide", id="status")
    name = table.game.names[table.game.player]
    return tag("h2", f"{name} decides", tag("small", question), id="status", class_="waits")


def _form(table: Table, seat: int, asked: Question, address: str) -> Html:
    ruleset = table.game.batch.ruleset
    choices = [_choice(table, seat, asked, choice) for choice in asked.choices]
    do = "Play these cards" if asked.several else "Do it"
    undo = tag("button", "Take back my last choice", formaction=f"{address}/undo", formnovalidate=True)
    return tag(
        "form",
        tag("h2", asked.words),
        *(tag("p", sentence(ruleset, table.words(seat, line))) for line in asked.told),
        tag("input", type="hidden", name="decision", value=table.choices),
        tag("fieldset", tag("legend", "Your options", class_="spoken"), *choices, class_="choices"),
        tag(
            "div",
            tag("p", asked.words, class_="question", aria_hidden="true"),  # where the heading is out of sight
            tag("p", id="preview", aria_live="polite", class_="preview"),
            tag("div", tag("button", do, class_="do", id="do"), undo if table.can_undo else None, class_="deeds"),
            class_="bar",
        ),
        method="post",
        action=f"{address}/choose",
        id="choose",
        data_several=asked.several,
    )


def _choice(table: Table, seat: int, asked: Question, choice: Choice) -> Html:
    ruleset = table.game.batch.ruleset
    more = table.words(seat, choice.more)
    return tag(
        "label",
        tag(
            "input",
            type="checkbox" if asked.several else "radio",
            name="move",
            value=choice.move,
            required=not asked.several,
            data_parts=" > ".join(choice.parts),
        ),
        tag("span", sentence(ruleset, table.words(seat, choice.words)), class_="what"),
        tag("span", told(ruleset, more), class_="more") if more else None,
        class_="choice",
    )


def _news(table: Table, seat: int, address: str) -> Html:
    lines = news(table, seat)
    return tag(
        "section",
        tag("h2", "What has happened"),
        tag("ul", *lines, class_="story", id="news", tabindex="0", aria_label="What has happened")
        if lines
        else tag("p", "Nothing yet."),
        tag(
            "p",
            tag("button", "Show it step by step", type="button", id="again", hidden=True),
            tag("a", "The whole story", href=f"{address}/story"),
            class_="deeds",
        ),
        class_="news",
    )


def story_page(table: Table, seat: int) -> Html:
    """All that has happened, as far as a seat may know it."""
    symbols = Html(f'<svg hidden="">{DEFINITIONS}</svg>')
    back = tag("p", tag("a", "Back to the table", href=table.address(seat)))
    lines = tag("section", tag("ul", *story(table, seat), class_="story"), class_="sheet")
    return page("The whole story", symbols, tag("main", back, lines, back, class_="start"))


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


def _end(table: Table, address: str) -> Html:
    """The result, and what can be had of the game now."""
    result, names = table.record[-1], table.game.names
    order = sorted(range(len(names)), key=result["places"].__getitem__)
    rows = (
        tag(
            "tr",
            tag("td", ordinal(result["places"][player])),
            tag("th", tag("span", player, class_=f"trader player{player}"), names[player], scope="row"),
            tag("td", count(result["scores"][player], "point")),
            tag("td", count(result["contracts"][player], "contract")),
        )
        for player in order
    )
    return tag(
        "section",
        tag("h2", "The game is over", id="status"),
        tag("table", *rows, class_="result"),
        tag(
            "p",
            tag("a", "Replay", href=f"{address}/replay", class_="do"),
            tag("a", "Download the record", href=f"{address}/record", download=True, class_="do"),
            class_="deeds",
        ),
        class_="end",
    )
