"""Trials: beside the same playouts by the merchant as an agent, one decision after the other."""

import numpy as np
import pytest
from borneo_agents.scripted.agents import Merchant
from borneo_agents.search.trials import Trials
from borneo_agents.search.win_probability import win_probability
from bot_games import decisions

from borneo_env import Batch, Ruleset, resample
from borneo_env.agent import Views

BOARD = Ruleset("board", 4)
every = pytest.mark.parametrize("ruleset", [BOARD, Ruleset("card", 3)], ids=lambda ruleset: ruleset.name)


def batch_of(ruleset=BOARD, nth=4, **settings):
    """All sorts of decisions, as a batch of complete games."""
    games = decisions(ruleset)[0][::nth]
    batch = Batch(len(games), ruleset, finished="hold", **settings)
    batch.games[:] = games
    batch.refresh()
    return batch


def some_of(mask, share=0.7):
    return mask & (np.random.default_rng(2).random(mask.shape) < share)


def played(batch, wanted, turns):
    """Games after each wanted action and so many turns of merchants, which are asked through their views."""
    games, actions = np.nonzero(wanted)
    after = Batch(len(games), batch.ruleset, finished="hold", skip_forced=False)
    after.games[:] = batch.games[games]
    after.refresh()
    rows, left = np.arange(len(games)), np.full(len(games), turns)
    while len(rows):
        whose = after.games["turn"][rows].copy()
        after.step(actions, rows)
        left[rows] -= after.games["turn"][rows] != whose
        rows = rows[(left[rows] > 0) & (after.player[rows] >= 0)]
        actions = Merchant().act(Views(batch.ruleset, *after.view(rows)))
    return after


def by_hand(batch, wanted, turns):
    """What the trials should find: the mean chance at the starts of so many turns."""
    games, actions = np.nonzero(wanted)
    worth = np.zeros(wanted.shape)
    for turn in range(1, turns + 1):
        after = played(batch, wanted, turn)
        chances = win_probability(batch.ruleset, after.games)[np.arange(len(games)), batch.player[games]]
        worth[games, actions] += chances / turns
    return worth


@every
@pytest.mark.parametrize("turns", [1, 3])
def test_trials_are_playouts_of_merchants(ruleset, turns):
    batch = batch_of(ruleset)
    wanted = some_of(batch.mask)
    worth = Trials(batch).worth(wanted, turns)
    assert (worth.dtype, worth.shape) == (np.float32, wanted.shape)
    np.testing.assert_allclose(worth, by_hand(batch, wanted, turns), atol=1e-6)
    assert len(np.unique(worth)) > 100


def test_only_what_is_wanted_is_tried():
    batch = batch_of()
    wanted = some_of(batch.mask, 0.4)
    wanted[::5] = False
    worth, of_all = (Trials(batch).worth(asked, 1) for asked in (wanted, batch.mask.copy()))
    assert not worth[~wanted].any() and worth[wanted].any()
    assert np.array_equal(worth[wanted], of_all[wanted])
    assert not Trials(batch).worth(np.zeros_like(wanted), 1).any()


def test_trials_leave_the_games_as_they_are():
    batch = batch_of()
    before = batch.copy()
    Trials(batch).worth(batch.mask.copy(), 2)
    assert batch.games.tobytes() == before.games.tobytes() and (batch.mask == before.mask).all()
    batch.step(batch.sample())
    before.step(before.sample())
    assert batch.games.tobytes() == before.games.tobytes()


def test_threads_and_what_was_tried_before_do_not_matter():
    alone, together = (batch_of(threads=threads) for threads in (1, 2))
    assert len(alone) > 2 * 32, "enough for two threads"
    wanted = some_of(alone.mask)
    once, trials = Trials(alone).worth(wanted, 1), Trials(together)
    for asked in (wanted, ~wanted & alone.mask, wanted):
        found = trials.worth(asked, 1)
    assert np.array_equal(found, once)


def test_only_legal_actions_are_tried_for_some_turns():
    batch = Batch(4, Ruleset(), finished="hold")
    illegal = batch.mask.copy()
    illegal[2, np.flatnonzero(~batch.mask[2])[0]] = True
    for wanted in (illegal, batch.mask[:, 1:].copy(), batch.mask[1:].copy()):
        with pytest.raises(ValueError, match="only legal actions can be tried"):
            Trials(batch).worth(wanted, 1)
    for turns in (0, -1, 1.5):
        with pytest.raises(ValueError, match="turns are a number from 1, not"):
            Trials(batch).worth(batch.mask.copy(), turns)


def test_trials_know_the_secrets():
    """Hands and piles are those of the game: in another one that the decider cannot tell from it, chances differ."""
    batch = batch_of()
    twins = batch.copy()
    twins.games[:] = resample(batch.games, batch.player, np.random.default_rng(1))
    twins.refresh()
    assert np.array_equal(twins.mask, batch.mask)
    here, there = (Trials(games).worth(batch.mask.copy(), 2) for games in (batch, twins))
    assert (here != there)[batch.mask].mean() > 0.9
