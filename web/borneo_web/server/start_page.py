"""The start page: a new game, and those that were begun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from borneo_agents.human.game import HUMAN

from borneo_env.agent import known_agents
from borneo_env.render.scene import NUMBER_WORDS
from borneo_web.server.html import Html, tag
from borneo_web.server.page import page

LEVELS = {"easy": "easy: fights for ranks", "normal": "normal: a merchant", "hard": "hard: searches, takes its time"}
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
    opponents: Sequence[str],
    shelves: Sequence[tuple[str, str]],
    asked: Mapping[str, str],
    older: int,
    damaged: int,
) -> Html:
    """A new game, those that were begun, and what else can be looked at.

    Arguments:
        opponents: agents of a training that can be played against.
        shelves: links, as words and address.
        asked: what is chosen at first: `edition`, `players` and `against`, an opponent.
        older, damaged: how many games are not among those that are shown, and how many of these cannot be read.
    """
    choices = {"edition": EDITIONS, "players": COUNTS, "against": opponents}
    chosen = {key: asked[key] if asked.get(key) in choices[key] else value for key, value in CHOSEN.items()}
    listed = tag("ul", *map(_listed, games), class_="games") if games else tag("p", "None yet.")
    return page(
        "A game of spice traders",
        tag(
            "main",
            tag("section", tag("h2", "A new game"), _new_game(opponents, chosen), class_="sheet"),
            tag("section", tag("h2", "Your games"), listed, _damaged(damaged), _older(older), class_="sheet"),
            tag("section", tag("h2", "Watch and analyse"), _record(), *map(_shelf, shelves), class_="sheet"),
            class_="start",
        ),
        script="upload.js",
    )


def _record() -> Html:
    """Where a record is sent from; the script needs no form."""
    return tag(
        "p",
        tag("label", "Replay a record: ", tag("input", type="file", id="record", accept=".jsonl")),
        tag("span", id="told", role="status", class_="hint"),
    )


def _shelf(shelf: tuple[str, str]) -> Html:
    words, address = shelf
    return tag("p", tag("a", words, href=address))


def _new_game(opponents: Sequence[str], chosen: Mapping[str, str]) -> Html:
    editions = [_radio("edition", *edition, chosen) for edition in EDITIONS.items()]
    players = [_radio("players", *count, chosen) for count in COUNTS.items()]
    seats = [_seat(seat, opponents, chosen["against"]) for seat in range(MOST_PLAYERS)]
    variants = [
        _check("blackbeard", "Blackbeard's secret (R9.2)"),
        _check("four_traders", "four traders each, with three players (R9.1)"),
    ]
    return tag(
        "form",
        tag("fieldset", tag("legend", "Edition"), *editions),
        tag("fieldset", tag("legend", "Players"), *players),
        tag("fieldset", tag("legend", "Who sits where, in turn order"), *seats),
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


def _radio(name: str, value: str, words: str, chosen: Mapping[str, str]) -> Html:
    checked = chosen[name] == value
    return tag("label", tag("input", type="radio", name=name, value=value, checked=checked), words, class_="pick")


def _check(name: str, words: str) -> Html:
    return tag("label", tag("input", type="checkbox", name=name, value="yes"), words, class_="pick")


def _seat(seat: int, opponents: Sequence[str], against: str) -> Html:
    def option(value: str, words: str) -> Html:
        return tag("option", words, value=value, selected=value == (against if seat else HUMAN))

    agents = [name for name in known_agents() if name not in LEVELS]
    learnt = tag("optgroup", *(option(name, name) for name in opponents), label="Of the training")
    return tag(
        "div",
        tag("span", seat, class_=f"trader player{seat}", aria_hidden="true"),
        tag(
            "select",
            option(HUMAN, "a person"),
            tag("optgroup", *(option(*level) for level in LEVELS.items()), label="Opponents"),
            learnt if opponents else None,
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


def _damaged(count: int) -> Html | None:
    return tag("p", f"and {count:,} more that cannot be read", class_="problem") if count else None


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
