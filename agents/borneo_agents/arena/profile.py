"""Profile: how an agent plays, from the ends of its games, so that one sees why it wins.

All figures are means per seat and game, with intervals over deals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.statistics.intervals import Estimate, mean_estimates
from borneo_agents.statistics.results import sums_by_cell
from borneo_env.cards import CONTRACT_KINDS
from borneo_env.engine.rules.ending import PIRATE_PENALTY
from borneo_env.engine.state import TALLIES
from borneo_env.ruleset import Ruleset

CARGO, PORTS, PIRATES = "cargo cards", "ports", "pirates"
SOURCES = (*CONTRACT_KINDS, CARGO, PORTS, PIRATES)
MORE_DOINGS = {"ports taken": "ports_taken", "mean rank at the end": "rank"}


@dataclass(frozen=True)
class Profile:
    agent: str
    seats: int  # how often it sat at a table
    points: dict[str, Estimate]  # by source, see SOURCES
    contracts: dict[str, Estimate]  # by kind
    doings: dict[str, Estimate]  # see TALLIES, and MORE_DOINGS
    decisions: Estimate  # of its own, forced ones not counted
    turns: Estimate  # of its games, all players together
    win_share_by_seat: tuple[Estimate | None, ...]  # in turn order, the start player's first; None where it never sat
    faults: int  # games lost by a crash, an illegal move or a time-out


def profiles(
    agents: tuple[str, ...], ruleset: Ruleset, outcomes: NDArray[np.void], rng: np.random.Generator
) -> tuple[Profile, ...]:
    """The profile of each agent."""
    figures = _means(outcomes, len(agents), _figures(ruleset, outcomes), rng)
    wins = _win_shares(outcomes, len(agents), rng)
    at_fault = outcomes["offender"][:, None] == np.arange(ruleset.players)
    kinds, doings = len(SOURCES), len(SOURCES) + len(CONTRACT_KINDS)
    rows = []
    for number, agent in enumerate(agents):
        own, mine = outcomes["seats"] == number, figures[number]
        rows.append(
            Profile(
                agent,
                int(own.sum()),
                dict(zip(SOURCES, mine[:kinds], strict=True)),
                dict(zip(CONTRACT_KINDS, mine[kinds:doings], strict=True)),
                dict(zip((*TALLIES, *MORE_DOINGS), mine[doings:-2], strict=True)),
                mine[-2],
                mine[-1],
                wins[number],
                int((own & at_fault).sum()),
            )
        )
    return tuple(rows)


def points_by_source(ruleset: Ruleset, outcomes: NDArray[np.void]) -> NDArray[np.int64]:
    """(games, players, sources): where the points of each seat come from (R8.6, R9.2); they add up to its score."""
    worth = np.array([contract.points for contract in ruleset.tables.contracts])
    contracts = outcomes["fulfilled"].astype(np.int64) * worth
    penalty = -PIRATE_PENALTY * (outcomes["pirates"][:, None] == np.arange(ruleset.players))
    others = np.stack([outcomes["cargo"], outcomes["ports"], penalty], -1)
    return np.concatenate([contracts, others], -1)


def _figures(ruleset: Ruleset, outcomes: NDArray[np.void]) -> NDArray[np.float64]:
    """(games, players, figures): points by source, contracts, doings, decisions, turns."""
    more = [outcomes[field] for field in (*MORE_DOINGS.values(), "decisions")]
    turns = np.broadcast_to(outcomes["turns"][:, None], more[0].shape)
    points = points_by_source(ruleset, outcomes)
    parts = [points, outcomes["fulfilled"], outcomes["tally"], np.stack([*more, turns], -1)]
    return np.concatenate(parts, -1).astype(float)


def _means(
    outcomes: NDArray[np.void], agents: int, figures: NDArray[np.float64], rng: np.random.Generator
) -> list[list[Estimate]]:
    """The mean of each figure over the seats of each agent."""
    deals, deal = np.unique(outcomes["deal"], return_inverse=True)
    cell = deal[:, None] * agents + outcomes["seats"]
    tables = [sums_by_cell(cell, column, len(deals), agents) for column in np.moveaxis(figures, -1, 0)]
    sums, counts = (np.stack(table, -1).reshape(len(deals), -1) for table in zip(*tables, strict=True))
    found = mean_estimates(sums, counts, rng, None)
    width = figures.shape[-1]
    return [found[number * width : (number + 1) * width] for number in range(agents)]


def _win_shares(outcomes: NDArray[np.void], agents: int, rng: np.random.Generator) -> list[tuple[Estimate | None, ...]]:
    """For each agent, the win share in each place of the turn order; None where it never sat."""
    players = outcomes["seats"].shape[1]
    first = outcomes["places"] == 1
    in_turn = (np.arange(players) - outcomes["start"][:, None]) % players
    deals, deal = np.unique(outcomes["deal"], return_inverse=True)
    columns = agents * players
    cell = deal[:, None] * columns + outcomes["seats"].astype(np.int64) * players + in_turn
    sums, counts = sums_by_cell(cell, first / first.sum(1, keepdims=True), len(deals), columns)
    sat = counts.any(0)
    found: list[Any] = [None] * columns
    estimates = mean_estimates(sums[:, sat], counts[:, sat], rng, (0.0, 1.0))
    for column, estimate in zip(np.flatnonzero(sat).tolist(), estimates, strict=True):
        found[column] = estimate
    return [tuple(found[number * players : (number + 1) * players]) for number in range(agents)]
