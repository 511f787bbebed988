"""The PettingZoo environment: what PettingZoo's tests ask of it, and what its users rely on."""

import copy
from functools import partial

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.utils.env_logger import EnvLogger
from playing import SEVERAL_RULESETS, fields, pick, play_on, totals

import borneo_env
from borneo_env import IllegalMove
from borneo_env.engine.observe import split
from borneo_env.engine.state import TELLTALE
from borneo_env.render import Picture
from borneo_env.rewards import REWARDS

TWO_RULESETS = [p for p in SEVERAL_RULESETS if p.id in ("board-5-blackbeard", "card-3")]
# ---------------------------------------------------------------- PettingZoo's own tests


@pytest.mark.filterwarnings("ignore:Observation")  # PettingZoo's test does not know this game's dict observations
@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_pettingzoo_accepts_the_environment(ruleset, capsys):
    api_test(borneo_env.env(**fields(ruleset)), num_cycles=300)
    seed_test(lambda: borneo_env.env(**fields(ruleset)), num_cycles=100)


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_pettingzoo_accepts_what_is_rendered(ruleset, monkeypatch):
    """Pixels take nearly all the time: so pictures are small, and the window, which has its own tests, is blank."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")  # a window nobody sees
    monkeypatch.setattr("borneo_env.render.window.SECONDS", 0)
    small, blank = partial(Picture.rgb, width=64), np.zeros((4, 4, 3), np.uint8)

    def make(render_mode):
        pixels = (lambda picture, _: blank) if render_mode == "human" else (lambda picture: small(picture))
        monkeypatch.setattr(Picture, "rgb", pixels)
        return borneo_env.env(**fields(ruleset), render_mode=render_mode)

    render_test(make)


# ---------------------------------------------------------------- who decides, and what is told


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_a_game_is_the_batch_game_of_the_same_seed(ruleset):
    """Agent, observation, mask and state, decision by decision; forced moves are played on both sides.

    What those see who do not decide is this, unless that the decision is asked for is a secret: see `test_secrets.py`.
    """
    env = borneo_env.env(**fields(ruleset))
    env.reset(seed=12)
    seats = range(ruleset.players)
    for number in range(2):
        batch = borneo_env.Batch(1, ruleset, seed=12, first=number, finished="hold")
        while batch.player[0] >= 0:
            assert env.agent_selection == f"player_{batch.player[0]}"
            assert env.infos[env.agent_selection]["phase"] == batch.phase[0]
            seen = env.observe(env.agent_selection)
            assert (seen["observation"] == batch.observe()[0]).all()
            assert (seen["action_mask"] == batch.mask[0]).all()
            if batch.phase[0] not in TELLTALE:
                assert all((env.observe(f"player_{i}")["observation"] == batch.observe(i)[0]).all() for i in seats)
            assert (env.state() == batch.state()[0]).all() and env.table == batch.games[0]
            batch.step([pick(batch.mask[0])])
            env.step(pick(seen["action_mask"]))
        assert all(env.terminations.values()) and not any(env.truncations.values())
        assert split(env.observe("player_1")["observation"])["phase"][-1] == 1
        env.reset()


def test_an_idle_seat_sees_the_table_but_may_do_nothing():
    env = borneo_env.env()
    env.reset(seed=1)
    for agent in env.possible_agents:
        seen = env.observe(agent)
        assert seen in env.observation_space(agent)
        assert seen["action_mask"].any() == (agent == env.agent_selection)
    assert env.state() in env.state_space


@pytest.mark.parametrize("name", ["player_3", "player0", 0])
def test_an_agent_that_is_not_in_the_game_is_told_which_are(name):
    env = borneo_env.env(players=3)
    env.reset(seed=1)
    for asked in env.observe, env.observation_space, env.action_space:
        with pytest.raises(KeyError, match=f"there is no agent {name!r}; use one of player_0, player_1, player_2"):
            asked(name)


def test_what_is_returned_can_be_kept_and_written_to():
    """Observations and masks are copies: later steps do not change them, and changing them does not harm the game."""
    env = borneo_env.env()
    env.reset(seed=1)
    agent = env.agent_selection
    idle = env.possible_agents[env.possible_agents.index(agent) - 1]
    kept = [env.observe(agent), env.observe(idle)]
    before = copy.deepcopy(kept)
    for seen in env.observe(agent), env.observe(idle):
        seen["action_mask"][:] = 1
        seen["observation"][:] = 7
    assert not env.observe(idle)["action_mask"].any()
    play_on(env, 5)
    assert str(kept) == str(before)
    assert all((kept[i][key] == before[i][key]).all() for i in range(2) for key in before[i])


def test_every_seat_has_the_same_spaces_at_every_player_count():
    spaces = {str(borneo_env.env(players=n).observation_space("player_0")) for n in (3, 4, 5)}
    assert len(spaces) == 1


def test_legal_moves_are_told_on_request():
    env = borneo_env.env(legal_moves=True)
    env.reset(seed=1)
    assert env.infos[env.agent_selection] == {
        "phase": borneo_env.PHASES.index("place"),
        "legal_moves": ["place red", "place yellow", "place green", "place blue"],
    }


def test_infos_are_numbers_under_the_same_names_for_everybody_at_all_times():
    """Libraries such as TorchRL make tensors of them, and of what they are after `reset`."""
    env = borneo_env.env(players=3)
    env.reset(seed=1)
    while env.agents:
        assert all(type(env.infos[agent]["phase"]) is int and len(env.infos[agent]) == 1 for agent in env.agents)
        observation, _, terminated, _, _ = env.last()
        env.step(None if terminated else pick(observation["action_mask"]))


# ---------------------------------------------------------------- rewards


@pytest.mark.parametrize("ruleset", TWO_RULESETS)
@pytest.mark.parametrize("name", REWARDS)
def test_rewards_add_up_to_what_the_record_says(name, ruleset):
    """For all seats: the sum of `rewards`, and the sum of what `last` gave each agent, its dead step included."""
    env = borneo_env.env(**fields(ruleset), reward=name)
    env.reset(seed=5)
    for number in range(3):
        given = dict.fromkeys(env.possible_agents, 0.0)
        told = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            seen, reward, terminated, _, _ = env.last()
            told[agent] += reward
            env.step(None if terminated else pick(seen["action_mask"]))
            if not terminated:
                given = {agent: given[agent] + env.rewards[agent] for agent in given}
        expected = totals(ruleset, 5, number)[name]
        assert list(given.values()) == pytest.approx(expected)
        assert list(told.values()) == pytest.approx(expected)
        env.reset()


def play_until_owed(env):
    """Play until the agent who decides is about to be told of a reward."""
    while not env.last()[1]:
        env.step(pick(env.last()[0]["action_mask"]))


def test_a_new_game_owes_nothing_of_the_one_broken_off():
    env = borneo_env.env(reward="score-delta")
    env.reset(seed=5)
    play_until_owed(env)
    env.reset()
    assert not any(env._cumulative_rewards.values()) and not any(env.rewards.values())


# ---------------------------------------------------------------- copies


# ---------------------------------------------------------------- mistakes


def test_an_illegal_move_loses_the_game():
    """What the others have gained since their last decision stays theirs; the offender has been told already."""
    env = borneo_env.env(reward="score-delta")
    env.reset(seed=1)
    play_until_owed(env)
    waiting = dict(env._cumulative_rewards)
    offender = env.agent_selection
    illegal = int(np.flatnonzero(env.observe(offender)["action_mask"] == 0)[0])
    env.step(illegal)
    assert all(env.terminations.values()) and all(env.truncations.values())
    told = {}
    for agent in env.agent_iter():
        told[agent] = env.last()[1]
        env.step(None)
    assert told == {agent: -1.0 if agent == offender else waiting[agent] for agent in env.possible_agents}
    env.reset(seed=1)
    assert not any(env.terminations.values()) and not any(env.rewards.values())


@pytest.mark.parametrize(
    "action",
    [1.0, np.float64(1), 370, -1, np.int64(-1), 2**70, "place red", None, True, np.True_, np.array(1), np.array([1])],
    ids=repr,
)
def test_an_action_outside_the_space_is_refused(action):
    env = borneo_env.env()
    env.reset(seed=1)
    before = env.state()
    with pytest.raises(AssertionError, match="is not in the action space"):
        env.step(action)
    assert (env.state() == before).all() and not any(env.terminations.values())


def test_an_action_after_the_end_is_refused(monkeypatch):
    said = []
    monkeypatch.setattr(EnvLogger, "_generic_warning", said.append)
    env = borneo_env.env(tables="tiny")
    env.reset(seed=4)
    play_on(env)
    with pytest.raises(ValueError, match="None"):
        env.step(1)
    while env.agents:
        env.step(None)
    env.step(1)
    assert len(said) == 1 and "after" in said[0] and not env.agents


def test_the_raw_environment_refuses_an_action_after_the_end():
    env = borneo_env.raw_env(tables="tiny")
    env.reset(seed=4)
    play_on(env)
    while env.agents:
        env.step(None)
    for action in (1, None):
        with pytest.raises(IllegalMove, match=r"over: reset\(\) deals the next one"):
            env.step(action)


both = pytest.mark.parametrize("make", [borneo_env.env, borneo_env.raw_env])
CALLS = {
    "step": lambda env: env.step(1),
    "observe": lambda env: env.observe("player_0"),
    "state": lambda env: env.state(),
    "table": lambda env: env.table,
    "render": lambda env: env.render(),
    "agent_iter": lambda env: env.agent_iter(),
}
every_call = pytest.mark.parametrize("name", CALLS)


@both
@every_call
def test_a_call_before_reset_is_refused(make, name):
    with pytest.raises(AssertionError, match=rf"reset\(\) needs to be called before {name}"):
        CALLS[name](make(render_mode="ansi"))


@both
@pytest.mark.parametrize("name", ["agent_selection", "rewards", "terminations", "truncations", "infos", "last"])
def test_there_is_nothing_to_read_before_reset(make, name):
    with pytest.raises(AttributeError, match="cannot be accessed before reset"):
        env = make()
        getattr(env, name)()


def interrupted(make=borneo_env.env, **arguments):
    """An environment in which Ctrl-C was pressed in the middle of a step."""
    env = make(render_mode="ansi", **arguments)
    env.reset(seed=1)
    play_on(env, 20)

    def interrupt():
        raise KeyboardInterrupt

    env._ask = interrupt
    with pytest.raises(KeyboardInterrupt):
        env.step(pick(env.last()[0]["action_mask"]))
    del env._ask
    return env


@both
@every_call
def test_a_step_that_was_interrupted_is_not_gone_on_with(make, name):
    env = interrupted(make)
    for one in (env, copy.deepcopy(env)):
        with pytest.raises(ResetNeeded, match=r"interrupted in the middle of a step: reset\(\)"):
            CALLS[name](one)
    assert "interrupted" in env._repr_svg_()


def test_a_reset_is_enough_after_an_interrupt():
    env, expected = interrupted(), borneo_env.env()
    with pytest.raises(ValueError, match="a seed is a whole number"):
        env.reset(seed=-1)
    with pytest.raises(ResetNeeded):
        env.step(1)
    for one in (env, expected):
        one.reset(seed=2)
    assert play_on(env, 60) == play_on(expected, 60)


# ---------------------------------------------------------------- pictures


def test_the_last_move_is_told_in_words():
    env = borneo_env.env(render_mode="ansi", players=3)
    env.reset(seed=1)
    told = f"{env.agent_selection.replace('_', ' ')} places a trader in red"
    env.step(1)
    assert told in env.render()
    env.reset()
    assert "places a trader" not in env.render()


def test_rendering_needs_a_mode():
    env = borneo_env.env()
    env.reset(seed=1)
    with pytest.raises(ValueError, match="give a render_mode when you make the environment"):
        env.render()
