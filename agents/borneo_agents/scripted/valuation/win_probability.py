"""Every player's win probability in a complete game: a softmax of weighted features, fitted to merchants' games.

`python recipes/fit_win_probability.py` plays those games and prints WEIGHTS anew.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from borneo_agents.scripted.valuation.goods import doubles, income, jokers_of, prospects, spices
from borneo_agents.scripted.valuation.sharing import STRONG
from borneo_env.engine.rules.ending import contracts_of, place_of, score
from borneo_env.engine.state import CARDS, HAND, N_COMPANIES, OPEN_PORTS, OVER, SEATS, make_box
from borneo_env.ruleset import Ruleset
from kontor.compile import attributes, entry, rule

LONG = 12.0  # ports to come at which a game is young

# Each feature with its weight at the end of a game, and what is added to it in a young one.
WEIGHTS = (
    ("points", 0.369, -0.194),
    ("points that contracts promise", 0.234, -0.350),
    ("jokers", 0.445, -0.415),
    ("spices", 0.093, -0.091),
    ("of the most frequent spice", 0.068, -0.137),
    ("of the rarest spice", 0.362, -1.098),
    ("doubles", 0.026, 0.194),
    ("hand cards", 0.078, 0.263),
    ("whose turn it is", 0.041, 0.090),
    ("turns to wait", -0.138, 0.099),
    ("contracts", 0.226, -2.262),
    ("traders on rank 1", 0.062, 0.381),
    ("traders on rank 2", -0.003, 0.128),
    ("traders on rank 3", -0.047, -0.077),
    ("traders below", -0.014, -0.550),
    ("cargo that the ports promise", 0.627, -0.309),
    ("hand cards of own companies", 0.246, 0.100),
    ("first ranks of short ladders", -0.198, -0.254),
)
FEATURES = len(WEIGHTS)
(POINTS, PROMISED, JOKERS, SPICES, MOST, RAREST, DOUBLES, HAND_CARDS, TURN, WAIT, CONTRACTS, RANK, _, _, LOWER, CARGO,
 OWN_COMPANIES, SHORT) = range(FEATURES)  # fmt: skip
AT_THE_END = np.array([end for _, end, _ in WEIGHTS])
WHEN_YOUNG = np.array([young for _, _, young in WEIGHTS])

RANK_PAY = np.zeros(SEATS * 3)  # the part of a company's cargo that a trader may hope for, by rank
RANK_PAY[:5] = 0.6, 0.35, 0.18, 0.08, 0.03


@entry
def win_probabilities(box, g, features, out):
    """Write each player's win probability; once the game is over, each one's share of the win."""
    if g.phase == OVER:
        share_win(box, g, out)
        return
    gather_features(box, g, features)
    young = youth(g)
    highest = -np.inf
    for player in range(box.players):
        rating = 0.0
        for feature in range(FEATURES):
            rating += features[player, feature] * (AT_THE_END[feature] + young * WHEN_YOUNG[feature])
        out[player] = rating
        highest = max(highest, rating)
    total = 0.0
    for player in range(box.players):
        out[player] = np.exp(out[player] - highest)  # exp has an end
        total += out[player]
    for player in range(box.players):
        out[player] /= total


@entry
def win_probabilities_of_games(boxes, games, features, out):
    """Write the win probabilities of every game's players."""
    for i in range(len(games)):
        win_probabilities(boxes[0], games[i], features, out[i])


def win_probability(ruleset: Ruleset, games: NDArray[np.void]) -> NDArray[np.float64]:
    """(games, players): each player's win probability in complete games."""
    out = np.zeros((len(games), ruleset.players))
    win_probabilities_of_games(attributes(make_box(ruleset)), attributes(games), np.zeros((SEATS, FEATURES)), out)
    return out


@rule
def youth(g):
    """1 for a young game, 0 when the last port is open."""
    return min(LONG, float(g.ports_left)) / LONG


@rule
def share_win(box, g, out):
    winners = 0.0
    for player in range(box.players):
        out[player] = 1.0 if place_of(box, g, player) == 1 else 0.0
        winners += out[player]
    for player in range(box.players):
        out[player] /= winners


@rule
def gather_features(box, g, features):
    """Write the features of every player."""
    features[:] = 0.0
    hoped = income(box, g)
    for player in range(box.players):
        gather_goods(box, g, player, hoped, features[player])
        away = (player + box.players - g.turn) % box.players
        features[player, HAND_CARDS] = g.hand_size[player]
        features[player, TURN] = 1.0 if away == 0 else 0.0
        features[player, WAIT] = away
    gather_ranks(g, features)
    gather_cargo(g, features)
    gather_hands(box, g, features)


@rule
def gather_goods(box, g, player, hoped, feature):
    have = spices(g, player)
    twice = doubles(g, player)
    jokers = jokers_of(g, player)
    feature[POINTS] = score(box, g, player)
    feature[PROMISED] = prospects(box, g, have, twice, jokers, hoped)
    feature[JOKERS] = jokers
    feature[SPICES] = have[0] + have[1] + have[2] + have[3]
    feature[MOST] = max(max(have[0], have[1]), max(have[2], have[3]))
    feature[RAREST] = min(min(have[0], have[1]), min(have[2], have[3]))
    feature[DOUBLES] = twice[0] + twice[1] + twice[2] + twice[3]
    feature[CONTRACTS] = contracts_of(g, player)


@rule
def gather_ranks(g, features):
    for company in range(N_COMPANIES):
        for rank in range(g.height[company]):
            features[g.ladder[company, rank], min(RANK + rank, LOWER)] += 1.0
        if g.height[company] > 0:
            features[g.ladder[company, 0], SHORT] += 1.0 / g.height[company]


@rule
def gather_cargo(g, features):
    """Share the cargo that lies at the ports by flags and ranks."""
    for place in range(OPEN_PORTS):
        flags = 0.0
        for company in range(N_COMPANIES):
            flags += g.shown[place, company]
        for company in range(N_COMPANIES):
            if g.shown[place, company] > 0:
                cargo = g.laid[place] * g.shown[place, company] / flags
                for rank in range(g.height[company]):
                    features[g.ladder[company, rank], CARGO] += cargo * RANK_PAY[rank]


@rule
def gather_hands(box, g, features):
    """Count the hand cards with three flags of a company in which their player stands high."""
    for card in range(CARDS):
        if HAND <= g.place[card] < HAND + SEATS:
            player = g.place[card] - HAND
            for company in range(N_COMPANIES):
                if box.strength[card, company] == STRONG:
                    features[player, OWN_COMPANIES] += high_rank(g, company, player)


@rule
def high_rank(g, company, player):
    """What the best of a player's traders on the first three ranks of a ladder may hope for."""
    for rank in range(min(int(g.height[company]), 3)):
        if g.ladder[company, rank] == player:
            return RANK_PAY[rank]
    return 0.0
