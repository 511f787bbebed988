"""Stepping some games of a batch, what agents are shown of them, and the whole table as numbers."""

import numpy as np
import pytest

from borneo_env import NO_ACTION, SPECTATOR, Batch, Ruleset, every_ruleset, redact
from borneo_env.engine.observe import length, split, state_length
from borneo_env.engine.state import AT_PORT, CARDS, CHOICES, HAND, slots_of

every = pytest.mark.parametrize("ruleset", every_ruleset(), ids=lambda ruleset: ruleset.name)


@pytest.fixture
def batch():
    games = Batch(40, seed=3, finished="hold")
    games.play_random(60)
    return games


def test_stepping_some_games_leaves_the_others_as_they_are(batch):
    twin = batch.copy()
    rows = np.array([0, 7, 39])
    actions = batch.sample()
    twin.games["rng"] = batch.games["rng"]
    batch.step(actions[rows], rows)
    others = np.full(40, NO_ACTION)
    others[rows] = actions[rows]
    twin.step(others)
    assert batch.games.tobytes() == twin.games.tobytes() and (batch.mask == twin.mask).all()


def test_a_complaint_about_some_games_names_the_right_one(batch):
    with pytest.raises(ValueError, match=r"^game 17, player"):
        batch.step([int(batch.mask[3].argmax()), int((~batch.mask[17]).argmax())], np.array([3, 17]))


def test_no_rows_are_no_games(batch):
    before = batch.games.tobytes()
    batch.step(np.array([], np.int64), np.array([], np.int64))
    assert batch.games.tobytes() == before


@every
def test_views_are_the_games_as_their_deciders_see_them(ruleset):
    batch = Batch(30, ruleset, seed=2)
    batch.play_random(90)
    before = batch.copy()
    rows = np.arange(0, 30, 3)
    views, masks, _ = batch.view(rows)
    assert views.tobytes() == redact(before.games[rows], before.player[rows]).tobytes()
    assert (masks == before.mask[rows]).all()
    batch.games["rng"][:, CHOICES] = before.games["rng"][:, CHOICES]
    assert batch.games.tobytes() == before.games.tobytes(), "only the stream of choices goes on"


def test_dice_do_not_depend_on_the_batch():
    large, small = Batch(20, seed=5), Batch(1, seed=5, first=13)
    for _ in range(3):
        dice = large.view(np.array([2, 13, 14]))[2]
        assert small.view(np.array([0]))[2][0] == dice[1]
    assert len(set(dice.tolist())) == 3


def test_forced_moves_are_the_only_legal_ones():
    batch = Batch(300, seed=4, skip_forced=False)
    found = 0
    for _ in range(60):
        forced = batch.forced()
        only = batch.mask.sum(1) == 1
        assert ((forced != NO_ACTION) == only).all() and (forced[only] == batch.mask[only].argmax(1)).all()
        found += only.sum()
        batch.step(batch.sample())
    assert found > 100


@every
def test_a_state_is_an_observation_and_all_secrets(ruleset):
    batch = Batch(25, ruleset, seed=6)
    batch.play_random(110)
    seats = np.arange(25) % ruleset.players
    slots = slots_of(ruleset)
    state = batch.state(seats)
    assert state.shape == (25, state_length(slots))
    assert (state[:, : length(slots)] == batch.observe(seats)).all()
    told = split(state)
    for i, game in enumerate(batch.games):
        for away in range(5):
            player = (seats[i] + away) % ruleset.players
            cards = game["place"][:CARDS] == HAND + player if away < ruleset.players else np.zeros(CARDS, bool)
            assert (told["hands"][i, away] == cards).all()
        pile = game["draw"][: game["draw_left"]][::-1]
        assert (np.argsort(told["draw_order"][i])[CARDS - len(pile) :] == pile).all()
        assert (told["draw_order"][i] > 0).sum() == len(pile)
        ports = [ruleset.tables.ports_in_play(ruleset.players)[p - CARDS] for p in game["port_pile"] if p >= 0]
        ports = ports[: game["ports_left"]][::-1]
        assert told["port_order"][i, : len(ports), 5:].tolist() == [[port.limit, port.monopoly] for port in ports]
        assert not told["port_order"][i, len(ports) :].any()


def test_a_spectator_has_no_hand():
    batch = Batch(60, Ruleset(players=3), seed=1)
    batch.play_random(80)
    assert (batch.games["place"][:, :CARDS] == AT_PORT + 2).any()
    told = split(batch.observe(SPECTATOR))
    assert not told["hand"].any()
    assert (told["unseen"].sum((1, 2)) == batch.games["hand_size"].sum(1) + batch.games["draw_left"]).all()
