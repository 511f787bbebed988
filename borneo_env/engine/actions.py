"""The action table: one flat space of named blocks, and each action's move and text, both ways.

Ids are frozen: trained policies depend on them. A block that grows with the ladders (transfers, contests) moves the
ones behind it, so each edition has its own table, the same for every number of players and variant.
An id may stand for several moves, one per phase (`take 17` and `drop 17` are one id); a text stands for one id.
"""

from __future__ import annotations

from functools import cache

from borneo_env.cards import CARGO_CARDS, COMPANIES, CONTRACT_KINDS, SPICES
from kontor.actions import Action, ActionTable, Move, action
from kontor.fields import Axis

__all__ = ["ActionTable", "Move", "action_table"]

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

# The phases in which declining is an option, and what it is called there.
DECLINING = {"contract": "none", "traders": "none", "commit": "done", "defend": "done", "keep": "none"}
CONTRACT_PHASES = ("contract", "last contract")
CARD_VERBS = ("commit", "defend", "keep", "take", "drop")

CARD = Axis("card", range(CARGO_CARDS))
PORT = Axis("port", range(OPEN_PORTS))
COMPANY_AXIS = Axis("company", COMPANIES)
SPICE = Axis("spice", SPICES)


@cache
def action_table(slots: int) -> ActionTable:
    """The action table for ladders of this many slots."""
    return ActionTable(rows(slots))


def rows(slots: int) -> list[Action | tuple[Action, ...]]:
    """The blocks of actions for ladders of this many slots."""
    rank = Axis("rank", range(1, slots + 1))
    return [
        tuple(
            action(phase, word=word, declines=True, phases=CONTRACT_PHASES if phase == "contract" else phase,
                   block="pass", meaning="decline: no contract, no traders, done, keep none")
            for phase, word in DECLINING.items()
        ),
        (action("place", phases="place", block="company", meaning="a company to place a trader in, or to yield to",
                company=COMPANY_AXIS),
         action("yield", phases="yield", company=COMPANY_AXIS)),
        action("yield", phases="yield", word="slot", block="slot", meaning="take the slot the attacker left"),
        *_contracts(),
        action("pay", phases="pay", block="pay", meaning="a thing to pay with, by spice and size, or a joker",
               spice=SPICE, size=Axis("size", SIZES)),
        action("pay", phases="pay", block="pay", spice=Axis("spice", ("joker",))),
        action("transfer", phases="traders", meaning="company, rank, other company",
               only=lambda company, rank, to: company != to, company=COMPANY_AXIS, rank=rank, to=COMPANY_AXIS),
        action("attack", phases="traders", block="contest", meaning="company, own rank, rank attacked",
               only=lambda company, rank, target: target < rank, company=COMPANY_AXIS, rank=rank, target=rank),
        action("ship", phases="ship", meaning="a hand card and the place of an open port", card=CARD, port=PORT),
        tuple(
            action(verb, phases=verb, block="card", meaning="a cargo card; the phase says what for", card=CARD)
            for verb in CARD_VERBS
        ),
    ]  # fmt: skip


def _contracts() -> list[Action]:
    """A contract of each kind, with the spice for same-4 and same-8."""
    meaning = "a contract, with the spice for same-4 and same-8"
    every = []
    for kind in CONTRACT_KINDS:
        spice = {"spice": SPICE} if kind.startswith("same") else {}
        every.append(Action("contract", {"contract": Axis("contract", (kind,)), **spice}, CONTRACT_PHASES, None,
                            "contract", meaning))  # fmt: skip
    return every
