"""Rewards that Borneo has beside the general ones: for its contracts and for ranks and contests."""

from __future__ import annotations

from borneo_env.engine.state import CONTESTS_DEFENDED, CONTESTS_WON, N_COMPANIES, N_KINDS
from kontor.compile import rule


@rule
def contracts(box, before, after, player):
    """Points of the contracts fulfilled."""
    gained = 0
    for kind in range(N_KINDS):
        gained += (int(after.fulfilled[player, kind]) - int(before.fulfilled[player, kind])) * int(box.points[kind])
    return float(gained)


@rule
def ranks(box, before, after, player):
    """How many slots the own traders have come nearer to the top, all together, and contests won on either side."""
    climbed = slots_below_the_top(before, player) - slots_below_the_top(after, player)
    return float(climbed + contests_won(after, player) - contests_won(before, player))


@rule
def slots_below_the_top(g, player):
    slots = 0
    for company in range(N_COMPANIES):
        for rank in range(g.height[company]):
            if g.ladder[company, rank] == player:
                slots += rank
    return slots


@rule
def contests_won(g, player):
    return int(g.tally[player, CONTESTS_WON]) + int(g.tally[player, CONTESTS_DEFENDED])
