"""Merchant: the all-rounder. It values every option of every phase in points, and takes the best.

A turn is seen as a whole: traders are moved for what the hand can ship then, and cards are shipped for what they bring
at once or leave to the players who come next.
"""

from __future__ import annotations

from borneo_agents.bargains import NEVER, choose_contract, choose_keep, choose_payment, most_worth
from borneo_agents.bot import MERCHANT, Scripted
from borneo_agents.contests import best_attack, best_defence
from borneo_agents.goods import appraise, appraise_all, final_points, gain_of
from borneo_agents.hands import LATER, count_strong, estimate_hands, hand_card, major_of, price_hand
from borneo_agents.ladders import come_back, contest_of, rank_share, standing, swap, transfer_of
from borneo_agents.outlook import (
    appraise_ports,
    coming_round,
    forget_look,
    keep_survey,
    restore_survey,
    survey,
    survey_again,
    weigh_rivals,
)
from borneo_agents.room import ANY, COMPANY_BIT, NONE, ONE, TINY, whole
from borneo_agents.sharing import STRONG, fill_pool, hand_out, lay_down, list_triggers, pick, sharers_at, take_back
from borneo_env.engine.actions import COMPANY, PASS, SLOT
from borneo_env.engine.jit import rule
from borneo_env.engine.rules.cargo import sharer_after
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
    SEATS,
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
RIVALRY_TAKING = 0.15  # what a point of others costs me while cards are taken


class Merchant(Scripted):
    """Values every option in points: goods towards contracts, ranks, ports about to be shared, hidden hands."""

    kind = MERCHANT


@rule
def merchant(box, g, options, count, room):
    """The action of the merchant."""
    phase = g.phase
    if phase == PLACE:
        return place(box, g, options, count, room)
    if phase in (CONTRACT, LAST_CONTRACT):
        return choose_contract(box, g, options, count, room)
    if phase == PAY:
        return choose_payment(box, g, options, count, room)
    if phase == TRADERS:
        return move_traders(box, g, options, count, room)
    if phase == COMMIT:
        return commit(box, g, options, count, room)
    if phase == DEFEND:
        return defend(box, g, options, count, room)
    if phase == KEEP:
        return choose_keep(box, g, options, count, room)
    if phase == YIELD:
        return give_way(box, g, options, count, room)
    if phase == SHIP:
        return ship(box, g, options, count, room)
    if phase == TAKE:
        return take(box, g, options, count, room)
    return drop(box, g, options, count, room)


@rule
def place(box, g, options, count, room):
    """Place where the rank is high, the hand can ship and fight, and own traders stand already."""
    me = whole(g.player)
    count_strong(box, g, room, me)
    for i in range(count):
        company = options[i] - COMPANY
        value = rank_share(whole(g.height[company])) - CROWDED * g.height[company]
        value += STRONG_CARD * room.strong[company]
        for rank in range(g.height[company]):
            if g.ladder[company, rank] == me:
                value += OWN_TRADER
        room.worth[i] = value
    return most_worth(options, count, room)


@rule
def look_around(box, g, room, me):
    """Appraise all goods, and estimate all hands."""
    appraise_all(box, g, room)
    appraise_ports(box, g, room)
    weigh_rivals(box, room, me)
    estimate_hands(box, g, room, me)


# Traders


@rule
def move_traders(box, g, options, count, room):
    """Stay, transfer or attack: whatever makes the best position to ship from, and for the rounds to come."""
    me = whole(g.player)
    look_around(box, g, room, me)
    price_hand(box, g, room, me)
    now = my_turn(box, g, room, me)
    room.worth[0] = WORTH_WHILE
    for i in range(1, count):
        if options[i] < box.first_contest:
            room.worth[i] = after_transfer(box, g, room, me, options[i]) - now
        else:
            room.worth[i] = attack_value(box, g, room, me, options[i], now)
    return most_worth(options, count, room)


@rule
def my_turn(box, g, room, me):
    """Points of a position from which a player is to ship: the best distribution now, ports and ranks later."""
    list_triggers(box, g, room, me)
    for i in range(room.triggers):
        room.trigger_worth[i] = trigger_value(box, g, room, me, i)
    for at in range(OPEN_PORTS):
        survey(box, g, room, at, me)
    room.turn = best_turn(box, g, room, me, NONE, ANY)
    return room.turn + standing(box, g, room, me)


@rule
def my_turn_after(box, g, room, me, moved, spent):
    """The same after traders of the companies `moved` (as bits) have moved: only what they matter to is looked at anew.

    spent: the one of them whose only strong card in hand went into an attack, or ANY.
    """
    turn = room.turn
    if spent != ANY or matter(room, moved):
        survey_again(box, g, room, me, moved)
        turn = best_turn(box, g, room, me, moved, spent)
        forget_look(box, room, moved)
    return turn + standing(box, g, room, me)


@rule
def matter(room, moved):
    """Whether traders of some companies matter to what can be shared out."""
    stake = whole(0)
    for at in range(OPEN_PORTS):
        stake |= room.stake[at]
    for i in range(room.triggers):
        stake |= room.trigger_stake[i]
    return stake & moved != 0


@rule
def best_turn(box, g, room, me, moved, spent):
    """Points of the best distribution now, or of none, and of what surveyed ports promise later."""
    for at in range(OPEN_PORTS):
        room.now[at] = NEVER
    for i in range(room.triggers):
        if spent == ANY or box.strength[room.trigger_card[i], spent] < STRONG:
            at = room.trigger_port[i]
            anew = room.trigger_stake[i] & moved
            room.now[at] = max(room.now[at], trigger_value(box, g, room, me, i) if anew else room.trigger_worth[i])
    best = coming_round(box, room, me, ONE, ANY)
    for at in range(OPEN_PORTS):
        if room.now[at] > NEVER:
            best = max(best, room.now[at] + coming_round(box, room, me, ONE, whole(at)))
    return best


@rule
def trigger_value(box, g, room, me, i):
    """What a distribution listed among the triggers brings, less what it brings to others and the card."""
    at = room.trigger_port[i]
    n = g.laid[at]
    room.pool[:n] = room.laid[at, :n]
    room.pool[n] = room.trigger_card[i]
    for k in range(room.trigger_count[i]):
        room.sharers[k] = room.trigger_sharers[i, k]
    hand_out(box, g, room, me, at, n + 1, room.trigger_count[i], room.trigger_monopoly[i] == 1)
    return balance(box, g, room, me) - room.card_worth[room.trigger_card[i]]


@rule
def balance(box, g, room, me):
    """What a distribution brings a player, less what it brings to others; the last one decides the game."""
    if g.ports_left == 0:
        return final_lead(box, g, room, me)
    value = room.got[me]
    for player in range(box.players):
        if player != me:
            value -= room.rival[player] * room.got[player]
    return value


@rule
def final_lead(box, g, room, me):
    """Points ahead of the best of the others once all have got their share, if the game ends with it."""
    most = 0.0
    for player in range(box.players):
        if player != me:
            most = max(most, final_points(box, g, player) + room.got[player])
    lead = final_points(box, g, me) + room.got[me] - most
    return min(GAME, max(-GAME, lead))


@rule
def after_transfer(box, g, room, me, action):
    """The position after a transfer, which is taken back."""
    company, rank, goal = transfer_of(box, action)
    transfer(g, company, rank, goal)
    value = my_turn_after(box, g, room, me, COMPANY_BIT[company] | COMPANY_BIT[goal], ANY)
    come_back(g, company, rank, goal)
    return value


@rule
def attack_value(box, g, room, me, action, now):
    """Expected points of an attack with the best cards for it."""
    company, rank, above = contest_of(box, action)
    spent = company if room.strong[company] == 1 else ANY
    prize = prize_of(box, g, room, me, company, rank, above, now, spent)
    if prize <= TINY:
        return NEVER
    defender = whole(g.ladder[company, above])
    value, _ = best_attack(box, g, room, me, company, rank - above - 1, defender, prize, NONE, NONE, NONE)
    return value


@rule
def prize_of(box, g, room, me, company, rank, above, now, spent):
    """Points for winning a contest."""
    if spent != ANY:
        room.hold[me, company] = LATER
    swap(g, company, rank, above)
    prize = my_turn_after(box, g, room, me, COMPANY_BIT[company], spent) - now
    swap(g, company, rank, above)
    if spent != ANY:
        room.hold[me, company] = 1.0
    return prize


@rule
def commit(box, g, options, count, room):
    """Play the cards of the best attack in the order of their ids."""
    me = whole(g.player)
    look_around(box, g, room, me)
    price_hand(box, g, room, me)
    company, rank, above = whole(g.company), whole(g.attacker_rank), whole(g.defender_rank)
    spent = company if room.strong[company] == 1 and g.attack_cards == 0 else ANY
    now = my_turn(box, g, room, me)
    prize = prize_of(box, g, room, me, company, rank, above, now, spent)
    defender = whole(g.ladder[company, above])
    strength, cards, low = whole(g.strength[0]), whole(g.attack_cards), whole(g.last_played) + 1
    _, card = best_attack(box, g, room, me, company, rank - above - 1, defender, prize, strength, cards, low)
    return insist(options, count, room, options[0] if card == NO_CARD else box.first_card + card)


@rule
def defend(box, g, options, count, room):
    """Defend with the cheapest cards that win, and keep one of them; without hope, save the cards."""
    me = whole(g.player)
    appraise(box, g, room, me)
    price_hand(box, g, room, me)
    card = best_defence(box, g, room, me)
    return insist(options, count, room, PASS if card == NO_CARD else box.first_card + card)


@rule
def insist(options, count, room, action):
    """An action that was not found by comparing all options."""
    for i in range(count):
        room.worth[i] = FIGHT if options[i] == action else 0.0
    return action


@rule
def give_way(box, g, options, count, room):
    """Stay behind the attacker, or begin anew elsewhere: whatever position is better."""
    me = whole(g.player)
    look_around(box, g, room, me)
    for at in range(OPEN_PORTS):
        survey(box, g, room, at, me)
    company, rank = whole(g.company), whole(g.attacker_rank)
    for i in range(count):
        goal = options[i] - COMPANY
        if options[i] == SLOT or goal == company:
            room.worth[i] = their_turn(box, g, room, me, NONE)
        else:
            transfer(g, company, rank, goal)
            room.worth[i] = their_turn(box, g, room, me, COMPANY_BIT[company] | COMPANY_BIT[goal])
            come_back(g, company, rank, goal)
    return most_worth(options, count, room)


@rule
def their_turn(box, g, room, me, moved):
    """Points of a surveyed position from which another is to ship, after traders of companies (bits) have moved."""
    survey_again(box, g, room, me, moved)
    first = whole((g.turn - me) % box.players)
    value = standing(box, g, room, me) + coming_round(box, room, me, first, ANY)
    forget_look(box, room, moved)
    return value


# Cargo


@rule
def ship(box, g, options, count, room):
    """Ship what brings most at once, or leaves a port that promises more to me than to others."""
    me = whole(g.player)
    look_around(box, g, room, me)
    for at in range(OPEN_PORTS):
        survey(box, g, room, at, me)
    room.turn = coming_round(box, room, me, ONE, ANY)
    for i in range(count):
        card = (options[i] - box.first_ship) // OPEN_PORTS
        at = (options[i] - box.first_ship) % OPEN_PORTS
        room.worth[i] = after_ship(box, g, room, me, card, at) - hand_card(box, g, room, me, card)
    return most_worth(options, count, room)


@rule
def after_ship(box, g, room, me, card, at):
    """Points of all ports once a card is shipped to one of them; the card is taken back."""
    covered = lay_down(box, g, card, at)
    sharers, monopoly = sharers_at(box, g, room, card, at)
    if sharers > 0:
        hand_out(box, g, room, me, at, fill_pool(g, room, AT_PORT + at), sharers, monopoly)
        value = balance(box, g, room, me) + coming_round(box, room, me, ONE, at)
    else:
        value = promise(box, g, room, me, card, at)
    take_back(box, g, card, at, covered, me)
    return value


@rule
def promise(box, g, room, me, card, at):
    """Points the ports promise with a card that was just laid at one of them."""
    company = major_of(box, card)
    keep_survey(box, room, at)
    for player in range(box.players):
        room.laid_gain[at, player] += gain_of(box, room, player, card)
    if room.strong[company] == 1:
        room.hold[me, company] = LATER
    survey(box, g, room, at, me)
    value = room.turn  # if nobody can share out the port now, nobody could before: cards only make it easier
    if room.stake[at]:
        value = coming_round(box, room, me, ONE, ANY)
    room.hold[me, company] = 1.0
    for player in range(box.players):
        room.laid_gain[at, player] -= gain_of(box, room, player, card)
    restore_survey(box, room, at)
    return value


@rule
def take(box, g, options, count, room):
    """Take the card that leaves me most, and the others least, once all cards are taken."""
    me = whole(g.player)
    appraise_sharers(box, g, room)
    for i in range(count):
        for k in range(count):
            room.pool[k] = options[k] - box.first_card
        room.pool[i] = room.pool[count - 1]
        gain = gain_of(box, room, me, options[i] - box.first_card)
        room.worth[i] = gain + rest_of_sharing(box, g, room, me, count - 1)
    return most_worth(options, count, room)


@rule
def appraise_sharers(box, g, room):
    """Appraise the goods of the players with a trader in a company that shares."""
    for player in range(box.players):
        if takes_part(g, player):
            appraise(box, g, room, player)


@rule
def takes_part(g, player):
    for i in range(g.n_sharers):
        company = g.sharers[i]
        for rank in range(g.height[company]):
            if g.ladder[company, rank] == player:
                return True
    return False


@rule
def rest_of_sharing(box, g, room, me, left):
    """What the rest of a distribution brings, if everybody takes the best."""
    for player in range(SEATS):
        room.got[player] = 0
    sharer, rank = whole(g.sharer), whole(g.sharing_rank)
    while left > 0:
        sharer, rank = sharer_after(g, sharer, rank)
        pick(box, room, whole(g.ladder[g.sharers[sharer], rank]), left)
        left -= 1
    value = room.got[me]
    for player in range(box.players):
        if player != me:
            value -= RIVALRY_TAKING * room.got[player]
    return value


@rule
def drop(box, g, options, count, room):
    """Drop the card that is worth least in hand."""
    me = whole(g.player)
    price_hand(box, g, room, me)
    for i in range(count):
        room.worth[i] = -room.card_worth[options[i] - box.first_card]
    return most_worth(options, count, room)
