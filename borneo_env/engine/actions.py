"""The action table: one flat space of named blocks, and each action's text, both ways (design of the decisions).

Ids are frozen: trained policies depend on them. A block that grows with the ladders (transfers, contests) moves the
ones behind it, so each edition has its own table, the same for every number of players and variant.
An id may stand for several texts, one per phase (`take 17` and `drop 17` are one id); a text stands for one id.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

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

# What declining is called in each phase that allows it.
DECLINING = {
    "contract": "contract none",
    "traders": "traders none",
    "commit": "commit done",
    "defend": "defend done",
    "keep": "keep none",
}


class Block(NamedTuple):
    name: str
    start: int
    size: int
    meaning: str


class ActionTable:
    """All actions of one edition: how many there are, their blocks, and their texts."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.blocks: list[Block] = []
        self._texts: list[dict[str, str]] = []  # for each id, phase -> text
        self._add("pass", "decline: no contract, no traders, done, keep none", [DECLINING])
        # fmt: off
        self._add("company", "a company to place a trader in, or to yield to", [
            {"place": f"place {company}", "yield": f"yield {company}"} for company in COMPANIES])
        self._add("slot", "take the slot the attacker left", [{"yield": "yield slot"}])
        self._add("contract", "a contract, with the spice for same-4 and same-8", [
            {"contract": f"contract {terms}"} for kind in CONTRACT_KINDS for terms in _terms(kind)])
        self._add("pay", "a thing to pay with, by spice and size, or a joker", [
            *({"pay": f"pay {spice} {size}"} for spice in SPICES for size in SIZES), {"pay": "pay joker"}])
        self._add("transfer", "company, rank, other company", [
            {"traders": f"transfer {company} {rank} {other}"}
            for company in COMPANIES for rank in range(1, slots + 1) for other in COMPANIES if other != company])
        self._add("contest", "company, own rank, rank attacked", [
            {"traders": f"attack {company} {rank} {above}"}
            for company in COMPANIES for rank in range(2, slots + 1) for above in range(1, rank)])
        self._add("ship", "a hand card and the place of an open port", [
            {"ship": f"ship {card} {port}"} for card in range(CARGO_CARDS) for port in range(OPEN_PORTS)])
        self._add("card", "a cargo card; the phase says what for", [
            {phase: f"{phase} {card}" for phase in ("commit", "defend", "keep", "take", "drop")}
            for card in range(CARGO_CARDS)])
        # fmt: on
        self._ids = {text: action for action, texts in enumerate(self._texts) for text in texts.values()}

    def _add(self, name: str, meaning: str, texts: list[dict[str, str]]) -> None:
        self.blocks.append(Block(name, len(self._texts), len(texts), meaning))
        self._texts.extend(texts)

    def __len__(self) -> int:
        return len(self._texts)

    def block(self, name: str) -> Block:
        return next(block for block in self.blocks if block.name == name)

    def block_of(self, action: int) -> Block:
        return next(block for block in self.blocks if block.start <= action < block.start + block.size)

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


def _terms(kind: str) -> list[str]:
    return [f"{kind} {spice}" for spice in SPICES] if kind.startswith("same") else [kind]


@cache
def action_table(slots: int) -> ActionTable:
    """The action table for ladders of this many slots."""
    return ActionTable(slots)
