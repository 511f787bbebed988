"""The start page: what the game is about, a new game, and those that were begun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from borneo_agents.human.game import HUMAN

from borneo_env.render.scene import NUMBER_WORDS
from borneo_web.server.guide import about
from borneo_web.server.html import Html, tag
from borneo_web.server.opponents import Opponent
from borneo_web.server.page import page

LEVELS = {
    "easy": "easy: fights for ranks",
    "normal": "normal: a merchant",
    "hard": "hard: searches, takes its time",
    "policy": "policy: trained, strongest",
}
MOST_PLAYERS = 5
EDITIONS = {"board": "board (2008)", "card": "card (2007)"}
COUNTS = {str(number): words for number, words in NUMBER_WORDS.items()}
CHOSEN = {"edition": "board", "players": "3", "against": "normal"}  # at first


class Listed(NamedTuple):
    """A game on the start page."""

    name: str
    title: str
    state: str
    links: list[tuple[str, str]]  # words and address
    trouble: str = ""


def start_page(
    games: Sequence[Listed],
    opponents: Sequence[Opponent],
    links: Sequence[tuple[str, str]],
    asked: Mapping[str, str],
    older: int,
    damaged: int,
    problem: str = "",
) -> Html:
    """What the game is about, a new game, those that were begun, and what else can be looked at.

    Arguments:
        opponents: who can be played against.
        links: links, as words and address.
        asked: what is filled in at first: any field of a new game, and `against`, an opponent for all seats.
        older, damaged: how many games are not among those that are shown, and how many of these cannot be read.
        problem: why the new game that was asked for cannot be.
    """
    choices = {"edition": EDITIONS, "players": COUNTS, "against": [one.name for one in opponents]}
    chosen = {key: asked[key] if asked.get(key) in choices[key] else value for key, value in CHOSEN.items()}
    listed = tag("ul", *map(_listed, games), class_="games") if games else tag("p", "None yet.")
    told = tag("p", problem, class_="problem", role="alert") if problem else None
    new = tag("section", tag("h2", "A new game"), told, _new_game(opponents, dict(asked) | chosen), class_="sheet")
    return page(
        "A game of spice traders",
        tag(
            "main",
            _about(known=bool(games)),
            new,
            tag("section", tag("h2", "Your games"), listed, _damaged(damaged), _older(older), class_="sheet"),
            tag("section", tag("h2", "Watch and analyse"), _record(), *map(_link, links), class_="sheet"),
            class_="start",
        ),
        script="start.js",
    )


def moment(then: datetime, now: datetime) -> str:
    """When something was, in words: "today at 16:40", "on 3 October at 9:05"."""
    time = f"{then:%H:%M}".removeprefix("0")
    for day, back in (("today", 0), ("yesterday", 1)):
        if then.date() == (now - timedelta(days=back)).date():
            return f"{day} at {time}"
    year = f" {then.year}" if then.year != now.year else ""
    return f"on {then.day} {then:%B}{year} at {time}"


def _about(known: bool) -> Html:
    """What the game is about; folded up for those who have played."""
    more = tag("p", tag("a", "How a turn goes, with pictures", href="/rules"))
    return tag("details", tag("summary", "What it is about"), tag("ul", about()), more, open=not known,
               class_="sheet about")  # fmt: skip


def _record() -> Html:
    """Where a record is sent from; the script needs no form."""
    return tag(
        "p",
        tag("label", "Replay a record: ", tag("input", type="file", id="record", accept=".jsonl")),
        tag("span", id="told", role="status", class_="hint"),
    )


def _link(link: tuple[str, str]) -> Html:
    words, address = link
    return tag("p", tag("a", words, href=address))


def _new_game(opponents: Sequence[Opponent], chosen: Mapping[str, str]) -> Html:
    editions = [_radio("edition", *edition, chosen) for edition in EDITIONS.items()]
    players = [_radio("players", *count, chosen) for count in COUNTS.items()]
    seats = [_seat(seat, opponents, chosen) for seat in range(MOST_PLAYERS)]
    variants = [
        _check("blackbeard", "Blackbeard's secret (R9.2)", chosen),
        _check("four_traders", "four traders each, with three players (R9.1)", chosen),
    ]
    return tag(
        "form",
        tag("fieldset", tag("legend", "Edition"), *editions),
        tag("fieldset", tag("legend", "Players"), *players),
        tag("fieldset", tag("legend", "Who sits where, in turn order"), *seats,
            tag("p", id="moved", role="status", class_="hint")),
        tag("fieldset", tag("legend", "Variants, for the board edition"), *variants),
        tag(
            "fieldset",
            tag("legend", "Deal"),
            tag(
                "label",
                "Seed ",
                tag("input", name="seed", inputmode="numeric", pattern="[0-9]*", maxlength="18", placeholder="chance",
                    value=chosen.get("seed")),
            ),
            tag("p", "The same seed gives the same cards. Who knows it can know all hands.", class_="hint"),
        ),
        tag("button", "Deal the cards", class_="do"),
        method="post",
        action="/games",
        id="new",
        class_="new",
    )  # fmt: skip


def _radio(name: str, value: str, words: str, chosen: Mapping[str, str]) -> Html:
    checked = chosen[name] == value
    return tag("label", tag("input", type="radio", name=name, value=value, checked=checked), words, class_="pick")


def _check(name: str, words: str, chosen: Mapping[str, str]) -> Html:
    box = tag("input", type="checkbox", name=name, value="yes", checked=bool(chosen.get(name)))
    return tag("label", box, words, class_="pick")


def _seat(seat: int, opponents: Sequence[Opponent], chosen: Mapping[str, str]) -> Html:
    usual = chosen["against"] if seat else HUMAN
    known = (HUMAN, *(one.name for one in opponents))
    sits = next(name for name in (chosen.get(f"seat{seat}"), usual, HUMAN) if name in known)

    def group(label: str, some: Sequence[Opponent]) -> Html | None:
        options = [_option(one, one.name == sits) for one in some]
        return tag("optgroup", *options, label=label) if options else None

    return tag(
        "div",
        tag("span", seat, class_=f"trader player{seat}", aria_hidden="true"),
        tag(
            "select",
            tag("option", "a person", value=HUMAN, selected=sits == HUMAN),
            group("Opponents", [one for level in LEVELS for one in opponents if one.name == level]),
            group("Of the training", [one for one in opponents if one.learnt]),
            group("Agents by name", [one for one in opponents if one.name not in LEVELS and not one.learnt]),
            name=f"seat{seat}",
            aria_label=f"Seat {seat}",
        ),
        tag(
            "input", name=f"name{seat}", maxlength="24", placeholder="name", autocomplete="off",
            aria_label=f"Name of the person in seat {seat}", value=chosen.get(f"name{seat}"),
        ),
        class_=f"seat seat{seat}",
    )  # fmt: skip


def _damaged(count: int) -> Html | None:
    return tag("p", f"and {count:,} more that cannot be read", class_="problem") if count else None


def _option(one: Opponent, selected: bool) -> Html:
    """An agent to choose; it says for which games it is, if not for all."""
    words = LEVELS.get(one.name, one.name) + (f" ({one.only})" if one.only else "")
    games = " ".join(sorted(f"{edition}-{players}" for edition, players in one.games)) if one.only else None
    return tag("option", words, value=one.name, selected=selected, data_games=games)


def _older(count: int) -> Html | None:
    return tag("p", tag("a", f"and {count:,} older", href="/?all")) if count else None


def _listed(game: Listed) -> Html:
    links = [tag("a", words, href=address) for words, address in game.links]
    remove = tag("summary", "remove"), tag("button", f"Remove the game of {game.title} for good")
    return tag(
        "li",
        tag("b", game.title),
        tag("span", game.state, class_="state"),
        tag("span", *links, class_="links"),
        tag("span", game.trouble, class_="problem") if game.trouble else None,
        tag("form", tag("details", *remove), method="post", action=f"/games/{game.name}/remove", class_="remove"),
    )
