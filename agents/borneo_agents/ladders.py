"""Ladders: what ranks are worth in the long run, and moves of traders that are tried and taken back."""

from __future__ import annotations

from borneo_agents.goods import distributions_left
from borneo_agents.room import whole
from borneo_agents.weights import *
from borneo_env.engine.actions import OTHERS, TRANSFER
from borneo_env.engine.jit import rule
from borneo_env.engine.state import N_COMPANIES


@rule
def rank_share(room, rank):
    """The cards a trader may hope for from a distribution, of whatever company."""
    if rank == 0:
        return room.w[RANK1]
    if rank == 1:
        return room.w[RUNG2]
    if rank == 2:
        return room.w[RUNG3]
    if rank == 3:
        return room.w[RUNG4]
    return 0.0


@rule
def standing(box, g, room, me):
    """Points that a player's ranks may bring in the long run, less what those of the others hurt.

    Own cards help own traders.
    """
    value = 0.0
    for company in range(N_COMPANIES):
        for rank in range(g.height[company]):
            player = g.ladder[company, rank]
            share = rank_share(room, whole(rank)) * room.unit[player]
            if player == me:
                value += share * (1.0 + room.w[RANK_HAND] * room.strong[company])
                if rank > 0 and g.ladder[company, rank - 1] != me:
                    step = rank_share(room, whole(rank) - 1) - rank_share(room, whole(rank))
                    value += room.w[CLIMB] * min(2, room.strong[company]) * step * room.unit[me]
            else:
                value -= room.w[DENY_RANK] * share
    return value * horizon(g, room)


@rule
def horizon(g, room):
    """How many distributions a rank may last: at the end, hardly one."""
    left = distributions_left(g)
    return room.w[RANK_HORIZON] * left / (left + 3.0)


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
