"""A game told in words: what each move of a record did, for people to read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from borneo_env.cards import COMPANIES, SPICES
from borneo_env.engine.state import (
    CARDS,
    COMMIT,
    CONTRACT,
    DEFEND,
    NO_CARD,
    PAY,
    PHASES,
    TRADERS,
    WAREHOUSE,
    YIELD,
)
from borneo_env.files import in_short, on_one_line
from borneo_env.record import Line, Moment, replay
from borneo_env.ruleset import Ruleset
from borneo_env.view import View

SHOWS = "The port shows"


def tell(lines: Sequence[Line], *, forced: bool = False) -> Iterator[str]:
    """A record as lines of text; choices to decline that say nothing new are told only if asked for."""
    teller = Teller(forced=forced)
    for moment in replay(lines):
        if moment.line_number == 2:
            yield from _opening(lines[0])
        yield from teller.tell(moment)


class Teller:
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

    def tell(self, moment: Moment) -> Iterator[str]:
        game = moment.before
        if game["ended"] and not self._ended and moment.kind != "shuffle":
            self._ended = True
            yield "The game ends: hands and ports are discarded. Last contracts:"
        if moment.kind == "result":
            yield from _result(moment.line)
            return
        if moment.kind == "shuffle":
            yield f"    The discard pile is shuffled: {_count(len(moment.line['shuffle']), 'card')} to draw from."
            return
        if game["phase"] == CONTRACT:
            self._turn += 1
            yield f"Turn {self._turn}: player {game['turn']}"
        declined = self._brief and moment.line["move"] in ("contract none", "traders none")
        if self._forced or not (declined or _goes_without_saying(moment)):
            yield f"    {_move(moment)}"
        for consequence in _consequences(moment):
            if not (self._brief and consequence.startswith(SHOWS)):
                yield f"    {consequence}"


def move_in_words(ruleset: Ruleset, game: np.void, player: int, move: str) -> str:
    """What a player does in a position, from the text of the move: "player 2 drops card 17 [...]"."""
    verb, *words = move.split()
    return f"player {player} {_TOLD[verb](ruleset, game, *words)}"


def agent_names(agents: Sequence[str]) -> list[str]:
    """What the players of a game are called: by their agents, and the numbers on their traders."""
    return [f"{on_one_line(name)} {seat}" for seat, name in enumerate(agents)]


def with_names(words: str, names: Sequence[str], you: int | None = None) -> str:
    """Words of a story with names for the players; whoever reads it may be one of them: "you take card 17 [...]"."""

    def name(found: re.Match[str]) -> str:
        player, verb = int(found[1]), found[2]
        if player >= len(names):  # nobody of this game
            return found[0]
        if player != you:
            return names[player] + verb
        called = "You" if words[: found.start()].endswith(". ") else "you"
        return called + re.sub(r"\w+$", lambda last: _IRREGULAR.get(last[0], last[0].removesuffix("s")), verb)

    return re.sub(r"\bplayer (\d)\b((?: \(\w+ \d+\))? \w+|)", name, words)


_IRREGULAR = {"has": "have", "does": "do", "is": "are"}


def card_name(ruleset: Ruleset, card: int) -> str:
    """A cargo card in words: its id, its flags (top row / bottom row) and its spice."""
    cargo = ruleset.tables.cargo[card]
    double = " x2" if cargo.count == 2 else ""
    return f"card {card} [{' '.join(cargo.flags[:3])} / {cargo.flags[3]}, {cargo.spice}{double}]"


def port_name(ruleset: Ruleset, port: int) -> str:
    """A port in words, by its number among the ports in play."""
    card = ruleset.tables.ports_in_play(ruleset.players)[port]
    return f"{in_story(card.name)} ({card.spice}, limit {card.limit}, monopoly {card.monopoly})"


def in_story(port: str) -> str:
    """The name of a port within a story: no part of it is taken for a player or a card, whose words have spaces."""
    return port.replace(" ", NO_BREAK) if LIKE_A_STORY.search(port) else port


LIKE_A_STORY, NO_BREAK = re.compile(r"[\d(\[]"), "\N{NO-BREAK SPACE}"


def _count(n: int, thing: str) -> str:
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def _opening(header: Line) -> Iterator[str]:
    rules = header["ruleset"]
    four_traders = ", four traders" if rules["traders"] == 4 else ""
    blackbeard = ", Blackbeard's secret" if rules["blackbeard"] else ""
    yield f"Borneo, {rules['edition']} edition, {rules['players']} players{four_traders}{blackbeard}"
    yield f"Agents: {', '.join(header['agents'])}; seed {in_short(header['seed'])}"
    names = [in_story(header["ports"][port]["name"]) for port in header["deal"]["ports"][:3]]
    yield f"Open ports: {', '.join(names)}. Player {header['deal']['start']} begins."


def _result(line: Line) -> Iterator[str]:
    yield "Result:"
    columns = zip(line["places"], line["scores"], line["contracts"], strict=True)
    for player, (place, score, contracts) in enumerate(columns):
        yield f"    player {player}: place {place}, {_count(score, 'point')}, {_count(contracts, 'contract')}"


def _goes_without_saying(moment: Moment) -> bool:
    """Whether a choice to decline need not be told.

    Whether it was a choice at all depends on the hand in some phases, so there the same is told either way.
    """
    phase, move = int(moment.before["phase"]), str(moment.line["move"])
    if move == "defend done" and not moment.before["defence_cards"]:
        return False
    if phase in (COMMIT, DEFEND):
        return move.endswith(" done")  # how strong both are is told when the contest is decided
    return phase != TRADERS and bool(moment.line.get("forced")) and move.endswith((" none", " done"))


def _move(moment: Moment) -> str:
    return move_in_words(moment.batch.ruleset, moment.before, moment.line["player"], moment.line["move"])


def _place(ruleset: Ruleset, game: np.void, company: str) -> str:
    return f"places a trader in {company}, rank {game['height'][COMPANIES.index(company)] + 1}"


def _contract(ruleset: Ruleset, game: np.void, kind: str, spice: str = "") -> str:
    return "fulfils no contract" if kind == "none" else f"chooses the contract {kind} {spice}".rstrip()


def _pay(ruleset: Ruleset, game: np.void, spice: str, size: str = "") -> str:
    owed = SPICES[int(np.argmax(game["owed"] > 0))]
    if spice == "joker":
        return f"pays {owed} with a joker"
    return f"pays {owed} with a {size} of {spice}" + (" through the pirates" if spice != owed else "")


def _traders(ruleset: Ruleset, game: np.void, none: str) -> str:
    return "leaves the traders where they are"


def _transfer(ruleset: Ruleset, game: np.void, company: str, rank: str, other: str) -> str:
    return f"transfers the trader on {company} {rank} to {other}, rank {game['height'][COMPANIES.index(other)] + 1}"


def _attack(ruleset: Ruleset, game: np.void, company: str, rank: str, above: str) -> str:
    defender = game["ladder"][COMPANIES.index(company), int(above) - 1]
    return f"attacks player {defender} in {company}: rank {rank} against rank {above}"


def _fight(ruleset: Ruleset, game: np.void, card: str) -> str:
    side = PHASES[game["phase"]]
    if card == "done":
        cards = game["attack_cards" if side == "commit" else "defence_cards"]
        return f"has played {_count(cards, 'card')}" if cards else "does not defend"
    return f"{'commits' if side == 'commit' else 'defends with'} {card_name(ruleset, int(card))}"


def _keep(ruleset: Ruleset, game: np.void, card: str) -> str:
    return "keeps no card" if card == "none" else f"keeps {card_name(ruleset, int(card))}"


def _yield(ruleset: Ruleset, game: np.void, where: str) -> str:
    return "takes the slot the attacker left" if where == "slot" else f"leaves for {where}"


def _ship(ruleset: Ruleset, game: np.void, card: str, place: str) -> str:
    port = port_name(ruleset, int(game["open"][int(place)]) - CARDS)
    return f"ships {card_name(ruleset, int(card))} to {port}"


def _take(ruleset: Ruleset, game: np.void, card: str) -> str:
    company = COMPANIES[game["sharers"][game["sharer"]]]
    return f"({company} {game['sharing_rank'] + 1}) takes {card_name(ruleset, int(card))}"


def _drop(ruleset: Ruleset, game: np.void, card: str) -> str:
    return f"drops {card_name(ruleset, int(card))}"


_TOLD: dict[str, Any] = {
    "place": _place, "contract": _contract, "pay": _pay, "traders": _traders, "transfer": _transfer,
    "attack": _attack, "commit": _fight, "defend": _fight, "keep": _keep, "yield": _yield,
    "ship": _ship, "take": _take, "drop": _drop,
}  # fmt: skip


def _consequences(moment: Moment) -> Iterator[str]:
    before, after = moment.before, moment.after
    verb = moment.line["move"].split()[0]
    if moment.line["move"] == "defend done":
        yield _contest_result(before, after)
    if before["phase"] == PAY and after["phase"] != PAY:
        player = moment.line["player"]
        yield f"The contract is fulfilled: player {player} has {_count(moment.batch.scores()[0, player], 'point')}."
    if verb == "ship":
        yield from port_result(moment)
    if verb in ("ship", "take"):
        for place in np.flatnonzero((after["open"] != before["open"]) & (after["open"] != NO_CARD)):
            yield f"{port_name(moment.batch.ruleset, int(after['open'][place]) - CARDS)} is turned up."


def _contest_result(before: np.void, after: np.void) -> str:
    bonus = before["attacker_rank"] - before["defender_rank"] - 1
    attack, defence = before["strength"]
    odds = f"{_count(attack, 'flag')} against {defence}" + (f" and {bonus} between" if bonus else "")
    return f"{odds}: the attack {'succeeds' if after['phase'] == YIELD else 'fails'}."


def shipped_to(moment: Moment) -> tuple[int, str]:
    """Where a shipment went, and what it led to: `monopoly`, `shared` or `nothing`."""
    card, place = map(int, moment.line["move"].split()[1:])
    view = View(moment.batch.ruleset, moment.before, np.zeros(0, bool), 0)  # nobody decides by it
    return place, view.port_at(place).result_of(view.card(card))


def port_result(moment: Moment) -> Iterator[str]:
    """What a shipment did at its port."""
    before, after = moment.before, moment.after
    place, result = shipped_to(moment)
    if result == "nothing":
        if after["laid"][place] > 0:  # not if the game has ended with this turn
            shown = [f"{company} {n}" for company, n in zip(COMPANIES, after["shown"][place], strict=True) if n]
            yield f"{SHOWS} {', '.join(shown)} on {_count(after['laid'][place], 'card')}."
        return
    if result == "monopoly":
        yield f"Monopoly of {COMPANIES[after['monopoly']]}."
    else:
        sharers = [COMPANIES[company] for company in after["sharers"][: after["n_sharers"]]]
        yield f"Shared distribution: {', '.join(sharers)}."
    port = int(before["open"][place])
    name = in_story(moment.batch.ruleset.tables.ports_in_play(moment.batch.ruleset.players)[port - CARDS].name)
    owner = after["place"][port] - WAREHOUSE
    yield f"player {owner} gets {name}." if owner >= 0 else f"{name} leaves the game."
    if not after["height"][after["sharers"][: after["n_sharers"]]].any():
        yield "There is no trader to choose: the cargo cards are discarded."
