"""R1 Setup: shuffling, the deal, and placing the traders."""

from __future__ import annotations

from borneo_env.engine.actions import COMPANY
from borneo_env.engine.rules.table import into_hand
from borneo_env.engine.rules.turn import begin_turn
from borneo_env.engine.state import AT_PORT, FIRST_HAND, N_COMPANIES, OPEN_PORTS, PLACE, SHUFFLES
from kontor.compile import rule
from kontor.templates.dice import below, shuffle


@rule
def new_game(box, g):
    """Shuffle and deal into a blank record."""
    shuffle(g, g.draw, int(g.draw_left))  # R1.1
    shuffle(g, g.port_pile, int(g.ports_left))  # R1.3
    g.start = below(g, SHUFFLES, box.players)  # R1.5
    deal(box, g)


@rule
def deal(box, g):
    """Deal from the piles as they lie: three cards to each player (R1.1), three open ports (R1.3)."""
    for player in range(box.players):
        for _ in range(FIRST_HAND):
            g.draw_left -= 1
            into_hand(g, player, g.draw[g.draw_left])
    for place in range(OPEN_PORTS):
        open_port(g, place)
    g.phase = PLACE
    g.turn = g.start
    g.player = g.start


@rule
def open_port(g, place):
    """Turn up the top port of the port pile into a free place."""
    g.ports_left -= 1
    port = g.port_pile[g.ports_left]
    g.open[place] = port
    g.place[port] = AT_PORT + place


@rule
def placing_player(box, g):
    """Who places next: in turn order, then in reverse order, and so on by turns (R1.6)."""
    seat = g.placed % box.players
    if (g.placed // box.players) % 2 == 1:
        seat = box.players - 1 - seat
    return (g.start + seat) % box.players


@rule
def legal_place(box, g, options):
    n = 0
    for company in range(N_COMPANIES):
        if may_place(box, g, company):
            options[n] = COMPANY + company
            n += 1
    return n


@rule
def may_place(box, g, company):
    """R1.6: any company with room; R1.7: in the card edition not directly behind a trader of one's own."""
    height = g.height[company]
    if height >= box.slots:
        return False
    return not (box.card_edition and height > 0 and g.ladder[company, height - 1] == g.player)


@rule
def apply_place(box, g, action):
    join(g, action - COMPANY, g.player)
    g.placed += 1
    if g.placed == box.players * box.traders:  # R0.6, R9.1
        begin_turn(g, g.start)
    else:
        g.player = placing_player(box, g)


@rule
def join(g, company, player):
    """Put a trader on the topmost free slot of a ladder."""
    g.ladder[company, g.height[company]] = player
    g.height[company] += 1
