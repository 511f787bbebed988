"""Many seats at once: plain arrays and Gymnasium's vector environment, against games played one by one."""

import copy

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from playing import SEVERAL_RULESETS, Picker, fields, pick, totals

import borneo_env
from borneo_env import Batch, BorneoEnv, BorneoVectorEnv, Ruleset, Seats
from borneo_env.agent import WrongAnswer
from borneo_env.engine.games import observe
from borneo_env.engine.observe import split
from borneo_env.engine.state import copy_games
from borneo_env.rewards import REWARDS

TWO_RULESETS = [p for p in SEVERAL_RULESETS if p.id in ("board-5-blackbeard", "card-3")]


def picks(mask):
    return np.array([pick(row) for row in mask])


def single(number, seed, **arguments):
    """A single environment at the game of this number, and what its reset gave."""
    env = BorneoEnv(**arguments)
    given = env.reset(seed=seed)
    for _ in range(number):
        given = env.reset()
    return env, given


# ---------------------------------------------------------------- a batch is many single games


@pytest.mark.parametrize(
    ("opponents", "seat"),
    [
        pytest.param("random", 2, id="random"),
        pytest.param(Picker(), "random", id="agent"),
        pytest.param(["random", Picker()], "random", id="both"),
    ],
)
def test_each_place_plays_the_games_of_a_single_environment(opponents, seat):
    """Observation, reward, mask and seat at every step; and at every end, what the game came to and what is next."""
    size, seed, finished = 5, 7, 0
    arguments = {"players": 3, "tables": "tiny", "reward": "score-delta", "opponents": opponents, "seat": seat}
    envs = BorneoVectorEnv(size, **arguments)
    observation, infos = envs.reset(seed=seed)
    alone, dealt = zip(*(single(i, seed, **arguments) for i in range(size)), strict=True)
    assert all((dealt[i][0] == observation[i]).all() for i in range(size))
    for _ in range(60):
        actions = picks(envs.action_masks())
        observation, reward, terminated, truncated, infos = envs.step(actions)
        assert not truncated.any()
        for i, env in enumerate(alone):
            seen, gained, over, _, info = env.step(int(actions[i]))
            assert (reward[i], terminated[i]) == (np.float32(gained), over)
            if over:
                finished += 1
                masks = infos["final_info"]["_scores"], infos["final_info"]["_places"]
                assert infos["_final_obs"][i] and infos["_final_info"][i] and all(mask[i] for mask in masks)
                assert (infos["final_obs"][i] == seen).all()
                assert infos["final_info"]["scores"][i].tolist() == info["scores"]
                assert infos["final_info"]["places"][i].tolist() == info["places"]
                for _ in range(size):  # the next game of this place is `size` games later
                    seen, info = env.reset()
            elif terminated.any():
                assert not infos["_final_obs"][i] and not infos["_final_info"][i]
            assert (observation[i] == seen).all()
            assert all(np.array_equal(infos[name][i], info[name]) for name in ("action_mask", "phase", "seat"))
            assert (envs.action_masks()[i] == env.action_masks()).all()
        assert terminated.any() or not {"final_obs", "final_info"} & set(infos)
    assert finished > size


def test_illegal_actions_can_end_games_as_in_a_single_environment():
    """Every third action is illegal in one place; the other places play on."""
    size, seed, forfeits, ends = 3, 7, 0, 0
    arguments = {"players": 3, "tables": "tiny", "reward": "score-delta", "illegal": "end"}
    envs = BorneoVectorEnv(size, **arguments)
    _, infos = envs.reset(seed=seed)
    alone = [single(i, seed, **arguments)[0] for i in range(size)]
    for step in range(90):
        actions = picks(envs.action_masks())
        if step % 3 == 0:
            actions[step % size] = [-1, 370, np.flatnonzero(infos["action_mask"][step % size] == 0)[0]][step // 3 % 3]
        observation, reward, terminated, _, infos = envs.step(actions)
        for i, env in enumerate(alone):
            seen, gained, over, _, info = env.step(int(actions[i]))
            assert (reward[i], terminated[i]) == (np.float32(gained), over)
            if over:
                final = infos["final_info"]
                assert (infos["final_obs"][i] == seen).all() and final["_illegal"][i]
                assert (final["illegal"][i], final["_scores"][i]) == (info["illegal"], "scores" in info)
                forfeits, ends = forfeits + info["illegal"], ends + 1
                for _ in range(size):
                    seen, info = env.reset()
            assert (observation[i] == seen).all() and not infos["illegal"][i]
            assert (envs.action_masks()[i] == env.action_masks()).all()
    assert ends > forfeits == 30
    with pytest.raises(TypeError, match="whole numbers"):
        envs.step([0.5] * size)


def test_a_game_that_is_forfeited_at_its_last_decision_is_followed_by_the_next_one():
    arguments = {"players": 3, "tables": "tiny", "illegal": "end"}
    envs = BorneoVectorEnv(1, **arguments)
    envs.reset(seed=3)
    while not copy.deepcopy(envs).step(envs.action_masks().argmax(axis=1))[2][0]:
        envs.step(envs.action_masks().argmax(axis=1))
    observation, reward, terminated, _, infos = envs.step([-1])
    assert (reward[0], terminated[0], infos["final_info"]["illegal"][0]) == (-1, True, True)
    assert (observation[0] == single(1, 3, **arguments)[1][0]).all()


def test_one_thread_plays_as_many_do():
    outcomes = []
    for threads in (1, 3):
        seats = Seats(600, Ruleset(players=3, tables="tiny"), seed=4, threads=threads, reward="score")
        for _ in range(30):
            seats.step(seats.mask.argmax(axis=1))
        outcomes.append((seats.observation.tobytes(), seats.reward.tobytes(), seats.final_scores.tobytes()))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("ruleset", TWO_RULESETS)
@pytest.mark.parametrize("name", REWARDS)
def test_rewards_add_up_to_what_the_records_say(name, ruleset):
    """Two games in each of two places, each from its first decision to its end."""
    size = 2
    envs = BorneoVectorEnv(size, **fields(ruleset), opponents=Picker(), reward=name)
    _, infos = envs.reset(seed=5)
    number, total, finished = np.arange(size), np.zeros(size), 0
    while finished < 2 * size:
        seat = infos["seat"]
        _, reward, done, _, infos = envs.step(picks(infos["action_mask"]))
        total += reward
        for i in np.flatnonzero(done):
            expected = totals(ruleset, 5, int(number[i]))[name][seat[i]]
            assert total[i] == pytest.approx(expected, abs=1e-4)
            finished += 1
            number[i] += size
            total[i] = 0


def test_a_learner_in_all_seats_is_asked_for_everybody():
    """The games are those of a batch; rewards come for all players, and the last look is a spectator's."""
    seats = Seats(6, Ruleset(players=3), seat="all", reward="score-delta", seed=3)
    batch = Batch(6, players=3, seed=3, finished="hold")
    for _ in range(200):
        assert np.array_equal(seats.seat, batch.player)
        assert np.array_equal(seats.observation, batch.observe())
        actions, before = batch.sample(), copy_games(batch.games)
        seats.step(actions)
        batch.step(actions)
        expected = REWARDS["score-delta"](batch.ruleset, before, batch.games)
        assert np.allclose(seats.reward, expected)
        over = batch.player < 0
        assert np.array_equal(seats.done, over)
        assert np.array_equal(seats.final_observation[over], observe(batch.ruleset, batch.games[over], -1))
        assert (seats.final_seat[over] == -1).all()
        batch.reset(where=over)
    assert batch.games["number"].max() > 6, "some games should have ended"


def test_a_learner_in_all_seats_has_no_opponents():
    with pytest.raises(ValueError, match="with all seats there are no opponents"):
        Seats(2, Ruleset(), seat="all", opponents="merchant")
    with pytest.raises(ValueError, match="seat 4 does not exist; use 0 to 3, or 'random' or 'all'"):
        Seats(2, Ruleset(), seat=4)


# ---------------------------------------------------------------- Gymnasium's vector environment


def test_spaces_and_metadata_are_gymnasiums():
    name, way = "borneo_env:Borneo-v0", "vector_entry_point"
    envs = gymnasium.make_vec(name, num_envs=3, vectorization_mode=way, players=3, dtype="float32")
    assert isinstance(envs, BorneoVectorEnv)
    observation, infos = envs.reset(seed=1)
    assert envs.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
    assert observation in envs.observation_space and observation.dtype == np.float32
    assert observation[0] in envs.single_observation_space
    assert envs.action_space.shape == (3,) and infos["action_mask"].shape == (3, envs.single_action_space.n)


def test_a_reset_without_a_seed_deals_the_next_games():
    envs = BorneoVectorEnv(3, players=3)
    envs.reset(seed=1)
    again, _ = envs.reset()
    later = [single(i + 3, 1, players=3)[1][0] for i in range(3)]
    assert (again == np.array(later)).all()


def test_chosen_places_are_dealt_anew():
    seats = Seats(4, Ruleset(players=3), seed=1)
    for _ in range(5):
        seats.step(picks(seats.mask))
    before, chairs = seats.observation.copy(), seats.seat.copy()
    where = np.array([False, True, False, True])
    seats.reset(where=where)
    fresh = [Seats(1, Ruleset(players=3), seed=1, first=number) for number in (5, 7)]
    assert (seats.observation[~where] == before[~where]).all() and (seats.seat[~where] == chairs[~where]).all()
    assert (seats.observation[where] == np.array([one.observation[0] for one in fresh])).all()
    assert seats.seat[where].tolist() == [one.seat[0] for one in fresh]


def test_held_games_stay_on_the_table_and_are_won_once():
    seats = Seats(9, Ruleset(players=3, tables="tiny"), seed=1, deals_anew=False)
    won = np.zeros(9)
    for _ in range(60):
        waiting = seats.batch.player >= 0
        assert (waiting == ~seats.done).all()
        seats.step(np.where(waiting, seats.mask.argmax(axis=1), borneo_env.NO_ACTION))
        won += seats.reward
        assert not seats.mask[seats.done].any()
    assert (split(seats.observation)["phase"][:, -1] == 1).all()
    assert 0 < won.max() <= 1


def test_what_is_returned_can_be_kept():
    envs = BorneoVectorEnv(4, tables="tiny", players=3)
    observation, infos = envs.reset(seed=2)
    kept = [observation, infos["action_mask"], infos["seat"], envs.action_masks()]
    for _ in range(60):
        observation, reward, done, _, infos = envs.step(picks(envs.action_masks()))
        kept += [observation, reward, done, *(infos[key] for key in ("action_mask", "seat"))]
        if done.any():
            kept += [infos["final_obs"], infos["_final_obs"], *infos["final_info"].values()]
            break
    before = [array.copy() for array in kept]
    for _ in range(60):
        envs.step(picks(envs.action_masks()))
    assert all((a == b).all() for a, b in zip(kept, before, strict=True))
    envs.action_masks()[:] = True
    assert not envs.action_masks().all()


# ---------------------------------------------------------------- mistakes


def test_a_step_before_reset_is_refused():
    with pytest.raises(ResetNeeded, match="No game yet"):
        BorneoVectorEnv(1).step([1])


class Answering:
    """An agent that answers as a function of the mask says, but for its first decisions."""

    def __init__(self, answer, first=3):
        self.answer = answer
        self.left = first

    def act(self, views):
        self.left -= 1
        return np.array([pick(mask) for mask in views.mask]) if self.left >= 0 else self.answer(views.mask)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda mask: np.full(len(mask), -1), r"in game \d, which is not legal; legal are: "),
        (lambda mask: np.full(len(mask), mask.shape[1]), r"in game \d, which is not legal; legal are: "),
        (lambda mask: mask.argmin(1), r"in game \d, which is not legal; legal are: "),
        (lambda mask: np.full(len(mask), 2**64 - 1, np.uint64), r"in game \d, which is not legal; legal are: "),
        (lambda mask: mask.argmax(1).astype(float), r"float64 of shape \(\d,\) for \d games"),
        (lambda mask: mask.any(1), r"bool of shape"),
        (lambda mask: mask, r"bool of shape \(\d, 370\)"),
        (lambda mask: int(mask[0].argmax()), r"int64 of shape \(\) for \d games"),
        (lambda mask: [*mask.argmax(1), 0], r"int64 of shape \(\d,\) for \d games"),
        (lambda mask: [[1], [1, 2]], r"which is no array"),
        (lambda mask: None, r"object of shape \(\)"),
    ],
    ids=["-1", "370", "illegal", "large", "float", "bool", "mask", "number", "too many", "ragged", "None"],
)
def test_a_wrong_answer_is_blamed_on_the_opponent(answer, reason):
    seats = Seats(4, Ruleset(players=3), opponents=["random", Answering(answer)], seat=0, seed=1)
    with pytest.raises(WrongAnswer, match=r"^agent 2 of 2 \(Answering\) answered .*" + reason):
        for _ in range(20):
            seats.step(picks(seats.mask))
    with pytest.raises(ResetNeeded, match="interrupted"):
        seats.step(np.zeros(4, int))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint64])
def test_opponents_answer_with_any_whole_numbers(dtype):
    others = Answering(lambda mask: mask.argmax(1).astype(dtype), first=0)
    seats = Seats(4, Ruleset(players=3), opponents=others, seat=0, seed=1)
    assert (seats.batch.player == 0).all()


def test_only_a_reset_of_all_games_is_enough_after_an_interrupt():
    seats = Seats(4, Ruleset(players=3), opponents=Answering(lambda mask: 1 / 0), seat=0, seed=1)
    with pytest.raises(ZeroDivisionError):
        for _ in range(20):
            seats.step(picks(seats.mask))
    seats.opponents = [Picker(), Picker()]
    for refused in (lambda: seats.mask, lambda: seats.step([0] * 4), lambda: seats.reset(where=[True, False] * 2)):
        with pytest.raises(ResetNeeded, match="interrupted in the middle of a step"):
            refused()
    with pytest.raises(ValueError, match="a seed is a whole number"):
        seats.reset(seed=-1)
    with pytest.raises(ResetNeeded):
        seats.step([0] * 4)
    seats.reset(seed=2)
    expected = Seats(4, Ruleset(players=3), opponents=Picker(), seat=0, seed=2)
    for _ in range(10):
        assert (seats.observation == expected.observation).all()
        seats.step(picks(seats.mask))
        expected.step(picks(expected.mask))


def test_a_reset_that_is_refused_leaves_the_games_as_they_were():
    seats, expected = Seats(2, Ruleset(players=3), seed=1), Seats(2, Ruleset(players=3), seed=1)
    with pytest.raises(ValueError, match="a seed is a whole number"):
        seats.reset(seed=-1)
    with pytest.raises(ValueError, match="broadcast"):
        seats.reset(where=[True, False, True])
    seats.step(picks(seats.mask))
    expected.step(picks(expected.mask))
    assert (seats.observation == expected.observation).all()


def test_writing_into_the_arrays_harms_no_game():
    """Those that may be written into; the mask cannot be."""
    arrays = ("observation", "final_observation", "reward", "done", "final_scores", "final_places", "final_seat")
    seats, expected = (Seats(4, Ruleset(players=3, tables="tiny"), seed=1) for _ in range(2))
    for _ in range(60):
        for name in arrays:
            getattr(seats, name)[:] = 1
        with pytest.raises(ValueError, match="read-only"):
            seats.mask[:] = True
        actions = picks(seats.mask)
        seats.step(actions)
        expected.step(actions)
        assert seats.batch.games.tobytes() == expected.batch.games.tobytes()
        assert (seats.observation == expected.observation).all() and (seats.reward == expected.reward).all()
        assert (seats.done == expected.done).all()
