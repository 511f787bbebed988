"""Profile: how an agent plays, from the ends of its games, so that one sees why it wins.

All figures are means per seat and game, with intervals over deals. What is measured beside the length of games, the
game declares.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.statistics.intervals import Estimate, mean_estimates
from borneo_agents.statistics.results import sums_by_cell
from borneo_env.outcomes import measures
from borneo_env.ruleset import Ruleset


@dataclass(frozen=True)
class Profile:
    agent: str
    seats: int  # how often it sat at a table
    measures: dict[str, dict[str, Estimate]]  # those of the game, in groups; those of `points` add up to them
    decisions: Estimate  # of its own, forced ones not counted
    turns: Estimate  # of its games, all players together
    win_share_by_seat: tuple[Estimate | None, ...]  # in turn order, the start player's first; None where it never sat
    faults: int  # games lost by a crash, an illegal move or a time-out

    def as_dict(self) -> dict[str, Any]:
        """The profile as it stands in files: groups of measures beside all else."""
        found = asdict(self)
        measured: dict[str, Any] = found.pop("measures")
        return {name: found.pop(name) for name in ("agent", "seats")} | measured | found


def profiles(
    agents: tuple[str, ...], ruleset: Ruleset, outcomes: NDArray[np.void], rng: np.random.Generator
) -> tuple[Profile, ...]:
    """The profile of each agent."""
    groups = measures(ruleset, outcomes)
    names = [(group, name) for group, values in groups.items() for name in values]
    figures = [groups[group][name] for group, name in names]
    turns = np.broadcast_to(outcomes["turns"][:, None], outcomes["seats"].shape)
    means = _means(outcomes, len(agents), np.stack([*figures, outcomes["decisions"], turns], -1).astype(float), rng)
    wins = _win_shares(outcomes, len(agents), rng)
    at_fault = outcomes["offender"][:, None] == np.arange(ruleset.players)
    rows = []
    for number, agent in enumerate(agents):
        own, mine = outcomes["seats"] == number, means[number]
        found: dict[str, dict[str, Estimate]] = {group: {} for group in groups}
        for (group, name), estimate in zip(names, mine, strict=False):  # decisions and turns are behind them
            found[group][name] = estimate
        faults = int((own & at_fault).sum())
        rows.append(Profile(agent, int(own.sum()), found, mine[-2], mine[-1], wins[number], faults))
    return tuple(rows)


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
