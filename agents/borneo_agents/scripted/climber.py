"""Climber: fights for rank where the next distributions will pay.

A company pays as far as its flags lie at ports that are nearly full. It attacks when it should win, moves where ranks
pay more, ships for the companies it leads, and fulfils the best contract its goods happen to pay.
"""

from __future__ import annotations

from borneo_agents.scripted.by_phase import by_phase
from borneo_agents.scripted.scratch import NONE, TINY, whole
from borneo_agents.scripted.valuation.bargains import NEVER, choose_keep, choose_payment, take_most_gain
from borneo_agents.scripted.valuation.contests import best_attack, best_defence
from borneo_agents.scripted.valuation.hands import count_hidden, count_strong, list_hand
from borneo_agents.scripted.valuation.ladders import come_back, contest_of, swap, transfer_of
from borneo_agents.scripted.valuation.sharing import fill_pool, hand_out, lay_down, sharers_at, take_back
from borneo_env.engine.actions import COMPANY, PASS, SLOT
from borneo_env.engine.rules.traders import transfer
from borneo_env.engine.state import AT_PORT, N_COMPANIES, N_SPICES, NO_CARD, OPEN_PORTS, SEATS
from kontor.compile import rule

FIRST, SECOND, THIRD, LAST = 1.0, 0.55, 0.25, 0.1  # what the ranks of a company get of what it pays
BASE = 1.0  # points any company pays in the near future
FLAG = 0.35  # points for each of its flags at a full port
A_CARD = 0.3  # points of a card in hand
STRONG_CARD = 0.2  # of rank 1, for each card with three flags when placing
A_SINGLE, A_DOUBLE = 2.0, 3.5  # points of goods
ENVY = 0.4  # how much the ranks of others count against shipping for them
PATIENCE = 4.0  # points a distribution now is better than ranks that pay later


@rule
def most_points(box, g, options, count, scratch):
    """The contract worth most: contracts are listed in ascending order of their points."""
    return options[count - 1]


@rule
def strong_company(box, g, options, count, scratch):
    """Place where the rank is high and the hand is strong."""
    me = whole(g.player)
    count_strong(box, g, scratch, me)
    best = NEVER
    chosen = options[0]
    for i in range(count):
        company = options[i] - COMPANY
        value = share_of_rank(whole(g.height[company])) + STRONG_CARD * scratch.strong[company]
        if value > best + TINY:
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
                share += share_of_rank(whole(rank))
        if share > 0:
            value += share * pays(box, g, company)
    return value


@rule
def price_cards(g, scratch, me):
    """List the own cards, each worth the same."""
    list_hand(g, scratch, me)
    for i in range(scratch.cards):
        scratch.card_worth[scratch.hand[i]] = A_CARD


@rule
def climb(box, g, options, count, scratch):
    """Attack or transfer where it lifts the ranks most."""
    me = whole(g.player)
    count_hidden(box, g, scratch, me)
    price_cards(g, scratch, me)
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
            value, _ = best_attack(box, g, scratch, me, company, between, defender, prize, NONE, NONE, NONE)
        if value > best + TINY:
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
def fight(box, g, options, count, scratch):
    """Add the next card of the best attack."""
    me = whole(g.player)
    count_hidden(box, g, scratch, me)
    price_cards(g, scratch, me)
    company, rank, above = whole(g.company), whole(g.attacker_rank), whole(g.defender_rank)
    prize = prize_for(box, g, me, company, rank, above)
    defender = whole(g.ladder[company, above])
    strength, cards, low = whole(g.strength[0]), whole(g.attack_cards), whole(g.last_played) + 1
    _, card = best_attack(box, g, scratch, me, company, rank - above - 1, defender, prize, strength, cards, low)
    return options[0] if card == NO_CARD else box.first_card + card


@rule
def resist(box, g, options, count, scratch):
    """Defend whenever it can be won."""
    me = whole(g.player)
    scratch.unit[me] = A_SINGLE
    price_cards(g, scratch, me)
    card = best_defence(box, g, scratch, me)
    return PASS if card == NO_CARD else box.first_card + card


@rule
def move_on(box, g, options, count, scratch):
    """Stay on the ladder, or go where a last rank is worth more."""
    me = whole(g.player)
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
        if value > best - TINY:
            best, chosen = value, options[i]
    return chosen


@rule
def ship_for_rank(box, g, options, count, scratch):
    """Ship for the companies it leads: the more so where the port is shared out at once."""
    me = whole(g.player)
    for player in range(SEATS):
        for spice in range(N_SPICES + 1):
            scratch.gain[player, spice, 0] = A_SINGLE
            scratch.gain[player, spice, 1] = A_DOUBLE
    best = NEVER
    chosen = options[0]
    for i in range(count):
        card = (options[i] - box.first_ship) // OPEN_PORTS
        at = (options[i] - box.first_ship) % OPEN_PORTS
        covered = lay_down(box, g, card, at)
        value = lead(box, g, scratch, me, card, at)
        take_back(box, g, card, at, covered, me)
        if value > best + TINY:
            best, chosen = value, options[i]
    return chosen


@rule
def lead(box, g, scratch, me, card, at):
    """What a card that was just laid brings: goods now, or ranks that will pay more than those of others."""
    sharers, monopoly = sharers_at(box, g, scratch, card, at)
    if sharers > 0:
        hand_out(box, g, scratch, me, at, fill_pool(g, scratch, AT_PORT + at), sharers, monopoly)
        return scratch.got[me]
    value = -PATIENCE
    for player in range(box.players):
        points = ladder_points(box, g, player)
        value += points if player == me else -ENVY * points
    return value


@rule
def weakest(box, g, options, count, scratch):
    """Drop a card of the company whose ranks pay least."""
    me = whole(g.player)
    best = 1000.0
    chosen = options[0]
    for i in range(count):
        value = 0.0
        for company in range(N_COMPANIES):
            for rank in range(g.height[company]):
                if g.ladder[company, rank] == me:
                    value += box.strength[options[i] - box.first_card, company] * share_of_rank(whole(rank))
        if value < best - TINY:
            best, chosen = value, options[i]
    return chosen


climber = by_phase(
    {
        "place": strong_company, "contract": most_points, "pay": choose_payment, "traders": climb, "commit": fight,
        "defend": resist, "keep": choose_keep, "yield": move_on, "ship": ship_for_rank, "take": take_most_gain,
        "drop": weakest, "last contract": most_points,
    }
)  # fmt: skip
