"""The options of a decision in words, for people to choose from, and what they would lead to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from borneo_env.cards import COMPANIES, CONTRACT_KINDS
from borneo_env.engine.actions import Move
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import AMOUNT, SPECTATOR, TAKE
from borneo_env.pieces import Mention, Pieces, Shown, Who, filled, listed
from borneo_env.record import Moment
from borneo_env.render.scene import Scene, count
from borneo_env.render.text import flags, short_card
from borneo_env.ruleset import Ruleset
from borneo_env.story import DEEDS, facts_of, named_company, port_result, shipped_to

# Where an option says something else than the story does when it was played.
OFFERED = DEEDS | {
    "contract": ("fulfil", "{contract}: {wanted}, {points}"),
    "pay": ("pay", "with {thing}"),
    "attack": ("attack", "{defender} in {company}: rank {rank} against rank {target}{bonus}"),
    "commit": ("attack", "with {card}"),
    "commit done": ("play", "no more cards"),
    "defend done": ("play", "no more cards"),
    "yield": ("leave", "for {company}, rank {next}"),
    "yield slot": ("take", "the slot the attacker left, rank {next}"),
}


class Offer(NamedTuple):
    """A legal action, and what it means: "ship 15 rrg/b pepper to Banda"."""

    action: int
    move: Move
    pieces: Pieces


def options(batch: Batch) -> list[Offer]:
    """The legal actions of the first game; those of one trader stand together."""
    actions, phase = np.flatnonzero(batch.mask[0]).tolist(), batch.phase_name()
    moves = ((action, batch.actions.move(action, phase)) for action in actions)
    found = [Offer(action, move, option(batch, move)) for action, move in moves]
    return sorted(found, key=lambda offer: _trader(offer.move))


def _trader(move: Move) -> tuple[int, int]:
    """The company and rank of the trader that a move is about; (-1, 0) for another move."""
    return (COMPANIES.index(move.parts["company"]), move.parts["rank"]) if "rank" in move.parts else (-1, 0)


def option(batch: Batch, move: Move) -> Pieces:
    """What a legal move of the first game means."""
    verb, rest = OFFERED[move.event]
    facts = facts_of(batch.ruleset, batch.games[0], move) | _more(batch.ruleset, move)
    return (f"{verb} ", *filled(rest, **facts))


def _more(ruleset: Ruleset, move: Move) -> dict[str, Any]:
    """What is worth knowing before a move."""
    if move.event == "contract":
        kind = CONTRACT_KINDS.index(move.parts["contract"])
        wanted = f"{AMOUNT[kind]} {move.parts.get('spice', 'of every spice')}"
        return {"wanted": wanted, "points": count(ruleset.tables.contracts[kind].points, "point")}
    if move.event == "attack":
        between = move.parts["rank"] - move.parts["target"] - 1
        return {"bonus": f", {count(between, 'flag')} more for the defence" if between else ""}
    return {}


def in_colours(ruleset: Ruleset) -> Shown:
    """Cards as the board of a terminal has them: their number, flags and spice."""

    def shown(one: Mention) -> str:
        return aligned_card(ruleset, one.number).lstrip() if one.kind == "card" else one.short

    return shown


def aligned_card(ruleset: Ruleset, card: int) -> str:
    """A cargo card so that those below each other have their flags in one column."""
    return short_card(card, ruleset.tables.cargo[card])


# ---------------------------------------------------------------- what a shipment would do


class Shipment:
    """What shipping a card to an open port would do, found by trying it on a copy; it tells nothing hidden."""

    def __init__(self, batch: Batch, action: int) -> None:
        move = batch.actions.text(action, batch.phase_name())
        after = batch.copy()
        after.step([action])
        self._after = after
        self._moment = Moment("move", 0, {"player": int(batch.player[0]), "move": move}, batch.games[0], after)
        self.place, self._result = shipped_to(self._moment)

    @property
    def sentences(self) -> list[Pieces]:
        """The flags, or who gets the port and who takes the cargo."""
        found = [told.pieces for told in port_result(self._moment)]
        game = self._after.games[0]
        if game["phase"] == TAKE:
            traders = Scene(self._after.ruleset, game, SPECTATOR, "", None).traders_to_come
            takers = ((Who(one.player), " (", named_company(one.company), f" {one.rank + 1})") for one in traders)
            found.append(("The cargo is taken in this order: ", *listed(takers), "."))
        return found

    @property
    def short(self) -> str:
        """In a few letters: the flags afterwards, or the monopoly, or who shares in which order."""
        game = self._after.games[0]
        if self._result == "nothing":
            if game["ended"]:
                return "the game ends"
            shown = zip(COMPANIES, game["shown"][self.place], strict=True)
            return " ".join(f"{flags([company])}{number}" for company, number in shown)
        if self._result == "monopoly":
            return f"monopoly {flags([COMPANIES[game['monopoly']]])}"
        return "shared " + flags(COMPANIES[company] for company in game["sharers"][: game["n_sharers"]])
