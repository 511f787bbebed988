"""R8.1 and R8.2 Drawing: two cards, reshuffling when the draw pile is empty; then dropping down to six."""

from __future__ import annotations

from borneo_env.engine.dice import shuffle
from borneo_env.engine.jit import rule
from borneo_env.engine.rules.ending import end_game
from borneo_env.engine.rules.table import into_hand, list_cards, out_of_hand
from borneo_env.engine.rules.turn import end_turn
from borneo_env.engine.state import CARDS, DISCARD, DROP, HAND, HAND_LIMIT, PILE

DRAWN = 2  # R8.1


@rule
def draw_cards(box, g):
    """The turn player draws two cards; without any left the game ends (R8.3), else the hand is checked."""
    g.player = g.turn
    for _ in range(DRAWN):
        if g.draw_left == 0:
            gather_discards(g)
            shuffle(g, g.draw, int(g.draw_left))
        if g.draw_left == 0:
            end_game(box, g)
            return
        g.draw_left -= 1
        into_hand(g, g.turn, g.draw[g.draw_left])
    check_hand(box, g)


@rule
def gather_discards(g):
    """Make the discard pile the draw pile, in the order of the cards' ids; a pile of its own (R11.3)."""
    g.clock += 1
    g.pile_since = g.clock
    g.draw_size = 0
    for card in range(CARDS):
        if g.place[card] == DISCARD:
            g.place[card] = PILE
            g.since[card] = g.clock
            g.draw[g.draw_size] = card
            g.draw_size += 1
    g.draw_left = g.draw_size


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
