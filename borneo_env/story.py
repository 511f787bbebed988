"""A game told in words: what each move of a record did, for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from borneo_env.cards import COMPANIES, SPICES
from borneo_env.engine.actions import Move
from borneo_env.engine.state import CARDS, COMMIT, CONTRACT, DEFEND, NO_CARD, PAY, TRADERS, WAREHOUSE, YIELD
from borneo_env.pieces import Does, Mention, Pieces, Shown, Who, filled, in_full, listed, plain
from borneo_env.record import Line, Moment, replay
from borneo_env.ruleset import Ruleset
from borneo_env.view import View
from kontor.files import counted, in_short, on_one_line

HEADINGS = ("opening", "turn", "end", "result")


@dataclass(frozen=True)
class Told:
    """A line of a story."""

    event: str  # what it is about: that of a move, or "turn", "result", "contest", "monopoly", ...
    pieces: Pieces
    seat: int | None = None  # who alone is told, or None: everybody
    quiet: bool = False  # a choice to decline that says nothing new

    @property
    def heading(self) -> bool:
        return self.event in HEADINGS

    @property
    def indent(self) -> str:
        return "" if self.heading else "    "

    def line(self, names: Sequence[str] = (), you: int | None = None, shown: Shown = in_full) -> str:
        """As text; whoever reads it may be one of the players: "    you take card 17 [...]"."""
        return self.indent + plain(self.pieces, names, you, shown)


def tell(lines: Sequence[Line], *, forced: bool = False) -> Iterator[str]:
    """A record as lines of text; choices to decline that say nothing new are told only if asked for."""
    return (told.line() for told in story(lines, forced=forced))


def story(lines: Sequence[Line], *, forced: bool = False) -> Iterator[Told]:
    """The same as lines that know what is named in them."""
    narrator = Narrator(forced=forced)
    for moment in replay(lines):
        if moment.line_number == 2:
            yield from _opening(lines[0])
        yield from narrator.tell(moment)


class Narrator:
    """Tells a game moment by moment, and counts its turns.

    Arguments:
        forced: tell every choice to decline, forced ones too.
        brief: leave out what somebody who sees the board need not be told.
    """

    def __init__(self, *, forced: bool = False, brief: bool = False) -> None:
        self._forced = forced
        self._brief = brief
        self._turn = 0
        self._ended = False

    def tell(self, moment: Moment) -> Iterator[Told]:
        game = moment.before
        if game["ended"] and not self._ended and moment.kind != "shuffle":
            self._ended = True
            yield Told("end", ("The game ends: hands and ports are discarded. Last contracts:",))
        if moment.kind == "result":
            yield from _result(moment.line)
            return
        if moment.kind == "shuffle":
            left = counted(len(moment.line["shuffle"]), "card")
            yield Told("shuffle", (f"The discard pile is shuffled: {left} to draw from.",))
            return
        if game["phase"] == CONTRACT:
            self._turn += 1
            yield Told("turn", (f"Turn {self._turn}: ", Who(int(game["turn"]))))
        for told in (_made(moment), *_consequences(moment)):
            if not (told.quiet and not self._forced) and not (self._brief and told.event in SEEN_ON_THE_BOARD):
                yield told


SEEN_ON_THE_BOARD = ("contract none", "traders none", "shown")


def deed(ruleset: Ruleset, game: np.void, player: int, move: Move) -> Pieces:
    """What a player does in a position: "player 2 drops card 17 [...]"."""
    event, facts = move.event, facts_of(ruleset, game, move)
    verb, rest = ("do", "not defend") if event == "defend done" and not facts["played"] else DEEDS[event]
    about = filled(" ({company} {rank})", **facts) if event == "take" else ()
    return (Who(player), *about, " ", Does(player, verb), " ", *filled(rest, **facts))


# What is told of each event: a verb, and what follows it.
DEEDS = {
    "place": ("place", "a trader in {company}, rank {next}"),
    "contract none": ("fulfil", "no contract"),
    "contract": ("choose", "the contract {terms}"),
    "pay": ("pay", "{owed} with {thing}"),
    "traders none": ("leave", "the traders where they are"),
    "transfer": ("transfer", "the trader on {company} {rank} to {to}, rank {next}"),
    "attack": ("attack", "{defender} in {company}: rank {rank} against rank {target}"),
    "commit": ("commit", "{card}"),
    "commit done": ("have", "played {played}"),
    "defend": ("defend", "with {card}"),
    "defend done": ("have", "played {played}"),
    "keep none": ("keep", "no card"),
    "keep": ("keep", "{card}"),
    "yield slot": ("take", "the slot the attacker left"),
    "yield": ("leave", "for {company}"),
    "ship": ("ship", "{card} to {port}"),
    "take": ("take", "{card}"),
    "drop": ("drop", "{card}"),
}


def facts_of(ruleset: Ruleset, game: np.void, move: Move) -> dict[str, Any]:
    """What can be named of a move: its parts, and what they mean in a position."""
    parts = {name: _piece(ruleset, game, kind, move.parts[name]) for name, kind in move.kinds.items()}
    return parts | _meant(game, move.verb, move.parts)


def _piece(ruleset: Ruleset, game: np.void, kind: str, value: str | int) -> Mention | str:
    if kind == "card":
        return named_card(ruleset, int(value))
    if kind == "port":
        return named_port(ruleset, int(game["open"][value]) - CARDS)
    return named_company(COMPANIES.index(str(value))) if kind == "company" else str(value)


def _meant(game: np.void, verb: str, parts: dict[str, Any]) -> dict[str, Any]:
    company = COMPANIES.index(parts["company"]) if "company" in parts else -1
    match verb:
        case "place":
            return {"next": game["height"][company] + 1}
        case "transfer":
            return {"next": game["height"][COMPANIES.index(parts["to"])] + 1}
        case "yield" if parts:  # the trader may leave that very ladder first
            return {"next": game["height"][company] + (company != game["company"])}
        case "yield":
            return {"next": game["attacker_rank"] + 1}
        case "attack":
            return {"defender": Who(int(game["ladder"][company, parts["target"] - 1]))}
        case "contract":
            return {"terms": " ".join(parts.values())}
        case "pay":
            return _paid(SPICES[int(np.argmax(game["owed"] > 0))], **parts)
        case "commit" | "defend":
            cards = game["attack_cards" if verb == "commit" else "defence_cards"]
            return {"played": counted(cards, "card") if cards else ""}
        case "take":
            return {"company": named_company(game["sharers"][game["sharer"]]), "rank": game["sharing_rank"] + 1}
    return {}


def _paid(owed: str, spice: str, size: str = "") -> dict[str, Any]:
    pirates = " through the pirates" if spice != owed else ""
    return {"owed": owed, "thing": f"a {size} of {spice}{pirates}" if size else "a joker"}


# ---------------------------------------------------------------- what is named


def agent_names(agents: Sequence[str]) -> list[str]:
    """What the players of a game are called: by their agents, and the numbers on their traders."""
    return [f"{on_one_line(name)} {seat}" for seat, name in enumerate(agents)]


def named_card(ruleset: Ruleset, card: int) -> Mention:
    """A cargo card: its id, its flags (top row / bottom row) and its spice."""
    cargo = ruleset.tables.cargo[card]
    flags, double = f"{' '.join(cargo.flags[:3])} / {cargo.flags[3]}", " x2" * (cargo.count == 2)
    return Mention("card", card, f"card {card} [{flags}, {cargo.spice}{double}]", f"card {card}")


def named_port(ruleset: Ruleset, port: int) -> Mention:
    """A port, by its number among the ports in play, with what is printed on it."""
    card = ruleset.tables.ports_in_play(ruleset.players)[port]
    return Mention("port", port, f"{card.name} ({card.spice}, limit {card.limit}, monopoly {card.monopoly})", card.name)


def named_company(number: int) -> Mention:
    return Mention("company", int(number), COMPANIES[number], COMPANIES[number])


# ---------------------------------------------------------------- beside the moves


def drawn(ruleset: Ruleset, player: int, cards: Sequence[int], *, dealt: bool) -> Iterator[Told]:
    """What a player alone is told of cards that have come into the hand, if any have."""
    if cards:
        did = (Does(player, "are"), " dealt ") if dealt else (Does(player, "draw"), " ")
        named = listed((named_card(ruleset, card),) for card in cards)
        yield Told("drawn", (Who(player), " ", *did, *named), player)


def _opening(header: Line) -> Iterator[Told]:
    rules = header["ruleset"]
    variants = ", four traders" * (rules["traders"] == 4) + ", Blackbeard's secret" * bool(rules["blackbeard"])
    yield Told("opening", (f"Borneo, {rules['edition']} edition, {rules['players']} players{variants}",))
    yield Told("opening", (f"Agents: {', '.join(header['agents'])}; seed {in_short(header['seed'])}",))
    ports = [(port, header["ports"][port]["name"]) for port in header["deal"]["ports"][:3]]
    names = listed((Mention("port", port, name, name),) for port, name in ports)
    start = Who(header["deal"]["start"], begins=True)
    yield Told("opening", ("Open ports: ", *names, ". ", start, " ", Does(start.seat, "begin"), "."))


def _result(line: Line) -> Iterator[Told]:
    yield Told("result", ("Result:",))
    columns = zip(line["places"], line["scores"], line["contracts"], strict=True)
    for player, (place, score, contracts) in enumerate(columns):
        standing = f": place {place}, {counted(score, 'point')}, {counted(contracts, 'contract')}"
        yield Told("standing", (Who(player), standing))


def _made(moment: Moment) -> Told:
    """The move."""
    pieces = deed(moment.batch.ruleset, moment.before, moment.line["player"], moment.move)
    return Told(moment.move.event, pieces, quiet=_goes_without_saying(moment))


def _goes_without_saying(moment: Moment) -> bool:
    """Whether a choice to decline need not be told.

    Whether it was a choice at all depends on the hand in some phases, so there the same is told either way.
    """
    phase, move = int(moment.before["phase"]), moment.move
    if move.event == "defend done" and not moment.before["defence_cards"]:
        return False
    if phase in (COMMIT, DEFEND):
        return move.declines  # how strong both are is told when the contest is decided
    return phase != TRADERS and bool(moment.line.get("forced")) and move.declines


def _consequences(moment: Moment) -> Iterator[Told]:
    before, after, move = moment.before, moment.after, moment.move
    if move.event == "defend done":
        yield Told("contest", (_contest_result(before, after),))
    if before["phase"] == PAY and after["phase"] != PAY:
        player = moment.line["player"]
        has = Who(player), " ", Does(player, "have"), f" {counted(moment.batch.scores()[0, player], 'point')}."
        yield Told("fulfilled", ("The contract is fulfilled: ", *has))
    if move.verb == "ship":
        yield from port_result(moment)
    if move.verb in ("ship", "take"):
        for place in np.flatnonzero((after["open"] != before["open"]) & (after["open"] != NO_CARD)):
            port = named_port(moment.batch.ruleset, int(after["open"][place]) - CARDS)
            yield Told("turned up", (port, " is turned up."))


def _contest_result(before: np.void, after: np.void) -> str:
    bonus = before["attacker_rank"] - before["defender_rank"] - 1
    attack, defence = before["strength"]
    odds = f"{counted(attack, 'flag')} against {defence}" + (f" and {bonus} between" if bonus else "")
    return f"{odds}: the attack {'succeeds' if after['phase'] == YIELD else 'fails'}."


def shipped_to(moment: Moment) -> tuple[int, str]:
    """Where a shipment went, and what it led to: `monopoly`, `shared` or `nothing`."""
    card, place = moment.move.parts["card"], moment.move.parts["port"]
    view = View(moment.batch.ruleset, moment.before, np.zeros(0, bool), 0)  # nobody decides by it
    return place, view.port_at(place).result_of(view.card(card))


def port_result(moment: Moment) -> Iterator[Told]:
    """What a shipment did at its port."""
    before, after = moment.before, moment.after
    place, result = shipped_to(moment)
    if result == "nothing":
        if after["laid"][place] > 0:  # not if the game has ended with this turn
            shown = listed((named_company(i), f" {n}") for i, n in enumerate(after["shown"][place]) if n)
            yield Told("shown", ("The port shows ", *shown, f" on {counted(after['laid'][place], 'card')}."))
        return
    sharers = after["sharers"][: after["n_sharers"]]
    if result == "monopoly":
        yield Told(result, ("Monopoly of ", named_company(after["monopoly"]), "."))
    else:
        yield Told(result, ("Shared distribution: ", *listed((named_company(one),) for one in sharers), "."))
    port = int(before["open"][place])
    name = replace(named := named_port(moment.batch.ruleset, port - CARDS), words=named.short)
    owner = int(after["place"][port]) - WAREHOUSE
    owned = (Who(owner), " ", Does(owner, "get"), " ", name, ".")
    yield Told("port", owned if owner >= 0 else (name, " leaves the game."))
    if not after["height"][sharers].any():
        yield Told("no takers", ("There is no trader to choose: the cargo cards are discarded.",))
