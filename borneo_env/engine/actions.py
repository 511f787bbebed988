"""The action table: one flat space of named blocks, and each action's move and text, both ways.

Ids are frozen: trained policies depend on them. A block that grows with the ladders (transfers, contests) moves the
ones behind it, so each edition has its own table, the same for every number of players and variant.
An id may stand for several moves, one per phase (`take 17` and `drop 17` are one id); a text stands for one id.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from borneo_env.cards import CARGO_CARDS, COMPANIES, CONTRACT_KINDS, SPICES

ACTION_VERSION = 1  # trained policies are made for one; a test knows when it must change
SIZES = ("single", "double", "port")
OTHERS = len(COMPANIES) - 1
OPEN_PORTS = 3

# The first ids of the blocks that are the same in every edition.
PASS = 0
COMPANY = 1
SLOT = COMPANY + len(COMPANIES)
BARGAIN = SLOT + 1
PAYMENT = BARGAIN + 3 + 2 * len(SPICES)
JOKER = PAYMENT + len(SPICES) * len(SIZES)
TRANSFER = JOKER + 1

# What each verb is called without parts: these moves decline, but for a beaten trader that takes the attacker's slot.
BARE = {"contract": "none", "traders": "none", "commit": "done", "defend": "done", "keep": "none", "yield": "slot"}
DECLINING = {phase: f"{phase} {word}" for phase, word in BARE.items() if phase != "yield"}  # by phases that allow it
OTHER_KINDS = {"to": "company", "target": "rank"}  # of parts that are not called by their kind


class Move(NamedTuple):
    """What an action does in a phase: a verb and its parts by name, in the order of its text."""

    verb: str
    parts: dict[str, Any]  # names of companies, spices, sizes and contracts; numbers of cards, ports and ranks

    @property
    def text(self) -> str:
        """As records and bots have it: "ship 17 0"."""
        return " ".join([self.verb, *map(str, self.parts.values() or [BARE[self.verb]])])

    @property
    def event(self) -> str:
        """What it is about, whatever its parts: its verb, or its text where it has none."""
        return self.verb if self.parts else self.text

    @property
    def declines(self) -> bool:
        """Whether it is to do nothing, or nothing more."""
        return self.event in DECLINING.values()

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each part: company, rank, contract, spice, size, card or port."""
        return {name: OTHER_KINDS.get(name, name) for name in self.parts}


class Block(NamedTuple):
    name: str
    start: int
    size: int
    meaning: str


class ActionTable:
    """All actions of one edition: how many there are, their blocks, their moves and texts."""

    def __init__(self, slots: int) -> None:
        # fmt: off
        self.slots = slots
        self.blocks: list[Block] = []
        self._moves: list[dict[str, Move]] = []  # for each id, phase -> move
        self._add("pass", "decline: no contract, no traders, done, keep none", [
            {phase: Move(phase, {}) for phase in DECLINING}])
        self._add("company", "a company to place a trader in, or to yield to", [
            {"place": _move("place", company=company), "yield": _move("yield", company=company)}
            for company in COMPANIES])
        self._add("slot", "take the slot the attacker left", [{"yield": _move("yield")}])
        self._add("contract", "a contract, with the spice for same-4 and same-8", [
            {"contract": Move("contract", terms)} for kind in CONTRACT_KINDS for terms in _terms(kind)])
        self._add("pay", "a thing to pay with, by spice and size, or a joker", [
            *({"pay": _move("pay", spice=spice, size=size)} for spice in SPICES for size in SIZES),
            {"pay": _move("pay", spice="joker")}])
        self._add("transfer", "company, rank, other company", [
            {"traders": _move("transfer", company=company, rank=rank, to=other)}
            for company in COMPANIES for rank in range(1, slots + 1) for other in COMPANIES if other != company])
        self._add("contest", "company, own rank, rank attacked", [
            {"traders": _move("attack", company=company, rank=rank, target=above)}
            for company in COMPANIES for rank in range(2, slots + 1) for above in range(1, rank)])
        self._add("ship", "a hand card and the place of an open port", [
            {"ship": _move("ship", card=card, port=port)} for card in range(CARGO_CARDS) for port in range(OPEN_PORTS)])
        self._add("card", "a cargo card; the phase says what for", [
            {phase: _move(phase, card=card) for phase in ("commit", "defend", "keep", "take", "drop")}
            for card in range(CARGO_CARDS)])
        # fmt: on
        self._texts = [{phase: move.text for phase, move in moves.items()} for moves in self._moves]
        self._ids = {text: action for action, texts in enumerate(self._texts) for text in texts.values()}

    def _add(self, name: str, meaning: str, moves: list[dict[str, Move]]) -> None:
        self.blocks.append(Block(name, len(self._moves), len(moves), meaning))
        self._moves.extend(moves)

    def __len__(self) -> int:
        return len(self._moves)

    def block(self, name: str) -> Block:
        return next(block for block in self.blocks if block.name == name)

    def block_of(self, action: int) -> Block:
        return next(block for block in self.blocks if block.start <= action < block.start + block.size)

    def move(self, action: int, phase: str) -> Move:
        """What an action does in a phase in which it has a meaning."""
        return self._moves[action][_spoken(phase)]

    def moves(self, action: int) -> list[Move]:
        """Every move of an action, one per phase in which it can be legal."""
        return list(self._moves[action].values())

    def moves_in(self, phase: str) -> dict[int, Move]:
        """Every action that has a meaning in a phase, with its move."""
        spoken = _spoken(phase)
        return {action: moves[spoken] for action, moves in enumerate(self._moves) if spoken in moves}

    def texts(self, action: int) -> list[str]:
        """Every text of an action, one per phase in which it can be legal."""
        return list(self._texts[action].values())

    def text(self, action: int, phase: str) -> str:
        """The text of an action in a phase; an action that has no meaning there is shown with its number."""
        if not 0 <= action < len(self):
            return f"action {action} (there are 0 to {len(self) - 1})"
        return self._texts[action].get(_spoken(phase), f"action {action} ({' or '.join(self.texts(action))})")

    def action(self, text: str, phase: str) -> int:
        """The id of a move's text, which must belong to the phase; raises ValueError otherwise."""
        action = self._ids.get(text)
        if action is None:
            raise ValueError(f"{text!r} is not a move of this edition")
        if self._texts[action].get(_spoken(phase)) != text:
            raise ValueError(f"{text!r} is not a move of the phase {phase}")
        return action


def _spoken(phase: str) -> str:
    """Last contracts are spoken of as contracts are."""
    return "contract" if phase == "last contract" else phase


def _move(verb: str, **parts: str | int) -> Move:
    return Move(verb, parts)


def _terms(kind: str) -> list[dict[str, str]]:
    named = {"contract": kind}
    return [named | {"spice": spice} for spice in SPICES] if kind.startswith("same") else [named]


@cache
def action_table(slots: int) -> ActionTable:
    """The action table for ladders of this many slots."""
    return ActionTable(slots)
