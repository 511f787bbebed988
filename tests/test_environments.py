"""The PettingZoo, Gymnasium and batched environments: what their users rely on."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

import borneo_env
from borneo_env import IllegalMove, Ruleset, Seats, every_ruleset
from borneo_env.agent import UnknownAgent
from borneo_env.engine.observe import LAYOUT, explain, join, layout, split
from borneo_env.record import record_games, replay
from borneo_env.rewards import REWARDS

RULESETS = [pytest.param(ruleset, id=ruleset.name) for ruleset in every_ruleset()]


def fields(ruleset):
    names = ("edition", "players", "traders", "blackbeard")
    return {name: getattr(ruleset, name) for name in names}


def play_on(env, decisions, seed=0):
    """Play random legal actions; returns what happened, to compare."""
    choices = np.random.default_rng(seed)
    seen = []
    for _ in range(decisions):
        observation, reward, terminated, _, info = env.last()
        if terminated:
            break
        seen.append((env.agent_selection, observation["observation"].tobytes(), reward, info["phase"]))
        env.step(int(choices.choice(np.flatnonzero(observation["action_mask"]))))
    return seen


# ---------------------------------------------------------------- PettingZoo


@pytest.mark.filterwarnings("ignore:Observation")  # PettingZoo's test does not know this game's dict observations
@pytest.mark.parametrize("ruleset", RULESETS)
def test_pettingzoo_accepts_the_environment(ruleset, capsys):
    api_test(borneo_env.env(**fields(ruleset)), num_cycles=300)
    seed_test(lambda: borneo_env.env(**fields(ruleset)), num_cycles=100)


def test_the_last_step_rewards_every_seat():
    env = borneo_env.env(players=3, tables="tiny")
    env.reset(seed=4)
    play_on(env, 1000)
    assert set(env.rewards) == set(env.possible_agents) and sum(env.rewards.values()) == 1
    assert all(env.terminations.values())


def test_an_idle_seat_sees_the_table_but_may_do_nothing():
    env = borneo_env.env()
    env.reset(seed=1)
    for agent in env.possible_agents:
        seen = env.observe(agent)
        assert seen in env.observation_space(agent)
        assert seen["action_mask"].any() == (agent == env.agent_selection)
    assert env.state() in env.state_space


def test_an_illegal_move_loses_the_game():
    env = borneo_env.env()
    env.reset(seed=1)
    offender = env.agent_selection
    illegal = int(np.flatnonzero(env.observe(offender)["action_mask"] == 0)[0])
    env.step(illegal)
    assert all(env.terminations.values())
    assert env.rewards == {agent: -1.0 if agent == offender else 0.0 for agent in env.possible_agents}


def test_the_raw_environment_refuses_an_illegal_move_and_stays_as_it_was():
    env = borneo_env.raw_env()
    env.reset(seed=1)
    before = env.state()
    with pytest.raises(IllegalMove, match=r"player .* phase place.*legal are: place red"):
        env.step(0)
    with pytest.raises(TypeError, match="whole number"):
        env.step(1.0)
    assert (env.state() == before).all()


def test_legal_moves_are_told_on_request():
    env = borneo_env.env(legal_moves=True)
    env.reset(seed=1)
    assert env.infos[env.agent_selection] == {
        "phase": "place",
        "legal_moves": ["place red", "place yellow", "place green", "place blue"],
    }


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_a_copy_in_mid_game_plays_on_identically(clone):
    env = borneo_env.env(reward="score-delta")
    env.reset(seed=5)
    play_on(env, 90)
    twin = clone(env)
    assert play_on(env, 60, seed=9) == play_on(twin, 60, seed=9)


def test_a_state_can_be_restored():
    env = borneo_env.env()
    env.reset(seed=5)
    play_on(env, 50)
    state = env.get_state()
    first = play_on(env, 60, seed=9)
    env.set_state(state)
    assert play_on(env, 60, seed=9) == first


def test_every_seat_has_the_same_spaces_at_every_player_count():
    spaces = {str(borneo_env.env(players=n).observation_space("player_0")) for n in (3, 4, 5)}
    assert len(spaces) == 1


# ---------------------------------------------------------------- Gymnasium


def test_gymnasium_accepts_the_environment():
    class AnyAction(borneo_env.BorneoEnv):
        """Gymnasium's checker knows no masks: any action stands for a legal one."""

        def step(self, action):
            legal = np.flatnonzero(self.action_masks())
            return super().step(int(legal[action % len(legal)]))

    check_env(AnyAction(players=3, tables="tiny"), skip_render_check=True)


def test_one_seat_against_opponents():
    env = gymnasium.make("borneo_env:Borneo-v0", players=3, opponents=["random", "random"], seat=2)
    _, info = env.reset(seed=3)
    total = 0.0
    for _ in range(1000):
        assert info["seat"] == 2
        action = int(np.flatnonzero(info["action_mask"])[-1])
        _, reward, terminated, _, info = env.step(action)
        total += reward
        if terminated:
            break
    assert terminated and total in (0, 1 / 3, 1 / 2, 1) and (info["places"][2] == 1) == (total > 0)
    with pytest.raises(IllegalMove, match="over"):
        env.step(0)


class First:
    """An agent that plays the first legal action, and remembers what it was shown."""

    def __init__(self):
        self.views = []

    def act(self, views):
        self.views.append(views)
        return views.mask.argmax(axis=1)


def test_an_opponent_object_gets_views_without_secrets():
    agent = First()
    env = borneo_env.BorneoEnv(players=3, opponents=agent, seat=0)
    env.reset(seed=2)
    for _ in range(20):
        env.step(int(np.flatnonzero(env.action_masks())[0]))
    assert agent.views
    for views in agent.views:
        assert (views.games["draw"] == -1).all() and (views.games["rng"] == 0).all()
        assert (views.player != 0).all()
        assert views.resample(np.random.default_rng(1)).shape == views.games.shape


def test_vector_environment_equals_the_plain_arrays_and_keeps_final_results():
    envs = gymnasium.make_vec(
        "borneo_env:Borneo-v0", num_envs=16, vectorization_mode="vector_entry_point", tables="tiny", reward="score"
    )
    _, infos = envs.reset(seed=7)
    seats = Seats(16, Ruleset(tables="tiny"), reward="score", seed=7)
    finished, seated = 0, infos["seat"]
    for _ in range(80):
        actions = infos["action_mask"].argmax(axis=1)
        observation, reward, done, _, infos = envs.step(actions)
        seats.step(actions)
        assert (observation == seats.observation).all() and (reward == seats.reward).all()
        for i in np.flatnonzero(done):
            finished += 1
            points = infos["final_info"]["scores"][i]
            mine = points[seated[i]]
            others = (points.sum() - mine) / 3
            assert reward[i] == pytest.approx(mine - others)
            assert split(infos["final_obs"][i])["phase"][-1] == 1
        seated = infos["seat"]
    assert finished > 16


def test_a_batch_of_seats_equals_seats_one_by_one():
    together = Seats(6, Ruleset(players=3), seed=11, deals_anew=False)
    for i in range(6):
        alone = Seats(1, Ruleset(players=3), seed=11, deals_anew=False, first=i)
        assert (alone.observation[0] == together.observation[i]).all() and alone.seat[0] == together.seat[i]


# ---------------------------------------------------------------- observation


@pytest.mark.parametrize("ruleset", RULESETS)
def test_twins_a_seat_cannot_tell_apart_look_the_same(ruleset):
    """No leak: at every decision, every seat's observation, and the decider's mask, survive resampling."""
    rng = np.random.default_rng(1)
    batch = borneo_env.Batch(24, ruleset, seed=3, finished="hold", skip_forced=False)
    while (batch.player >= 0).any():
        for seat in range(ruleset.players):
            twins = batch.copy()
            twins.games[:] = borneo_env.resample(batch.games, seat, rng)
            twins.refresh()
            assert (twins.observe(seat) == batch.observe(seat)).all()
            mine = batch.player == seat
            assert (twins.mask[mine] == batch.mask[mine]).all()
        batch.step(batch.sample())


@pytest.mark.parametrize("slots", [5, 15])
def test_the_layout_covers_the_observation_without_gaps(slots):
    blocks = layout(slots)
    assert [block.slice.start for block in blocks] == [0, *(block.slice.stop for block in blocks[:-1])]
    assert len({block.name for block in blocks}) == len(blocks)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_observations_split_into_blocks_and_back(ruleset):
    batch = borneo_env.Batch(8, ruleset, seed=3)
    batch.play_random(120)
    seen = batch.observe()
    blocks = split(seen)
    assert (join(blocks) == seen).all()
    assert (blocks["hand"].sum(1) == blocks["hand_size"][:, 0]).all()
    assert (blocks["hand_ages"].sum(2) == blocks["hand_size"]).all()
    assert (blocks["unseen"].sum((1, 2)) == blocks["hand_size"][:, 1:].sum(1) + blocks["draw_left"]).all()
    assert (blocks["ladders"].sum((1, 2, 3)) == blocks["placed"]).all()
    assert (blocks["player"][:, 0] == 1).all()


def test_an_observation_is_explained_in_words():
    batch = borneo_env.Batch(1, seed=2)
    batch.play_random(30)
    hand = np.flatnonzero(split(batch.observe())["hand"][0])
    told = explain(batch.observe()[0])
    assert "hand: " + ", ".join(f"card {card}" for card in hand) in told
    assert "player: you" in told
    assert all(block.name in told for block in LAYOUT)
    with pytest.raises(ValueError, match="969"):
        explain(np.zeros(5))


# ---------------------------------------------------------------- rewards


@pytest.mark.parametrize("name", REWARDS)
def test_rewards_follow_from_the_records(name):
    ruleset = Ruleset(players=4, blackbeard=True)
    for record in record_games(ruleset, 12, seed=8, agents=["random"] * 4):
        total = np.zeros(4)
        for moment in replay(record):
            if moment.kind == "move":
                before = np.array([moment.before])
                total += REWARDS[name](ruleset, before, moment.batch.games)[0]
        scores, places = np.array(record[-1]["scores"]), np.array(record[-1]["places"])
        game = moment.batch.games[0]
        lead = scores - (scores.sum() - scores) / 3
        contracts = game["fulfilled"][:4] @ [c.points for c in ruleset.tables.contracts]
        climbed = [-sum(i for row in game["ladder"] for i, p in enumerate(row) if p == seat) for seat in range(4)]
        expected = {
            "win": (places == 1) / (places == 1).sum(),
            "place": [np.mean([1 - 2 * (p - 1 + k) / 3 for k in range((places == p).sum())]) for p in places],
            "score": lead,
            "score-delta": lead,
            "contracts": contracts,
            "ranks": climbed + game["tally"][:4, [2, 3]].sum(1),
        }[name]
        assert total == pytest.approx(np.array(expected, float))


def test_a_reward_of_ones_own_is_a_function():
    def cards(ruleset, before, after):
        return after["hand_size"][:, : ruleset.players].astype(float)

    env = borneo_env.env(reward=cards)
    env.reset(seed=1)
    env.step(1)
    assert env.rewards == dict.fromkeys(env.possible_agents, 3.0)


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("arguments", "error", "reason"),
    [
        ({"edition": "pocket"}, ValueError, "edition 'pocket' does not exist; use one of board, card"),
        ({"players": 2}, ValueError, "3, 4 or 5 players, not 2"),
        ({"reward": "glory"}, ValueError, "no reward 'glory'; use one of win, place"),
        ({"dtype": "float64"}, ValueError, "use one of int8, float32"),
        ({"render_mode": "hologram"}, ValueError, "use one of ansi, rgb_array, human"),
    ],
)
@pytest.mark.parametrize("make", [borneo_env.env, borneo_env.BorneoEnv], ids=["aec", "seat"])
def test_wrong_arguments_get_a_clear_error(make, arguments, error, reason):
    with pytest.raises(error, match=reason):
        make(**arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "reason"),
    [
        ({"seat": 7}, ValueError, "seat 7 does not exist; use 0 to 3, or 'random'"),
        ({"opponents": "genius"}, UnknownAgent, "no agent 'genius'; known are: random"),
        ({"opponents": ["random"]}, UnknownAgent, "1 opponents given; a game of 4 has 3"),
        ({"opponents": 5}, UnknownAgent, "a name or has a method act"),
    ],
)
def test_a_wrong_seat_or_opponent_gets_a_clear_error(arguments, error, reason):
    with pytest.raises(error, match=reason):
        borneo_env.BorneoEnv(**arguments)


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_positions_are_shown(mode):
    env = borneo_env.env(render_mode=mode)
    env.reset(seed=3)
    play_on(env, 40)
    shown = env.render()
    assert shown.shape[2] == 3 if mode == "rgb_array" else "Tidore" in shown or "port" in shown
