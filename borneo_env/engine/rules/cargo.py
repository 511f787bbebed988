"""R5 Cargo, R6 Monopoly, R7 Shared distribution: a card goes to a port, and the port may be shared out."""

from __future__ import annotations

from borneo_env.engine.rules.drawing import draw_cards
from borneo_env.engine.rules.ending import end_game
from borneo_env.engine.rules.setup import open_port
from borneo_env.engine.rules.table import discard_from, list_cards, out_of_hand, set_down, store
from borneo_env.engine.state import (
    AT_PORT,
    CARDS,
    HAND,
    MONOPOLIES,
    N_COMPANIES,
    NO_CARD,
    NOBODY,
    OPEN_PORTS,
    OUT,
    SHARED,
    TAKE,
)
from kontor.compile import rule

TOP_ROW = 3  # flags 0, 1, 2; flag 3 is the bottom row (R0.8)


@rule
def legal_ship(box, g, options):
    """Any hand card to any open port (R5.1)."""
    n = 0
    for card in range(CARDS):
        if g.place[card] == HAND + g.player:
            for place in range(OPEN_PORTS):
                options[n] = box.first_ship + card * OPEN_PORTS + place
                n += 1
    return n


@rule
def apply_ship(box, g, action):
    card = (action - box.first_ship) // OPEN_PORTS
    place = (action - box.first_ship) % OPEN_PORTS
    out_of_hand(g, g.player, card)
    lay(box, g, card, place)
    port = g.open[place]
    company = monopolist(box, g, card, place, box.monopoly[port])
    if company != NOBODY:
        monopoly(box, g, place, company)
    elif g.laid[place] >= box.limit[port]:
        share(box, g, place)
    else:
        draw_cards(box, g)


@rule
def lay(box, g, card, place):
    """Lay a card below those at a port: it covers the bottom row of the card before it (R5.1)."""
    set_down(g, card, AT_PORT + place)
    if g.laid[place] > 0:
        g.shown[place, box.flags_of[g.lowest[place], TOP_ROW]] -= 1
    for flag in range(4):
        g.shown[place, box.flags_of[card, flag]] += 1
    g.lowest[place] = card
    g.laid[place] += 1
    g.order[card] = g.laid[place]


@rule
def monopolist(box, g, card, place, number):
    """The company with the monopoly (R5.2, R6.1), or NOBODY.

    Among companies that reach the number, the first on the card just played has it; in the card edition the one
    with the most flags, and the first on the card among equals.
    """
    best = NOBODY
    for flag in range(4):
        company = box.flags_of[card, flag]
        if g.shown[place, company] >= number:
            if best == NOBODY or (box.card_edition and g.shown[place, company] > g.shown[place, best]):
                best = company
    return best


@rule
def monopoly(box, g, place, company):
    """R6.2 gives the port card away; R6.3 has the company's traders choose the cargo cards."""
    if not box.card_edition:
        take_port(box, g, place, g.player)
    elif g.height[company] > 0:
        take_port(box, g, place, g.ladder[company, 0])
    else:
        g.place[g.open[place]] = OUT
        g.open[place] = NO_CARD
    g.monopoly = company
    g.tally[g.player, MONOPOLIES] += 1
    g.sharers[0] = company
    g.n_sharers = 1
    begin_sharing(box, g, place)


@rule
def share(box, g, place):
    """R7.1 gives the port card away; R7.2 to R7.4 have the companies at the port share the cargo cards."""
    take_port(box, g, place, g.player)
    g.monopoly = NOBODY
    g.tally[g.player, SHARED] += 1
    order_sharers(box, g, place)
    begin_sharing(box, g, place)


@rule
def take_port(box, g, place, player):
    store(box, g, player, g.open[place])
    g.open[place] = NO_CARD


@rule
def order_sharers(box, g, place):
    """Companies with visible flags (R7.5), most flags first, among equals the first visible flag first (R7.2)."""
    g.n_sharers = 0
    for company in range(N_COMPANIES):
        if g.shown[place, company] > 0:
            i = g.n_sharers
            while i > 0 and goes_before(box, g, place, company, g.sharers[i - 1]):
                g.sharers[i] = g.sharers[i - 1]
                i -= 1
            g.sharers[i] = company
            g.n_sharers += 1


@rule
def goes_before(box, g, place, company, other):
    if g.shown[place, company] != g.shown[place, other]:
        return g.shown[place, company] > g.shown[place, other]
    return first_flag(box, g, place, company) < first_flag(box, g, place, other)


@rule
def first_flag(box, g, place, company):
    """When a company's first visible flag comes: cards in the order they were played, each in reading order."""
    first = 4 * (CARDS + 1)
    for card in range(CARDS):
        if g.place[card] == AT_PORT + place:
            visible = 4 if card == g.lowest[place] else TOP_ROW
            for flag in range(visible):
                if box.flags_of[card, flag] == company:
                    first = min(first, 4 * int(g.order[card]) + flag)
    return first


@rule
def begin_sharing(box, g, place):
    g.sharing_port = place
    g.sharer = -1
    g.sharing_rank = 0
    g.lowest[place] = NO_CARD
    for company in range(N_COMPANIES):
        g.shown[place, company] = 0
    if longest_ladder(g) == 0:  # R6.4, R7.4: no trader to choose
        discard_from(g, AT_PORT + place)
        g.laid[place] = 0
        end_sharing(box, g)
    else:
        g.phase = TAKE
        next_sharer(g)


@rule
def longest_ladder(g):
    longest = 0
    for i in range(g.n_sharers):
        longest = max(longest, int(g.height[g.sharers[i]]))
    return longest


@rule
def next_sharer(g):
    g.sharer, g.sharing_rank = sharer_after(g, g.sharer, g.sharing_rank)
    g.player = g.ladder[g.sharers[g.sharer], g.sharing_rank]


@rule
def sharer_after(g, sharer, rank):
    """Rank by rank, the companies in their order; after the last trader again from rank 1 (R6.3, R7.3, R7.4)."""
    longest = longest_ladder(g)
    found = False
    while not found:
        sharer += 1
        if sharer == g.n_sharers:
            sharer = 0
            rank = (rank + 1) % longest
        found = rank < g.height[g.sharers[sharer]]
    return sharer, rank


@rule
def legal_take(box, g, options):
    return list_cards(g, AT_PORT + g.sharing_port, box.first_card, options, 0)


@rule
def apply_take(box, g, action):
    store(box, g, g.player, action - box.first_card)
    g.laid[g.sharing_port] -= 1
    if g.laid[g.sharing_port] == 0:
        end_sharing(box, g)
    else:
        next_sharer(g)


@rule
def end_sharing(box, g):
    """Turn up the next port (R7.6); without one the game ends (R8.3)."""
    place = g.sharing_port
    g.sharing_port = -1
    g.sharer = -1
    if g.ports_left == 0:
        end_game(box, g)
    else:
        open_port(g, place)
        draw_cards(box, g)
