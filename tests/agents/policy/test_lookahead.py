"""Lookahead features of every option, by what a seat may know, for views and for batches alike."""

from functools import cache

import numpy as np
import pytest
from borneo_agents.policy.lookahead import (
    ADVICE,
    ADVISED,
    AS_GOOD,
    ENDS_TURN,
    GAIN,
    OPTION_FEATURES,
    OTHERS,
    OWN,
    lookahead_features,
    lookahead_in_batch,
)
from borneo_agents.scripted.agents import Merchant
from borneo_agents.scripted.dispatch import MERCHANT, Bots, act_games
from borneo_agents.scripted.scratch import make_scratch
from borneo_agents.search.fit_win_probability import features_of_games
from borneo_agents.search.win_probability import CONTRACTS, DOUBLES, FEATURES, MOST, POINTS, SPICES, win_probability
from bot_games import decisions as all_decisions
from bot_games import determinized
from positions import card, position

from borneo_env import Batch, Ruleset, resample
from borneo_env.agent import Views
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.jit import attributes
from borneo_env.engine.state import CHOICES, OVER, PHASES, SEATS, make_box

ROW = np.array([0])
BOARD, CARD = Ruleset("board", 4), Ruleset("card", 3)
RULESETS = [BOARD, CARD]
every = pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: ruleset.name)


def decisions(ruleset):
    """Every tenth decision of whole games: looking ahead takes its time."""
    return tuple(part[::10] for part in all_decisions(ruleset))


def views_of(ruleset=BOARD):
    """Decisions of whole games, as their players see them."""
    return Views(ruleset, *decisions(ruleset)[1:])


@cache
def features_of(ruleset=BOARD):
    """The features on these decisions."""
    return lookahead_features(views_of(ruleset))


def batch_of(ruleset=BOARD, **settings):
    """The same decisions as a batch of complete games."""
    games = decisions(ruleset)[0]
    batch = Batch(len(games), ruleset, finished="hold", **settings)
    batch.games[:] = games
    batch.refresh()
    return batch


def by_option(features):
    """(n, options, features): features as they are told, one after the other, sorted out."""
    return features.reshape(-1, MAX_OPTIONS, OPTION_FEATURES)


def opinions(features, mask):
    """(n, actions): what the merchant thinks of every action, 0 where it is not legal."""
    found = np.zeros(mask.shape, np.int8)
    for row, legal in enumerate(mask):
        found[row, legal] = by_option(features)[row, : legal.sum(), ADVICE]
    return found


# What the merchant says


@every
def test_the_merchants_own_action_is_advised_and_no_other(ruleset):
    views = views_of(ruleset)
    features = features_of(ruleset)
    assert (features.dtype, features.shape) == (np.int8, (len(views), MAX_OPTIONS * OPTION_FEATURES))
    advice = opinions(features, views.mask)
    assert advice.argmax(1).tolist() == Merchant().act(views).tolist()
    assert ((advice == ADVISED).sum(1) == 1).all()
    assert advice[advice < ADVISED].max() == AS_GOOD


def test_every_option_has_an_opinion_and_beyond_them_there_is_nothing():
    views = views_of()
    features, counts = by_option(features_of()), views.mask.sum(1, keepdims=True)
    assert np.array_equal(features[:, :, ADVICE] > 0, np.arange(MAX_OPTIONS) < counts)
    assert not features[np.arange(MAX_OPTIONS) >= counts].any()


@every
def test_other_actions_have_less_by_the_points_that_the_merchant_sees(ruleset):
    """Its scratch paper after each decision says what it thought of every option."""
    views, scratch = views_of(ruleset), make_scratch()
    paper, action = (np.empty(MAX_OPTIONS, np.int64), attributes(scratch)), np.empty(1, np.int64)
    wanted = np.zeros(views.mask.shape)
    for i in range(len(views)):
        one = Views(ruleset, *(part[i : i + 1] for part in (views.games, views.mask, views.dice)))
        act_games(MERCHANT, *one.arrays(), action, *paper)
        options = np.flatnonzero(views.mask[i])
        worth = scratch["worth"][0, : len(options)]
        wanted[i, options] = np.maximum(1, np.rint(120 - 20 * (worth.max() - worth)))
        wanted[i, action] = 127
    assert np.array_equal(opinions(features_of(ruleset), views.mask), wanted)
    assert len(np.unique(wanted)) > 60, "there are all sorts of differences"


@every
def test_the_decisions_are_of_all_sorts(ruleset):
    reached = {PHASES[phase] for phase in decisions(ruleset)[0]["phase"]}
    assert reached >= {"contract", "traders", "commit", "defend", "ship", "take"}
    if ruleset == Ruleset():
        assert reached >= set(PHASES) - {"over", "keep"}


def test_where_there_is_nothing_to_decide_the_only_action_is_advised():
    batch = Batch(200, Ruleset(), seed=2, finished="hold", skip_forced=False)
    batch.play_random(40)
    forced = np.flatnonzero(batch.forced() >= 0)
    views = Views(batch.ruleset, *batch.view(forced))
    assert len(forced) > 20
    for features in (lookahead_features(views), lookahead_in_batch(batch, forced)):
        assert np.array_equal(opinions(features, views.mask), ADVISED * views.mask)
        assert (by_option(features)[:, 0] != 0).sum() > len(forced), "and what it changes is noted"
        assert not by_option(features)[:, 1:].any()


# Positions

LADDERS = {"red": [1, 0, 2], "yellow": [2, 1, 3], "green": [3, 2, 0], "blue": [0, 3, 1]}


def told(game):
    """The merchant's opinion of the options in a position, in words."""
    features = lookahead_in_batch(game.batch, ROW)  # asked first: to view a game is to roll its dice
    views = Views(game.ruleset, *game.batch.view(ROW))
    assert np.array_equal(lookahead_features(views), features)
    (advice,) = opinions(features, views.mask)
    return {game.batch.actions.text(int(action), game.phase): int(advice[action]) for action in np.flatnonzero(advice)}


@pytest.mark.parametrize(
    ("doubles", "singles", "wanted"),
    [(2, 0, 120 - 20 * 4), (1, 2, 120 - 20 * 3), (0, 4, 120 - 20 * 2)],
    ids=["two doubles", "a double and two singles", "four singles"],
)
def test_a_point_less_is_twenty_less(doubles, singles, wanted):
    """At the end a contract is worth its points less the cards it costs: 8 less those of same-4, 6 less 4 of each-1."""
    goods = ["pepper double"] * doubles + ["pepper single"] * singles
    goods += ["cinnamon single", "cloves single", "nutmeg single"]
    advice = told(position(phase="last contract", turn=3, ladders=LADDERS, warehouses={0: goods}))
    none = max(1, 120 - 20 * (8 - doubles - singles))
    assert advice == {"contract same-4 pepper": 127, "contract each-1": wanted, "contract none": none}


def test_parts_of_a_point_count():
    """When placing, the first rank is the same everywhere, and each strong card counts 0.15 points."""
    strong = [card("red", flags="rrr/y"), card("red", flags="rrr/g"), card("yellow", flags="yyy/r")]
    game = position(phase="place", hands={0: strong})
    assert told(game) == {"place red": 127, "place yellow": 117, "place green": 114, "place blue": 114}


def test_what_is_worth_as_much_is_told_from_the_action_that_is_played():
    game = position(phase="place", hands={0: []})
    assert told(game) == {"place red": 127, "place yellow": 120, "place green": 120, "place blue": 120}


def test_in_a_fight_one_move_is_right_and_all_others_are_a_point_worse():
    reds = [card("red", flags="rrr/y"), card("red", flags="rrr/g"), card("red", flags="rrr/b")]
    game = position(
        phase="traders", ladders=LADDERS, hands={0: [*reds[:2], "any cargo"], 1: [reds[2], "yyy/b", "yyy/g"]}
    )
    game.play("attack red 2 1")
    advice = told(game)
    assert sorted(advice.values()) == [100] * (len(advice) - 1) + [127] and len(advice) > 1
    game.play(f"commit {reds[0]}", f"commit {reds[1]}", "commit done")
    assert told(game) == {"defend done": 127, f"defend {reds[2]}": 100}


def test_any_card_of_a_defence_is_better_than_none():
    """Not to keep one is worse by more points than there are."""
    attacker, strong = card("yellow", "red"), card("red", "yellow")
    game = position(phase="traders", ladders=LADDERS, hands={0: [attacker, "bbb/y"], 1: [strong, "ggg/r", "ggg/b"]})
    game.play("attack red 2 1", f"commit {attacker}", "commit done", f"defend {strong}", "defend done")
    assert game.phase == "keep"
    assert told(game) == {f"keep {strong}": 127, "keep none": 1}


# What an option changes


def facts_of(ruleset, games):
    """(games, players, facts) and (games, players): the facts about all players, and their chances."""
    facts = np.zeros((len(games), SEATS, FEATURES))
    features_of_games(attributes(make_box(ruleset)), attributes(games), facts)
    return facts[:, : ruleset.players], win_probability(ruleset, games)


def play_turn(batch, rows):
    """Let merchants play on in some games until the turn is over, or the game."""
    turns = batch.games["turn"].copy()
    kinds = np.full((len(batch), batch.ruleset.players), MERCHANT, np.int8)
    while len(rows := rows[(batch.player[rows] >= 0) & (batch.games["turn"][rows] == turns[rows])]):
        batch.step(Bots(batch).choose(kinds, rows), rows)


@cache
def changes_in_determinization(ruleset, number):
    """What the options of real decisions lead to in a determinization: each is played in a batch.

    (options, numbers), with the decision and the place of each option, and whether the game is over after it.
    """
    games, _, _, dice = decisions(ruleset)
    before = determinized(games, dice, number)
    batch = Batch(len(games), ruleset, finished="hold", skip_forced=False)
    batch.games[:] = before
    batch.refresh()
    options = [np.flatnonzero(mask) for mask in batch.mask]
    assert [len(found) for found in options] == [int(mask.sum()) for mask in decisions(ruleset)[2]]
    facts, chances = facts_of(ruleset, before)
    rows, places, found, over = [], [], [], []
    for place in range(max(map(len, options))):
        chosen = np.array([row for row, several in enumerate(options) if len(several) > place])
        tried = Batch(len(chosen), ruleset, finished="hold", skip_forced=False)
        tried.games[:] = before[chosen]
        tried.refresh()
        tried.step(np.array([options[row][place] for row in chosen]))
        ends = tried.games["turn"] != before["turn"][chosen]
        play_turn(tried, np.flatnonzero(~ends))
        facts_after, chances_after = facts_of(ruleset, tried.games)
        over += (tried.games["phase"] == OVER).tolist()
        looks = [chances_after]
        for _ in range(2 * ruleset.players - 1):
            play_turn(tried, np.arange(len(chosen)))
            looks.append(win_probability(ruleset, tried.games))
        spans = [np.mean(looks[:turns], axis=0) for turns in (1, ruleset.players, 2 * ruleset.players)]
        for i, row in enumerate(chosen):
            me = int(before["player"][row])
            moved = [
                [float(b - a) for a, b in zip(*pair, strict=True)]
                for pair in zip(facts[row], facts_after[i], strict=True)
            ]
            others = [moved[player] for player in range(ruleset.players) if player != me]
            note = [
                float(ends[i]),
                *(500.0 * (span[i, me] - chances[row, me]) for span in spans),
                *(8.0 * fact for fact in moved[me]),
                *(8.0 * sum(column) / len(others) for column in zip(*others, strict=True)),
            ]
            rows.append(row)
            places.append(place)
            found.append(note)
    return np.array(rows), np.array(places), np.array(found), np.array(over)


def changes_by_hand(ruleset):
    """The mean of all determinizations, before anything is cut or rounded."""
    determinizations = [changes_in_determinization(ruleset, number) for number in range(2)]
    rows, places, _, over = determinizations[0]
    return rows, places, np.mean([changes for _, _, changes, _ in determinizations], axis=0), over


@every
def test_features_are_what_comes_of_playing_each_option(ruleset):
    """In the determinization, by a batch; the nearest whole numbers within what a feature can hold."""
    rows, places, changes, _ = changes_by_hand(ruleset)
    features = by_option(features_of(ruleset))[rows, places, ENDS_TURN:].astype(int)
    wanted = np.clip(changes, -127, 127)
    assert np.abs(features - wanted).max() <= 0.5 + 1e-9
    assert np.array_equal(features, np.rint(wanted))
    assert len(rows) > 500 and (features[:, OWN - ENDS_TURN : OTHERS - ENDS_TURN] != 0).any(0).sum() >= 14


def test_real_decisions_reach_everything_that_matters():
    """Numbers that must be cut on both sides, ends of turns, and ends of games with facts that change."""
    found = [changes_by_hand(ruleset) for ruleset in RULESETS]
    changes, over = (np.concatenate([part[which] for part in found]) for which in (2, 3))
    assert changes.min() < -128 and changes.max() > 128
    assert 0.05 < changes[:, 0].mean() < 0.6
    assert over.sum() > 5 and (changes[over, OWN - ENDS_TURN :] != 0).any(1).sum() > 5
    assert (changes[:, OWN - ENDS_TURN : OTHERS - ENDS_TURN] != 0).any(0).all(), "each of the own facts"
    assert (changes[:, OTHERS - ENDS_TURN :] != 0).any(0).sum() > 8, "and many of the others'"


def test_numbers_are_cut_on_both_sides_alike():
    features = features_of()
    assert features.min() >= -127 and features.max() == 127


def test_the_features_on_a_payment_by_hand():
    """What is paid is gone, the rest by the merchant, and brings the 8 points of the contract; a card is a point."""
    goods = ["pepper double"] * 2 + ["pepper single"] * 3 + ["cloves single"]
    game = position(phase="last contract", turn=3, ladders=LADDERS, warehouses={0: goods})
    game.play("contract same-4 pepper", "pay pepper double")
    features = noted(game)
    single, double = (features[f"pay pepper {size}"] for size in ("single", "double"))
    for note, cards, doubles in ((single, 2, 0), (double, 1, 1)):
        facts = {POINTS: 8 - cards, SPICES: -2, MOST: -2, DOUBLES: -doubles, CONTRACTS: 1}
        assert {fact: note[OWN + fact] for fact in facts} == {fact: 8 * change for fact, change in facts.items()}
        assert not note[ENDS_TURN] and not note[OTHERS:].any()
    assert single[GAIN] > 0 and double[GAIN] > 0


def test_the_features_on_a_contract_by_hand():
    """When the turn is over: 8 points for two doubles of pepper, 6 for a card of each spice; none brings nothing."""
    goods = ["pepper double"] * 2 + ["cloves single", "nutmeg single", "cinnamon single"]
    features = noted(position(phase="contract", ladders=LADDERS, warehouses={0: goods}))
    points = {text: int(note[OWN + POINTS]) for text, note in features.items()}
    assert points == {"contract same-4 pepper": 8 * (8 - 2), "contract each-1": 8 * (6 - 4), "contract none": 0}
    assert features["contract same-4 pepper"][GAIN] > features["contract none"][GAIN]


def noted(game):
    """The features on the options of a position, in words."""
    (mask,) = game.batch.mask
    features = by_option(lookahead_in_batch(game.batch, ROW))[0].astype(int)
    return {
        game.batch.actions.text(int(action), game.phase): features[place]
        for place, action in enumerate(np.flatnonzero(mask))
    }


# Secrets


def test_games_that_a_player_cannot_tell_apart_get_the_same_features():
    """The secrets of complete games are dealt anew, their dice are not."""
    batch, twins = batch_of(), batch_of()
    streams = batch.games["rng"].copy()
    twins.games[:] = resample(batch.games, batch.games["player"], np.random.default_rng(3))
    assert (batch.games["place"] != twins.games["place"]).any(1).mean() > 0.9
    twins.games["rng"][:, CHOICES] = streams[:, CHOICES]
    twins.refresh()
    rows = np.arange(len(batch))
    assert np.array_equal(lookahead_in_batch(batch, rows), lookahead_in_batch(twins, rows))


def test_dice_decide_the_determinizations_and_not_what_the_merchant_thinks():
    views = views_of()
    others = Views(BOARD, views.games, views.mask, ~views.dice)
    some, more = by_option(features_of()), by_option(lookahead_features(others))
    assert np.array_equal(some[:, :, ADVICE], more[:, :, ADVICE])
    assert np.array_equal(some[:, :, ENDS_TURN], more[:, :, ENDS_TURN])
    assert (some[:, :, GAIN] != more[:, :, GAIN]).any(1).mean() > 0.2


def test_what_a_view_hides_stays_hidden_and_what_was_noted_before_is_gone():
    """One view after the other, or all at once, in any order."""
    views, rng = views_of(), np.random.default_rng(2)
    wanted, order = features_of(), rng.permutation(len(views))
    mixed = Views(BOARD, views.games[order], views.mask[order], views.dice[order])
    assert np.array_equal(lookahead_features(mixed), wanted[order])
    for i in order[:10]:
        alone = Views(BOARD, views.games[i : i + 1], views.mask[i : i + 1], views.dice[i : i + 1])
        assert np.array_equal(lookahead_features(alone), wanted[i : i + 1])


def test_nothing_to_look_ahead_in():
    views, batch = views_of(Ruleset()), batch_of(Ruleset())
    nothing = Views(views.ruleset, views.games[:0], views.mask[:0], views.dice[:0])
    assert (
        lookahead_features(nothing).shape
        == lookahead_in_batch(batch, np.arange(0)).shape
        == (0, MAX_OPTIONS * OPTION_FEATURES)
    )


# Who is given lookahead features, and how


@pytest.mark.parametrize("threads", [1, 2])
def test_games_and_views_get_the_same_features(threads):
    batch = batch_of(threads=threads)
    rows = np.arange(len(batch))
    assert len(rows) > 2 * 32, "enough for two threads"
    assert np.array_equal(lookahead_in_batch(batch, rows), features_of())


def test_neither_the_other_games_nor_what_was_asked_before_matter():
    batch, rng = batch_of(threads=2), np.random.default_rng(4)
    wanted = features_of()
    for share in (1.0, 0.3, 0.01, 0.0, 0.7):
        rows = np.sort(rng.permutation(len(batch))[: int(share * len(batch))])
        assert np.array_equal(lookahead_in_batch(batch, rows), wanted[rows])


def test_asking_changes_nothing():
    """What is tried on the records is taken back to the last byte, and not even dice are rolled."""
    batch, views = batch_of(threads=1), views_of()
    before = batch.games.tobytes(), batch.mask.tobytes(), views.games.tobytes()
    lookahead_in_batch(batch, np.arange(len(batch)))
    lookahead_features(views)
    assert (batch.games.tobytes(), batch.mask.tobytes(), views.games.tobytes()) == before


def test_what_a_player_cannot_know_does_not_matter():
    games, _, mask, dice = decisions(BOARD)
    twins = resample(games, games["player"], np.random.default_rng(1))
    assert np.array_equal(lookahead_features(Views(BOARD, twins, mask, dice)), features_of())
