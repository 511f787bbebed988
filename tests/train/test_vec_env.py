"""The vector environment for stable-baselines3: its games against those of plain `Seats`, and its manners."""

import numpy as np
import pytest
from borneo_agents.scripted.agents import Merchant, Scripted
from playing import Picker, pick

pytest.importorskip("sb3_contrib")

from borneo_train.vec_env import BorneoVecEnv  # stable-baselines3 may be missing
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

from borneo_env import IllegalMove, Ruleset, Seats
from borneo_env.agent import Random
from borneo_env.engine.observe import length, split, state_length
from borneo_env.engine.state import slots_of

SEED = 7
COUNTS = (3, 4, 5)
AT_AN_END = {"terminal_observation", "TimeLimit.truncated", "episode", "is_success", "scores", "places", "seat"}


def make(games=9, opponents="random", **settings):
    """A vector environment of short games, and what its reset gave."""
    env = BorneoVecEnv(games, opponents, **{"tables": "tiny", "seed": SEED} | settings)
    return env, env.reset()


def picks(masks):
    return np.array([pick(mask) for mask in masks])


def legal(env):
    return picks(env.action_masks())


def places(env):
    """The table and the row of every game."""
    return [(table, row) for table in env.tables for row in range(len(table))]


def outcome(env, steps):
    """What so many steps bring, to compare."""
    seen = []
    for _ in range(steps):
        masks = env.action_masks()
        observations, rewards, dones, infos = env.step(masks.argmax(1))
        ends = [(i, info["terminal_observation"].tobytes()) for i, info in enumerate(infos) if info]
        seen.append((masks.tobytes(), observations.tobytes(), rewards.tobytes(), dones.tobytes(), ends))
    return seen


# ---------------------------------------------------------------- the games


@pytest.mark.parametrize(
    ("opponents", "players", "fields", "whole_table"),
    [
        ("random", COUNTS, {"tables": "tiny"}, False),
        ("merchant", COUNTS, {"tables": "tiny"}, True),
        (Picker(), COUNTS, {"tables": "tiny"}, False),
        (["merchant", Picker(), "random"], (4,), {"tables": "tiny"}, False),
        (["random", Picker(), "random"], (4,), {"tables": "tiny"}, True),
        pytest.param("merchant", COUNTS, {}, False, marks=pytest.mark.soak),
        pytest.param("climber", COUNTS, {"edition": "card"}, False, marks=pytest.mark.soak),
    ],
    ids=["random", "merchant", "agent", "bots and agent", "random and agent", "all cards", "card edition"],
)
def test_games_are_those_of_plain_seats(opponents, players, fields, whole_table):
    """There, every opponent but random ones is asked for each decision."""
    common = {"opponents": opponents, "reward": "score-delta", "seed": SEED, "whole_table": whole_table}
    env = BorneoVecEnv(9, players=players, **common, **fields)
    plain = [Seats(9 // len(players), Ruleset(players=count, **fields), **common) for count in players]
    observations, finished = env.reset(), set()
    for _ in range(36 if "tables" in fields else 90):
        assert (observations == np.concatenate([one.observation for one in plain])).all()
        assert (env.action_masks() == np.concatenate([one.mask for one in plain])).all()
        actions = legal(env)
        observations, rewards, dones, infos = env.step(actions)
        for one, played in zip(plain, np.split(actions, len(plain)), strict=True):
            one.step(played)
        assert (rewards == np.concatenate([one.reward for one in plain])).all()
        assert (dones == np.concatenate([one.done for one in plain])).all()
        games = [(one, row) for one in plain for row in range(len(one))]
        for info, done, (table, row) in zip(infos, dones, games, strict=True):
            assert set(info) == (AT_AN_END if done else set())
            if done:
                assert (info["terminal_observation"] == table.final_observation[row]).all()
                assert (info["scores"] == table.final_scores[row]).all()
                assert (info["places"] == table.final_places[row]).all()
                assert info["seat"] == table.final_seat[row]
                assert info["is_success"] is bool(table.final_places[row, info["seat"]] == 1)
                assert info["TimeLimit.truncated"] is False
                finished.add(table.ruleset.players)
    assert finished == set(players)


@pytest.mark.parametrize("bot", ["merchant", "climber", "contractor", "random"])
def test_scripted_bots_play_compiled(bot, monkeypatch):
    """They are never asked: that is what makes the games fast."""

    def asked(self, views):
        raise AssertionError("it was asked")

    monkeypatch.setattr(Scripted, "act", asked)
    monkeypatch.setattr(Random, "act", asked)
    env, _ = make(3, bot)
    outcome(env, 20)


def test_a_bot_made_from_a_scripted_one_is_asked():
    class First(Merchant):
        def act(self, views):
            asked.append(len(views))
            return views.mask.argmax(1)

    asked = []
    env, _ = make(3, First())
    outcome(env, 3)
    assert asked


def test_an_agent_in_several_seats_is_asked_for_all_of_them_together():
    """A network answers one large question faster than several small ones."""
    alone, other = Picker(), Picker()
    env, _ = make(60, [alone, other, alone], players=4)
    outcome(env, 3)
    assert max(len(set(views.player)) for views in alone.views) > 1
    (table,) = env.tables
    assert set(table._seated.ravel()) == {-1, 0, 1} and (np.sort(table._seated, 1) == [-1, 0, 0, 1]).all()


# ---------------------------------------------------------------- who plays


@pytest.mark.parametrize(
    ("games", "players", "counts"),
    [(9, COUNTS, [3, 3, 3]), (11, COUNTS, [4, 4, 3]), (3, COUNTS, [1, 1, 1]), (5, [4], [0, 5, 0]), (2, 5, [0, 0, 2])],
)
def test_player_counts_share_the_games_evenly(games, players, counts):
    _, observations = make(games, players=players)
    found = split(observations)["players"].argmax(1)
    assert np.bincount(found, minlength=3).tolist() == counts and (np.diff(found) >= 0).all()


@pytest.mark.parametrize(("games", "players"), [(2, COUNTS), (9, ()), (9, (4, 4)), (0, 4)])
def test_games_that_cannot_be_shared_get_a_clear_error(games, players):
    with pytest.raises(ValueError, match=f"{games} games cannot be shared by the player counts .* at least one game"):
        make(games, players=players)


# ---------------------------------------------------------------- seeds


def test_a_reset_repeats_the_games_if_it_was_given_a_seed_and_else_deals_the_next():
    env, first = make()
    played = outcome(env, 24)
    env.seed(SEED)
    assert (env.reset() == first).all()
    assert outcome(env, 24) == played
    second, third = env.reset(), env.reset()
    assert (second != first).any(1).all() and (third != second).any(1).all()
    env.seed(SEED + 1)
    assert (env.reset() != first).any(1).all()


def test_a_reset_in_mid_game_forgets_the_game():
    """Nothing of the games left is told or rewarded."""
    env, _ = make(reward="score-delta")
    for _ in range(10):
        env.step(legal(env))
    env.reset()
    steps, total, infos = 0, np.zeros(9), [{}]
    while not any(infos):
        _, rewards, _, infos = env.step(legal(env))
        steps, total = steps + 1, total + rewards
    for info, given in zip(infos, total, strict=True):
        assert not info or (info["episode"]["l"] == steps and info["episode"]["r"] == pytest.approx(given))


# ---------------------------------------------------------------- what stable-baselines3 expects


@pytest.mark.parametrize("edition", ["board", "card"])
@pytest.mark.parametrize("whole_table", [False, True], ids=["seat", "table"])
def test_shapes_and_types_are_those_of_the_spaces(edition, whole_table):
    env, observations = make(7, tables=None, edition=edition, whole_table=whole_table)
    slots = slots_of(Ruleset(edition=edition))
    assert env.num_envs == 7
    assert env.observation_space.shape == ((state_length if whole_table else length)(slots),)
    for _ in range(5):
        assert observations.shape == (7, *env.observation_space.shape) and observations.dtype == np.int8
        assert all(one in env.observation_space for one in observations)
        actions = legal(env)
        assert all(action in env.action_space for action in actions)
        assert env.action_masks().shape == (7, env.action_space.n) and env.action_masks().dtype == np.bool_
        observations, rewards, dones, infos = env.step(actions)
        assert (rewards.shape, rewards.dtype) == ((7,), np.float32)
        assert (dones.shape, dones.dtype) == ((7,), np.bool_)
        assert len(infos) == 7 and all(type(info) is dict for info in infos)


def test_masks_are_given_as_masked_algorithms_ask_for_them():
    env, _ = make()
    masks = env.action_masks()
    assert is_masking_supported(env) and env.has_attr("action_masks")
    assert (get_action_masks(env) == masks).all()
    assert (np.array(env.env_method("action_masks", indices=[8, 2])) == masks[[8, 2]]).all()
    assert (np.array(env.env_method("action_masks", indices=4)) == masks[[4]]).all()


@pytest.mark.parametrize("place", [0, 5, 8])
def test_wrong_actions_are_refused_and_change_nothing(place):
    """At every table: what is wrong at one must not be played at the others."""
    env, _ = make(reward="score-delta")
    twin, _ = make(reward="score-delta")
    for _ in range(3):
        actions = legal(env)
        wrong, idle = actions.copy(), actions.copy()
        wrong[place] = np.flatnonzero(~env.action_masks()[place])[0]
        idle[place] = -1
        row, players = place % 3, place // 3 + 3
        with pytest.raises(IllegalMove, match=rf"game {row}, player \d, phase .*is not legal; legal are: ") as refused:
            env.step(wrong)
        assert refused.value.__notes__ == [f"it is counted among the 3 games of {players} players"]
        with pytest.raises(IllegalMove, match=f"game {row} is not over: the learner must play a legal action, not -1"):
            env.step(idle)
        with pytest.raises(TypeError, match="actions are whole numbers, not float64"):
            env.step(actions.astype(float))
        for number in (8, 10):
            with pytest.raises(ValueError, match="one action for each of the 9 games is needed, not an array of"):
                env.step(np.resize(actions, number))
        assert (env.action_masks() == twin.action_masks()).all()
        (seen, *rest), (expected, *twins) = env.step(actions), twin.step(actions)
        assert (seen == expected).all() and all((a == b).all() for a, b in zip(rest[:2], twins[:2], strict=True))


def test_what_single_environments_have_is_told_to_be_missing():
    env, _ = make()
    assert env.get_attr("render_mode") == [None] * 9
    assert env.env_is_wrapped(Monitor, indices=[1, 2]) == [True, True]
    assert env.env_is_wrapped(VecMonitor) == [False] * 9
    assert not env.has_attr("spec")
    with pytest.raises(AttributeError, match="no environments of their own: they have no 'spec'"):
        env.get_attr("spec")
    with pytest.raises(NotImplementedError, match="they have no 'render'"):
        env.env_method("render")
    with pytest.raises(NotImplementedError, match="no attributes to set; give another argument to BorneoVecEnv"):
        env.set_attr("seat", 1)
    env.close()


def test_stable_baselines3s_own_monitor_counts_the_same():
    env, _ = make(reward="score-delta")
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        monitored = VecMonitor(make(reward="score-delta")[0])
    monitored.seed(SEED)
    monitored.reset()
    finished = 0
    for _ in range(40):
        actions = legal(env)
        *_, infos = env.step(actions)
        *_, others = monitored.step(actions)
        for info, other in zip(infos, others, strict=True):
            if info:
                assert info["episode"]["r"] == pytest.approx(other["episode"]["r"], abs=1e-4)
                assert info["episode"]["l"] == other["episode"]["l"]
                finished += 1
    assert finished > 9


def test_maskable_ppo_trains_and_logs_and_is_evaluated():
    env, _ = make(12)
    learner = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=2, seed=1, device="cpu")
    logged = {}
    before = [values.clone() for values in learner.policy.parameters()]
    learner.learn(12 * 32)
    assert learner.num_timesteps == 12 * 32
    assert any((a != b).any() for a, b in zip(before, learner.policy.parameters(), strict=True))
    learner.logger.record = lambda name, value, **_: logged.update({name: value})
    learner.dump_logs(1)
    assert logged["rollout/ep_len_mean"] > 1
    assert 0 <= logged["rollout/ep_rew_mean"] <= logged["rollout/success_rate"] <= 1  # equal winners share the reward
    returns, lengths = evaluate_policy(learner, env, n_eval_episodes=12, return_episode_rewards=True)
    assert len(returns) == 12 and 0 <= min(returns) <= max(returns) <= 1 and min(lengths) > 1
