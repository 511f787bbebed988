"""Ladders: what ranks are worth in the long run, and moves of traders that are tried and taken back."""

from __future__ import annotations

from borneo_agents.scripted.scratch import whole
from borneo_agents.scripted.valuation.goods import distributions_left
from borneo_env.engine.actions import OTHERS, TRANSFER
from borneo_env.engine.state import N_COMPANIES
from kontor.compile import rule

SHARES = (0.6, 0.35, 0.18, 0.12)  # cards that a trader on each rank may hope for from any distribution
HAND_HELPS = 0.3  # how much an own strong card adds to an own rank
TOGETHER = 0.1  # how much each own trader higher up adds: monopolies are taken by both
ENVY = 0.3  # how much the ranks of others count against mine
HORIZON = 3.0  # distributions for which a rank lasts, at most


@rule
def rank_share(rank):
    """The cards a trader may hope for from a distribution, of whatever company; nothing below rank 4."""
    return SHARES[rank] if rank < len(SHARES) else 0.0


@rule
def standing(box, g, scratch, me):
    """Points that a player's ranks may bring in the long run, less what those of the others hurt.

    Own cards help own traders, and own traders help each other.
    """
    value = 0.0
    for company in range(N_COMPANIES):
        above = 0
        for rank in range(g.height[company]):
            player = g.ladder[company, rank]
            share = rank_share(whole(rank)) * scratch.unit[player]
            if player == me:
                value += share * (1.0 + HAND_HELPS * scratch.strong[company] + TOGETHER * above)
                above += 1
            else:
                value -= ENVY * share
    return value * horizon(g)


@rule
def horizon(g):
    """How many distributions a rank may last: at the end, hardly one."""
    left = distributions_left(g)
    return HORIZON * left / (left + 3.0)


@rule
def transfer_of(box, action):
    """Company, rank and goal of a transfer."""
    move = (action - TRANSFER) // OTHERS
    other = (action - TRANSFER) % OTHERS
    company = move // box.slots
    return company, move % box.slots, other if other < company else other + 1


@rule
def contest_of(box, action):
    """Company, own rank and attacked rank of a contest."""
    pairs = box.slots * (box.slots - 1) // 2
    company = (action - box.first_contest) // pairs
    above = (action - box.first_contest) % pairs
    rank = 1
    while above >= rank:
        above -= rank
        rank += 1
    return company, rank, above


@rule
def come_back(g, company, rank, goal):
    """Take back a transfer."""
    last = g.height[goal] - 1
    player = g.ladder[goal, last]
    g.ladder[goal, last] = -1
    g.height[goal] = last
    for i in range(g.height[company], rank, -1):
        g.ladder[company, i] = g.ladder[company, i - 1]
    g.ladder[company, rank] = player
    g.height[company] += 1


@rule
def swap(g, company, rank, above):
    """Exchange two traders of a ladder, as a contest does; a second time takes it back."""
    other = g.ladder[company, above]
    g.ladder[company, above] = g.ladder[company, rank]
    g.ladder[company, rank] = other
