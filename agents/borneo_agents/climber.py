"""Climber: fights for rank where the next distributions will pay.

A company pays as far as its flags lie at ports that are nearly full. It attacks when it should win, moves where ranks
pay more, ships for the companies it leads, and fulfils the best contract its goods happen to pay.
"""

from __future__ import annotations

from borneo_agents.bot import CLIMBER, Scripted
from borneo_agents.contests import best_attack, best_defence
from borneo_agents.merchant import come_back, contest_of, keep, laid_down, order_at, pay, swap, taken_back, transfer_of
from borneo_agents.values import (
    NONE,
    ONE,
    STRONG,
    appraise,
    count_hidden,
    fill_pool,
    gain_of,
    share_out,
    whole,
)
from borneo_env.engine.actions import COMPANY, PASS, SLOT
from borneo_env.engine.jit import rule
from borneo_env.engine.rules.cargo import monopolist
from borneo_env.engine.rules.traders import transfer
from borneo_env.engine.state import (
    AT_PORT,
    CARDS,
    COMMIT,
    CONTRACT,
    DEFEND,
    HAND,
    KEEP,
    LAST_CONTRACT,
    N_COMPANIES,
    NO_CARD,
    NOBODY,
    OPEN_PORTS,
    PAY,
    PLACE,
    SEATS,
    SHIP,
    TAKE,
    TRADERS,
    YIELD,
)

FIRST, SECOND, THIRD, LAST = 1.0, 0.55, 0.25, 0.1  # what the ranks of a company get of what it pays
BASE = 1.0  # points any company pays in the near future
FLAG = 0.35  # points for each of its flags at a full port
A_CARD = 0.3  # points of a card in hand


class Climber(Scripted):
    """Fights for rank where the next distributions will pay."""

    kind = CLIMBER


@rule
def climber(box, g, options, count, dice, room):
    """The action of the climber."""
    phase = g.phase
    me = whole(g.player)
    if phase in (CONTRACT, LAST_CONTRACT):
        return most_points(options, count)
    if phase == PAY:
        return pay(box, g, options, count, room)
    if phase == KEEP:
        return keep(box, g, options, count, room)
    if phase == PLACE:
        return strong_company(box, g, options, count, me)
    if phase == TRADERS:
        return climb(box, g, options, count, room, me)
    if phase == COMMIT:
        return fight(box, g, options, count, room, me)
    if phase == DEFEND:
        return resist(box, g, room, me)
    if phase == YIELD:
        return move_on(box, g, options, count, room, me)
    if phase == SHIP:
        return ship_for_rank(box, g, options, count, room, me)
    if phase == TAKE:
        return largest(box, g, options, count, room, me)
    return weakest(box, g, options, count, me)


@rule
def most_points(options, count):
    """The contract worth most: contracts are listed in ascending order of their points."""
    return options[count - 1]


@rule
def strong_company(box, g, options, count, me):
    """Place where the rank is high and the hand is strong."""
    best = -1.0
    chosen = options[0]
    for i in range(count):
        company = options[i] - COMPANY
        value = share_of_rank(g.height[company]) + 0.2 * flags_in_hand(box, g, me, company) / STRONG
        if value > best:
            best, chosen = value, options[i]
    return chosen


@rule
def share_of_rank(rank):
    if rank == 0:
        return FIRST
    if rank == 1:
        return SECOND
    return THIRD if rank == 2 else LAST


@rule
def flags_in_hand(box, g, me, company):
    flags = 0
    for card in range(CARDS):
        if g.place[card] == HAND + me:
            flags += box.strength[card, company]
    return flags


@rule
def pays(box, g, company):
    """What a company is going to pay: its flags count for more the fuller their port is."""
    value = BASE
    for at in range(OPEN_PORTS):
        if g.open[at] >= 0:
            value += FLAG * g.shown[at, company] * (g.laid[at] + 1) / box.limit[g.open[at]]
    return value


@rule
def ladder_points(box, g, me):
    """What a player's ranks in all companies are worth."""
    value = 0.0
    for company in range(N_COMPANIES):
        share = 0.0
        for rank in range(g.height[company]):
            if g.ladder[company, rank] == me:
                share += share_of_rank(rank)
        if share > 0:
            value += share * pays(box, g, company)
    return value


@rule
def price_cards(box, g, room, me):
    for card in range(CARDS):
        room.card_worth[card] = A_CARD


@rule
def climb(box, g, options, count, room, me):
    """Attack or transfer where it lifts the ranks most."""
    count_hidden(box, g, room, me)
    price_cards(box, g, room, me)
    now = ladder_points(box, g, me)
    best = 0.0
    chosen = options[0]
    for i in range(1, count):
        if options[i] < box.first_contest:
            company, rank, goal = transfer_of(box, options[i])
            transfer(g, company, rank, goal)
            value = ladder_points(box, g, me) - now
            come_back(g, company, rank, goal)
        else:
            company, rank, above = contest_of(box, options[i])
            defender = whole(g.ladder[company, above])
            prize = prize_for(box, g, me, company, rank, above)
            between = rank - above - 1
            value, _ = best_attack(box, g, room, me, company, between, defender, prize, NONE, NONE, NONE)
        if value > best:
            best, chosen = value, options[i]
    return chosen


@rule
def prize_for(box, g, me, company, rank, above):
    """What a contest lifts the ranks by."""
    now = ladder_points(box, g, me)
    swap(g, company, rank, above)
    then = ladder_points(box, g, me)
    swap(g, company, rank, above)
    return then - now


@rule
def fight(box, g, options, count, room, me):
    count_hidden(box, g, room, me)
    price_cards(box, g, room, me)
    company, rank, above = whole(g.company), whole(g.attacker_rank), whole(g.defender_rank)
    prize = prize_for(box, g, me, company, rank, above)
    defender = whole(g.ladder[company, above])
    strength, cards, low = whole(g.strength[0]), whole(g.attack_cards), whole(g.last_played) + 1
    _, card = best_attack(box, g, room, me, company, rank - above - 1, defender, prize, strength, cards, low)
    return box.first_card + card if card != NO_CARD else options[0]


@rule
def resist(box, g, room, me):
    """Defend whenever it can be won."""
    room.unit[me] = 1.9
    price_cards(box, g, room, me)
    card = best_defence(box, g, room, me)
    return box.first_card + card if card != NO_CARD else PASS


@rule
def move_on(box, g, options, count, room, me):
    """Stay on the ladder, or go where a last rank is worth more."""
    best = -1.0
    chosen = options[count - 1]
    for i in range(count):
        if options[i] == SLOT or options[i] - COMPANY == g.company:
            value = ladder_points(box, g, me)
        else:
            company, rank, goal = whole(g.company), whole(g.attacker_rank), options[i] - COMPANY
            transfer(g, company, rank, goal)
            value = ladder_points(box, g, me)
            come_back(g, company, rank, goal)
        if value >= best:
            best, chosen = value, options[i]
    return chosen


@rule
def ship_for_rank(box, g, options, count, room, me):
    """Ship for the companies it leads: the more so where the port is shared out at once."""
    for player in range(SEATS):
        for spice in range(5):
            room.gain[player, spice, 0] = 2.0
            room.gain[player, spice, 1] = 3.5
    best = -1000.0
    chosen = options[0]
    for i in range(count):
        card = (options[i] - box.first_ship) // OPEN_PORTS
        at = (options[i] - box.first_ship) % OPEN_PORTS
        covered = laid_down(box, g, card, at)
        value = lead(box, g, room, me, card, at)
        taken_back(box, g, card, at, covered, me)
        if value > best:
            best, chosen = value, options[i]
    return chosen


@rule
def lead(box, g, room, me, card, at):
    """What a port brings with the card that was just laid: goods now, or ranks that will pay against those of others."""
    port = g.open[at]
    company = monopolist(box, g, card, at, box.monopoly[port])
    for player in range(SEATS):
        room.got[player] = 0
    if company != NOBODY or g.laid[at] >= box.limit[port]:
        n = fill_pool(g, room, AT_PORT + at)
        room.sharers[0] = company
        sharers = ONE
        if company == NOBODY:
            sharers = order_at(box, g, room, at)
        share_out(box, g, room, n, sharers)
        return room.got[me] + 2.0
    value = 0.0
    for player in range(box.players):
        points = ladder_points(box, g, player)
        value += points if player == me else -0.4 * points
    return value - 4.0


@rule
def largest(box, g, options, count, room, me):
    """Take what goes furthest."""
    appraise(box, g, room, me)
    chosen = options[0]
    for i in range(count):
        if gain_of(box, room, me, options[i] - box.first_card) > gain_of(box, room, me, chosen - box.first_card):
            chosen = options[i]
    return chosen


@rule
def weakest(box, g, options, count, me):
    """Drop a card of the company whose ranks pay least."""
    best = 1000.0
    chosen = options[0]
    for i in range(count):
        value = 0.0
        for company in range(N_COMPANIES):
            for rank in range(g.height[company]):
                if g.ladder[company, rank] == me:
                    value += box.strength[options[i] - box.first_card, company] * share_of_rank(rank)
        if value < best:
            best, chosen = value, options[i]
    return chosen
