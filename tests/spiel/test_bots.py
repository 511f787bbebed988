"""OpenSpiel's bots as agents."""

import numpy as np
import pytest

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed; `make openspiel` runs these tests")

from borneo_agents.arena import play_arena

from borneo_env import Batch, Ruleset, resample
from borneo_env.agent import UnknownAgent, Views, find_agent
from borneo_env.open_spiel import Hosted, IsMcts, Uniform
from kontor.engine.check import check_games

ISMCTS = "borneo_env.open_spiel:IsMcts"
UNIFORM = "borneo_env.open_spiel:Uniform"


def views(ruleset, size, steps, seed=1):
    batch = Batch(size, ruleset, seed=seed, finished="hold")
    batch.play_random(steps)
    return batch, Views(ruleset, *batch.view(np.flatnonzero(batch.player >= 0)))


def is_legal(views, actions):
    return views.mask[np.arange(len(views)), actions].all()


@pytest.mark.parametrize("agent", [f"{ISMCTS}:simulations=3", UNIFORM])
@pytest.mark.parametrize("ruleset", [Ruleset(players=5), Ruleset("card", 3)], ids=lambda ruleset: ruleset.name)
def test_bots_play_legal_moves_and_the_same_for_the_same_dice(agent, ruleset):
    for steps in (0, 40, 90):
        _, asked = views(ruleset, 4, steps)
        actions = find_agent(agent).act(asked)
        assert is_legal(asked, actions)
        assert np.array_equal(find_agent(agent).act(asked), actions)


@pytest.mark.parametrize("agent", [IsMcts(simulations=4), Uniform()], ids=["IsMcts", "Uniform"])
def test_bots_decide_by_what_they_may_know(agent):
    batch, asked = views(Ruleset(players=4), 6, 30)
    others = Batch(6, batch.ruleset, finished="hold")
    others.games[:] = resample(batch.games, batch.player, np.random.default_rng(1))
    others.refresh()
    seen, mask, _ = others.view(np.arange(6))
    assert np.array_equal(agent.act(Views(batch.ruleset, seen, mask, asked.dice)), agent.act(asked))


def test_a_bot_is_handed_no_real_secret():
    handed = []

    class Spy(Hosted):
        def bot(self, game, seat, random):
            class First:
                def step(self, state):
                    handed.append(state)
                    return state.legal_actions()[0]

            return First()

    batch, asked = views(Ruleset(players=4), 20, 30)
    for _ in range(2):
        assert is_legal(asked, Spy().act(asked))
    games = np.concatenate([state.table.games for state in handed])
    check_games(batch.ruleset, games)  # complete games, dealt anew each time and by the dice
    once, twice = np.split(games["place"], 2)
    assert (once != batch.games["place"]).any(axis=1).all()
    assert np.array_equal(once, twice)


def test_uniform_takes_every_option_as_often():
    _, asked = views(Ruleset(players=4), 1, 0)
    dice = np.random.default_rng(1).integers(2**64, size=1200, dtype=np.uint64)
    many = Views(asked.ruleset, np.repeat(asked.games, 1200), np.repeat(asked.mask, 1200, 0), dice)
    counts = np.bincount(Uniform().act(many))[np.flatnonzero(asked.mask[0])]
    assert abs(counts - 1200 / len(counts)).max() < 5 * (1200 / len(counts)) ** 0.5


def test_the_arena_plays_against_them():
    result = play_arena([f"{ISMCTS}:simulations=2", UNIFORM, "random"], Ruleset(players=3), games=6, seed=1, jobs=1)
    assert len(result.standings) == 3


def test_wrong_arguments_are_told():
    with pytest.raises(UnknownAgent, match="simulations is a whole number from 1, not 0"):
        find_agent(f"{ISMCTS}:simulations=0")
    with pytest.raises(NotImplementedError, match="no method bot"):
        Hosted().act(views(Ruleset(), 1, 0)[1])
