"""Merchant: the all-rounder. It values every option of every phase in points and takes the best."""

from __future__ import annotations

from borneo_agents.bot import MERCHANT, Scripted
from borneo_agents.contests import best_attack, best_defence
from borneo_agents.values import (
    A_MONOPOLY,
    NOTHING_YET,
    appraise,
    appraise_ports,
    card_at,
    count_strong,
    weigh_rivals,
    best_contract,
    distributions_left,
    doubles,
    estimate_hands,
    fill_pool,
    foresee,
    gain_of,
    goods,
    hand_card,
    income,
    survey,
    coming_round,
    ANY,
    pick,
    plus,
    port_for,
    prospects,
    rank_share,
    standing,
    share_out,
    spices,
    STRONG,
    whole, NEXT, ONE, NONE,
)
from borneo_agents.weights import *
from borneo_env.engine.actions import BARGAIN, COMPANY, JOKER, OTHERS, PASS, PAYMENT, SLOT, TRANSFER
from borneo_env.engine.jit import rule
from borneo_env.engine.rules.cargo import TOP_ROW, goes_before, monopolist, sharer_after
from borneo_env.engine.rules.contracts import AMOUNT, OF_ONE_SPICE, first_owed
from borneo_env.engine.rules.ending import score
from borneo_env.engine.rules.traders import transfer
from borneo_env.engine.state import (
    AT_PORT,
    CARDS,
    CHEST,
    COMMIT,
    CONTRACT,
    DEFEND,
    DOUBLE,
    DROP,
    HAND,
    KEEP,
    LAST_CONTRACT,
    N_COMPANIES,
    N_KINDS,
    N_SPICES,
    NO_CARD,
    NOBODY,
    OPEN_PORTS,
    PAY,
    PLACE,
    PORT,
    SEATS,
    SHIP,
    TAKE,
    TRADERS,
    YIELD,
)


NEVER = -1000.0


class Merchant(Scripted):
    """Values every option in points: goods towards contracts, ranks, ports about to be shared, hidden hands."""

    kind = MERCHANT


@rule
def merchant(box, g, options, count, dice, room):
    """The action of the merchant."""
    phase = g.phase
    if phase == PLACE:
        return place(box, g, options, count, room)
    if phase in (CONTRACT, LAST_CONTRACT):
        return contract(box, g, options, count, room)
    if phase == PAY:
        return pay(box, g, options, count, room)
    if phase == TRADERS:
        return traders(box, g, options, count, room)
    if phase == COMMIT:
        return commit(box, g, options, count, room)
    if phase == DEFEND:
        return defend(box, g, options, count, room)
    if phase == KEEP:
        return keep(box, g, options, count, room)
    if phase == YIELD:
        return yield_slot(box, g, options, count, room)
    if phase == SHIP:
        return ship(box, g, options, count, room)
    if phase == TAKE:
        return take(box, g, options, count, room)
    return drop(box, g, options, count, room)


@rule
def place(box, g, options, count, room):
    """Place where the rank pays, and where the hand can ship and fight."""
    me = whole(g.player)
    best = -1.0
    chosen = options[0]
    for i in range(count):
        company = options[i] - COMPANY
        value = rank_share(room, whole(g.height[company]), max(whole(g.height[company]) + 1, whole(box.players * box.traders // 4)))
        for card in range(CARDS):
            if g.place[card] == HAND + me and box.strength[card, company] == STRONG:
                value += room.w[HANDFLAG]
        if value > best:
            best, chosen = value, options[i]
    return chosen


# Contracts


@rule
def contract(box, g, options, count, room):
    """Fulfil the contract that leaves most, or wait for a better one."""
    me = whole(g.player)
    have = spices(g, me)
    twice = doubles(g, me)
    jokers = whole(g.stock[me, CHEST, PORT])
    hoped = income(box, g, room)
    best = -1000.0
    chosen = options[0]
    for i in range(count):
        value = prospects(box, g, room, have, twice, jokers, hoped) - room.w[PASS_CONTRACT]
        if g.ended == 1:
            value = 0.0
        if options[i] != PASS:
            value = after_contract(box, g, room, options[i], have, twice, jokers, hoped)
        if value > best:
            best, chosen = value, options[i]
    return chosen


@rule
def kind_of(action):
    """The kind and the spice (-1: each) of a contract's action."""
    choice = action - BARGAIN
    kind = 0
    while choice >= (N_SPICES if OF_ONE_SPICE[kind] else 1):
        choice -= N_SPICES if OF_ONE_SPICE[kind] else 1
        kind += 1
    return kind, choice if OF_ONE_SPICE[kind] else -1


@rule
def after_contract(box, g, room, action, have, twice, jokers, hoped):
    """Profit of a contract that can be paid, with the prospects of what is left."""
    kind, spice = kind_of(action)
    amount = AMOUNT[kind]
    price = 0
    missing = 0
    rest = have
    fewer = twice
    for s in range(N_SPICES):
        if spice < 0 or s == spice:
            small = have[s] - 2 * twice[s]
            big = min(twice[s], amount // 2)
            if big < twice[s] and amount - 2 * big > small:
                big += 1
            paid = min(have[s], max(amount, 2 * big))
            if amount - 2 * big > 0:
                paid = min(have[s], amount)
                price += min(small, amount - 2 * big)
            price += big
            missing += max(0, amount - have[s])
            rest = plus(rest, s, -paid)
            fewer = plus(fewer, s, -big)
    price += missing
    value = float(box.points[kind] - price)
    if g.ended == 1:
        return value
    if missing > jokers:
        value -= 2.0
    g.supply[kind] -= 1
    value += prospects(box, g, room, rest, fewer, max(0, jokers - missing), hoped)
    g.supply[kind] += 1
    return value


@rule
def pay(box, g, options, count, room):
    """Give what is missed least, and what covers most."""
    me = whole(g.player)
    owed = first_owed(g)
    hoped = income(box, g, room)
    best = -1000.0
    chosen = options[0]
    for i in range(count):
        action = options[i]
        spice = (action - PAYMENT) // 3 if action < JOKER else CHEST
        size = (action - PAYMENT) % 3 if action < JOKER else PORT
        covers = min(2 if size == DOUBLE else 1, int(g.owed[owed]))
        value = 0.0
        if spice != owed and spice != CHEST:
            covers = 1
            value -= 2.0
        g.stock[me, spice, size] -= 1
        jokers = whole(g.stock[me, CHEST, PORT])
        value += prospects(box, g, room, spices(g, me), doubles(g, me), jokers, hoped) + covers * room.w[OWED]
        g.stock[me, spice, size] += 1
        if value > best:
            best, chosen = value, action
    return chosen


# Traders


@rule
def prepare(box, g, room):
    """Appraise the goods of all players and estimate their hands."""
    for player in range(box.players):
        appraise(box, g, room, player)
    estimate_hands(box, g, room, whole(g.player))
    appraise_ports(box, g, room)
    weigh_rivals(box, room, whole(g.player))


@rule
def price_hand(box, g, room, me):
    """Write what each own card is worth in hand."""
    count_strong(box, g, room, me)
    for card in range(CARDS):
        if g.place[card] == HAND + me:
            room.card_worth[card] = hand_card(box, g, room, me, card)


@rule
def my_turn(box, g, room, me):
    """Points of a position in which a player may still ship: the best of the ports, and what the others promise."""
    for place in range(OPEN_PORTS):
        survey(box, g, room, place, me)
        room.before[place] = best_now(box, g, room, place, me)
    best = coming_round(box, room, me, NEXT, ANY)
    for place in range(OPEN_PORTS):
        if room.before[place] > NEVER:
            best = max(best, room.before[place] + coming_round(box, room, me, NEXT, whole(place)))
    return best + standing(box, g, room, me)


@rule
def best_now(box, g, room, place, me):
    """The best that a card in hand makes of a foreseen port, less what it gives to others."""
    best = NEVER
    if g.open[place] < 0:
        return best
    for other in range(N_COMPANIES):
        if room.trigger[other] != NOTHING_YET and room.hold[me, other] >= 1.0:
            value = port_for(box, g, room, place, other, me)
            for player in range(box.players):
                points = room.picks[other, player] * card_at(g, room, place, player)
                value += points if player == me else -room.rival[player] * points
            best = max(best, value)
    return best


@rule
def traders(box, g, options, count, room):
    """Stay, transfer, or attack: what makes the best position for shipping and for the turns to come."""
    me = whole(g.player)
    prepare(box, g, room)
    price_hand(box, g, room, me)
    now = my_turn(box, g, room, me)
    best = room.w[ATTACK_MARGIN]
    chosen = options[0]
    for i in range(1, count):
        action = options[i]
        if action < box.first_contest:
            value = after_transfer(box, g, room, me, action) - now
        else:
            value = attack_value(box, g, room, me, action, now)
        if value > best:
            best, chosen = value, action
    return chosen


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
def after_transfer(box, g, room, me, action):
    """The position after a transfer, which is taken back."""
    company, rank, goal = transfer_of(box, action)
    transfer(g, company, rank, goal)
    value = my_turn(box, g, room, me)
    come_back(g, company, rank, goal)
    return value


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
    """Exchange two traders of a ladder; a second time takes it back."""
    other = g.ladder[company, above]
    g.ladder[company, above] = g.ladder[company, rank]
    g.ladder[company, rank] = other


@rule
def attack_value(box, g, room, me, action, now):
    """Expected points of an attack with the best cards for it."""
    company, rank, above = contest_of(box, action)
    prize = prize_of(box, g, room, me, company, rank, above, now)
    if prize <= 0:
        return -1.0
    value, _ = best_attack(
        box, g, room, me, company, rank - above - 1, whole(g.ladder[company, above]), prize, NONE, NONE, NONE
    )
    return value


@rule
def prize_of(box, g, room, me, company, rank, above, now):
    """Points for winning a contest."""
    held = room.hold[me, company]
    if room.strong[company] == 1 and (g.phase == TRADERS or g.attack_cards == 0):
        room.hold[me, company] = room.w[LATER]
    swap(g, company, rank, above)
    prize = my_turn(box, g, room, me) - now
    swap(g, company, rank, above)
    room.hold[me, company] = held
    return prize


@rule
def commit(box, g, options, count, room):
    """Play the cards of the best attack in the order of their ids."""
    me = whole(g.player)
    prepare(box, g, room)
    price_hand(box, g, room, me)
    now = my_turn(box, g, room, me)
    company, rank, above = whole(g.company), whole(g.attacker_rank), whole(g.defender_rank)
    prize = prize_of(box, g, room, me, company, rank, above, now)
    strength, cards, low = whole(g.strength[0]), whole(g.attack_cards), whole(g.last_played) + 1
    defender = whole(g.ladder[company, above])
    _, card = best_attack(box, g, room, me, company, rank - above - 1, defender, prize, strength, cards, low)
    if card != NO_CARD:
        return box.first_card + card
    return options[0]


@rule
def defend(box, g, options, count, room):
    me = whole(g.player)
    appraise(box, g, room, me)
    price_hand(box, g, room, me)
    card = best_defence(box, g, room, me)
    if card != NO_CARD:
        return box.first_card + card
    return PASS


@rule
def keep(box, g, options, count, room):
    """Keep the card that helps most."""
    me = whole(g.player)
    appraise(box, g, room, me)
    best = 0.0
    chosen = options[0]
    for i in range(1, count):
        value = gain_of(box, room, me, options[i] - box.first_card)
        if value > best:
            best, chosen = value, options[i]
    return chosen


@rule
def yield_slot(box, g, options, count, room):
    """Stay behind the attacker, or begin anew elsewhere: whatever position is better."""
    me = whole(g.player)
    prepare(box, g, room)
    best = -1000.0
    chosen = options[count - 1]
    for i in range(count):
        if options[i] == SLOT or options[i] - COMPANY == g.company:
            value = their_turn(box, g, room, me)
        else:
            goal = options[i] - COMPANY
            transfer(g, whole(g.company), whole(g.attacker_rank), goal)
            value = their_turn(box, g, room, me)
            come_back(g, whole(g.company), whole(g.attacker_rank), goal)
        if value > best:
            best, chosen = value, options[i]
    return chosen


@rule
def their_turn(box, g, room, me):
    """Points of a position in which another player ships next."""
    after = (g.turn - me) % box.players
    for place in range(OPEN_PORTS):
        survey(box, g, room, place, me)
    return standing(box, g, room, me) + coming_round(box, room, me, after, ANY)


# Cargo


@rule
def ship(box, g, options, count, room):
    """Ship what brings most: a distribution now, or a port that promises more to me than to others."""
    me = whole(g.player)
    prepare(box, g, room)
    best = -1000.0
    chosen = options[0]
    for at in range(OPEN_PORTS):
        survey(box, g, room, at, me)
    for i in range(count):
        card = (options[i] - box.first_ship) // OPEN_PORTS
        at = (options[i] - box.first_ship) % OPEN_PORTS
        value = after_ship(box, g, room, me, card, at) - hand_card(box, g, room, me, card)
        if value > best:
            best, chosen = value, options[i]
    return chosen


@rule
def after_ship(box, g, room, me, card, at):
    """Points from a port once a card is shipped there; the card is taken back."""
    covered = laid_down(box, g, card, at)
    for player in range(box.players):
        room.laid_gain[at, player] += gain_of(box, room, player, card)
    company = major_of(box, card)
    if room.strong[company] == 1:
        room.hold[me, company] = room.w[LATER]
    value = port_value(box, g, room, me, card, at)
    room.hold[me, company] = 1.0
    for player in range(box.players):
        room.laid_gain[at, player] -= gain_of(box, room, player, card)
    taken_back(box, g, card, at, covered, me)
    return value


@rule
def major_of(box, card):
    """The company a card has three flags of: two of its first three are."""
    flags = box.flags_of[card]
    return whole(flags[0] if flags[0] == flags[1] or flags[0] == flags[2] else flags[1])


@rule
def laid_down(box, g, card, at):
    """Lay a hand card at a port as the rules do (R5.1), for a look; returns the card it covers."""
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
def taken_back(box, g, card, at, covered, me):
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
def port_value(box, g, room, me, card, at):
    """Points from a port where a card was just laid: what a distribution brings, or what the port promises."""
    port = g.open[at]
    company = monopolist(box, g, card, at, box.monopoly[port])
    if company == NOBODY and g.laid[at] < box.limit[port]:
        for player in range(box.players):
            room.was[player, 0] = room.best[at, player]
            room.was[player, 1] = room.likely[at, player]
            room.was[player, 2] = room.mine[at, player]
        survey(box, g, room, at, me)
        value = coming_round(box, room, me, NEXT, ANY)
        for player in range(box.players):
            room.best[at, player] = room.was[player, 0]
            room.likely[at, player] = room.was[player, 1]
            room.mine[at, player] = room.was[player, 2]
        return value
    for player in range(SEATS):
        room.got[player] = 0
    n = fill_pool(g, room, AT_PORT + at)
    if company != NOBODY:
        room.sharers[0] = company
        owner = me
        if box.card_edition:
            owner = whole(g.ladder[company, 0])
        if owner >= 0:
            room.got[owner] += room.gain[owner, box.spice_of[port], 0]
        share_out(box, g, room, n, ONE)
    else:
        room.got[me] += room.gain[me, box.spice_of[port], 0]
        share_out(box, g, room, n, order_at(box, g, room, at))
    if g.ports_left == 0:
        return ending(box, g, room, me)
    value = room.got[me]
    for player in range(box.players):
        if player != me:
            value -= room.rival[player] * room.got[player]
    return value + coming_round(box, room, me, NEXT, whole(at))


@rule
def ending(box, g, room, me):
    """Points of a distribution that ends the game: my lead, for it is the last word."""
    mine = final_points(box, g, room, me) + room.got[me]
    most = 0.0
    for player in range(box.players):
        if player != me:
            most = max(most, final_points(box, g, room, player) + room.got[player])
    return min(room.w[END_WIN], max(-room.w[END_WIN], mine - most))


@rule
def final_points(box, g, room, player):
    """A player's points with the best contract that can be paid now."""
    jokers = whole(g.stock[player, CHEST, PORT])
    last, _, _ = best_contract(box, g, room, spices(g, player), doubles(g, player), jokers, 0.0, ANY)
    return score(box, g, player) + last


@rule
def order_at(box, g, room, at):
    """The companies in the order of a shared distribution (R7.2); returns how many they are."""
    n = 0
    for company in range(N_COMPANIES):
        if g.shown[at, company] > 0:
            i = n
            while i > 0 and goes_before(box, g, at, company, room.sharers[i - 1]):
                room.sharers[i] = room.sharers[i - 1]
                i -= 1
            room.sharers[i] = company
            n += 1
    return n


@rule
def take(box, g, options, count, room):
    """Take the card that leaves me most and the others least when all cards are taken."""
    me = whole(g.player)
    for player in range(box.players):
        appraise(box, g, room, player)
    best = -1000.0
    chosen = options[0]
    for i in range(count):
        for k in range(count):
            room.pool[k] = options[k] - box.first_card
        room.pool[i] = room.pool[count - 1]
        value = gain_of(box, room, me, options[i] - box.first_card) + rest_value(box, g, room, me, count - 1)
        if value > best:
            best, chosen = value, options[i]
    return chosen


@rule
def rest_value(box, g, room, me, left):
    """What the rest of a distribution brings, if everybody takes the best."""
    for player in range(SEATS):
        room.got[player] = 0
    sharer = whole(g.sharer)
    rank = whole(g.sharing_rank)
    while left > 0:
        sharer, rank = sharer_after(g, sharer, rank)
        pick(box, room, whole(g.ladder[g.sharers[sharer], rank]), left)
        left -= 1
    value = room.got[me]
    for player in range(box.players):
        if player != me:
            value -= room.w[DENY_TAKE] * room.got[player]
    return value


@rule
def drop(box, g, options, count, room):
    """Drop the card that is worth least in hand."""
    me = whole(g.player)
    count_strong(box, g, room, me)
    best = 1000.0
    chosen = options[0]
    for i in range(count):
        value = hand_card(box, g, room, me, options[i] - box.first_card)
        if value < best:
            best, chosen = value, options[i]
    return chosen


@rule
def worth(box, g, player, room):
    """An estimate of a player's points at the end, from what this player may know."""
    for other in range(box.players):
        room.unit[other] = room.w[UNIT]
    return goods(box, g, room, player) + standing(box, g, room, player)
