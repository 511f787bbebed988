"""Merchant: the all-rounder. It values every option of every phase in points, and takes the best.

A turn is seen as a whole: traders are moved for what the hand can ship then, and cards are shipped for what they bring
at once or leave to the players who come next.
"""

from __future__ import annotations

from borneo_agents.scripted.by_phase import by_phase
from borneo_agents.scripted.scratch import ANY, NONE, ONE, TINY, whole
from borneo_agents.scripted.valuation.bargains import NEVER, choose_contract, choose_keep, choose_payment, most_worth
from borneo_agents.scripted.valuation.contests import best_attack, best_defence
from borneo_agents.scripted.valuation.goods import appraise, appraise_all, final_points, gain_of
from borneo_agents.scripted.valuation.hands import LATER, count_strong, estimate_hands, hand_card, major_of, price_hand
from borneo_agents.scripted.valuation.ladders import come_back, contest_of, rank_share, standing, swap, transfer_of
from borneo_agents.scripted.valuation.outlook import appraise_ports, coming_round, survey, weigh_rivals
from borneo_agents.scripted.valuation.sharing import (
    STRONG,
    fill_pool,
    hand_out,
    lay_down,
    list_triggers,
    pick,
    sharers_at,
    take_back,
)
from borneo_env.engine.actions import COMPANY, PASS, SLOT
from borneo_env.engine.rules.cargo import sharer_after
from borneo_env.engine.rules.traders import transfer
from borneo_env.engine.state import AT_PORT, NO_CARD, OPEN_PORTS, SEATS
from kontor.compile import rule

STRONG_CARD = 0.15  # when placing: what a strong card of the company counts
OWN_TRADER = 0.15  # when placing: what an own trader in the company counts
CROWDED = 0.05  # when placing: what each trader in the company counts against it
FIGHT = 1.0  # points that the card or the end of a fight is worth that it decides on, and no other
WORTH_WHILE = 0.05  # points a move of a trader must bring
RIVALRY_TAKING = 0.15  # what a point of others costs me while cards are taken
GAME = 10.0  # points that winning or losing the game at once counts, at most


@rule
def place(box, g, options, count, scratch):
    """Place where the rank is high, the hand can ship and fight, and own traders stand already."""
    me = whole(g.player)
    count_strong(box, g, scratch, me)
    for i in range(count):
        company = options[i] - COMPANY
        value = rank_share(whole(g.height[company])) - CROWDED * g.height[company]
        value += STRONG_CARD * scratch.strong[company]
        for rank in range(g.height[company]):
            if g.ladder[company, rank] == me:
                value += OWN_TRADER
        scratch.worth[i] = value
    return most_worth(options, count, scratch)


@rule
def look_around(box, g, scratch, me):
    """Appraise all goods, and estimate all hands."""
    appraise_all(box, g, scratch)
    appraise_ports(box, g, scratch)
    weigh_rivals(box, scratch, me)
    estimate_hands(box, g, scratch, me)


# Traders


@rule
def move_traders(box, g, options, count, scratch):
    """Stay, transfer or attack: whatever makes the best position to ship from, and for the rounds to come."""
    me = whole(g.player)
    look_around(box, g, scratch, me)
    price_hand(box, g, scratch, me)
    list_triggers(box, g, scratch, me)
    now = my_turn(box, g, scratch, me, ANY)
    scratch.worth[0] = WORTH_WHILE
    for i in range(1, count):
        if options[i] < box.first_contest:
            scratch.worth[i] = after_transfer(box, g, scratch, me, options[i]) - now
        else:
            scratch.worth[i] = attack_value(box, g, scratch, me, options[i], now)
    return most_worth(options, count, scratch)


@rule
def my_turn(box, g, scratch, me, spent):
    """Points of a position from which a player is to ship: the best distribution now, ports and ranks later.

    spent: the company whose only strong card in hand went into an attack, or ANY.
    """
    for at in range(OPEN_PORTS):
        survey(box, g, scratch, at, me)
        scratch.now[at] = NEVER
    for i in range(scratch.triggers):
        if spent == ANY or box.strength[scratch.trigger_card[i], spent] < STRONG:
            at = scratch.trigger_port[i]
            scratch.now[at] = max(scratch.now[at], trigger_value(box, g, scratch, me, i))
    best = coming_round(box, scratch, me, ONE, ANY)
    for at in range(OPEN_PORTS):
        if scratch.now[at] > NEVER:
            best = max(best, scratch.now[at] + coming_round(box, scratch, me, ONE, whole(at)))
    return best + standing(box, g, scratch, me)


@rule
def trigger_value(box, g, scratch, me, i):
    """What a distribution listed among the triggers brings, less what it brings to others and the card."""
    at = scratch.trigger_port[i]
    n = g.laid[at]
    for k in range(n):
        scratch.pool[k] = scratch.laid[at, k]
    scratch.pool[n] = scratch.trigger_card[i]
    for k in range(scratch.trigger_count[i]):
        scratch.sharers[k] = scratch.trigger_sharers[i, k]
    hand_out(box, g, scratch, me, at, n + 1, scratch.trigger_count[i], scratch.trigger_monopoly[i] == 1)
    return balance(box, g, scratch, me) - scratch.card_worth[scratch.trigger_card[i]]


@rule
def balance(box, g, scratch, me):
    """What a distribution brings a player, less what it brings to others; the last one decides the game."""
    if g.ports_left == 0:
        return final_lead(box, g, scratch, me)
    value = scratch.got[me]
    for player in range(box.players):
        if player != me:
            value -= scratch.rival[player] * scratch.got[player]
    return value


@rule
def final_lead(box, g, scratch, me):
    """Points ahead of the best of the others once all have got their share, if the game ends with it."""
    most = 0.0
    for player in range(box.players):
        if player != me:
            most = max(most, final_points(box, g, player) + scratch.got[player])
    lead = final_points(box, g, me) + scratch.got[me] - most
    return min(GAME, max(-GAME, lead))


@rule
def after_transfer(box, g, scratch, me, action):
    """The position after a transfer, which is taken back."""
    company, rank, goal = transfer_of(box, action)
    transfer(g, company, rank, goal)
    value = my_turn(box, g, scratch, me, ANY)
    come_back(g, company, rank, goal)
    return value


@rule
def attack_value(box, g, scratch, me, action, now):
    """Expected points of an attack with the best cards for it."""
    company, rank, above = contest_of(box, action)
    spent = company if scratch.strong[company] == 1 else ANY
    prize = prize_of(box, g, scratch, me, company, rank, above, now, spent)
    if prize <= TINY:
        return NEVER
    defender = whole(g.ladder[company, above])
    value, _ = best_attack(box, g, scratch, me, company, rank - above - 1, defender, prize, NONE, NONE, NONE)
    return value


@rule
def prize_of(box, g, scratch, me, company, rank, above, now, spent):
    """Points for winning a contest."""
    if spent != ANY:
        scratch.hold[me, company] = LATER
    swap(g, company, rank, above)
    prize = my_turn(box, g, scratch, me, spent) - now
    swap(g, company, rank, above)
    if spent != ANY:
        scratch.hold[me, company] = 1.0
    return prize


@rule
def commit(box, g, options, count, scratch):
    """Play the cards of the best attack in the order of their ids."""
    me = whole(g.player)
    look_around(box, g, scratch, me)
    price_hand(box, g, scratch, me)
    company, rank, above = whole(g.company), whole(g.attacker_rank), whole(g.defender_rank)
    spent = company if scratch.strong[company] == 1 and g.attack_cards == 0 else ANY
    list_triggers(box, g, scratch, me)
    now = my_turn(box, g, scratch, me, ANY)
    prize = prize_of(box, g, scratch, me, company, rank, above, now, spent)
    defender = whole(g.ladder[company, above])
    strength, cards, low = whole(g.strength[0]), whole(g.attack_cards), whole(g.last_played) + 1
    _, card = best_attack(box, g, scratch, me, company, rank - above - 1, defender, prize, strength, cards, low)
    return insist(options, count, scratch, options[0] if card == NO_CARD else box.first_card + card)


@rule
def defend(box, g, options, count, scratch):
    """Defend with the cheapest cards that win, and keep one of them; without hope, save the cards."""
    me = whole(g.player)
    appraise(box, g, scratch, me)
    price_hand(box, g, scratch, me)
    card = best_defence(box, g, scratch, me)
    return insist(options, count, scratch, PASS if card == NO_CARD else box.first_card + card)


@rule
def insist(options, count, scratch, action):
    """An action that was not found by comparing all options."""
    for i in range(count):
        scratch.worth[i] = FIGHT if options[i] == action else 0.0
    return action


@rule
def give_way(box, g, options, count, scratch):
    """Stay behind the attacker, or begin anew elsewhere: whatever position is better."""
    me = whole(g.player)
    look_around(box, g, scratch, me)
    company, rank = whole(g.company), whole(g.attacker_rank)
    for i in range(count):
        goal = options[i] - COMPANY
        if options[i] == SLOT or goal == company:
            scratch.worth[i] = their_turn(box, g, scratch, me)
        else:
            transfer(g, company, rank, goal)
            scratch.worth[i] = their_turn(box, g, scratch, me)
            come_back(g, company, rank, goal)
    return most_worth(options, count, scratch)


@rule
def their_turn(box, g, scratch, me):
    """Points of a position from which another is to ship."""
    for at in range(OPEN_PORTS):
        survey(box, g, scratch, at, me)
    first = whole((g.turn - me) % box.players)
    return standing(box, g, scratch, me) + coming_round(box, scratch, me, first, ANY)


# Cargo


@rule
def ship(box, g, options, count, scratch):
    """Ship what brings most at once, or leaves a port that promises more to me than to others."""
    me = whole(g.player)
    look_around(box, g, scratch, me)
    for at in range(OPEN_PORTS):
        survey(box, g, scratch, at, me)
    for i in range(count):
        card = (options[i] - box.first_ship) // OPEN_PORTS
        at = (options[i] - box.first_ship) % OPEN_PORTS
        scratch.worth[i] = after_ship(box, g, scratch, me, card, at) - hand_card(box, g, scratch, me, card)
    return most_worth(options, count, scratch)


@rule
def after_ship(box, g, scratch, me, card, at):
    """Points of all ports once a card is shipped to one of them; the card is taken back."""
    covered = lay_down(box, g, card, at)
    sharers, monopoly = sharers_at(box, g, scratch, card, at)
    if sharers > 0:
        hand_out(box, g, scratch, me, at, fill_pool(g, scratch, AT_PORT + at), sharers, monopoly)
        value = balance(box, g, scratch, me) + coming_round(box, scratch, me, ONE, at)
    else:
        value = promise(box, g, scratch, me, card, at)
    take_back(box, g, card, at, covered, me)
    survey(box, g, scratch, at, me)
    return value


@rule
def promise(box, g, scratch, me, card, at):
    """Points the ports promise with a card that was just laid at one of them."""
    company = major_of(box, card)
    for player in range(box.players):
        scratch.laid_gain[at, player] += gain_of(box, scratch, player, card)
    if scratch.strong[company] == 1:
        scratch.hold[me, company] = LATER
    survey(box, g, scratch, at, me)
    value = coming_round(box, scratch, me, ONE, ANY)
    scratch.hold[me, company] = 1.0
    for player in range(box.players):
        scratch.laid_gain[at, player] -= gain_of(box, scratch, player, card)
    return value


@rule
def take(box, g, options, count, scratch):
    """Take the card that leaves me most, and the others least, once all cards are taken."""
    me = whole(g.player)
    appraise_sharers(box, g, scratch)
    for i in range(count):
        for k in range(count):
            scratch.pool[k] = options[k] - box.first_card
        scratch.pool[i] = scratch.pool[count - 1]
        gain = gain_of(box, scratch, me, options[i] - box.first_card)
        scratch.worth[i] = gain + rest_of_sharing(box, g, scratch, me, count - 1)
    return most_worth(options, count, scratch)


@rule
def appraise_sharers(box, g, scratch):
    """Appraise the goods of the players with a trader in a company that shares."""
    for player in range(box.players):
        if takes_part(g, player):
            appraise(box, g, scratch, player)


@rule
def takes_part(g, player):
    for i in range(g.n_sharers):
        company = g.sharers[i]
        for rank in range(g.height[company]):
            if g.ladder[company, rank] == player:
                return True
    return False


@rule
def rest_of_sharing(box, g, scratch, me, left):
    """What the rest of a distribution brings, if everybody takes the best."""
    for player in range(SEATS):
        scratch.got[player] = 0
    sharer, rank = whole(g.sharer), whole(g.sharing_rank)
    while left > 0:
        sharer, rank = sharer_after(g, sharer, rank)
        pick(box, scratch, whole(g.ladder[g.sharers[sharer], rank]), left)
        left -= 1
    value = scratch.got[me]
    for player in range(box.players):
        if player != me:
            value -= RIVALRY_TAKING * scratch.got[player]
    return value


@rule
def drop(box, g, options, count, scratch):
    """Drop the card that is worth least in hand."""
    me = whole(g.player)
    price_hand(box, g, scratch, me)
    for i in range(count):
        scratch.worth[i] = -scratch.card_worth[options[i] - box.first_card]
    return most_worth(options, count, scratch)


merchant = by_phase(
    {
        "place": place, "contract": choose_contract, "pay": choose_payment, "traders": move_traders, "commit": commit,
        "defend": defend, "keep": choose_keep, "yield": give_way, "ship": ship, "take": take, "drop": drop,
        "last contract": choose_contract,
    }
)  # fmt: skip
