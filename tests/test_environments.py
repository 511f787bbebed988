"""What the environments of PettingZoo and Gymnasium have in common: arguments, types, seeds, words."""

import copy
import pickle

import numpy as np
import pytest
from playing import pick, play_on, play_seat_on

from borneo_env import NO_ACTION, BorneoEnv, BorneoVectorEnv, IllegalMove, env, raw_env
from borneo_env.agent import UnknownAgent

AEC, ONE_SEAT, MANY = (env, raw_env), (BorneoEnv,), (BorneoVectorEnv,)
SEATS = ONE_SEAT + MANY
WRONG_ARGUMENTS = [
    (AEC + SEATS, {"edition": "pocket"}, ValueError, "edition 'pocket' does not exist; use one of board, card"),
    (AEC + SEATS, {"players": 2}, ValueError, "3, 4 or 5 players, not 2"),
    (AEC + SEATS, {"traders": 4}, ValueError, "four traders are a variant of the board edition with 3 players"),
    (AEC + SEATS, {"reward": "glory"}, ValueError, "no reward 'glory'; use one of win, place"),
    (AEC + SEATS, {"dtype": "float64"}, ValueError, "use one of int8, float32"),
    (AEC + ONE_SEAT, {"render_mode": "hologram"}, ValueError, "use one of ansi, rgb_array, human"),
    (AEC, {"viewer": 4}, ValueError, "viewer 4 does not exist; use 0 to 3, -1 for a spectator"),
    *((AEC, {"viewer": viewer}, ValueError, f"viewer {viewer} does not exist") for viewer in (-2, True, 1.0)),
    (SEATS, {"seat": 3, "players": 3}, ValueError, "seat 3 does not exist; use 0 to 2, or 'random'"),
    *((SEATS, {"seat": seat}, ValueError, f"seat {seat!r} does not exist") for seat in (-1, True, 1.0, "first", "all")),
    (SEATS, {"illegal": "ignore"}, ValueError, "illegal is 'raise' or 'end'"),
    (SEATS, {"opponents": "genius"}, UnknownAgent, "no agent 'genius'; known are: .*random"),
    (SEATS, {"opponents": ["random"]}, UnknownAgent, "1 opponents given; a game of 4 has 3"),
    (SEATS, {"opponents": 5}, UnknownAgent, "a name or has a method act"),
    *((MANY, {"num_envs": n}, ValueError, f"at least 1 game, not {n}") for n in (0, -3, 2.0)),
    (MANY, {"threads": 0}, ValueError, "threads is a number from 1"),
]
each_kind = pytest.mark.parametrize("make", AEC + SEATS)


@pytest.mark.parametrize(
    ("make", "arguments", "error", "reason"), [(m, *case) for ms, *case in WRONG_ARGUMENTS for m in ms]
)
def test_wrong_arguments_get_a_clear_error(make, arguments, error, reason):
    with pytest.raises(error, match=reason):
        make(**arguments)


def first_seen(made, seed=None):
    """The first observation after a reset."""
    if isinstance(made, AEC):
        made.reset(seed)
        return made.observe("player_0")["observation"]
    return made.reset(seed=seed)[0]


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@each_kind
def test_observations_have_the_type_asked_for(make, dtype):
    made = make(dtype=dtype)
    seen = first_seen(made, 1)
    space = made.observation_space("player_0")["observation"] if make in AEC else made.observation_space
    assert seen.dtype == dtype and seen in space


@each_kind
def test_games_without_a_seed_differ(make):
    assert not np.array_equal(first_seen(make()), first_seen(make()))


@pytest.mark.parametrize("make", AEC + ONE_SEAT)
def test_an_observation_is_explained(make):
    made = make(players=3)
    assert "player: " in made.explain(first_seen(made, 1))


def test_as_many_games_as_a_number_of_numpy():
    envs = BorneoVectorEnv(np.int64(3), players=3, seat=np.int8(1))
    observation, infos = envs.reset(seed=1)
    assert type(envs.num_envs) is int and observation in envs.observation_space and set(infos["seat"]) == {1}


def played_on(made):
    """What is seen in random games that go on where they are, and in those that follow."""
    if isinstance(made, AEC):
        seen = play_on(made, seed=9)
        made.reset()
        return [*seen, *play_on(made, 60, seed=9)]
    if isinstance(made, BorneoEnv):
        return [*play_seat_on(made), made.reset()[0].tobytes(), made.seat]
    return [made.step([pick(mask) for mask in made.action_masks()])[:2] for _ in range(40)]


@pytest.mark.parametrize(
    "clone", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))], ids=["copy", "pickle"]
)
@each_kind
def test_a_copy_in_mid_game_plays_on_identically(make, clone):
    made = make(reward="score-delta")
    first_seen(made, 5)
    for _ in range(4):
        if make in AEC:
            made.step(pick(made.last()[0]["action_mask"]))
        else:
            made.step(pick(made.action_masks()) if make is BorneoEnv else [pick(made.action_masks()[0])])
    twin = clone(made)
    first = played_on(made)
    assert len(first) > 2 and str(played_on(twin)) == str(first)


def taken(made, action):
    return made.step([action] if isinstance(made, BorneoVectorEnv) else action)


NOT_LEGAL = (0, 300, 370, -1, -2, 2**63, 2**70, -(2**70), np.uint64(2**64 - 1))  # at the first decision
NO_WHOLE_NUMBERS = (1.0, np.float64(1), np.float32(1), "place red", None, True, np.True_)


@pytest.mark.parametrize("make", (raw_env, *SEATS))
def test_a_wrong_action_is_refused_and_changes_nothing(make):
    made, expected = make(players=3), make(players=3)
    for one in (made, expected):
        first_seen(one, 1)
    for action in NOT_LEGAL:
        words = "must play a legal action" if make in SEATS and action == NO_ACTION else "legal are: place red"
        with pytest.raises(IllegalMove, match=words):
            taken(made, action)
    for action in NO_WHOLE_NUMBERS:
        with pytest.raises(TypeError, match="whole number"):
            taken(made, action)
    assert str(played_on(made)) == str(played_on(expected))


def test_as_many_actions_as_games():
    envs = BorneoVectorEnv(2, players=3)
    envs.reset(seed=1)
    with pytest.raises(ValueError, match="one action for each of the 2 games"):
        envs.step([1])
