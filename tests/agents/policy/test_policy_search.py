"""The search of a policy: repeatable, by what a seat may know, with values of games that are really played."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from borneo_agents.policy.agent import DOUBTFUL, Policy
from borneo_agents.policy.network import Layer, logits_of
from borneo_agents.policy.search import OptionSearch, SearchConfig
from bot_games import decisions, determinized, play
from networks import PARTS, in_eight_bits, network, searcher, shown_to_critic
from positions import position

from borneo_env import Batch, Ruleset, resample
from borneo_env.agent import Random, Views

BOARD, CARD = Ruleset("board", 4), Ruleset("card", 3)
MODEL = searcher(liking=0.5)


def some(ruleset=BOARD, nth=14):
    """The games, views, masks and dice of some decisions of all sorts."""
    return tuple(column[::nth].copy() for column in decisions(ruleset))


def views_of(ruleset=BOARD, nth=14):
    return Views(ruleset, *some(ruleset, nth)[1:])


def one_of(views, i):
    return Views(views.ruleset, views.games[i : i + 1], views.mask[i : i + 1], views.dice[i : i + 1])


# ---------------------------------------------------------------- values


def outcomes(batch, lead_counts):
    """What games that are over brought each player: the win, less par, and a part of the lead of a dozen points."""
    first, points, players = batch.places() == 1, batch.scores().astype(float), batch.ruleset.players
    lead = (points - (points.sum(1, keepdims=True) - points) / (players - 1)) / 12
    return first / first.sum(1, keepdims=True) - 1 / players + lead_counts * np.clip(lead, -1.5, 1.5)


def values_by_hand(model, views, actions, turns):
    """The mean values of the deciders after actions, over turns that the policy plays on; and how often it was asked.

    The second turn counts twice as much as the first, the third three times.

    All in the first determinization. Forced moves are played without asking, so a turn that has none but these begins
    with the next one.
    """
    batch = Batch(len(views), views.ruleset, finished="hold", skip_forced=False)
    batch.games[:] = determinized(views.games, views.dice, 0)
    batch.refresh()
    me, players = batch.player.copy(), views.ruleset.players
    values, moments, asked = np.zeros(len(views)), np.zeros(len(views), int), np.zeros(len(views), int)
    begun, rows, moves = np.zeros(len(views), bool), np.arange(len(views)), actions
    while len(rows):
        turn = batch.games["turn"][rows].copy()
        batch.step(moves, rows)
        begun[rows] |= batch.games["turn"][rows] != turn
        free = (batch.player >= 0) & (batch.mask.sum(1) > 1)
        now = np.flatnonzero(free & begun & (moments < turns))
        shown = shown_to_critic(batch, np.maximum(batch.player, 0))
        found = logits_of(in_eight_bits(model.critic), shown)
        moments[now] += 1
        values[now] += moments[now] * found[now, (me[now] - batch.player[now]) % players]
        asked[now] += 1
        begun[now] = False
        rows = np.flatnonzero((batch.player >= 0) & (moments < turns))
        asked[rows] += free[rows]
        seen = batch.observe(np.maximum(batch.player, 0))
        likings = logits_of(model.rollout or model.layers, seen)
        moves = np.where(batch.mask, likings, -np.inf)[rows].argmax(1)
    over = outcomes(batch, 3.0 / 5)[np.arange(len(views)), me]
    left = [sum(range(moment + 1, turns + 1)) for moment in moments]
    return (values + np.where(batch.player < 0, over, 0) * left) / sum(range(1, turns + 1)), asked


LENGTHS = [(turns, parts) for turns in (1, 3) for parts in PARTS] + [(200, "with the actor")]


@pytest.mark.parametrize(("turns", "parts"), LENGTHS)
@pytest.mark.parametrize("ruleset", [BOARD, CARD], ids=["board", "card"])
def test_options_are_behind_by_the_values_of_games_that_are_played_on(ruleset, turns, parts):
    """Two options in one determinization; both count what the actor thought of them."""
    model, views = searcher(ruleset.edition, liking=4, **PARTS[parts]), views_of(ruleset, 11)
    first, last = views.mask.argmax(1), views.mask.shape[1] - 1 - views.mask[:, ::-1].argmax(1)
    rows = np.arange(len(views))
    two = np.zeros_like(views.mask)
    two[rows, first] = two[rows, last] = True
    log_probs = np.where(two, np.random.default_rng(1).normal(0, 1, two.shape), -np.inf)
    search = OptionSearch(model, SearchConfig(turns=turns, sampled=False, value_weight=10.0))
    logits = search.with_budget(views, log_probs, 1)
    (value, asked), (other, asked_too) = (values_by_hand(model, views, option, turns) for option in (first, last))
    wanted = log_probs[rows, first] - log_probs[rows, last] + 10 * (value - other)
    found = logits[rows, first] - logits[rows, last]
    certain = asked + asked_too > 0  # else there is another determinization
    np.testing.assert_allclose(found[certain], wanted[certain], atol=2e-3)
    assert np.count_nonzero(value != other) > 20 and certain.sum() > 30
    assert (logits.max(1) == 0).all() and ((logits > -np.inf) == two).all()


@pytest.mark.parametrize(("players", "turns"), [(3, 4), (4, 4), (5, 5)])
def test_playouts_are_cut_off_after_a_round_but_not_before_four_turns(players, turns):
    views = views_of(Ruleset("board", players), 40)
    log_probs = np.where(views.mask, 0.0, -np.inf)
    usual, same, other = (
        OptionSearch(MODEL, SearchConfig(turns=length)).with_budget(views, log_probs, 60)
        for length in (SearchConfig().turns, turns, 9 - turns)
    )
    np.testing.assert_array_equal(usual, same)
    assert (usual != other).any()


def certain_critic(model):
    """The same with a critic who finds all seats equal at all times: only the end of a game counts."""
    last = model.critic[-1]
    return replace(model, critic=[*model.critic[:-1], Layer(last.weights * 0, last.biases * 0)])


def contracts_at_the_end():
    """Player 0 has 5 points: with same-4 for two doubles 11, with each-1 for four cards 7; player 1 has 8."""
    wares = ["pepper double", "pepper double", "cinnamon single", "cloves single", "nutmeg single"]
    game = position(phase="last contract", turn=3, warehouses={0: wares}, fulfilled={1: ["same-4"]})
    views = Views(game.ruleset, *game.batch.view(np.array([0])))
    options = np.flatnonzero(views.mask[0])
    return views, {game.batch.actions.text(int(action), game.phase): action for action in options}


def test_the_contract_that_decides_the_game_is_found_whatever_the_actor_thinks():
    views, by_text = contracts_at_the_end()
    model = certain_critic(searcher(liking=0.01))
    for disliked in by_text.values():  # each in turn has the least logit, about 0.03 of probability
        model.layers[-1].biases[:] = 0
        model.layers[-1].biases[disliked] = -3
        (action,) = Policy(model, budget=40).act(views)
        assert action == by_text["contract same-4 pepper"]
    model.layers[-1].biases[by_text["contract each-1"]] = 2
    (alone,) = Policy(model, budget=0).act(views)
    assert alone == by_text["contract each-1"], "the actor would have played something else"


@pytest.mark.parametrize(("probability", "found"), [(0.001, True), (0.0001, False)])
def test_what_the_actor_hardly_thinks_of_is_tried_if_it_has_more_than_half_a_thousandth(probability, found):
    views, by_text = contracts_at_the_end()
    best = by_text["contract same-4 pepper"]
    model = certain_critic(searcher(liking=0.01))
    model.layers[-1].biases[best] = np.log(probability * (len(by_text) - 1))
    policy = Policy(model, budget=40)
    assert Policy(model, budget=0).probabilities(views)[0, best] == pytest.approx(probability, rel=0.2)
    assert (policy.act(views)[0] == best) == found


# ---------------------------------------------------------------- decisions


def test_without_a_budget_the_network_decides_alone():
    views, alone = views_of(), Policy(network(liking=0.5))
    for policy in (Policy(MODEL, budget=0), Policy(MODEL, milliseconds=0)):
        np.testing.assert_array_equal(policy.probabilities(views), alone.probabilities(views))
        np.testing.assert_array_equal(policy.act(views), alone.act(views))
    assert (Policy(MODEL, budget=100).act(views) != alone.act(views)).sum() > 5


def test_options_in_doubt_are_searched_and_no_others():
    model, views = searcher(liking=20), views_of()
    before, after = (Policy(model, budget=budget).probabilities(views) for budget in (0, 60))
    doubtful = before >= DOUBTFUL
    several = doubtful.sum(1) > 1
    assert 10 < several.sum() < len(views) - 10, "some are in doubt, some are not"
    np.testing.assert_array_equal(after[~several], before[~several])
    rows = np.flatnonzero(several)
    log_probs = np.log(before[rows], where=doubtful[rows], out=np.full(before[rows].shape, -np.inf))
    some = Views(BOARD, views.games[rows], views.mask[rows], views.dice[rows])
    wanted = np.exp(OptionSearch(model).with_budget(some, log_probs, 60))
    np.testing.assert_allclose(after[rows], wanted / wanted.sum(1, keepdims=True), atol=1e-6)


def test_without_any_time_the_actor_decides():
    """Decisions are due though the first playout would come too late."""
    views = views_of()
    log_probs = np.where(views.mask, np.random.default_rng(1).normal(0, 1, views.mask.shape), -np.inf)
    logits = OptionSearch(MODEL).with_time(views, log_probs, -1.0)
    np.testing.assert_allclose(logits, log_probs - log_probs.max(1, keepdims=True))


@pytest.mark.parametrize("task", ["contracts", "ranks"])
def test_a_policy_that_has_learnt_something_else_than_to_win_does_not_search(task):
    views, other = views_of(), replace(MODEL, card=replace(MODEL.card, task=task))
    np.testing.assert_array_equal(Policy(other, budget=100).act(views), Policy(other, budget=0).act(views))


def test_a_decision_does_not_depend_on_the_batch_it_is_asked_in():
    views, policy = views_of(), Policy(MODEL, budget=60)
    together = policy.act(views)
    assert views.mask[np.arange(len(views)), together].all()
    np.testing.assert_array_equal(policy.act(views), together)
    alone = [Policy(MODEL, budget=60).act(one_of(views, i))[0] for i in reversed(range(len(views)))]
    np.testing.assert_array_equal(alone[::-1], together)


def test_threads_do_not_matter():
    views = views_of()
    log_probs = np.where(views.mask, 0.0, -np.inf)
    alone, *together = (OptionSearch(MODEL).with_budget(views, log_probs, 60, threads) for threads in (1, 2, 5))
    assert alone[views.mask].any()
    for logits in together:
        np.testing.assert_array_equal(logits, alone)


def test_dice_and_budget_matter():
    views = views_of()
    other = Views(BOARD, views.games, views.mask, views.dice[::-1].copy())
    actions = Policy(MODEL, budget=60).act(views)
    assert (actions != Policy(MODEL, budget=60).act(other)).any()
    assert (actions != Policy(MODEL, budget=600).act(views)).any()


def test_a_policy_thinks_on_the_cores_there_are(monkeypatch):
    asked = []
    monkeypatch.setattr(OptionSearch, "with_budget", lambda *arguments: asked.append(arguments[-1]) or arguments[2])
    monkeypatch.setattr("borneo_agents.policy.agent.available_cores", lambda: 3)
    Policy(MODEL).act(views_of(nth=40))
    assert asked == [3]


def test_what_a_player_cannot_know_does_not_matter():
    """Complete games instead of views, the real ones and others that look the same, lead to the same choice."""
    games, views, mask, dice = some()
    expected = Policy(MODEL, budget=60).act(Views(BOARD, views, mask, dice))
    for seed in (1, 2):
        twins = resample(games, games["player"], np.random.default_rng(seed))
        assert twins.tobytes() != games.tobytes()
        np.testing.assert_array_equal(Policy(MODEL, budget=60).act(Views(BOARD, twins, mask, dice)), expected)
    np.testing.assert_array_equal(Policy(MODEL, budget=60).act(Views(BOARD, games, mask, dice)), expected)


@pytest.mark.parametrize("sample", [False, True])
@pytest.mark.parametrize("effort", [{"budget": 20}, {"milliseconds": 0.2}], ids=["budget", "time"])
@pytest.mark.parametrize("ruleset", [Ruleset(players=3), CARD], ids=["board", "card"])
def test_a_policy_that_searches_plays_whole_games(ruleset, effort, sample):
    """An illegal action would raise; forced ones are asked for too."""
    agents = [Policy(searcher(ruleset.edition, liking=0.5), sample, **effort), Random()]
    assert (play(agents, ruleset, games=2, skip_forced=False).player < 0).all()


@pytest.mark.parametrize("network", ["layers", "critic"])
def test_whatever_the_weights_are_actions_are_legal(network):
    model, views = searcher(width=4), views_of(nth=40)
    for layer in getattr(model, network):
        layer.weights[:] *= np.float32(1e37)
        layer.biases[::2] = np.float32(-3e38)
    for sample in (False, True):
        actions = Policy(model, sample, budget=20).act(views)
        assert views.mask[np.arange(len(views)), actions].all()
    assert np.allclose(Policy(model, budget=20).probabilities(views).sum(1), 1)


@pytest.mark.parametrize("effort", [{"budget": 20}, {"milliseconds": 0.2}], ids=["budget", "time"])
def test_no_views_get_no_actions(effort):
    views = views_of()
    nobody = Views(BOARD, views.games[:0], views.mask[:0], views.dice[:0])
    assert Policy(MODEL, **effort).act(nobody).shape == (0,)


# ---------------------------------------------------------------- settings


def test_all_networks_are_in_the_fingerprint():
    seen = set()
    for part, number in product(("layers", "critic", "rollout"), (0, -1)):
        for change in (0, 1):
            model = searcher(width=4, rollout=True)
            getattr(model, part)[number].biases[-1] += change
            seen.add(Policy(model).fingerprint)
    assert len(seen) == 7
    for part in ("critic", "rollout"):
        assert Policy(replace(searcher(width=4, rollout=True), **{part: None})).fingerprint not in seen


def test_what_the_card_says_of_playing_is_in_the_fingerprint():
    model = searcher(width=4, rollout=True)
    cards = [
        replace(model.card, settings=model.card.settings | {"margin_coef": 5.0}),
        replace(model.card, task="ranks"),
        replace(model.card, players=[3, 5]),
    ]
    models = [model, *(replace(model, card=card) for card in cards)]
    assert len({Policy(one).fingerprint for one in models}) == 4
    assert Policy(replace(model, card=replace(model.card, command="another"))).fingerprint == Policy(model).fingerprint


def test_more_options_than_there_is_room_for_are_refused():
    """The compiled loops would write beyond their scratch memory."""
    views = views_of(nth=300)
    with pytest.raises(ValueError, match="no decision has more than 64 options"):
        OptionSearch(MODEL).with_budget(views, np.zeros(views.mask.shape), 4)
