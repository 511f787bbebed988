"""Distributions played through on paper: who takes what if a port is shared out."""

from __future__ import annotations

from borneo_agents.scripted.scratch import ANY, ONE, TINY, whole
from borneo_agents.scripted.valuation.goods import gain_of
from borneo_env.engine.rules.cargo import TOP_ROW, goes_before, monopolist
from borneo_env.engine.state import AT_PORT, CARDS, HAND, N_COMPANIES, NOBODY, OPEN_PORTS, SEATS
from kontor.compile import rule

STRONG = whole(3)  # flags of a card's major company
NOTHING_YET, A_MONOPOLY, A_SHARE = range(3)


# Laying a card down for a look


@rule
def lay_down(box, g, card, at):
    """Lay a hand card at a port as R5.1 has it, for a look; returns the card that it covers."""
    covered = whole(g.lowest[at])
    if covered >= 0:
        g.shown[at, box.flags_of[covered, TOP_ROW]] -= 1
    for flag in range(4):
        g.shown[at, box.flags_of[card, flag]] += 1
    g.lowest[at] = card
    g.laid[at] += 1
    g.order[card] = g.laid[at]
    g.place[card] = AT_PORT + at
    return covered


@rule
def take_back(box, g, card, at, covered, me):
    """Take a card that was laid down for a look back into the hand."""
    g.place[card] = HAND + me
    g.order[card] = 0
    g.laid[at] -= 1
    g.lowest[at] = covered
    for flag in range(4):
        g.shown[at, box.flags_of[card, flag]] -= 1
    if covered >= 0:
        g.shown[at, box.flags_of[covered, TOP_ROW]] += 1


@rule
def may_trigger(box, g, card, at):
    """Whether a card can possibly share out a port: it fills it, or brings a company near its monopoly number."""
    port = g.open[at]
    if g.laid[at] + 1 >= box.limit[port]:
        return True
    for flag in range(4):
        company = box.flags_of[card, flag]
        if g.shown[at, company] + box.strength[card, company] >= box.monopoly[port]:
            return True
    return False


@rule
def sharers_at(box, g, scratch, card, at):
    """Write the companies that share a port where a card was just laid; returns how many, and if it is a monopoly.

    None if the port is not shared out.
    """
    port = g.open[at]
    company = monopolist(box, g, card, at, box.monopoly[port])
    if company != NOBODY:
        scratch.sharers[0] = company
        return ONE, True
    n = whole(0)
    if g.laid[at] >= box.limit[port]:
        for company in range(N_COMPANIES):  # R7.2
            if g.shown[at, company] > 0:
                i = n
                while i > 0 and goes_before(box, g, at, company, scratch.sharers[i - 1]):
                    scratch.sharers[i] = scratch.sharers[i - 1]
                    i -= 1
                scratch.sharers[i] = company
                n += 1
    return n, False


@rule
def owner_of_port(box, g, scratch, monopoly, me):
    """Who gets the port card: who shipped, but with a monopoly in the card edition rank 1 (R6.2), or NOBODY."""
    if box.card_edition and monopoly:
        return whole(g.ladder[scratch.sharers[0], 0])
    return me


@rule
def list_triggers(box, g, scratch, me):
    """List the distributions that a player's own cards, which are listed, can bring about now."""
    scratch.triggers = 0
    for i in range(scratch.cards):
        card = scratch.hand[i]
        for at in range(OPEN_PORTS):
            if may_trigger(box, g, card, at):
                add_trigger(box, g, scratch, me, card, at)


@rule
def add_trigger(box, g, scratch, me, card, at):
    covered = lay_down(box, g, card, at)
    sharers, monopoly = sharers_at(box, g, scratch, card, at)
    take_back(box, g, card, at, covered, me)
    if sharers > 0:
        i = scratch.triggers
        scratch.trigger_card[i] = card
        scratch.trigger_port[i] = at
        scratch.trigger_count[i] = sharers
        scratch.trigger_monopoly[i] = 1 if monopoly else 0
        for k in range(sharers):
            scratch.trigger_sharers[i, k] = scratch.sharers[k]
        scratch.triggers += 1


# Sharing out


@rule
def fill_pool(g, scratch, place):
    """Write the cards that lie in a place as the pool; returns how many there are."""
    n = 0
    for card in range(CARDS):
        if g.place[card] == place:
            scratch.pool[n] = card
            n += 1
    return n


@rule
def share_out(box, g, scratch, cards, sharers):
    """Let the traders of the sharing companies take the pool's cards (R6.3, R7.3), each the best for its player."""
    longest = tallest(g, scratch, sharers)
    rank = 0
    left = cards if longest > 0 else 0
    while left > 0:
        for i in range(sharers):
            company = scratch.sharers[i]
            if left > 0 and rank < g.height[company]:
                pick(box, scratch, whole(g.ladder[company, rank]), left)
                left -= 1
        rank = (rank + 1) % longest


@rule
def tallest(g, scratch, sharers):
    longest = 0
    for i in range(sharers):
        longest = max(longest, int(g.height[scratch.sharers[i]]))
    return longest


@rule
def pick(box, scratch, player, left):
    """Let a player take the best of the first `left` cards of the pool; the last one fills its place."""
    best = 0
    for i in range(1, left):
        if gain_of(box, scratch, player, scratch.pool[i]) > gain_of(box, scratch, player, scratch.pool[best]) + TINY:
            best = i
    scratch.got[player] += gain_of(box, scratch, player, scratch.pool[best])
    scratch.pool[best] = scratch.pool[left - 1]


@rule
def hand_out(box, g, scratch, me, at, cards, sharers, monopoly):
    """Play a distribution through, the port card included; `got` has what each player gets of it."""
    for player in range(SEATS):
        scratch.got[player] = 0
    owner = owner_of_port(box, g, scratch, monopoly, me)
    if owner >= 0:
        scratch.got[owner] += scratch.gain[owner, box.spice_of[g.open[at]], 0]
    share_out(box, g, scratch, cards, sharers)


# Foreseeing


@rule
def foresee(box, g, scratch, at):
    """For each company: what would a card with three of its flags do at a port, and how many cards would each get?

    Returns whether any would share it out.
    """
    found = False
    port = g.open[at]
    cards = whole(g.laid[at]) + 1
    covered = whole(box.flags_of[g.lowest[at], TOP_ROW]) if g.lowest[at] >= 0 else ANY
    for company in range(N_COMPANIES):
        for player in range(SEATS):
            scratch.picks[company, player] = 0
        scratch.outcome[company] = NOTHING_YET
        if flags_with(g, at, company, company, covered) >= box.monopoly[port]:
            found = True
            scratch.outcome[company] = A_MONOPOLY
            scratch.sharers[0] = company
            count_out(g, scratch, company, cards, ONE)
        elif cards >= box.limit[port]:
            found = True
            scratch.outcome[company] = A_SHARE
            count_out(g, scratch, company, cards, order_by_flags(g, scratch, at, company, covered))
    return found


@rule
def order_by_flags(g, scratch, at, company, covered):
    """Write the companies at a port, most flags first, once a card of a company lies there; returns how many."""
    n = whole(0)
    for other in range(N_COMPANIES):
        flags = flags_with(g, at, other, company, covered)
        if flags > 0:
            i = n
            while i > 0 and flags > flags_with(g, at, scratch.sharers[i - 1], company, covered):
                scratch.sharers[i] = scratch.sharers[i - 1]
                i -= 1
            scratch.sharers[i] = other
            n += 1
    return n


@rule
def flags_with(g, at, other, company, covered):
    """The flags of a company at a port once a card of some company covers the bottom row of the last one."""
    return whole(g.shown[at, other]) + (STRONG if other == company else 0) - (1 if other == covered else 0)


@rule
def count_out(g, scratch, company, cards, sharers):
    """As share_out, but only count how many cards each player takes."""
    longest = tallest(g, scratch, sharers)
    rank = 0
    left = cards if longest > 0 else 0
    while left > 0:
        for i in range(sharers):
            sharer = scratch.sharers[i]
            if left > 0 and rank < g.height[sharer]:
                scratch.picks[company, g.ladder[sharer, rank]] += 1
                left -= 1
        rank = (rank + 1) % longest
