"""Racing: beside trials in the same determinizations, which are tested beside the merchant."""

import numpy as np
import pytest
from borneo_agents.policy.racing import race_options
from borneo_agents.search.trials import Trials
from bot_games import decisions, determinized
from positions import position

from borneo_env import Batch, Ruleset
from borneo_env.agent import Views

LADDERS = {"red": [1, 0, 2], "yellow": [2, 1, 3], "green": [3, 2, 0], "blue": [0, 3, 1]}
BOARD = Ruleset("board", 4)


def views_of(ruleset=BOARD, nth=10):
    """Decisions of whole games, as their players see them."""
    _, views, mask, dice = decisions(ruleset)
    return Views(ruleset, views[::nth], mask[::nth], dice[::nth])


def doubted(mask, share=0.5):
    """Some of the legal actions."""
    return mask & (np.random.default_rng(2).random(mask.shape) < share)


def some_ahead(mask):
    """What may speak for actions from the start."""
    return np.random.default_rng(3).choice([0.0, 0.0, 0.02], mask.shape)


def by_hand(views, doubtful, ahead, determinizations):
    """One decision after the other: trials of two rounds in determinizations, after those of the lookahead features."""
    chances = []
    for number in range(determinizations):
        batch = Batch(len(views), views.ruleset, finished="hold", skip_forced=False)
        batch.games[:] = determinized(views.games, views.dice, 2 + number)
        batch.refresh()
        chances.append(Trials(batch).worth(doubtful, 2 * views.ruleset.players).astype(float))
    behind, games = np.zeros(doubtful.shape), []
    for row, mask in enumerate(doubtful):
        found = np.array([number[row, mask] for number in chances])
        behind[row, mask], played = raced_by_hand(found, ahead[row, mask])
        games.append(played)
    return behind, games


def raced_by_hand(chances, ahead):
    """How far options are behind by their chances in (determinizations, options), and how many of them were played.

    After each four, who is behind the best by two standard errors is given up, and stays as far behind.
    """
    left, behind, played = list(range(len(ahead))), np.zeros(len(ahead)), 0
    while played < len(chances) and len(left) > 1:
        played = min(played + 4, len(chances))
        worth = ahead + chances[:played].mean(0)
        best = max(left, key=lambda option: worth[option])
        behind[left] = worth[best] - worth[left]
        spread = (chances[:played, [best]] - chances[:played]).std(0, ddof=played > 1)
        clear = behind + 1e-6 >= 2 * spread / played**0.5
        left = [option for option in left if option == best or not clear[option]]
    return behind, played


@pytest.mark.parametrize(
    ("ruleset", "determinizations"),
    [(BOARD, 10), (Ruleset("card", 3), 10), (BOARD, 1)],
    ids=["board", "card", "one determinization"],
)
def test_options_are_behind_as_trials_in_the_same_determinizations_say(ruleset, determinizations):
    views = views_of(ruleset)
    doubtful, ahead = doubted(views.mask), some_ahead(views.mask)
    behind, games = by_hand(views, doubtful, ahead, determinizations)
    found = race_options(views, doubtful, ahead, determinizations)
    np.testing.assert_allclose(found, behind, atol=1e-6)
    assert set(games) == ({0, 1} if determinizations == 1 else {0, 4, 8, 10}), "some are clear sooner than others"
    assert len(np.unique(found)) > 50


def test_without_a_doubt_nothing_races():
    views = views_of()
    ahead = some_ahead(views.mask)
    alone = np.zeros_like(views.mask)
    alone[np.arange(len(views)), views.mask.argmax(1)] = True
    for doubtful in (alone, np.zeros_like(alone)):
        assert not race_options(views, doubtful, ahead, 8).any()
    assert not race_options(views, views.mask, ahead, 0).any()


def test_threads_and_neighbours_do_not_matter():
    views = views_of()
    assert len(views) > 2 * 32, "enough for two threads"
    doubtful, ahead = doubted(views.mask), some_ahead(views.mask)
    behind = race_options(views, doubtful, ahead, 4)
    assert np.array_equal(race_options(views, doubtful, ahead, 4, threads=2), behind)
    order = np.random.default_rng(3).permutation(len(views))
    mixed = Views(BOARD, views.games[order], views.mask[order], views.dice[order])
    assert np.array_equal(race_options(mixed, doubtful[order], ahead[order], 4), behind[order])


def test_the_contract_that_decides_the_game_is_found():
    """Without it, player 0 has two points for two cards, and player 1 four for four that make no contract."""
    goods = {0: ["pepper double"] * 2, 1: ["cloves single", "cloves single", "nutmeg single", "cinnamon single"]}
    game = position(phase="last contract", turn=3, ladders=LADDERS, warehouses=goods)
    views = Views(game.ruleset, *game.batch.view(np.array([0])))
    (behind,) = race_options(views, views.mask, np.zeros(views.mask.shape), 4)
    options = np.flatnonzero(views.mask[0])
    found = {game.batch.actions.text(int(action), game.phase): behind[action] for action in options}
    assert found == {"contract same-4 pepper": 0.0, "contract none": 1.0}


def test_more_than_there_is_room_for_is_refused():
    """Imagined games, and options: the compiled loops would write beyond their scratch paper."""
    views = views_of(nth=300)
    doubtful, ahead = doubted(views.mask), np.zeros(views.mask.shape)
    for determinizations in (-1, 65):
        with pytest.raises(ValueError, match="determinizations are a number from 0 to 64, not "):
            race_options(views, doubtful, ahead, determinizations)
    with pytest.raises(ValueError, match="no decision has more than 64 options"):
        race_options(views, np.ones_like(doubtful), ahead, 4)
