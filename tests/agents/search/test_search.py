"""The search: legal and repeatable play by what a seat may know, playouts that are really played, and chances."""

from functools import cache

import numpy as np
import pytest
from borneo_agents.scripted.agents import Merchant
from borneo_agents.scripted.valuation.win_probability import win_probability
from borneo_agents.search import determinization
from borneo_agents.search.determinization import DETERMINIZED
from borneo_agents.search.ismcts import SLICE, Ismcts
from borneo_agents.search.playouts import make_playout_scratch
from bot_games import EVERY_RULESET, decisions, play
from positions import position

from borneo_env import Batch, Ruleset, redact, resample
from borneo_env.agent import Agent, Random, UnknownAgent, Views, ask, check_agents, find_agent
from borneo_env.engine.game import BORNEO
from borneo_env.engine.state import HAND, OVER, PHASES, SEATS, WAREHOUSE, copy_games, make_box
from kontor.compile import attributes, rule

BOARD, TINY = Ruleset(), Ruleset(tables="tiny")

# Whole games


@pytest.mark.parametrize("ruleset", EVERY_RULESET)
def test_bots_play_every_ruleset_to_the_end(ruleset):
    agent = Ismcts(budget=20)
    assert isinstance(agent, Agent)
    batch = play([agent, Random()], ruleset, games=2)
    assert (batch.places().min(1) == 1).all()


def test_forced_decisions_are_answered_too():
    assert (play([Ismcts(budget=5)], TINY, games=2, skip_forced=False).player < 0).all()


def test_the_same_seed_gives_the_same_games():
    first, again = (play([Ismcts(budget=20)], TINY, games=3) for _ in range(2))
    assert first.games.tobytes() == again.games.tobytes()
    assert first.games.tobytes() != play([Ismcts(budget=20)], TINY, games=3, seed=6).games.tobytes()


# One decision


@cache
def some(every=14):
    """The games, views, masks and dice of some decisions of all sorts."""
    return tuple(column[::every].copy() for column in decisions(BOARD))


def some_views():
    return Views(BOARD, *some()[1:])


def one_of(views, i):
    return Views(views.ruleset, views.games[i : i + 1], views.mask[i : i + 1], views.dice[i : i + 1])


def test_the_decisions_are_of_all_sorts():
    phases = {PHASES[phase] for phase in some()[0]["phase"]}
    assert phases >= {"place", "contract", "traders", "commit", "ship", "take", "drop"}


def test_a_decision_does_not_depend_on_the_batch_it_is_asked_in():
    views, agent = some_views(), Ismcts(budget=30)
    together = agent.act(views)
    assert views.mask[np.arange(len(views)), together].all()
    np.testing.assert_array_equal(agent.act(views), together)
    alone = [Ismcts(budget=30).act(one_of(views, i))[0] for i in reversed(range(len(views)))]
    np.testing.assert_array_equal(alone[::-1], together)


def test_what_a_player_cannot_know_does_not_matter():
    """Complete games instead of views, the real ones and others that look the same, lead to the same choice."""
    games, views, mask, dice = some()
    expected = Ismcts(budget=30).act(Views(BOARD, views, mask, dice))
    for seed in (1, 2):
        twins = resample(games, games["player"], np.random.default_rng(seed))
        assert twins.tobytes() != games.tobytes()
        np.testing.assert_array_equal(Ismcts(budget=30).act(Views(BOARD, twins, mask, dice)), expected)
    np.testing.assert_array_equal(Ismcts(budget=30).act(Views(BOARD, games, mask, dice)), expected)


def test_deciding_leaves_the_views_as_they_were():
    games, _, mask, dice = some()
    before = [column.tobytes() for column in (games, mask, dice)]
    Ismcts(budget=30).act(Views(BOARD, games, mask, dice))
    assert [column.tobytes() for column in (games, mask, dice)] == before


# Budgets and playouts


def asked(bot, views):
    """What a bot plays, and the scratch it has worked at."""
    made, make = [], bot._make_scratch
    bot._make_scratch = lambda game: made.append(make(game)) or made[0]
    actions = bot.act(views)
    del bot._make_scratch
    return actions, made[0]


def edges_of(tree, node):
    """The edges of a node."""
    edges, edge = [], int(tree.nodes["edge"][node])
    while edge >= 0:
        edges.append(tree.edges[edge])
        edge = int(tree.edges["next"][edge])
    return edges


@pytest.mark.parametrize("budget", [1, 40, 333])
def test_ismcts_plays_as_many_playouts_as_it_may(budget):
    views, bot = some_views(), Ismcts(budget)
    for i in range(0, len(views), 5):
        (action,), scratch = asked(bot, one_of(views, i))
        edges = edges_of(scratch.tree, 0)
        assert sum(edge["visits"] for edge in edges) == budget
        assert {int(edge["action"]) for edge in edges} <= set(np.flatnonzero(views.mask[i]))
        assert action in [e["action"] for e in edges if e["visits"] == max(e["visits"] for e in edges)]


def test_ismcts_tells_the_share_of_its_tries():
    views, bot = some_views(), Ismcts(40)
    shares = bot.probabilities(views)
    assert shares.shape == views.mask.shape and not shares[~views.mask].any()
    np.testing.assert_allclose(shares.sum(1), 1.0)
    assert (shares[np.arange(len(views)), bot.act(views)] == shares.max(1)).all()
    for i in range(0, len(views), 5):
        _, scratch = asked(bot, one_of(views, i))
        tried = {int(edge["action"]): edge["visits"] / 40 for edge in edges_of(scratch.tree, 0)}
        assert tried == {int(action): shares[i, action] for action in np.flatnonzero(shares[i])}


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_playouts_are_cut_off_after_so_many_turns(turns):
    """The last playout lies on the table: so many players had their turn, or the game is over."""
    views, agent = some_views(), Ismcts(budget=4, turns=turns)
    placed = np.flatnonzero((views.games["placed"] == 12) & (views.games["ended"] == 0))
    passed = []
    for i in placed:
        _, scratch = asked(agent, one_of(views, i))
        end = scratch.playout.games[DETERMINIZED]
        if not end["ended"]:
            passed.append((end["turn"] - views.games["turn"][i]) % BOARD.players)
    assert len(passed) > 20
    assert set(passed) == ({0, 1} if turns == 0 else {turns})  # a turn may end with the option itself


def test_a_time_is_kept_to_by_more_playouts():
    views = one_of(some_views(), 0)
    agent = Ismcts(milliseconds=50)
    for _ in range(2):  # the first time may compile
        (action,), scratch = asked(agent, views)
    assert views.mask[0, action]
    playouts = sum(edge["visits"] for edge in edges_of(scratch.tree, 0))
    assert playouts > SLICE and playouts % SLICE == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("budget=0", "a budget is a number of playouts from 1 to 1000000, not 0"),
        ("budget=2.5", "a budget is a number of playouts from 1 to 1000000, not 2.5"),
        ("budget=many", "a budget is a number of playouts from 1 to 1000000, not 'many'"),
        ("budget=99999999999", "a budget is a number of playouts from 1 to 1000000, not 99999999999"),
        ("budget=True", "a budget is a number of playouts from 1 to 1000000, not True"),
        ("milliseconds=0", "milliseconds are a number above 0, up to 3600000, not 0"),
        ("milliseconds=soon", "milliseconds are a number above 0, up to 3600000, not 'soon'"),
        ("milliseconds=1e999", "milliseconds are a number above 0, up to 3600000, not inf"),
        ("milliseconds=-1e999", "milliseconds are a number above 0, up to 3600000, not -inf"),
        ("milliseconds=nan", "milliseconds are a number above 0, up to 3600000, not 'nan'"),
        (f"milliseconds={9**999}", "milliseconds are a number above 0, up to 3600000, not "),
        ("turns=-1", "turns are a number from 0 to 1000, not -1"),
        ("turns=1.0", "turns are a number from 0 to 1000, not 1.0"),
        ("turns=9999999999999999999999", "turns are a number from 0 to 1000, not 9999999999999999999999"),
        ("value=points", "there is no value 'points' to look for; use one of win, place, score"),
        ("c_puct=-1", "c_puct is a number from 0 to 1000, not -1"),
        ("c_puct=much", "c_puct is a number from 0 to 1000, not 'much'"),
        ("prior_weight=1.5", "prior_weight is a number from 0 to 1, not 1.5"),
        ("prior_weight=no", "prior_weight is a number from 0 to 1, not 'no'"),
        ("speed=3", "no argument 'speed'; its arguments are: budget, milliseconds, turns, policy"),
    ],
)
def test_bad_arguments_are_refused_with_a_reason(arguments, reason):
    with pytest.raises(UnknownAgent, match=reason):
        find_agent(f"ismcts:{arguments}")


@pytest.mark.parametrize("policy", ["genius", "[1]"])
def test_a_policy_that_a_game_has_not_is_refused_before_it_is_dealt(policy):
    agent = find_agent(f"ismcts:policy={policy}")
    with pytest.raises(UnknownAgent, match=r"no policy .* use one of random, contractor, climber, merchant"):
        check_agents({"it": agent}, BOARD)
    with pytest.raises(UnknownAgent, match=r"no policy .* for playouts"):
        agent.act(one_of(some_views(), 0))


# Positions

WARES = ["pepper double", "pepper double", "cinnamon single", "cloves single", "nutmeg single"]


def views_of(game):
    return Views(game.ruleset, *game.batch.view(np.array([0])))


def move(bot, game):
    """What a bot plays in a position, in words."""
    (action,) = bot.act(views_of(game))
    return game.batch.actions.text(int(action), game.phase)


@pytest.mark.parametrize("policy", ["random", "merchant"])
def test_takes_the_contract_that_wins(policy):
    """Player 0 has 5 points: with same-4 for two doubles 11, with each-1 for four cards 7; player 1 has 8."""
    game = position(phase="last contract", turn=3, warehouses={0: WARES}, fulfilled={1: ["same-4"]})
    assert {"contract each-1", "contract same-4 pepper"} <= game.legal()
    assert move(Ismcts(budget=40, policy=policy), game) == "contract same-4 pepper"


@pytest.mark.parametrize("policy", ["random", "merchant"])
def test_takes_the_last_contract_that_a_rival_needs(policy):
    """Only one same-4 is left. Player 0 leads by 1 point, but player 1 would win with it."""
    game = position(
        phase="last contract",
        turn=3,
        warehouses={0: ["pepper single"] * 4, 1: ["nutmeg double"] * 2},
        fulfilled={0: ["each-1"], 1: ["each-1"]},
        supply={"same-4": 1},
    )
    assert move(Ismcts(budget=40, policy=policy), game) == "contract same-4 pepper"


def test_everyone_in_the_tree_looks_after_themselves():
    """Where player 1 decides after player 0, the totals are player 1's: the contract wins for sure, nothing loses."""
    game = position(
        phase="last contract",
        turn=3,
        warehouses={0: ["pepper double", "pepper double", "cloves single"], 1: ["nutmeg double"] * 2},
        fulfilled={0: ["same-4"], 1: ["same-4"]},
        supply={"same-4": 1},
    )
    (action,), scratch = asked(Ismcts(budget=400, policy="random", c_puct=4.0), views_of(game))
    assert game.batch.actions.text(int(action), game.phase) == "contract same-4 pepper"
    game.play("contract none")
    assert (game.player, game.legal()) == (1, {"contract none", "contract same-4 nutmeg"})
    nodes = [edges_of(scratch.tree, node) for node in range(scratch.tree.size[0])]
    take = game.batch.actions.action("contract same-4 nutmeg", game.phase)
    (theirs,) = [edges for edges in nodes[1:] if {int(edge["action"]) for edge in edges} == {0, take}]
    share = {int(edge["action"]): edge["total"] / edge["visits"] for edge in theirs}
    assert share == {0: 0.0, take: 1.0}


# What a searcher knows


knowledge = BORNEO.of(determinization).knowledge


@rule
def key_of(boxes, scratch, games, i, me):
    scratch.games[DETERMINIZED] = games[i]
    return knowledge(boxes[0], scratch, me)


def test_games_have_the_same_key_if_and_only_if_the_searcher_cannot_tell_them_apart():
    games = some(6)[0]
    twins = resample(games, games["player"], np.random.default_rng(1))
    both, scratch = np.concatenate([games, twins]), make_playout_scratch(BORNEO)
    for seat in range(BOARD.players):
        keys = [int(key_of(attributes(make_box(BOARD)), scratch, attributes(both), i, seat)) for i in range(len(both))]
        seen = [view.tobytes() for view in redact(both, seat)]
        assert len(set(keys)) == len(set(seen)) == len(set(zip(keys, seen, strict=True)))
        mine = np.flatnonzero(games["player"] == seat)
        assert len(mine) and all(keys[i] == keys[len(games) + i] for i in mine)
        assert len(set(keys)) > len(games)  # the others can tell some of the twins apart


# Chances


@pytest.mark.parametrize("players", [3, 4, 5])
def test_chances_are_chances(players):
    ruleset = Ruleset(players=players)
    games = decisions(ruleset)[0]
    before = games.tobytes()
    out = win_probability(ruleset, games)
    assert out.shape == (len(games), players)
    np.testing.assert_allclose(out.sum(1), 1)
    assert ((out > 0) & (out < 1)).all()
    assert games.tobytes() == before


def test_the_chances_of_a_finished_game_are_the_shares_of_the_win():
    batch = Batch(300, tables="tiny", players=3, seed=3, finished="hold")
    batch.play_random()
    won = batch.places() == 1
    assert (batch.games["phase"] == OVER).all() and (won.sum(1) > 1).any()
    np.testing.assert_allclose(win_probability(batch.ruleset, batch.games), won / won.sum(1, keepdims=True))


def test_chances_foretell_who_wins():
    """From the middle of merchants' games, much better than by knowing nothing; and as often as they say."""
    batch = Batch(200, BOARD, seed=11, finished="hold")
    middle = batch.games["ports_left"].max() // 2
    halfway = copy_games(batch.games)
    merchant, seated = [Merchant()], np.zeros((200, BOARD.players), np.int64)
    while len(rows := np.flatnonzero(batch.player >= 0)):
        young = batch.games["ports_left"] >= middle
        halfway[young] = batch.games[young]
        batch.step(ask(batch, rows, merchant, seated), rows)
    won = batch.places() == 1
    chance = win_probability(BOARD, halfway)
    surprise = -(won * np.log(chance)).sum(1) / won.sum(1)
    assert surprise.mean() < np.log(BOARD.players) - 0.15
    favourite = chance.argmax(1)
    right = won[np.arange(200), favourite] / won.sum(1)
    assert abs(right.mean() - chance.max(1).mean()) < 0.12


def test_chances_do_not_depend_on_what_the_seats_are_called():
    """In a game of five, everybody moves one seat to the left: so do their chances."""
    ruleset = Ruleset(players=5)
    games = decisions(ruleset)[0]
    moved = copy_games(games)
    for name in ("hand_size", "hand_since", "stock", "fulfilled", "tally"):
        moved[name] = np.roll(games[name], 1, axis=1)
    for name in ("ladder", "player", "turn", "start", "pirates"):
        moved[name] = np.where(games[name] >= 0, (games[name] + 1) % SEATS, games[name])
    for first in (HAND, WAREHOUSE):
        owned = (games["place"] >= first) & (games["place"] < first + SEATS)
        moved["place"][owned] = first + (games["place"][owned] - first + 1) % SEATS
    np.testing.assert_allclose(win_probability(ruleset, moved), np.roll(win_probability(ruleset, games), 1, axis=1))
