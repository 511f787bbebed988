"""What the merchant takes of the cargo that is shared out, and the card it drops."""

from __future__ import annotations

from borneo_agents.scripted.scratch import whole
from borneo_agents.scripted.valuation.bargains import most_worth
from borneo_agents.scripted.valuation.goods import appraise, gain_of
from borneo_agents.scripted.valuation.hands import price_hand
from borneo_agents.scripted.valuation.sharing import (
    pick,
)
from borneo_env.compile import rule
from borneo_env.engine.rules.cargo import sharer_after
from borneo_env.engine.state import (
    SEATS,
)

RIVALRY_TAKING = 0.15  # what a point of others costs me while cards are taken


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
