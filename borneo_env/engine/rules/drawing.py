"""R8.1 and R8.2 Drawing: two cards, reshuffling when the draw pile is empty; then dropping down to six."""

from __future__ import annotations

from borneo_env.engine.rules.ending import end_game
from borneo_env.engine.rules.table import into_hand, list_cards, out_of_hand
from borneo_env.engine.rules.turn import end_turn
from borneo_env.engine.state import CARDS, DISCARD, DROP, HAND, HAND_LIMIT, PILE
from kontor.compile import rule
from kontor.templates.dice import shuffle

DRAWN = 2  # R8.1


@rule
def draw_cards(box, g):
    """The turn player draws two cards; without any left the game ends (R8.3), else the hand is checked."""
    g.player = g.turn
    for _ in range(DRAWN):
        if g.draw_left == 0 and not reshuffle(g):
            end_game(box, g)
            return
        g.draw_left -= 1
        into_hand(g, g.turn, g.draw[g.draw_left])
    check_hand(box, g)


@rule
def reshuffle(g):
    """Shuffle the discard pile and make it the draw pile, a pile of its own (R11.3); False if there is none."""
    n = 0
    for card in range(CARDS):
        if g.place[card] == DISCARD:
            g.draw[n] = card
            n += 1
    if n == 0:
        return False
    g.clock += 1
    g.pile_since = g.clock
    for i in range(n):
        g.place[g.draw[i]] = PILE
        g.since[g.draw[i]] = g.clock
    g.draw_left = n
    g.draw_size = n
    shuffle(g, g.draw, n)
    return True


@rule
def check_hand(box, g):
    if g.hand_size[g.turn] > HAND_LIMIT:
        g.phase = DROP
    else:
        end_turn(box, g)


@rule
def legal_drop(box, g, options):
    return list_cards(g, HAND + g.player, box.first_card, options, 0)


@rule
def apply_drop(box, g, action):
    card = action - box.first_card
    out_of_hand(g, g.player, card)
    g.place[card] = DISCARD
    check_hand(box, g)
