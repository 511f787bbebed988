"""How agents may be asked: by several threads at once, as copies, with views of any ruleset, and only with views."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from borneo_agents.policy.agent import Policy
from borneo_agents.policy.model import ModelError
from bot_games import decisions
from networks import card, network

from borneo_env import Batch, Bot, Ruleset
from borneo_env.agent import Views, find_agent, known_agents

BOARD, CARD = Ruleset("board", 4), Ruleset("card", 3)
SEARCHES = ("ismcts", "hard", "policy")
AGENTS = [f"{name}:budget=24" if name in SEARCHES else name for name in known_agents()]

every_agent = pytest.mark.parametrize("name", AGENTS)


def views_of(ruleset, nth=40):
    return Views(ruleset, *(part[::nth].copy() for part in decisions(ruleset)[1:]))


@every_agent
def test_threads_may_share_an_agent(name):
    """Whatever the others ask it in the meantime, each gets the answers that it would get alone."""
    asked = [views_of(BOARD, nth) for nth in (29, 31, 37)]
    if not name.startswith("policy"):
        asked += [views_of(CARD, 37)]
    expected = [find_agent(name).act(views) for views in asked]
    shared = find_agent(name)
    with ThreadPoolExecutor(len(asked)) as threads:
        for _ in range(2):
            for found, alone in zip(threads.map(shared.act, asked), expected, strict=True):
                np.testing.assert_array_equal(found, alone)


@every_agent
@pytest.mark.parametrize("twin_of", [copy.copy, copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
@pytest.mark.parametrize("asked_before", [False, True])
def test_a_copy_answers_like_the_agent_itself(name, twin_of, asked_before):
    views, agent = views_of(BOARD, 80), find_agent(name)
    if asked_before:
        agent.act(views_of(BOARD, 100))
    twin = twin_of(agent)
    answers = twin.act(views)
    assert views.mask[np.arange(len(views)), answers].all()
    np.testing.assert_array_equal(answers, agent.act(views))


# ---------------------------------------------------------------- views that are none


class Plain(Bot):
    """One in plain Python, as people write them."""

    def decide(self, view, options):
        return options[-1]


def asked(name, views):
    return (Plain() if name == "plain" else find_agent(name)).act(views)


WHO_LOOK = [*(name for name in AGENTS if name != "random"), "plain"]


def mixed_up(views, **changes):
    parts = {name: getattr(views, name) for name in ("ruleset", "games", "mask", "dice")}
    return Views(**parts | changes)


def ended():
    batch = Batch(2, BOARD, finished="hold")
    batch.play_random()
    return Views(BOARD, *batch.view(np.arange(2)))


STRANGE = {
    "another edition": lambda views: mixed_up(views, ruleset=CARD),
    "masks of another edition": lambda views: mixed_up(views, mask=np.ones((len(views), 870), np.bool_)),
    "too few masks": lambda views: mixed_up(views, mask=views.mask[1:]),
    "too few dice": lambda views: mixed_up(views, dice=views.dice[1:]),
    "other records": lambda views: mixed_up(views, games=np.zeros(len(views), [("player", "i1")])),
}


@pytest.mark.parametrize("name", WHO_LOOK)
@pytest.mark.parametrize("strange", STRANGE)
def test_views_that_are_none_get_one_clear_sentence(name, strange):
    with pytest.raises(
        ValueError, match=r"views of \d+ games of \w+-\d have masks of shape .*, not .*: give views the"
    ):
        asked(name, STRANGE[strange](views_of(BOARD)))


@pytest.mark.parametrize("name", WHO_LOOK)
def test_games_in_which_nobody_decides_get_one_clear_sentence(name):
    five = views_of(Ruleset("board", 5), 3)
    for views in (ended(), mixed_up(five, ruleset=Ruleset("board", 3))):
        with pytest.raises(ValueError, match=r"nobody of board-. decides in one of the views"):
            asked(name, views)


@pytest.mark.parametrize("players", [3, 5])
def test_a_policy_for_another_number_of_players_says_so(players):
    policy = Policy(replace(network(width=4), card=card(players=[4])))
    policy.act(views_of(BOARD))
    with pytest.raises(ModelError, match=f"the policy was trained for 4 players, not for board-{players}"):
        policy.act(views_of(Ruleset("board", players)))
