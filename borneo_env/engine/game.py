"""Borneo, as Kontor plays it: what the game is made of, and its rules by phase."""

from __future__ import annotations

from borneo_env.engine import check, observe
from borneo_env.engine.actions import rows
from borneo_env.engine.bounds import bounds
from borneo_env.engine.hidden import blank_secrets, can_be_filled, fill_secrets, is_possible
from borneo_env.engine.rewards import contracts as contract_points
from borneo_env.engine.rewards import ranks
from borneo_env.engine.rules import cargo, contracts, drawing, ending, setup, traders
from borneo_env.engine.state import FIELDS, PHASES, SEATS, TELLTALE, THINGS, TRADERS, make_blank, make_box, slots_of
from borneo_env.ruleset import PLAYER_COUNTS, Ruleset
from kontor.game import Game, Phase, Result

MAX_OPTIONS = 64  # more than any position has: a port of 60 cards to choose from is the longest list

DECISIONS = {
    "place": (setup.legal_place, setup.apply_place),
    "contract": (contracts.legal_contract, contracts.apply_contract),
    "pay": (contracts.legal_pay, contracts.apply_pay),
    "traders": (traders.legal_traders, traders.apply_traders),
    "commit": (traders.legal_commit, traders.apply_commit),
    "defend": (traders.legal_defend, traders.apply_defend),
    "keep": (traders.legal_keep, traders.apply_keep),
    "yield": (traders.legal_yield, traders.apply_yield),
    "ship": (cargo.legal_ship, cargo.apply_ship),
    "take": (cargo.legal_take, cargo.apply_take),
    "drop": (drawing.legal_drop, drawing.apply_drop),
    "last contract": (contracts.legal_contract, contracts.apply_contract),
}
assert (*DECISIONS, "over") == PHASES


def _contracts_of(box, g, player):
    return ending.contracts_of(g, player)


BORNEO = Game(
    "borneo",
    title="Borneo",
    players=PLAYER_COUNTS,
    ruleset=Ruleset,
    fields=FIELDS,
    actions=lambda ruleset: rows(slots_of(ruleset)),
    phases=[Phase(name, *functions) for name, functions in DECISIONS.items()],
    setup=setup.new_game,
    points=ending.score,
    places=ending.place_of,
    results=(Result("contracts", "i1", _contracts_of),),
    rewards={"contracts": contract_points, "ranks": ranks},
    box_of=make_box,
    blank=make_blank,
    wrongs=check.wrongs,
    unreadable=check.unreadable,
    telltale={PHASES[phase]: phase == TRADERS for phase in TELLTALE},
    bots="borneo_agents.scripted.in_searches:BOTS_IN_SEARCHES",
    counts_turns=True,
    most_options=MAX_OPTIONS,
    bounds=bounds,
    instead={
        "view": "borneo_env.view:View",
        "env": "borneo_env.aec:env",
        "single_game": "borneo_env.chance:ChanceGame",
        "deals": "borneo_env.record:DealtPiles",
    },
    rules={
        "observe": observe.observe,
        "write_state": observe.write_state,
        "layout": lambda ruleset: observe.layout(slots_of(ruleset)),
        "state_layout": lambda ruleset: observe.state_layout(slots_of(ruleset)),
        "blank_secrets": blank_secrets,
        "fill_secrets": fill_secrets,
        "can_be_filled": can_be_filled,
        "is_possible": is_possible,
        "room": THINGS,
    },
)
assert BORNEO.seats == SEATS
legal, apply = BORNEO.legal, BORNEO.apply
