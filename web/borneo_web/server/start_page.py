"""The start page: what the game is about, a new game, and those that were begun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from borneo_agents.human.game import HUMAN

from borneo_env.ruleset import PLAYER_COUNTS
from borneo_web.server.game.guide import about
from borneo_web.server.game.ruleset_form import FIELDS, FormField
from borneo_web.server.html import Html, tag
from borneo_web.server.opponents import USUAL, Opponent
from borneo_web.server.page import link, problem, sheet, sheets_page


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
    wrong: str = "",
) -> Html:
    """What the game is about, a new game, those that were begun, and what else can be looked at.

    Arguments:
        opponents: who can be played against.
        links: where else one can look: words and addresses.
        asked: what is filled in at first: any field of a new game, and `against`, an opponent for all seats.
        older, damaged: how many games are not among those that are shown, and how many of these cannot be read.
        wrong: why the new game that was asked for cannot be.
    """
    listed = tag("ul", *map(_listed, games), class_="games") if games else tag("p", "None yet.")
    unread = tag("p", f"and {damaged:,} more that cannot be read", class_="problem") if damaged else None
    more = link(f"and {older:,} older", "/?all") if older else None
    return sheets_page(
        "A game of spice traders",
        _about(known=bool(games)),
        sheet("A new game", problem(wrong), _new_game(opponents, asked)),
        sheet("Your games", listed, unread, more),
        sheet("Watch and analyse", _record(), *(link(*one) for one in links)),
        script="start.js",
    )


def _about(known: bool) -> Html:
    """What the game is about; folded up for those who have played."""
    more = link("How a turn goes, with pictures", "/rules")
    return tag("details", tag("summary", "What it is about"), tag("ul", about()), more, open=not known,
               class_="sheet about")  # fmt: skip


def _record() -> Html:
    """Where a record is sent from; the script needs no form."""
    chosen = tag("label", "Replay a record: ", tag("input", type="file", id="record", accept=".jsonl"))
    return tag("p", chosen, tag("span", id="told", role="status", class_="hint"))


def _new_game(opponents: Sequence[Opponent], asked: Mapping[str, str]) -> Html:
    ruleset = [
        tag("fieldset", tag("legend", legend), *(pick for field in fields for pick in _picks(field, asked)))
        for legend, fields in groupby(FIELDS, lambda field: field.legend)
    ]
    seats = [_seat(seat, opponents, asked) for seat in range(max(PLAYER_COUNTS))]
    moved = tag("p", id="moved", role="status", class_="hint")
    seed = tag("input", name="seed", inputmode="numeric", pattern="[0-9]*", maxlength="18", placeholder="chance",
               value=asked.get("seed"))  # fmt: skip
    hint = tag("p", "The same seed gives the same cards. Who knows it can know all hands.", class_="hint")
    return tag(
        "form",
        *ruleset,
        tag("fieldset", tag("legend", "Who sits where, in turn order"), *seats, moved),
        tag("fieldset", tag("legend", "Deal"), tag("label", "Seed ", seed), hint),
        tag("button", "Deal the cards", class_="do"),
        method="post",
        action="/games",
        id="new",
        class_="new",
    )


def _picks(field: FormField, asked: Mapping[str, str]) -> list[Html]:
    """What can be chosen of a field."""
    kind = "radio" if field.usual else "checkbox"
    chosen = asked[field.name] if asked.get(field.name) in field.choices else field.usual
    boxes = (
        tag("input", type=kind, name=field.name, value=sent, checked=sent == chosen) for sent in field.choices
    )  # fmt: skip
    words = (choice.words for choice in field.choices.values())
    return [tag("label", box, told, class_="pick") for box, told in zip(boxes, words, strict=True)]


def _seat(seat: int, opponents: Sequence[Opponent], asked: Mapping[str, str]) -> Html:
    known = (HUMAN, *(one.name for one in opponents))
    usual = [asked.get("against"), USUAL] if seat else []
    sits = next(name for name in (asked.get(f"seat{seat}"), *usual, HUMAN) if name in known)
    groups = (
        tag("optgroup", *(_option(one, one.name == sits) for one in some), label=label)
        for label, some in groupby(opponents, lambda one: one.group)
    )
    person = tag("option", "a person", value=HUMAN, selected=sits == HUMAN)
    return tag(
        "div",
        tag("span", seat, class_=f"trader player{seat}", aria_hidden="true"),
        tag("select", person, *groups, name=f"seat{seat}", aria_label=f"Seat {seat}"),
        tag(
            "input", name=f"name{seat}", maxlength="24", placeholder="name", autocomplete="off",
            aria_label=f"Name of the person in seat {seat}", value=asked.get(f"name{seat}"),
        ),
        class_=f"seat seat{seat}",
    )  # fmt: skip


def _option(one: Opponent, selected: bool) -> Html:
    games = " ".join(sorted(f"{edition}-{players}" for edition, players in one.games)) if one.only else None
    return tag("option", one.words, value=one.name, selected=selected, data_games=games)


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
