"""The options of a decision in words, for people to choose from, and what they would lead to."""

from __future__ import annotations

from typing import Any

import numpy as np

from borneo_env.cards import COMPANIES, CONTRACT_KINDS, SPICES
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import CARDS, SPECTATOR, TAKE
from borneo_env.record import Moment
from borneo_env.render.scene import Scene, count
from borneo_env.render.text import flags, short_card
from borneo_env.story import in_story, port_result, shipped_to


def options(batch: Batch) -> list[tuple[int, str]]:
    """The legal actions of the first game, each with what it means; those of one trader stand together."""
    moves = zip(np.flatnonzero(batch.mask[0]).tolist(), batch.legal_moves(), strict=True)
    return [(action, option(batch, move)) for action, move in sorted(moves, key=lambda pair: _trader(pair[1]))]


def _trader(move: str) -> tuple[int, int]:
    """The company and rank of the trader that a move is about; (-1, 0) for another move."""
    verb, *words = move.split()
    return (COMPANIES.index(words[0]), int(words[1])) if verb in ("transfer", "attack") else (-1, 0)


def option(batch: Batch, move: str) -> str:
    """What a legal move of the first game means: "ship 15 rrg/b pepper to Banda"."""
    verb, *words = move.split()
    told: str = _WORDS[verb](batch, batch.games[0], *words)
    return told


def card_words(batch: Batch, card: int | str) -> str:
    """A cargo card in short: its number, flags and spice."""
    return aligned_card(batch, card).lstrip()


def aligned_card(batch: Batch, card: int | str) -> str:
    """The same, so that cards below each other have their flags in one column."""
    return short_card(int(card), batch.ruleset.tables.cargo[int(card)])


def port_at(batch: Batch, place: int) -> str:
    """What the port open at a place is called."""
    ports = batch.ruleset.tables.ports_in_play(batch.ruleset.players)
    return in_story(ports[int(batch.games["open"][0, place]) - CARDS].name)


def _next_rank(game: np.void, company: str) -> int:
    return int(game["height"][COMPANIES.index(company)]) + 1


def _place(batch: Batch, game: np.void, company: str) -> str:
    return f"place a trader in {company}, rank {_next_rank(game, company)}"


def _contract(batch: Batch, game: np.void, kind: str, spice: str = "") -> str:
    if kind == "none":
        return "fulfil no contract"
    points = batch.ruleset.tables.contracts[CONTRACT_KINDS.index(kind)].points
    wanted = f"{kind.split('-')[1]} {spice or 'of every spice'}"
    return f"fulfil {kind}: {wanted}, {count(points, 'point')}"


def _pay(batch: Batch, game: np.void, spice: str, size: str = "") -> str:
    if spice == "joker":
        return "pay with a joker"
    owed = SPICES[int(np.argmax(game["owed"] > 0))]
    return f"pay with a {size} of {spice}" + (" through the pirates" if spice != owed else "")


def _traders(batch: Batch, game: np.void, none: str) -> str:
    return "leave the traders where they are"


def _transfer(batch: Batch, game: np.void, company: str, rank: str, other: str) -> str:
    return f"transfer the trader on {company} {rank} to {other}, rank {_next_rank(game, other)}"


def _attack(batch: Batch, game: np.void, company: str, rank: str, above: str) -> str:
    defender = game["ladder"][COMPANIES.index(company), int(above) - 1]
    between = int(rank) - int(above) - 1
    bonus = f", {count(between, 'flag')} more for the defence" if between else ""
    return f"attack player {defender} in {company}: rank {rank} against rank {above}{bonus}"


def _commit(batch: Batch, game: np.void, card: str) -> str:
    return "play no more cards" if card == "done" else f"attack with {card_words(batch, card)}"


def _defend(batch: Batch, game: np.void, card: str) -> str:
    return "play no more cards" if card == "done" else f"defend with {card_words(batch, card)}"


def _keep(batch: Batch, game: np.void, card: str) -> str:
    return "keep no card" if card == "none" else f"keep {card_words(batch, card)}"


def _yield(batch: Batch, game: np.void, where: str) -> str:
    if where == "slot":
        return f"take the slot the attacker left, rank {game['attacker_rank'] + 1}"
    own = int(COMPANIES.index(where) == game["company"])  # the trader leaves that ladder first (card edition)
    return f"leave for {where}, rank {_next_rank(game, where) - own}"


def _ship(batch: Batch, game: np.void, card: str, place: str) -> str:
    return f"ship {card_words(batch, card)} to {port_at(batch, int(place))}"


def _take(batch: Batch, game: np.void, card: str) -> str:
    return f"take {card_words(batch, card)}"


def _drop(batch: Batch, game: np.void, card: str) -> str:
    return f"drop {card_words(batch, card)}"


_WORDS: dict[str, Any] = {
    "place": _place, "contract": _contract, "pay": _pay, "traders": _traders, "transfer": _transfer,
    "attack": _attack, "commit": _commit, "defend": _defend, "keep": _keep, "yield": _yield,
    "ship": _ship, "take": _take, "drop": _drop,
}  # fmt: skip


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
    def words(self) -> list[str]:
        """In sentences: the flags, or who gets the port and who takes the cargo."""
        told = list(port_result(self._moment))
        game = self._after.games[0]
        if game["phase"] == TAKE:
            scene = Scene(self._after.ruleset, game, SPECTATOR, "", None)
            takers = (
                f"player {trader.player} ({COMPANIES[trader.company]} {trader.rank + 1})"
                for trader in scene.traders_to_come
            )
            told.append(f"The cargo is taken in this order: {', '.join(takers)}.")
        return told

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
