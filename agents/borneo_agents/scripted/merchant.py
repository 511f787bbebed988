"""Merchant: the all-rounder. It values every option of every phase in points, and takes the best.

A turn is seen as a whole: traders are moved for what the hand can ship then, and cards are shipped for what they bring
at once or leave to the players who come next.
"""

from __future__ import annotations

from borneo_agents.scripted.merchant_cargo import drop, take
from borneo_agents.scripted.scratch import ANY, COMPANY_BIT, NONE, ONE, TINY, whole
from borneo_agents.scripted.valuation.bargains import NEVER, choose_contract, choose_keep, choose_payment, most_worth
from borneo_agents.scripted.valuation.contests import best_attack, best_defence
from borneo_agents.scripted.valuation.goods import appraise, appraise_all, final_points, gain_of
from borneo_agents.scripted.valuation.hands import LATER, count_strong, estimate_hands, hand_card, major_of, price_hand
from borneo_agents.scripted.valuation.ladders import come_back, contest_of, rank_share, standing, swap, transfer_of
from borneo_agents.scripted.valuation.outlook import (
    appraise_ports,
    coming_round,
    forget_look,
    keep_survey,
    restore_survey,
    survey,
    survey_again,
    weigh_rivals,
)
from borneo_agents.scripted.valuation.sharing import (
    STRONG,
    fill_pool,
    hand_out,
    lay_down,
    list_triggers,
    sharers_at,
    take_back,
)
from borneo_env.compile import rule
from borneo_env.engine.actions import COMPANY, PASS, SLOT
from borneo_env.engine.rules.traders import transfer
from borneo_env.engine.state import (
    AT_PORT,
    COMMIT,
    CONTRACT,
    DEFEND,
    KEEP,
    LAST_CONTRACT,
    NO_CARD,
    OPEN_PORTS,
    PAY,
    PLACE,
    SHIP,
    TAKE,
    TRADERS,
    YIELD,
)

STRONG_CARD = 0.15  # when placing: what a strong card of the company counts
OWN_TRADER = 0.15  # when placing: what an own trader in the company counts
CROWDED = 0.05  # when placing: what each trader in the company counts against it
FIGHT = 1.0  # points that the card or the end of a fight is worth that it decides on, and no other
WORTH_WHILE = 0.05  # points a move of a trader must bring
GAME = 10.0  # points that winning or losing the game at once counts, at most


@rule
def merchant(box, g, options, count, scratch):
    """The action of the merchant."""
    phase = g.phase
    if phase == PLACE:
        return place(box, g, options, count, scratch)
    if phase in (CONTRACT, LAST_CONTRACT):
        return choose_contract(box, g, options, count, scratch)
    if phase == PAY:
        return choose_payment(box, g, options, count, scratch)
    if phase == TRADERS:
        return move_traders(box, g, options, count, scratch)
    if phase == COMMIT:
        return commit(box, g, options, count, scratch)
    if phase == DEFEND:
        return defend(box, g, options, count, scratch)
    if phase == KEEP:
        return choose_keep(box, g, options, count, scratch)
    if phase == YIELD:
        return give_way(box, g, options, count, scratch)
    if phase == SHIP:
        return ship(box, g, options, count, scratch)
    if phase == TAKE:
        return take(box, g, options, count, scratch)
    return drop(box, g, options, count, scratch)


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
    now = my_turn(box, g, scratch, me)
    scratch.worth[0] = WORTH_WHILE
    for i in range(1, count):
        if options[i] < box.first_contest:
            scratch.worth[i] = after_transfer(box, g, scratch, me, options[i]) - now
        else:
            scratch.worth[i] = attack_value(box, g, scratch, me, options[i], now)
    return most_worth(options, count, scratch)


@rule
def my_turn(box, g, scratch, me):
    """Points of a position from which a player is to ship: the best distribution now, ports and ranks later."""
    list_triggers(box, g, scratch, me)
    for i in range(scratch.triggers):
        scratch.trigger_worth[i] = trigger_value(box, g, scratch, me, i)
    for at in range(OPEN_PORTS):
        survey(box, g, scratch, at, me)
    scratch.turn = best_turn(box, g, scratch, me, NONE, ANY)
    return scratch.turn + standing(box, g, scratch, me)


@rule
def my_turn_after(box, g, scratch, me, moved, spent):
    """The same after traders of the companies `moved` (as bits) have moved: only what they matter to is looked at anew.

    spent: the one of them whose only strong card in hand went into an attack, or ANY.
    """
    turn = scratch.turn
    if spent != ANY or matter(scratch, moved):
        survey_again(box, g, scratch, me, moved)
        turn = best_turn(box, g, scratch, me, moved, spent)
        forget_look(box, scratch, moved)
    return turn + standing(box, g, scratch, me)


@rule
def matter(scratch, moved):
    """Whether traders of some companies matter to what can be shared out."""
    stake = whole(0)
    for at in range(OPEN_PORTS):
        stake |= scratch.stake[at]
    for i in range(scratch.triggers):
        stake |= scratch.trigger_stake[i]
    return stake & moved != 0


@rule
def best_turn(box, g, scratch, me, moved, spent):
    """Points of the best distribution now, or of none, and of what surveyed ports promise later."""
    for at in range(OPEN_PORTS):
        scratch.now[at] = NEVER
    for i in range(scratch.triggers):
        if spent == ANY or box.strength[scratch.trigger_card[i], spent] < STRONG:
            at = scratch.trigger_port[i]
            anew = scratch.trigger_stake[i] & moved
            scratch.now[at] = max(
                scratch.now[at], trigger_value(box, g, scratch, me, i) if anew else scratch.trigger_worth[i]
            )
    best = coming_round(box, scratch, me, ONE, ANY)
    for at in range(OPEN_PORTS):
        if scratch.now[at] > NEVER:
            best = max(best, scratch.now[at] + coming_round(box, scratch, me, ONE, whole(at)))
    return best


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
    value = my_turn_after(box, g, scratch, me, COMPANY_BIT[company] | COMPANY_BIT[goal], ANY)
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
    prize = my_turn_after(box, g, scratch, me, COMPANY_BIT[company], spent) - now
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
    now = my_turn(box, g, scratch, me)
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
    for at in range(OPEN_PORTS):
        survey(box, g, scratch, at, me)
    company, rank = whole(g.company), whole(g.attacker_rank)
    for i in range(count):
        goal = options[i] - COMPANY
        if options[i] == SLOT or goal == company:
            scratch.worth[i] = their_turn(box, g, scratch, me, NONE)
        else:
            transfer(g, company, rank, goal)
            scratch.worth[i] = their_turn(box, g, scratch, me, COMPANY_BIT[company] | COMPANY_BIT[goal])
            come_back(g, company, rank, goal)
    return most_worth(options, count, scratch)


@rule
def their_turn(box, g, scratch, me, moved):
    """Points of a surveyed position from which another is to ship, after traders of companies (bits) have moved."""
    survey_again(box, g, scratch, me, moved)
    first = whole((g.turn - me) % box.players)
    value = standing(box, g, scratch, me) + coming_round(box, scratch, me, first, ANY)
    forget_look(box, scratch, moved)
    return value


# Cargo


@rule
def ship(box, g, options, count, scratch):
    """Ship what brings most at once, or leaves a port that promises more to me than to others."""
    me = whole(g.player)
    look_around(box, g, scratch, me)
    for at in range(OPEN_PORTS):
        survey(box, g, scratch, at, me)
    scratch.turn = coming_round(box, scratch, me, ONE, ANY)
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
    return value


@rule
def promise(box, g, scratch, me, card, at):
    """Points the ports promise with a card that was just laid at one of them."""
    company = major_of(box, card)
    keep_survey(box, scratch, at)
    for player in range(box.players):
        scratch.laid_gain[at, player] += gain_of(box, scratch, player, card)
    if scratch.strong[company] == 1:
        scratch.hold[me, company] = LATER
    survey(box, g, scratch, at, me)
    value = scratch.turn  # if nobody can share out the port now, nobody could before: cards only make it easier
    if scratch.stake[at]:
        value = coming_round(box, scratch, me, ONE, ANY)
    scratch.hold[me, company] = 1.0
    for player in range(box.players):
        scratch.laid_gain[at, player] -= gain_of(box, scratch, player, card)
    restore_survey(box, scratch, at)
    return value
