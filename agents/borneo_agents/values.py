"""What things are worth, in points: goods, contracts within reach, hand cards, ranks, and ports about to be shared.

Everything here goes by what one player may know: the table, and the hand of `me`. Hidden cards are counted by the pile
they belong to (R11.3), wherever a complete game happens to have them.
"""

from __future__ import annotations

import numpy as np

from borneo_env.engine.jit import rule
from borneo_env.engine.rules.contracts import AMOUNT, OF_ONE_SPICE
from borneo_env.engine.rules.ending import score
from borneo_env.engine.state import (
    AT_PORT,
    CARDS,
    CHEST,
    DOUBLE,
    HAND,
    N_COMPANIES,
    N_KINDS,
    N_SPICES,
    OPEN_PORTS,
    PILE,
    PORT,
    SEATS,
    SINGLE,
    UNSEEN,
)
from borneo_agents.weights import *

# Numba compiles a function anew for every width of integer it is called with, and for every literal.
whole = np.int64
NONE, ONE, TWO, NEXT, ANY = whole(0), whole(1), whole(2), whole(1), whole(-1)

TOP_ROW = 3
STRONG = whole(3)  # flags of the major company
NOTHING_YET, A_MONOPOLY, A_SHARE = range(3)
OLDER, NEWEST = range(2)
WEAK_CARD, STRONG_CARD = whole(0), whole(1)


# Goods and contracts


@rule
def distributions_left(g):
    """How many ports are still to be shared out: the game ends when one is to be turned up and there is none (R8.3)."""
    if g.ended == 1:
        return 0
    return int(g.ports_left) + 1


@rule
def income(box, g, room):
    """How many more spices a player may hope for."""
    return distributions_left(g) * room.w[INCOME] / box.players


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
    return (
        whole(g.stock[player, 0, DOUBLE]),
        whole(g.stock[player, 1, DOUBLE]),
        whole(g.stock[player, 2, DOUBLE]),
        whole(g.stock[player, 3, DOUBLE]),
    )


@rule
def plus(have, spice, amount):
    """Four spices with some more, or less, of one of them."""
    return (
        have[0] + amount if spice == 0 else have[0],
        have[1] + amount if spice == 1 else have[1],
        have[2] + amount if spice == 2 else have[2],
        have[3] + amount if spice == 3 else have[3],
    )


@rule
def chance(missing, hoped):
    """How likely it is that what is missing will come, if so much is hoped for."""
    if missing <= 0:
        return 1.0
    return hoped * hoped / (hoped * hoped + missing * missing)


@rule
def prospects(box, g, room, have, twice, jokers, hoped):
    """Points that contracts may bring beyond the goods they cost: the best one, and the best after it.

    have: spices; twice: doubles, which make a payment cheaper; hoped: spices still to come.
    """
    first, kind, spice = best_contract(box, g, room, have, twice, jokers, hoped, ANY)
    if kind < 0:
        return 0.0
    if g.ended == 1:
        return first
    amount = AMOUNT[kind]
    lack = 0
    rest = have
    fewer = twice
    for s in range(N_SPICES):
        if spice < 0 or s == spice:
            lack += max(0, amount - have[s])
            rest = plus(rest, s, -min(have[s], amount))
            fewer = plus(fewer, s, -min(twice[s], amount // 2))
    left = max(0, jokers - lack)
    still = max(0.0, hoped - max(0, lack - jokers))
    second, other, _ = best_contract(box, g, room, rest, fewer, left, still, kind)
    return first + room.w[SECOND] * second


@rule
def best_contract(box, g, room, have, twice, jokers, hoped, taken):
    """The contract that promises most: its expected profit, kind, and spice (-1: each); one of `taken` is gone."""
    best = 0.0
    best_kind = -1
    best_spice = -1
    for kind in range(N_KINDS):
        supply = g.supply[kind] - (1 if kind == taken else 0)
        if supply > 0:
            amount = AMOUNT[kind]
            points = box.points[kind]
            if OF_ONE_SPICE[kind]:
                for spice in range(N_SPICES):
                    missing = amount - have[spice] - jokers
                    price = amount - min(twice[spice], amount // 2)
                    value = (points - price) * chance(missing, hoped * room.w[REACH_SAME])
                    if value > best:
                        best, best_kind, best_spice = value, kind, spice
            else:
                missing = -jokers
                price = 4 * amount
                for spice in range(N_SPICES):
                    missing += max(0, amount - have[spice])
                    price -= min(twice[spice], amount // 2)
                value = (points - price) * chance(missing, hoped * room.w[REACH_EACH])
                if value > best:
                    best, best_kind, best_spice = value, kind, -1
    return best, best_kind, best_spice


@rule
def goods(box, g, room, player):
    """What a player's contracts and goods may come to: points so far, and prospects."""
    jokers = whole(g.stock[player, CHEST, PORT])
    hope = prospects(box, g, room, spices(g, player), doubles(g, player), jokers, income(box, g, room))
    return score(box, g, player) + hope


@rule
def appraise(box, g, room, player):
    """Write what one or two more of each spice, or a chest, would be worth to a player."""
    have = spices(g, player)
    twice = doubles(g, player)
    jokers = whole(g.stock[player, CHEST, PORT])
    hoped = income(box, g, room)
    now = prospects(box, g, room, have, twice, jokers, hoped)
    total = 0.0
    for spice in range(N_SPICES):
        one = prospects(box, g, room, plus(have, spice, ONE), twice, jokers, hoped)
        two = prospects(box, g, room, plus(have, spice, TWO), plus(twice, spice, ONE), jokers, hoped)
        room.gain[player, spice, 0] = 1 + one - now
        room.gain[player, spice, 1] = 1 + two - now
        total += 1 + one - now
    room.gain[player, CHEST, 0] = 1 + prospects(box, g, room, have, twice, jokers + 1, hoped) - now
    room.unit[player] = total / N_SPICES
    room.total[player] = score(box, g, player) + now


@rule
def gain_of(box, room, player, thing):
    """What a cargo card or port would be worth to a player who has been appraised."""
    return room.gain[player, box.spice_of[thing], 1 if box.size_of[thing] == DOUBLE else 0]


# Sharing out


@rule
def share_out(box, g, room, cards, sharers):
    """Let the traders of some companies take the pool's cards, each the best for its player; fills `got`."""
    longest = 0
    for i in range(sharers):
        longest = max(longest, int(g.height[room.sharers[i]]))
    if longest == 0:
        return
    rank = 0
    left = cards
    while left > 0:
        for i in range(sharers):
            company = room.sharers[i]
            if left > 0 and rank < g.height[company]:
                pick(box, room, whole(g.ladder[company, rank]), left)
                left -= 1
        rank = (rank + 1) % longest


@rule
def pick(box, room, player, left):
    """Let a player take the best of the first `left` cards of the pool; the last one fills its place."""
    best = 0
    for i in range(1, left):
        if gain_of(box, room, player, room.pool[i]) > gain_of(box, room, player, room.pool[best]):
            best = i
    room.got[player] += gain_of(box, room, player, room.pool[best])
    room.pool[best] = room.pool[left - 1]


@rule
def fill_pool(g, room, place):
    """List the cards at a place of the table; returns how many there are."""
    n = 0
    for card in range(CARDS):
        if g.place[card] == place:
            room.pool[n] = card
            n += 1
    return n


@rule
def count_out(g, room, company, cards, sharers):
    """As share_out, but counts cards into `picks` of the company that was shipped."""
    longest = 0
    for i in range(sharers):
        longest = max(longest, int(g.height[room.sharers[i]]))
    if longest == 0:
        return
    rank = 0
    left = cards
    while left > 0:
        for i in range(sharers):
            sharer = room.sharers[i]
            if left > 0 and rank < g.height[sharer]:
                room.picks[company, g.ladder[sharer, rank]] += 1
                left -= 1
        rank = (rank + 1) % longest


@rule
def foresee(box, g, room, place):
    """For each company: what would a card with three of its flags bring about at a port, and who would get cards?"""
    port = g.open[place]
    cards = whole(g.laid[place]) + 1
    covered = whole(box.flags_of[g.lowest[place], TOP_ROW]) if g.lowest[place] >= 0 else ANY
    for company in range(N_COMPANIES):
        for player in range(SEATS):
            room.picks[company, player] = 0
        shown = g.shown[place, company] + STRONG - (1 if covered == company else 0)
        room.trigger[company] = NOTHING_YET
        if shown >= box.monopoly[port]:
            room.trigger[company] = A_MONOPOLY
            room.sharers[0] = company
            count_out(g, room, company, cards, ONE)
        elif cards >= box.limit[port]:
            room.trigger[company] = A_SHARE
            count_out(g, room, company, cards, order_by_flags(g, room, place, company, covered))


@rule
def order_by_flags(g, room, place, company, covered):
    """The companies at a port, most flags first, once a card of a company lies there; returns how many they are."""
    n = 0
    for other in range(N_COMPANIES):
        flags = flags_with(g, place, other, company, covered)
        if flags > 0:
            i = n
            while i > 0 and flags > flags_with(g, place, room.sharers[i - 1], company, covered):
                room.sharers[i] = room.sharers[i - 1]
                i -= 1
            room.sharers[i] = other
            n += 1
    return n


@rule
def flags_with(g, place, other, company, covered):
    return g.shown[place, other] + (STRONG if other == company else 0) - (1 if other == covered else 0)


# Hidden hands


@rule
def is_hidden(g, card, me):
    """Whether a player cannot know where a card is: in another hand or in the draw pile."""
    place = g.place[card]
    return place == UNSEEN or place == PILE or (HAND <= place < HAND + SEATS and place != HAND + me)


@rule
def count_hidden(box, g, room, me):
    """Count the unseen cards by pile, company and strength (R11.3); older piles are taken together."""
    for pile in range(2):
        room.hidden_cards[pile] = 0
        for company in range(N_COMPANIES):
            room.hidden[pile, company, WEAK_CARD] = 0
            room.hidden[pile, company, STRONG_CARD] = 0
    for card in range(CARDS):
        if is_hidden(g, card, me):
            pile = NEWEST if g.since[card] == g.pile_since else OLDER
            room.hidden_cards[pile] += 1
            for company in range(N_COMPANIES):
                strength = box.strength[card, company]
                if strength > 0:
                    room.hidden[pile, company, STRONG_CARD if strength == STRONG else WEAK_CARD] += 1


@rule
def share_of_hand(g, room, player, company, strength):
    """How likely a card of a hidden hand is to be a weak or strong one of a company."""
    size = g.hand_size[player]
    if size == 0:
        return 0.0
    expected = 0.0
    for slot in range(size):
        pile = NEWEST if g.hand_since[player, slot] == g.pile_since else OLDER
        if room.hidden_cards[pile] > 0:
            expected += room.hidden[pile, company, strength] / room.hidden_cards[pile]
    return expected / size


@rule
def estimate_hands(box, g, room, me):
    """Write how likely each player is to hold a strong card of each company."""
    count_hidden(box, g, room, me)
    for player in range(box.players):
        for company in range(N_COMPANIES):
            room.hold[player, company] = 0
            if player != me:
                lacking = 1.0 - share_of_hand(g, room, player, company, STRONG_CARD)
                none = 1.0
                for _ in range(g.hand_size[player]):
                    none *= lacking
                room.hold[player, company] = 1.0 - none
    count_strong(box, g, room, me)
    for company in range(N_COMPANIES):
        room.hold[me, company] = 1.0 if room.strong[company] > 0 else room.w[LATER]


@rule
def count_strong(box, g, room, me):
    """Count the own cards with three flags of each company."""
    for company in range(N_COMPANIES):
        room.strong[company] = 0
    for card in range(CARDS):
        if g.place[card] == HAND + me:
            for company in range(N_COMPANIES):
                if box.strength[card, company] == STRONG:
                    room.strong[company] += 1


# Ports about to be shared


@rule
def survey(box, g, room, place, me):
    """Write what each player can make of a port, how likely they can, and what the viewer would get of it."""
    for player in range(box.players):
        room.likely[place, player] = 0
    if g.open[place] < 0:
        return
    foresee(box, g, room, place)
    each = card_at(g, room, place, me)
    for player in range(box.players):
        best, company = best_trigger(box, g, room, place, player)
        if company >= 0:
            room.best[place, player] = best
            room.likely[place, player] = room.w[HOLD] * room.hold[player, company]
            if room.trigger[company] == A_SHARE:
                room.likely[place, player] = room.w[HOLD]
            room.mine[place, player] = room.picks[company, me] * each


@rule
def coming_round(box, room, me, first, shared):
    """Points the ports promise a player in the coming round, beginning with the player `first` seats to the left.

    Each player in turn shares out the port that pays them most, if they hold the card; `shared` is a port that is
    gone already, or ANY.
    """
    for place in range(OPEN_PORTS):
        room.open[place] = 0.0 if place == shared else 1.0
    value = 0.0
    for seat in range(first, first + box.players):
        player = (me + seat) % box.players
        waiting = 1.0
        last = 1000.0
        for _ in range(OPEN_PORTS):
            place = ANY
            most = 0.0
            for other in range(OPEN_PORTS):
                hope = room.best[other, player] + 0.001 * other
                if room.likely[other, player] > 0 and most < hope < last:
                    place, most = other, hope
            if place == ANY:
                break
            last = most
            chance_now = waiting * room.open[place] * room.likely[place, player]
            if player == me:
                value += chance_now * room.w[OWN_TURN] * room.best[place, player]
            else:
                value += chance_now * (room.mine[place, player] - room.rival[player] * room.best[place, player])
            room.open[place] *= 1.0 - waiting * room.likely[place, player]
            waiting -= chance_now
    return value * room.w[OUTLOOK]


@rule
def card_at(g, room, place, player):
    """What a card is worth to a player at a port that gets one more card, on average."""
    return (room.laid_gain[place, player] + room.unit[player]) / (g.laid[place] + 1)


@rule
def appraise_ports(box, g, room):
    """Write what the cards at each port are worth to each player."""
    for place in range(OPEN_PORTS):
        for player in range(box.players):
            room.laid_gain[place, player] = 0
    for card in range(CARDS):
        place = g.place[card] - AT_PORT
        if 0 <= place < OPEN_PORTS:
            for player in range(box.players):
                room.laid_gain[place, player] += gain_of(box, room, player, card)


@rule
def weigh_rivals(box, room, me):
    """Write how much a point of each other player hurts: most if it is the one to beat."""
    others = 0.0
    for player in range(box.players):
        if player != me:
            others += room.total[player] / (box.players - 1)
    for player in range(box.players):
        lead = room.total[player] - others
        room.rival[player] = room.w[DENY] * max(0.0, 1.0 + room.w[LEADER] * lead)


@rule
def best_trigger(box, g, room, place, player):
    """The company whose card pays a player most at a foreseen port, with the points; -1 if none shares it out."""
    best = 0.0
    most = 0.0
    company = ANY
    each = card_at(g, room, place, player)
    for other in range(N_COMPANIES):
        if room.trigger[other] != NOTHING_YET and room.hold[player, other] > 0:
            value = port_for(box, g, room, place, other, player) + room.picks[other, player] * each
            if room.trigger[other] == A_MONOPOLY and room.picks[other, player] == 0:
                if climbs_to_share(g, other, player, g.laid[place] + 1):
                    value += room.w[UP] * each
            hope = value * (1.0 if room.trigger[other] == A_SHARE else room.hold[player, other])
            if company < 0 or hope > most:
                best, most, company = value, hope, other
    return best, company


@rule
def climbs_to_share(g, company, player, cards):
    """Whether a trader stands right below the last rank that gets a card: an attack would lift it."""
    rank = cards
    return rank < g.height[company] and g.ladder[company, rank] == player


@rule
def port_for(box, g, room, place, company, player):
    """What the port card brings the player who ships: with a monopoly in the card edition it is rank 1's (R6.2)."""
    if box.card_edition and room.trigger[company] == A_MONOPOLY:
        if g.height[company] == 0 or g.ladder[company, 0] != player:
            return 0.0
    return room.gain[player, box.spice_of[g.open[place]], 0]


# Ranks


@rule
def rank_share(room, rank, height):
    """The cards a trader may hope for from a distribution, given its rank and how many share the ladder.

    Most are monopolies of two to four cards, of which each rank takes one in turn, and round again (R6.3).
    """
    share = 0.0
    if rank == 0:
        share = room.w[RANK1]
    elif rank == 1:
        share = room.w[RUNG2]
    elif rank == 2:
        share = room.w[RUNG3]
    elif rank == 3:
        share = room.w[RUNG4]
    share += room.w[RANK2] * ((2 - rank + height - 1) // height if rank < 2 else 0)
    share += room.w[RANK3] * ((3 - rank + height - 1) // height if rank < 3 else 0)
    share += room.w[RANK4] * ((4 - rank + height - 1) // height if rank < 4 else 0)
    return share


@rule
def standing(box, g, room, me):
    """Points that a player's ranks may bring in the distributions to come, less what those of the others hurt.

    The more players a ladder has, the more of them ship for its company; own cards help own traders.
    """
    value = 0.0
    for company in range(N_COMPANIES):
        height = whole(g.height[company])
        players = 0
        here = 0.0
        for rank in range(height):
            player = g.ladder[company, rank]
            if not (players >> player) & 1:
                players += 1 << player
                players += 1 << 8
            share = rank_share(room, whole(rank), height) * room.unit[player]
            here += share * (1.0 + room.w[RANK_HAND] * room.strong[company]) if player == me else -room.w[DENY_RANK] * share
        value += here * (room.w[FLOW] + (players >> 8)) / (room.w[FLOW] + 2.5)
    left = distributions_left(g)
    return value * room.w[RANK_HORIZON] * left / (left + 3.0)


@rule
def list_hand(g, room, player):
    """List a player's own cards; returns how many they are."""
    n = 0
    for card in range(CARDS):
        if g.place[card] == HAND + player:
            room.hand[n] = card
            n += 1
    return n


@rule
def hand_card(box, g, room, player, card):
    """Points of holding a card: for shipping and fights of the company it has three flags of."""
    value = room.w[CARD]
    for company in range(N_COMPANIES):
        if box.strength[card, company] == STRONG:
            if room.strong[company] == 1:
                value += room.w[FIRST_OF]
            for rank in range(min(int(g.height[company]), 3)):
                if g.ladder[company, rank] == player:
                    value += room.w[CARD_MAJOR] if rank > 0 else room.w[CARD_TOP]
                    break
    return value * (1.0 - room.w[CARD_FULL] * max(0, g.hand_size[player] - 3) / 3.0)
