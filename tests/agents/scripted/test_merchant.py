"""Short cuts of the merchant: what it does not look at anew would have been the same."""

from itertools import combinations, product

import numpy as np
import pytest
from borneo_agents.scripted.agents import Merchant
from borneo_agents.scripted.merchant import after_transfer, best_turn, give_way, look_around, my_turn, prize_of, ship
from borneo_agents.scripted.scratch import ANY, CACHE_SLOTS, NONE, ONE, SCRATCH, whole
from borneo_agents.scripted.valuation.goods import COUNT
from borneo_agents.scripted.valuation.hands import LATER, hand_card, price_hand
from borneo_agents.scripted.valuation.ladders import come_back, contest_of, standing, swap, transfer_of
from borneo_agents.scripted.valuation.outlook import coming_round, survey
from borneo_agents.scripted.valuation.sharing import lay_down, list_triggers, sharers_at, take_back
from bot_games import decisions

from borneo_env import Ruleset
from borneo_env.agent import Views
from borneo_env.compile import attributes, entry, rule
from borneo_env.engine.actions import COMPANY, SLOT
from borneo_env.engine.game import MAX_OPTIONS, legal
from borneo_env.engine.rules.traders import transfer
from borneo_env.engine.state import N_COMPANIES, N_KINDS, OPEN_PORTS, SHIP, TAKE, TRADERS, YIELD, copy_games, make_box

EVERY_COMPANY = whole((1 << N_COMPANIES) - 1)
CLOSE = 1e-9

rulesets = pytest.mark.parametrize(
    "ruleset", [Ruleset(), Ruleset(players=5), Ruleset("card", 3)], ids=lambda ruleset: ruleset.name
)


@rule
def look_at_everything(box, g, scratch, me, spent):
    """Points of a position from which a player is to ship, with nothing known before."""
    list_triggers(box, g, scratch, me)
    for at in range(OPEN_PORTS):
        survey(box, g, scratch, at, me)
    return best_turn(box, g, scratch, me, EVERY_COMPANY, spent) + standing(box, g, scratch, me)


@rule
def compare_moves(box, g, options, count, scratches, found):
    """Write what the merchant finds for each move of a trader, and what it finds with nothing known before."""
    me = whole(g.player)
    for scratch in scratches:
        look_around(box, g, scratch, me)
        price_hand(box, g, scratch, me)
    now = my_turn(box, g, scratches[0], me)
    for i in range(1, count):
        if options[i] < box.first_contest:
            found[i, 0] = after_transfer(box, g, scratches[0], me, options[i])
            company, rank, goal = transfer_of(box, options[i])
            transfer(g, company, rank, goal)
            found[i, 1] = look_at_everything(box, g, scratches[1], me, ANY)
            come_back(g, company, rank, goal)
        else:
            company, rank, above = contest_of(box, options[i])
            spent = company if scratches[0].strong[company] == 1 else ANY
            found[i, 0] = now + prize_of(box, g, scratches[0], me, company, rank, above, now, spent)
            swap(g, company, rank, above)
            held = scratches[1].hold[me, company]
            if spent != ANY:
                scratches[1].hold[me, company] = LATER
            found[i, 1] = look_at_everything(box, g, scratches[1], me, spent)
            scratches[1].hold[me, company] = held
            swap(g, company, rank, above)


@rule
def compare_ships(box, g, options, count, scratches, found):
    """Write what the merchant finds for each card that shares out nothing, and what a look at the laid card finds."""
    me = whole(g.player)
    ship(box, g, options, count, scratches[0])
    for i in range(count):
        card = (options[i] - box.first_ship) // OPEN_PORTS
        at = (options[i] - box.first_ship) % OPEN_PORTS
        look_around(box, g, scratches[1], me)
        for port in range(OPEN_PORTS):
            survey(box, g, scratches[1], port, me)
        worth = scratches[0].worth[i] + hand_card(box, g, scratches[0], me, card)
        covered = lay_down(box, g, card, at)
        sharers, _ = sharers_at(box, g, scratches[1], card, at)
        if sharers == NONE:
            look_around(box, g, scratches[1], me)
            survey(box, g, scratches[1], at, me)
            found[i] = worth, coming_round(box, scratches[1], me, ONE, ANY)
        take_back(box, g, card, at, covered, me)


@rule
def compare_ways_out(box, g, options, count, scratches, found):
    """Write what the merchant finds for each place of a trader that lost a contest, and what it finds there anew."""
    me, company, rank = whole(g.player), whole(g.company), whole(g.attacker_rank)
    give_way(box, g, options, count, scratches[0])
    look_around(box, g, scratches[1], me)
    first = whole((g.turn - me) % box.players)
    for i in range(count):
        goal = options[i] - COMPANY
        moves = options[i] != SLOT and goal != company
        if moves:
            transfer(g, company, rank, goal)
        for at in range(OPEN_PORTS):
            survey(box, g, scratches[1], at, me)
        found[i] = (
            scratches[0].worth[i],
            standing(box, g, scratches[1], me) + coming_round(box, scratches[1], me, first, ANY),
        )
        if moves:
            come_back(g, company, rank, goal)


@entry
def compare(boxes, games, options, scratches, found):
    for n in range(len(games)):
        count = legal(boxes[0], games[n], options)
        if games[n].phase == TRADERS:
            compare_moves(boxes[0], games[n], options, count, scratches, found[n])
        elif games[n].phase == YIELD:
            compare_ways_out(boxes[0], games[n], options, count, scratches, found[n])
        else:
            compare_ships(boxes[0], games[n], options, count, scratches, found[n])


def compared(ruleset, phase):
    """(options, 2): what was compared in all decisions of a phase."""
    games, *_ = decisions(ruleset)
    games = copy_games(games, np.flatnonzero(games["phase"] == phase))
    found = np.full((len(games), MAX_OPTIONS, 2), np.nan)
    box, scratches = make_box(ruleset), np.zeros(2, SCRATCH)
    compare(attributes(box), attributes(games), np.empty(MAX_OPTIONS, np.int64), attributes(scratches), found)
    return found[~np.isnan(found[..., 0])]


def supplies_of_one_slot():
    """Numbers of contracts left that the cache keeps in the same slot, one after the other."""
    weights = [int(COUNT) ** (N_KINDS - 1 - kind) for kind in range(N_KINDS)]
    supplies = [np.array(left) for left in product((0, 1, 3), repeat=N_KINDS)]
    return [pair for pair in combinations(supplies, 2) if (pair[0] - pair[1]) @ weights % CACHE_SLOTS == 0]


def test_a_slot_of_the_cache_is_not_taken_for_another():
    games, _, masks, dice = decisions(Ruleset())
    rows = np.flatnonzero(np.isin(games["phase"], (TRADERS, SHIP, TAKE)))
    pairs, differing = supplies_of_one_slot()[:10], 0
    for left in pairs:
        asked = copy_games(games, np.repeat(rows, 2))
        asked["supply"] = np.tile(left, (len(rows), 1))
        views = Views(Ruleset(), asked, np.repeat(masks[rows], 2, 0), np.repeat(dice[rows], 2))
        together = Merchant().act(views)
        for first in range(2):
            own = Views(Ruleset(), asked[first::2], views.mask[first::2], views.dice[first::2])
            np.testing.assert_array_equal(Merchant().act(own), together[first::2])
        differing += (together[::2] != together[1::2]).sum()
    assert pairs and differing > 100


@rulesets
def test_only_ports_and_distributions_that_a_move_matters_to_are_looked_at_anew(ruleset):
    found = compared(ruleset, TRADERS)
    assert len(found) > 1000
    np.testing.assert_allclose(*found.T, rtol=0, atol=CLOSE)


@rulesets
def test_a_trader_that_gives_way_is_judged_like_one_that_stands_there(ruleset):
    found = compared(ruleset, YIELD)
    assert len(found) > 50
    np.testing.assert_allclose(*found.T, rtol=0, atol=CLOSE)


@rulesets
def test_a_card_that_is_tried_at_a_port_promises_what_it_would_there(ruleset):
    found = compared(ruleset, SHIP)
    assert len(found) > 1000
    np.testing.assert_allclose(*found.T, rtol=0, atol=CLOSE)
