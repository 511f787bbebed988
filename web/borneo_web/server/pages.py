"""The pages: where games begin, a seat at a table, the rules, and what is said when something is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from borneo_agents.human.decision import RULES

from borneo_env.agent import known_agents
from borneo_env.render.picture import DEFINITIONS
from borneo_env.render.scene import NUMBER_WORDS, count, ordinal
from borneo_env.rulebook import chapters, find_rules
from borneo_web.server.choices import Choice, Question, question
from borneo_web.server.coach import Advice
from borneo_web.server.html import Html, join, tag
from borneo_web.server.sight import drawing, news, picture, story
from borneo_web.server.table import Table
from borneo_web.server.words import sentence, told

LEVELS = {"easy": "easy: fights for ranks", "normal": "normal: a merchant", "hard": "hard: searches, takes its time"}
MOST_PLAYERS = 5
DEFAULT_SEATS = ("human", "normal", "normal", "normal", "normal")


def page(title: str, *content: object, wide: bool = False, script: bool = False) -> Html:
    """A whole page."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · Borneo"),
        tag("link", rel="stylesheet", href="/static/colours.css"),
        tag("link", rel="stylesheet", href="/static/style.css"),
        tag("link", rel="icon", href="/static/icon.svg"),
        tag("script", type="module", src="/static/play.js") if script else None,
    )
    bar = tag(
        "header",
        tag("a", "BORNEO", href="/", class_="brand"),
        tag("span", title, class_="title"),
        tag("nav", _motion() if script else None, tag("a", "Rules", href="/rules", target="borneo-rules")),
    )
    body = tag("body", bar, _lost() if script else None, *content, class_="wide" if wide else None)
    return join(Html("<!doctype html>"), tag("html", head, body, lang="en"))


def _motion() -> Html:
    return tag("button", "Motion: on", type="button", id="motion", hidden=True)


def _lost() -> Html:
    """What is shown by a script while the server does not answer."""
    words = "The server does not answer. Nothing is lost: the game goes on here when it is started again."
    return tag("p", words, class_="problem lost", id="lost", role="alert", hidden=True)


# ---------------------------------------------------------------- the start


class Listed(NamedTuple):
    """A game on the start page."""

    name: str
    title: str
    state: str
    links: list[tuple[str, str]]  # words and address
    trouble: str = ""


def start_page(games: Sequence[Listed], problem: str = "") -> Html:
    """A new game, and those that were begun."""
    return page(
        "A game of spice traders",
        tag(
            "main",
            tag("p", problem, class_="problem", role="alert") if problem else None,
            tag("section", tag("h2", "A new game"), _new_game(), class_="sheet"),
            tag(
                "section",
                tag("h2", "Your games"),
                tag("ul", *map(_listed, games), class_="games") if games else tag("p", "None yet."),
                class_="sheet",
            ),
            class_="start",
        ),
    )


def _new_game() -> Html:
    editions = [_radio("edition", "board", "board (2008)", True), _radio("edition", "card", "card (2007)")]
    players = [_radio("players", str(number), NUMBER_WORDS[number], number == 3) for number in NUMBER_WORDS]
    variants = [
        _check("blackbeard", "Blackbeard's secret (R9.2)"),
        _check("four_traders", "four traders each, with three players (R9.1)"),
    ]
    return tag(
        "form",
        tag("fieldset", tag("legend", "Edition"), *editions),
        tag("fieldset", tag("legend", "Players"), *players),
        tag("fieldset", tag("legend", "Who sits where, in turn order"), *map(_seat, range(MOST_PLAYERS))),
        tag("fieldset", tag("legend", "Variants"), *variants),
        tag(
            "fieldset",
            tag("legend", "Deal"),
            tag(
                "label",
                "Seed ",
                tag("input", name="seed", inputmode="numeric", pattern="[0-9]*", maxlength="18", placeholder="chance"),
            ),
            tag("p", "The same seed gives the same cards. Who knows it can know all hands.", class_="hint"),
        ),
        tag("button", "Deal the cards", class_="do"),
        method="post",
        action="/games",
        class_="new",
    )


def _radio(name: str, value: str, words: str, checked: bool = False) -> Html:
    return tag("label", tag("input", type="radio", name=name, value=value, checked=checked), words, class_="pick")


def _check(name: str, words: str) -> Html:
    return tag("label", tag("input", type="checkbox", name=name, value="yes"), words, class_="pick")


def _seat(seat: int) -> Html:
    def option(value: str, words: str) -> Html:
        return tag("option", words, value=value, selected=value == DEFAULT_SEATS[seat])

    agents = [name for name in known_agents() if name not in LEVELS]
    return tag(
        "div",
        tag("span", seat, class_=f"trader player{seat}", aria_hidden="true"),
        tag(
            "select",
            option("human", "a person"),
            tag("optgroup", *(option(*level) for level in LEVELS.items()), label="Opponents"),
            tag("optgroup", *(option(name, name) for name in agents), label="Agents by name"),
            name=f"seat{seat}",
            aria_label=f"Seat {seat}",
        ),
        tag(
            "input", name=f"name{seat}", maxlength="24", placeholder="name", autocomplete="off",
            aria_label=f"Name of the person in seat {seat}",
        ),
        class_=f"seat seat{seat}",
    )  # fmt: skip


def _listed(game: Listed) -> Html:
    links = [tag("a", words, href=address) for words, address in game.links]
    return tag(
        "li",
        tag("b", game.title),
        tag("span", game.state, class_="state"),
        tag("span", *links, class_="links"),
        tag("span", game.trouble, class_="problem") if game.trouble else None,
    )


# ---------------------------------------------------------------- a seat at a table


def table_page(
    table: Table, seat: int, address: str, *, problem: str = "", advice: Advice | None = None, replay: bool = False
) -> Html:
    """What a seat, or a spectator, sees of a table."""
    game, scene = table.game, table.scene(seat)
    asked = question(table, seat) if table.asks(seat) else None
    lines = game.news(seat)
    last = next((line.strip() for line in reversed(lines) if line.startswith(" ")), "")
    content = tag(
        "main",
        tag(
            "section",
            tag("div", drawing(picture(table, seat, last=last)), class_="board", tabindex="0", role="group",
                aria_label="The table, drawn; the text below says the same"),
            tag("p", id="step", class_="step", hidden=True, aria_live="polite"),
            _in_words(table, seat),
            class_="table",
        ),
        tag(
            "section",
            tag("p", problem, class_="problem", role="alert") if problem else None,
            tag("p", table.trouble, class_="problem", role="alert") if table.trouble else None,
            _end(table, address, replay) if game.over else _status(table, seat),
            _form(table, seat, asked, address) if asked else None,
            _coach(table, seat, address, advice) if asked else None,
            _news(table, seat, address),
            _rules(game.batch.phase_name()),
            class_="side",
        ),
        id="main",
        data_address=address,
        data_told=len(game.told),
        data_heard=table.heard.get(seat, 0),
        data_state=_state(table, seat),
        class_="play",
    )  # fmt: skip
    return page(scene.title, content, wide=True, script=True)


def _state(table: Table, seat: int) -> str:
    return "over" if table.game.over else "asked" if table.asks(seat) else "waits"


def _in_words(table: Table, seat: int) -> Html:
    text = picture(table, seat).ansi(colour=False)
    return tag("details", tag("summary", "The table in words"), tag("pre", text, tabindex="0"), class_="words")


def _status(table: Table, seat: int) -> Html:
    scene = table.scene(seat)
    if table.asks(seat):
        return tag("h1", "You decide", id="status")
    name = table.game.names[table.game.player]
    return tag("h1", f"{name} decides", tag("small", scene.question), id="status", class_="waits")


def _form(table: Table, seat: int, asked: Question, address: str) -> Html:
    ruleset = table.game.batch.ruleset
    choices = [_choice(table, seat, asked, choice) for choice in asked.choices]
    do = "Play these cards" if asked.several else "Do it"
    return tag(
        "form",
        tag("h2", asked.words),
        *(tag("p", sentence(ruleset, table.words(seat, line))) for line in asked.told),
        tag("input", type="hidden", name="decision", value=table.choices),
        tag("fieldset", tag("legend", "Your options", class_="spoken"), *choices, class_="choices"),
        tag("p", id="preview", aria_live="polite", class_="preview"),
        tag(
            "div",
            tag("button", do, class_="do", id="do"),
            tag("button", "Take back my last choice", formaction=f"{address}/undo", formnovalidate=True)
            if table.can_undo
            else None,
            class_="deeds",
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


def _coach(table: Table, seat: int, address: str, advice: Advice | None) -> Html:
    if advice is None:
        return tag(
            "p", tag("a", "Ask the coach", href=f"{address}?coach", class_="ask", data_swap=True), class_="coach"
        )
    asked, ruleset = table.question(seat), table.game.batch.ruleset
    rows = []
    for actions, sure in advice.answers:
        words = sentence(ruleset, table.words(seat, asked.words(actions)))
        rows.append(tag("li", tag("b", f"{sure:.0%}") if sure is not None else None, tag("span", words)))
    unsure = "" if advice.answers[0][1] is not None else " It does not say how sure it is."
    return tag(
        "section",
        tag("h2", "The coach"),
        tag("p", f"The agent “{advice.coach}” would do this in your place.{unsure}"),
        tag("ol", *rows),
        class_="coach",
    )


def _news(table: Table, seat: int, address: str) -> Html:
    lines = news(table, seat)
    return tag(
        "section",
        tag("h2", "What has happened"),
        tag("ul", *lines, class_="story", id="news") if lines else tag("p", "Nothing yet."),
        tag(
            "p",
            tag("button", "Show it step by step", type="button", id="again", hidden=True),
            tag("a", "The whole story", href=f"{address}/story"),
            class_="deeds",
        ),
        class_="news",
    )


def story_page(table: Table, seat: int, address: str) -> Html:
    """All that has happened, as far as a seat may know it."""
    symbols = Html(f'<svg hidden="">{DEFINITIONS}</svg>')
    back = tag("p", tag("a", "Back to the table", href=address))
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


def _end(table: Table, address: str, replay: bool) -> Html:
    """The result, and what can be had of the game now. A replay is linked if the server was given one."""
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
        tag("h1", "The game is over", id="status"),
        tag("table", *rows, class_="result"),
        tag(
            "p",
            tag("a", "Replay", href=f"{address}/replay", class_="do") if replay else None,
            tag("a", "Download the record", href=f"{address}/record", download=True, class_="do"),
            class_="deeds",
        ),
        class_="end",
    )


# ---------------------------------------------------------------- rules and refusals


def rules_page() -> Html:
    """All rules, each at its id."""
    content = []
    for chapter, title in chapters().items():
        rules = (join(tag("dt", rule, id=rule), tag("dd", text)) for rule, text in find_rules(chapter).items())
        content.append(tag("section", tag("h2", f"{chapter} {title}", id=chapter), tag("dl", *rules), class_="sheet"))
    return page("The rules", tag("main", *content, class_="rules"))


def refusal_page(words: str) -> Html:
    """What is said when a request is not granted."""
    back = tag("p", tag("a", "To the start", href="/"))
    return page("Not done", tag("main", tag("section", tag("p", words, class_="problem", role="alert"), back,
                                            class_="sheet"), class_="start"))  # fmt: skip
