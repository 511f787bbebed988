"""Any game as an environment: what PettingZoo and Gymnasium ask, and games that are awkward."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from awkward_games import LEAVE, PATIENCE
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

import kontor
from kontor.engine.games import results
from kontor.envs.seats import NeverAsked
from kontor.rewards import find_reward

KUHN = kontor.find_game("examples/kuhn.py:KUHN")
LEDUC = kontor.find_game("examples/leduc.py:LEDUC")
RULESETS = [
    KUHN.Ruleset(), KUHN.Ruleset(players=3), LEDUC.Ruleset(), PATIENCE.Ruleset(), LEAVE.Ruleset(players=4),
]  # fmt: skip
each_ruleset = pytest.mark.parametrize("ruleset", RULESETS, ids=[ruleset.name for ruleset in RULESETS])


class AnyAction(kontor.SeatEnv):
    """Checkers know no masks: any action stands for a legal one."""

    def step(self, action):
        legal = np.flatnonzero(self.action_masks())
        return super().step(int(legal[action % len(legal)]))


class Last:
    """Plays the last legal action."""

    def act(self, views):
        return views.mask.shape[1] - 1 - views.mask[:, ::-1].argmax(1)


def play_on(env, rng):
    """Play an environment of PettingZoo to the end of its game; returns who was asked, and what all got."""
    asked, got = [], dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        got[agent] += reward
        over = terminated or truncated
        asked += [] if over else [agent]
        env.step(None if over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return asked, got


# ---------------------------------------------------------------- PettingZoo


@pytest.mark.filterwarnings("ignore:Observation")  # a dict, with the mask
@each_ruleset
def test_pettingzoo_accepts_it(ruleset, capsys):
    api_test(kontor.env(ruleset), num_cycles=200)
    seed_test(lambda: kontor.env(ruleset), num_cycles=50)
    assert "Passed" in capsys.readouterr().out


def test_a_game_is_given_by_name_by_path_or_itself():
    made = [kontor.make(KUHN, players=3), kontor.make("examples/kuhn.py:KUHN", players=3), kontor.env(KUHN.Ruleset(3))]
    assert {env.ruleset for env in made} == {KUHN.Ruleset(players=3)}
    assert made[0].metadata["name"] == "kuhn_v0" and made[0].possible_agents == ["player_0", "player_1", "player_2"]
    for call in (kontor.env, kontor.raw_env, kontor.SeatEnv, kontor.SeatVectorEnv):
        assert isinstance(call(game=LEDUC), call)
    with pytest.raises(TypeError, match="which game"):
        kontor.env()
    with pytest.raises(TypeError, match="there is no argument 'edge'; a ruleset of Kuhn poker has players"):
        kontor.make(KUHN, edge=3)


def test_a_game_with_kinds_of_its_own_is_made_of_them():
    borneo = kontor.make("borneo_env.engine.game:BORNEO", players=3, edition="card")
    assert type(borneo).__module__ == "borneo_env.aec" and borneo.ruleset.name == "card-3"


@each_ruleset
def test_rewards_add_up_to_what_the_game_came_to(ruleset):
    for name in ruleset.game.all_rewards:
        env = kontor.env(ruleset, reward=name)
        for seed in range(5):
            env.reset(seed=seed)
            dealt = env.table
            _, got = play_on(env, np.random.default_rng(seed))
            games = [np.array([game]) for game in (dealt, env.table)]
            assert list(got.values()) == pytest.approx(find_reward(ruleset.game, name)(ruleset, *games)[0])


def test_a_player_may_be_asked_twice_in_a_row_and_nobody_wins():
    env = kontor.env(PATIENCE)
    env.reset(seed=1)
    for action in (0, 0, 1):
        env.step(action)
    assert env.agent_selection == "player_1" and env.table["taken"].tolist() == [2, 0]
    env.step(0)
    env.step(1)
    assert env.rewards == {"player_0": 0.0, "player_1": 0.0} and all(env.terminations.values())
    assert results(env.ruleset, np.array([env.table])).scores.tolist() == [[-2, -1]]


def test_what_betrays_a_hand_by_being_asked_is_told_to_nobody():
    env = kontor.env(LEAVE, players=4)
    env.reset(seed=1)
    first = [env.observe(agent)["observation"].tolist() for agent in env.agents]
    env.step(0)
    assert env.agent_selection == "player_1"
    later = [env.observe(agent)["observation"].tolist() for agent in env.agents]
    assert [before == after for before, after in zip(first, later, strict=True)] == [True, False, True, True]
    told = kontor.env(
        LEAVE, players=4, skip_forced=False
    )  # where all decisions are asked for, that one is tells nothing
    told.reset(seed=1)
    told.step(0)
    assert told.observe("player_2")["observation"].tolist() != first[2]


def test_a_sheet_shows_what_its_viewer_sees():
    shown = {}
    for viewer in (None, 0, 1, -1):
        env = kontor.make(KUHN, render_mode="ansi", viewer=viewer)
        env.reset(seed=1)
        env.step(1)
        shown[viewer] = env.render()
    assert "player 0: bet" in shown[0] and "player 0: bet" not in shown[1]
    cards = {viewer: text.splitlines()[-4].split()[1:] for viewer, text in shown.items()}
    assert cards[0] == [cards[None][0], "?"] and cards[1] == ["?", cards[None][1]] and cards[-1] == ["?", "?"]
    with pytest.raises(ValueError, match="render mode 'human' is not offered; use one of ansi"):
        kontor.env(KUHN, render_mode="human")


@each_ruleset
def test_copies_and_pickles_play_on_identically(ruleset):
    env = kontor.env(ruleset)
    env.reset(seed=3)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        again = copy.deepcopy(env)
        assert play_on(twin, np.random.default_rng(1)) == play_on(again, np.random.default_rng(1))
        assert twin.table == again.table


# ---------------------------------------------------------------- Gymnasium


@each_ruleset
def test_gymnasium_accepts_it(ruleset):
    check_env(AnyAction(ruleset), skip_render_check=True)
    check_env(AnyAction(ruleset, mask_in_observation=True, illegal="end", seat=1), skip_render_check=True)


@each_ruleset
def test_a_seat_alone_gets_what_a_seat_of_many_gets(ruleset):
    """The learner of one environment, and that of the first place of many, with rewards and results."""
    one = kontor.SeatEnv(ruleset, seat=0, reward="score", opponents=Last())
    many = kontor.SeatVectorEnv(1, ruleset, seat=0, reward="score", opponents=Last())
    seen, info = one.reset(seed=2)
    seen_of_many, infos = many.reset(seed=2)
    for _ in range(30):
        assert seen.tolist() == seen_of_many[0].tolist() and info["action_mask"].any()
        action = int(info["action_mask"].argmax())
        seen, reward, done, _, info = one.step(action)
        seen_of_many, rewards, dones, _, infos = many.step([action])
        assert (reward, done) == (rewards[0], dones[0])
        if done:
            assert infos["final_info"]["scores"][0].tolist() == info["scores"]
            seen, info = one.reset()


def test_it_is_made_by_gymnasium():
    env = gymnasium.make("kontor:Kontor-v0", game="examples/kuhn.py:KUHN", players=3)
    assert env.unwrapped.ruleset == KUHN.Ruleset(players=3)
    many = gymnasium.make_vec("kontor:Kontor-v0", num_envs=5, game=LEDUC)
    observations, infos = many.reset(seed=1)
    assert many.observation_space.contains(observations)
    assert infos["action_mask"].shape == (5, 3)


# ---------------------------------------------------------------- seats


class Asked:
    """Plays as at random, and is asked for each decision."""

    def act(self, views):
        return kontor.Random().act(views)


@pytest.mark.parametrize("opponents", ["random", Asked()])
def test_games_that_end_before_the_learner_is_asked_are_dealt_anew(opponents):
    seats = kontor.Seats(200, LEAVE, players=4, seat=3, opponents=opponents, seed=5)
    for _ in range(20):
        assert seats.mask.any(1).all() and (seats.batch.player == 3).all()
        seats.step(np.zeros(200, int))
        assert seats.done.all() and (seats.final_scores[:, 3] == 12).all()
    with pytest.raises(NeverAsked, match="not asked in 1,000 games of leave-4 in a row"):
        kontor.Seats(2, LEAVE, players=4, seat=3, opponents=Last())
    alone = kontor.SeatEnv(LEAVE, players=4, seat=3)
    for seed in range(30):
        _, info = alone.reset(seed=seed)
        assert info["action_mask"].any() and alone.step(0)[2]


@each_ruleset
def test_a_learner_in_all_seats_plays_what_the_batch_plays(ruleset):
    seats = kontor.Seats(50, ruleset, seat="all", seed=1, reward="score")
    batch = kontor.Batch(50, ruleset, seed=1)
    for _ in range(40):
        assert (seats.seat == batch.player).all() and (seats.mask == batch.mask).all()
        actions = batch.sample()
        assert (actions == seats.batch.sample()).all()
        seats.step(actions)
        batch.step(actions)
        assert (seats.done == batch.done).all()
        done = batch.done
        assert (seats.final_scores[done] == batch.result["scores"][done, : ruleset.players]).all()
    assert (seats.final_scores < 0).any() or ruleset.game is LEAVE
