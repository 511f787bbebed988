"""The options of a decision in words, for people to choose from."""

from __future__ import annotations

from typing import Any

import numpy as np

from borneo_env.cards import COMPANIES, CONTRACT_KINDS, SPICES
from borneo_env.engine.batch import Batch
from borneo_env.engine.state import CARDS
from borneo_env.render.scene import count
from borneo_env.story import card_name, port_name


def options(batch: Batch) -> list[tuple[int, str]]:
    """The legal actions of the first game, each with what it means."""
    moves = zip(np.flatnonzero(batch.mask[0]).tolist(), batch.legal_moves(), strict=True)
    return [(action, option(batch, move)) for action, move in moves]


def option(batch: Batch, move: str) -> str:
    """What a legal move of the first game means."""
    verb, *words = move.split()
    told: str = _WORDS[verb](batch, batch.games[0], *words)
    return told


def _place(batch: Batch, game: np.void, company: str) -> str:
    return f"place a trader in {company}, rank {game['height'][COMPANIES.index(company)] + 1}"


def _contract(batch: Batch, game: np.void, kind: str, spice: str = "") -> str:
    if kind == "none":
        return "fulfil no contract"
    points = batch.ruleset.tables.contracts[CONTRACT_KINDS.index(kind)].points
    number = kind.split("-")[1]
    wanted = f"{number} {spice}" if spice else f"{number} of every spice"
    return f"fulfil {kind}: {wanted} for {count(points, 'point')}"


def _pay(batch: Batch, game: np.void, spice: str, size: str = "") -> str:
    owed = SPICES[int(np.argmax(game["owed"] > 0))]
    if spice == "joker":
        return f"pay {owed} with a joker"
    through = " through the pirates" if spice != owed else ""
    return f"pay {owed} with a {size} of {spice}{through}"


def _traders(batch: Batch, game: np.void, none: str) -> str:
    return "leave the traders where they are"


def _transfer(batch: Batch, game: np.void, company: str, rank: str, other: str) -> str:
    return f"transfer the trader on {company} {rank} to {other}, rank {game['height'][COMPANIES.index(other)] + 1}"


def _attack(batch: Batch, game: np.void, company: str, rank: str, above: str) -> str:
    defender = game["ladder"][COMPANIES.index(company), int(above) - 1]
    between = int(rank) - int(above) - 1
    bonus = f", {count(between, 'flag')} more for the defence" if between else ""
    return f"attack player {defender} in {company}: rank {rank} against rank {above}{bonus}"


def _commit(batch: Batch, game: np.void, card: str) -> str:
    if card == "done":
        return f"no more cards: attack with {count(int(game['strength'][0]), 'flag')}"
    return f"attack with {_fighter(batch, game, card)}"


def _defend(batch: Batch, game: np.void, card: str) -> str:
    if card == "done":
        return f"no more cards: defend with {count(int(game['strength'][1]), 'flag')}"
    return f"defend with {_fighter(batch, game, card)}"


def _fighter(batch: Batch, game: np.void, card: str) -> str:
    company = COMPANIES[game["company"]]
    flags = batch.ruleset.tables.cargo[int(card)].flags.count(company)
    return f"{card_name(batch.ruleset, int(card))}: {count(flags, 'flag')} of {company}"


def _keep(batch: Batch, game: np.void, card: str) -> str:
    return "keep no card" if card == "none" else f"keep {card_name(batch.ruleset, int(card))}"


def _yield(batch: Batch, game: np.void, where: str) -> str:
    if where == "slot":
        return "take the slot the attacker left"
    return f"leave for {where}, rank {game['height'][COMPANIES.index(where)] + 1}"


def _ship(batch: Batch, game: np.void, card: str, place: str) -> str:
    port = port_name(batch.ruleset, int(game["open"][int(place)]) - CARDS)
    return f"ship {card_name(batch.ruleset, int(card))} to {port}"


def _take(batch: Batch, game: np.void, card: str) -> str:
    return f"take {card_name(batch.ruleset, int(card))}"


def _drop(batch: Batch, game: np.void, card: str) -> str:
    return f"drop {card_name(batch.ruleset, int(card))}"


_WORDS: dict[str, Any] = {
    "place": _place, "contract": _contract, "pay": _pay, "traders": _traders, "transfer": _transfer,
    "attack": _attack, "commit": _commit, "defend": _defend, "keep": _keep, "yield": _yield,
    "ship": _ship, "take": _take, "drop": _drop,
}  # fmt: skip
