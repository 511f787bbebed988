"""The Gymnasium environment: one seat against opponents, what checkers ask of it, and what its users rely on."""

import copy
import re

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from playing import SEVERAL_RULESETS, Picker, fields, pick, play_seat_on, totals

import borneo_env
from borneo_env.rewards import REWARDS

TWO_RULESETS = [p for p in SEVERAL_RULESETS if p.id in ("board-5-blackbeard", "card-3")]


class AnyAction(borneo_env.BorneoEnv):
    """Checkers know no masks: any action stands for a legal one."""

    def step(self, action):
        legal = np.flatnonzero(self.action_masks())
        return super().step(int(legal[action % len(legal)]))


# ---------------------------------------------------------------- checkers and learners


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_gymnasium_accepts_the_environment(ruleset):
    check_env(AnyAction(**fields(ruleset)), skip_render_check=True)


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_stable_baselines_accepts_the_environment(ruleset):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(AnyAction(**fields(ruleset)))


# ---------------------------------------------------------------- playing


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_the_learner_decides_where_its_seat_does_in_the_batch_game(ruleset):
    """Observations, masks, phases and seats are those of the game in which everybody plays as `pick` does."""
    env = borneo_env.BorneoEnv(**fields(ruleset), opponents=Picker(), seat=1)
    seen, info = env.reset(seed=5)
    batch = borneo_env.Batch(1, ruleset, seed=5, finished="hold")
    decisions = 0
    while batch.player[0] >= 0:
        if batch.player[0] == 1:
            decisions += 1
            assert info["phase"] == batch.phase[0] and info["seat"] == 1
            assert (seen == batch.observe(1)[0]).all()
            assert (info["action_mask"] == batch.mask[0]).all() and (env.action_masks() == batch.mask[0]).all()
            seen, _, terminated, _, info = env.step(pick(info["action_mask"]))
        batch.step([pick(batch.mask[0])])
    assert terminated and decisions > 20 and borneo_env.PHASES[info["phase"]] == "over"
    for action in (0, borneo_env.NO_ACTION):
        with pytest.raises(ResetNeeded, match=r"over: reset\(\) deals the next one"):
            env.step(action)
    assert (seen == batch.observe(1)[0]).all()
    assert info["scores"] == batch.scores()[0].tolist() and info["places"] == batch.places()[0].tolist()


@pytest.mark.parametrize("ruleset", TWO_RULESETS)
@pytest.mark.parametrize("name", REWARDS)
def test_rewards_add_up_to_what_the_record_says(name, ruleset):
    env = borneo_env.BorneoEnv(**fields(ruleset), opponents=Picker(), reward=name)
    seats = set()
    env.reset(seed=5)
    for number in range(3):
        seats.add(env.seat)
        total = sum(reward for _, reward, _, _ in play_seat_on(env))
        assert total == pytest.approx(totals(ruleset, 5, number)[name][env.seat], abs=1e-5)
        env.reset()
    assert len(seats) > 1


def test_the_seat_is_drawn_evenly_and_follows_from_the_seed():
    env, other = borneo_env.BorneoEnv(players=5), borneo_env.BorneoEnv(players=5)
    drawn = []
    env.reset(seed=3)
    other.reset(seed=3)
    for _ in range(200):
        drawn.append(env.seat)
        assert env.seat == other.seat
        env.reset()
        other.reset()
    assert min(np.bincount(drawn, minlength=5)) > 20


def test_each_opponent_sits_where_it_was_put():
    """The first opponent is the learner's left neighbour."""
    agents = [Picker(), Picker(), Picker()]
    env = borneo_env.BorneoEnv(opponents=agents, seat=2)
    env.reset(seed=2)
    play_seat_on(env)
    for i, agent in enumerate(agents):
        assert agent.views and all((views.player == (2 + 1 + i) % 4).all() for views in agent.views)


def test_what_is_returned_can_be_kept_and_written_to():
    env = borneo_env.BorneoEnv()
    seen, info = env.reset(seed=1)
    kept = [seen, info["action_mask"], env.action_masks()]
    before = [array.copy() for array in kept]
    stepped = env.step(pick(kept[2]))[0]
    later = stepped.copy()
    env.step(pick(env.action_masks()))
    assert all((a == b).all() for a, b in zip(kept, before, strict=True)) and (stepped == later).all()
    mask = env.action_masks()
    mask[:] = True
    assert not env.action_masks().all()


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize("action", (0, 10**30, -5))
def test_an_illegal_action_can_end_the_game_instead(action):
    env = borneo_env.BorneoEnv(players=3, illegal="end")
    first, _ = env.reset(seed=5)
    action = action or int(np.flatnonzero(~env.action_masks())[0])
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert np.array_equal(observation, first)
    assert info["illegal"]
    with pytest.raises(ResetNeeded, match="the game is over"):
        env.step(int(env.action_masks().argmax()))
    assert not env.reset()[1]["illegal"]
    *_, terminated, _, info = env.step(int(env.action_masks().argmax()))
    assert not terminated and not info["illegal"]


def test_infos_are_numpy_numbers_and_arrays():
    """TorchRL makes tensors of all of them by their dtypes."""
    env = borneo_env.BorneoEnv(players=3, illegal="end")
    for info in (env.reset(seed=1)[1], env.step(int(env.action_masks().argmax()))[4], env.step(-1)[4]):
        assert {name: value.dtype.kind for name, value in info.items()} == {
            "action_mask": "i", "phase": "i", "seat": "i", "illegal": "b",
        }  # fmt: skip


def test_masks_can_come_with_observations():
    env, plain = (borneo_env.BorneoEnv(players=3, mask_in_observation=asked) for asked in (True, False))
    given, expected = env.reset(seed=2), plain.reset(seed=2)
    terminated = False
    while not terminated:
        assert env.observation_space.contains(given[0])
        assert np.array_equal(given[0]["observation"], expected[0])
        assert np.array_equal(given[0]["action_mask"], plain.unwrapped._seats.mask[0])
        action = pick(given[0]["action_mask"])
        given[0]["action_mask"][:] = 7  # a copy: `info` has another
        assert (given[-1]["action_mask"] < 2).all()
        given, expected = env.step(action), plain.step(action)
        assert given[1:3] == expected[1:3]
        terminated = given[2]
    check_env(borneo_env.BorneoEnv(illegal="end", mask_in_observation=True), skip_render_check=True)


def test_learners_without_masks_can_use_the_environment():
    """Gymnasium's checker plays any actions."""
    check_env(gymnasium.make("borneo_env:Borneo-v0", illegal="end").unwrapped, skip_render_check=True)


CALLS = [lambda env: env.step(1), lambda env: env.action_masks(), lambda env: env.render()]
every_call = pytest.mark.parametrize("call", CALLS, ids=["step", "action_masks", "render"])


@every_call
def test_a_call_before_reset_is_refused(call):
    with pytest.raises(ResetNeeded, match=r"No game yet: reset\(\) deals one"):
        call(borneo_env.BorneoEnv(render_mode="ansi"))


class Breaking(Picker):
    """An agent that breaks off at its tenth decision, once."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def act(self, views):
        answer = super().act(views)
        if len(self.views) == 10:
            raise self.error
        return answer


@every_call
@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("thinking failed")], ids=["Ctrl-C", "error"])
def test_a_step_that_was_interrupted_is_not_gone_on_with(call, error):
    """The opponent was about to decide: its mask and its view are nothing for the learner."""
    env = borneo_env.BorneoEnv(players=3, render_mode="ansi", opponents=Breaking(error), seat=0)
    env.reset(seed=1)
    with pytest.raises(type(error)) as raised:
        play_seat_on(env)
    if isinstance(error, Exception):
        assert re.match(r"agent [12] of 2 \(Breaking\) raised this", raised.value.__notes__[0])
    for one in (env, copy.deepcopy(env)):
        with pytest.raises(ResetNeeded, match=r"interrupted in the middle of a step: reset\(\)"):
            call(one)
    assert "interrupted" in env._repr_svg_()
    expected = borneo_env.BorneoEnv(players=3, opponents=Picker(), seat=0)
    assert (env.reset(seed=2)[0] == expected.reset(seed=2)[0]).all()
    assert play_seat_on(env, 20) == play_seat_on(expected, 20)


# ---------------------------------------------------------------- pictures
