"""What goods are worth in points: those in a warehouse, and one more of each, by the contracts they may pay."""

from __future__ import annotations

from borneo_agents.scripted.scratch import ANY, CACHE_SLOTS, ONE, TINY, TWO, whole
from borneo_env.engine.rules.ending import score
from borneo_env.engine.state import AMOUNT, CHEST, DOUBLE, N_KINDS, N_SPICES, OF_ONE_SPICE, PORT, SINGLE
from kontor.compile import rule

SPICES_EACH = 4.8  # spices that a distribution brings all players together
REACH_EACH = 0.8  # how much of what a player may hope for fits a contract for each spice
REACH_SAME = 0.4  # and one for a single spice
COUNT = whole(128)  # more than there are of anything
SECOND = 0.7  # how much the contract after the first one counts


@rule
def distributions_left(g):
    """How many ports are still to be shared out: the game ends when one is to be turned up and there is none (R8.3)."""
    return whole(0 if g.ended == 1 else g.ports_left + 1)


@rule
def income(box, g):
    """How many more spices a player may hope for."""
    return distributions_left(g) * SPICES_EACH / box.players


@rule
def spices(g, player):
    """How much of each spice a warehouse can pay, jokers aside."""
    stock = g.stock[player]
    return (
        whole(stock[0, SINGLE] + 2 * stock[0, DOUBLE] + stock[0, PORT]),
        whole(stock[1, SINGLE] + 2 * stock[1, DOUBLE] + stock[1, PORT]),
        whole(stock[2, SINGLE] + 2 * stock[2, DOUBLE] + stock[2, PORT]),
        whole(stock[3, SINGLE] + 2 * stock[3, DOUBLE] + stock[3, PORT]),
    )


@rule
def doubles(g, player):
    """How many doubles of each spice a warehouse has."""
    stock = g.stock[player]
    return (whole(stock[0, DOUBLE]), whole(stock[1, DOUBLE]), whole(stock[2, DOUBLE]), whole(stock[3, DOUBLE]))


@rule
def jokers_of(g, player):
    return whole(g.stock[player, CHEST, PORT])


@rule
def plus(have, spice, amount):
    """Four numbers, one for each spice, with some more of one of them."""
    return (
        have[0] + amount if spice == 0 else have[0],
        have[1] + amount if spice == 1 else have[1],
        have[2] + amount if spice == 2 else have[2],
        have[3] + amount if spice == 3 else have[3],
    )


@rule
def chance(missing, hoped):
    """How likely the spices that are missing will come, if so many may be hoped for."""
    if missing <= 0:
        return 1.0
    return hoped * hoped / (hoped * hoped + missing * missing)


@rule
def prospects(box, g, have, twice, jokers, hoped):
    """Points that contracts may bring beyond the goods they cost: the most promising one, and the best after it.

    have: spices; twice: doubles, which make a payment cheaper; hoped: spices still to come.
    """
    first, kind, spice = best_contract(box, g, have, twice, jokers, hoped, ANY)
    if kind == ANY or g.ended == 1:
        return first
    amount = AMOUNT[kind]
    lack = whole(0)
    rest = have
    fewer = twice
    for s in range(N_SPICES):
        if spice == ANY or s == spice:
            lack += max(0, amount - have[s])
            rest = plus(rest, s, -min(have[s], amount))
            fewer = plus(fewer, s, -min(twice[s], amount // 2))
    still = max(0.0, hoped - max(0, lack - jokers))
    second, _, _ = best_contract(box, g, rest, fewer, max(whole(0), jokers - lack), still, kind)
    return first + SECOND * second


@rule
def best_contract(box, g, have, twice, jokers, hoped, taken):
    """The contract that promises most: its expected profit, its kind, its spice (ANY: each); one of `taken` is gone."""
    best = 0.0
    best_kind = ANY
    best_spice = ANY
    for kind in range(N_KINDS):
        if g.supply[kind] > (1 if kind == taken else 0):
            amount = AMOUNT[kind]
            if OF_ONE_SPICE[kind]:
                for spice in range(N_SPICES):
                    profit = box.points[kind] - amount + min(twice[spice], amount // 2)
                    if profit > best:
                        value = profit * chance(amount - have[spice] - jokers, hoped * REACH_SAME)
                        if value > best + TINY:
                            best, best_kind, best_spice = value, whole(kind), whole(spice)
            else:
                profit = box.points[kind] - N_SPICES * amount
                missing = -jokers
                for spice in range(N_SPICES):
                    profit += min(twice[spice], amount // 2)
                    missing += max(0, amount - have[spice])
                value = profit * chance(missing, hoped * REACH_EACH)
                if value > best + TINY:
                    best, best_kind, best_spice = value, whole(kind), ANY
    return best, best_kind, best_spice


@rule
def final_points(box, g, player):
    """A player's points if the game ended now: with the best contract that can be paid."""
    last, _, _ = best_contract(box, g, spices(g, player), doubles(g, player), jokers_of(g, player), 0.0, ANY)
    return score(box, g, player) + last


@rule
def appraise(box, g, scratch, player):
    """Write what one or two more of each spice, or a chest, would be worth to a player."""
    slot = slot_for(box, g, scratch, player)
    unit = 0.0
    for spice in range(N_SPICES):
        scratch.gain[player, spice, 0] = scratch.cached_gain[slot, spice, 0]
        scratch.gain[player, spice, 1] = scratch.cached_gain[slot, spice, 1]
        unit += scratch.cached_gain[slot, spice, 0] / N_SPICES
    scratch.gain[player, CHEST, 0] = scratch.cached_gain[slot, CHEST, 0]
    scratch.unit[player] = unit
    scratch.total[player] = score(box, g, player) + scratch.cached_hope[slot]


@rule
def slot_for(box, g, scratch, player):
    """The slot of the cache for a player's goods, contracts left and ports to come; written if there is none."""
    first = whole(0)
    for spice in range(N_SPICES - 1):
        for size in range(3):
            first = first * COUNT + whole(g.stock[player, spice, size])
    second = distributions_left(g) + 1
    for size in range(3):
        second = second * COUNT + whole(g.stock[player, N_SPICES - 1, size])
    second = second * COUNT + jokers_of(g, player)
    third = whole(0)
    for kind in range(N_KINDS):
        third = third * COUNT + whole(g.supply[kind])
    slot = (first % CACHE_SLOTS + second % CACHE_SLOTS + third % CACHE_SLOTS) % CACHE_SLOTS
    key = scratch.cache_key[slot]
    if key[0] != first or key[1] != second or key[2] != third:
        key[0], key[1], key[2] = first, second, third
        fill_slot(box, g, scratch, slot, player)
    return slot


@rule
def fill_slot(box, g, scratch, slot, player):
    """Find out what a player's goods promise, and what one or two more of each spice, or a chest, would add."""
    have = spices(g, player)
    twice = doubles(g, player)
    jokers = jokers_of(g, player)
    hoped = income(box, g)
    now = prospects(box, g, have, twice, jokers, hoped)
    for spice in range(N_SPICES):
        one = prospects(box, g, plus(have, spice, ONE), twice, jokers, hoped)
        two = prospects(box, g, plus(have, spice, TWO), plus(twice, spice, ONE), jokers, hoped)
        scratch.cached_gain[slot, spice, 0] = 1 + one - now
        scratch.cached_gain[slot, spice, 1] = 1 + two - now
    scratch.cached_gain[slot, CHEST, 0] = 1 + prospects(box, g, have, twice, jokers + 1, hoped) - now
    scratch.cached_hope[slot] = now


@rule
def appraise_all(box, g, scratch):
    """Appraise the goods of every player."""
    for player in range(box.players):
        appraise(box, g, scratch, player)


@rule
def gain_of(box, scratch, player, thing):
    """What a cargo card or a port would be worth to a player who has been appraised."""
    return scratch.gain[player, box.spice_of[thing], 1 if box.size_of[thing] == DOUBLE else 0]
