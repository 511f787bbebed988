"""The outlook: what the open ports promise in the coming round, when others may share them out first."""

from __future__ import annotations

from borneo_agents.scripted.scratch import ANY, TINY, whole
from borneo_agents.scripted.valuation.goods import gain_of
from borneo_agents.scripted.valuation.sharing import A_MONOPOLY, A_SHARE, NOTHING_YET, fill_pool, foresee
from borneo_env.engine.state import AT_PORT, N_COMPANIES, OPEN_PORTS
from kontor.compile import rule

RIVALRY = 0.15  # what a point of another player costs me
LEADER = 0.05  # and more for each point this player is ahead of the others
READY = 0.8  # how likely a player who can share out a port does it
NEXT_TURN = 0.1  # what the own next turn counts: much can happen until then
TRUST = 0.5  # what the whole forecast counts


@rule
def appraise_ports(box, g, scratch):
    """List the cards at each port, and write what they are worth to each player."""
    for at in range(OPEN_PORTS):
        cards = fill_pool(g, scratch, AT_PORT + at)
        for player in range(box.players):
            scratch.laid_gain[at, player] = 0
        for i in range(cards):
            scratch.laid[at, i] = scratch.pool[i]
            for player in range(box.players):
                scratch.laid_gain[at, player] += gain_of(box, scratch, player, scratch.pool[i])


@rule
def weigh_rivals(box, scratch, me):
    """Write how much a point of each other player hurts: most if it is the one to beat."""
    others = 0.0
    for player in range(box.players):
        if player != me:
            others += scratch.total[player] / (box.players - 1)
    for player in range(box.players):
        lead = scratch.total[player] - others
        scratch.rival[player] = RIVALRY * max(0.0, 1.0 + LEADER * lead)


@rule
def card_at(g, scratch, at, player):
    """What a card is worth to a player at a port that gets one more card, on average."""
    return (scratch.laid_gain[at, player] + scratch.unit[player]) / (g.laid[at] + 1)


@rule
def survey(box, g, scratch, at, me):
    """Write what each player can make of a port, how likely they can, and what `me` would get of it."""
    for player in range(box.players):
        scratch.likely[at, player] = 0
    if g.open[at] < 0 or not foresee(box, g, scratch, at):
        return
    each = card_at(g, scratch, at, me)
    for player in range(box.players):
        best, company = best_trigger(box, g, scratch, at, player)
        if company != ANY:
            scratch.best[at, player] = best
            scratch.likely[at, player] = READY * means(scratch, player, company)
            scratch.mine[at, player] = scratch.picks[company, me] * each


@rule
def means(scratch, player, company):
    """How likely a player can do what a card of a company would do: to fill a port, any card will do."""
    return 1.0 if scratch.outcome[company] == A_SHARE else scratch.hold[player, company]


@rule
def best_trigger(box, g, scratch, at, player):
    """The company a player would share out a foreseen port with, and the points; ANY if none does."""
    best = 0.0
    most = 0.0
    company = ANY
    each = card_at(g, scratch, at, player)
    for other in range(N_COMPANIES):
        if scratch.outcome[other] != NOTHING_YET and scratch.hold[player, other] > 0:
            value = port_for(box, g, scratch, at, other, player) + scratch.picks[other, player] * each
            hope = value * means(scratch, player, other)
            if company == ANY or hope > most + TINY:
                best, most, company = value, hope, whole(other)
    return best, company


@rule
def port_for(box, g, scratch, at, company, player):
    """What the port card brings a player who ships: with a monopoly in the card edition it is rank 1's (R6.2)."""
    if box.card_edition and scratch.outcome[company] == A_MONOPOLY:
        if g.height[company] == 0 or g.ladder[company, 0] != player:
            return 0.0
    return scratch.gain[player, box.spice_of[g.open[at]], 0]


@rule
def coming_round(box, scratch, me, first, shared):
    """Points that surveyed ports promise a player in the coming round, from the player `first` seats to the left on.

    Each player in turn shares out the port that pays best, or with other cards the next best. `shared` is a port that
    is gone already, or ANY.
    """
    for at in range(OPEN_PORTS):
        scratch.open[at] = 0.0 if at == shared else 1.0
    value = 0.0
    for seat in range(first, first + box.players):
        player = (me + seat) % box.players
        waiting = 1.0
        at, points = next_best_port(scratch, player, 1000.0)
        while at != ANY:
            now = waiting * scratch.open[at] * scratch.likely[at, player]
            if player == me:
                value += now * NEXT_TURN * scratch.best[at, player]
            else:
                value += now * (scratch.mine[at, player] - scratch.rival[player] * scratch.best[at, player])
            scratch.open[at] *= 1.0 - waiting * scratch.likely[at, player]
            waiting -= now
            at, points = next_best_port(scratch, player, points)
    return value * TRUST


@rule
def next_best_port(scratch, player, below):
    """The port that pays a player most, but less than `below`: its place, or ANY, and the points."""
    place = ANY
    most = 0.0
    for at in range(OPEN_PORTS):
        points = scratch.best[at, player] + 0.001 * at  # so that no two ports pay the same
        if scratch.likely[at, player] > 0 and most < points < below:
            place, most = whole(at), points
    return place, most
