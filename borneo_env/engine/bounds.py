"""What no game of Borneo goes beyond."""

from __future__ import annotations

from borneo_env.engine.rules.drawing import DRAWN
from borneo_env.engine.rules.ending import PIRATE_PENALTY
from borneo_env.engine.state import CARDS, FIRST_HAND
from borneo_env.ruleset import Ruleset
from kontor.game import Bounds


def bounds(ruleset: Ruleset) -> Bounds:
    """Decisions, draws of chance, and points."""
    return Bounds(
        decisions=most_decisions(ruleset),
        draws=most_draws(ruleset),
        least=-PIRATE_PENALTY,
        most=_most_points(ruleset),
    )


def most_turns(ruleset: Ruleset) -> int:
    """No game has more: each turn a card goes to a port, and each port takes so many at most."""
    return sum(port.limit for port in ruleset.tables.ports_in_play(ruleset.players))


def most_draws(ruleset: Ruleset) -> int:
    """No game has more draws of chance: the start player, cards dealt and drawn, ports turned up."""
    ports = len(ruleset.tables.ports_in_play(ruleset.players))
    return 1 + FIRST_HAND * ruleset.players + DRAWN * most_turns(ruleset) + ports


def most_decisions(ruleset: Ruleset) -> int:
    """No game has more decisions.

    A turn has a contract, traders, the ends of an attack and of a defence, and a card kept or a trader that yields:
    five. Cards leave hands once for each time they came there. Things in warehouses, which are taken from ports or
    kept, are paid once. In the end everybody has a contract.
    """
    players, turns = ruleset.players, most_turns(ruleset)
    leaving_hands = FIRST_HAND * players + DRAWN * turns
    taken, kept, ports = turns, turns, len(ruleset.tables.ports_in_play(players))
    return players * ruleset.traders + 5 * turns + leaving_hands + taken + (taken + kept + ports) + players


def _most_points(ruleset: Ruleset) -> int:
    """All points there are."""
    tables, ports = ruleset.tables, len(ruleset.tables.ports_in_play(ruleset.players))
    supply = tables.supply_in_play(ruleset.players)
    contracts = sum(n * abs(one.points) for n, one in zip(supply, tables.contracts, strict=True))
    return CARDS + ports + contracts
