"""The vector environment for stable-baselines3: its games against the same games played one by one, and its manners."""

from collections import Counter

import numpy as np
import pytest
from borneo_agents.policy.lookahead import ADVICE, ADVISED, OPTION_FEATURES, lookahead_features
from borneo_agents.scripted.agents import Climber, Contractor, Merchant
from borneo_agents.scripted.dispatch import CLIMBER, CONTRACTOR, MERCHANT
from borneo_agents.search.trials import Trials
from borneo_train.opponents import CURRENT, EARLIER, FIRST_NETWORK, NOBODY, Cast
from borneo_train.vec_env import LEARNER, BorneoVecEnv
from playing import pick, totals
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

from borneo_env import Batch, IllegalMove, Ruleset, Seats
from borneo_env.agent import Random, Views
from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.games import observe, state
from borneo_env.engine.observe import length, split, state_length
from borneo_env.engine.state import slots_of
from borneo_env.rewards import REWARDS

SEED = 7
BOTS = {MERCHANT: Merchant(), CLIMBER: Climber(), CONTRACTOR: Contractor()}
ROW = np.array([0])


def picks(masks, dice=None):
    return np.array([pick(mask) for mask in masks])


def draws(masks, dice):
    """What a random player plays: this depends on the dice too."""
    return Random().act(Views(None, None, masks, dice))


class Recorder:
    """A network that decides as it is told to, and remembers what it was asked."""

    def __init__(self, decide):
        self.decide = decide
        self.asked = []

    def choose(self, observations, masks, dice):
        assert (observations.dtype, masks.dtype, dice.dtype) == (np.int8, np.bool_, np.uint64)
        self.asked += map(question, observations, masks, dice)
        return self.decide(masks, dice)


def question(observation, mask, dice):
    return observation.tobytes(), mask.tobytes(), int(dice)


def networks():
    return Recorder(picks), Recorder(draws)


def cast_of(name):
    cast = Cast(name)
    cast.has_earlier = True
    return cast


def make(games=9, cast="self", deciders=None, **settings):
    """A vector environment of short games at the first ones of its seed, and what its reset gave."""
    deciders = networks() if deciders is None else deciders
    env = BorneoVecEnv(games, cast_of(cast), deciders, **{"tables": "tiny", "seed": SEED} | settings)
    env.seed(SEED)
    return env, env.reset()


def places(env):
    """The table and the row of every place."""
    return [(table, row) for table in env.tables for row in range(len(table))]


def seats(env):
    return np.concatenate([table.seat for table in env.tables])


def legal(env):
    return picks(env.action_masks())


def outcome(env, steps):
    """What so many steps bring, to compare."""
    seen = []
    for _ in range(steps):
        masks = env.action_masks()
        observations, rewards, dones, infos = env.step(masks.argmax(1))
        ends = [(i, info["terminal_observation"].tobytes()) for i, info in enumerate(infos) if info]
        seen.append((masks.tobytes(), observations.tobytes(), rewards.tobytes(), dones.tobytes(), ends))
    return seen


# ---------------------------------------------------------------- the games of every place, played one by one


class Alone:
    """One place: its games played in batches of one, where everybody who sits there is asked by itself."""

    def __init__(self, ruleset, number, stride, asked, has_others):
        self.ruleset, self.number, self.stride, self.asked = ruleset, number, stride, asked
        self.has_others = has_others

    def deal(self, seated):
        self.batch = Batch(1, self.ruleset, seed=SEED, first=self.number, finished="hold", threads=1)
        self.number += self.stride
        (self.seat,) = self.batch.draw_seats().tolist()
        self.seated = seated.tolist()
        assert [who == LEARNER for who in self.seated] == [seat == self.seat for seat in range(self.ruleset.players)]
        self.play_others()

    def play(self, action):
        self.batch.step(np.array([action]))
        self.play_others()

    def play_others(self):
        if not self.has_others and not self.over():
            self.seat = int(self.batch.player[0])
        while self.batch.player[0] not in (-1, self.seat):
            who = self.seated[self.batch.player[0]]
            if who in BOTS:
                actions = BOTS[who].act(Views(self.ruleset, *self.batch.view(ROW)))
            else:
                observation, mask, dice = self.batch.look(ROW)
                self.asked[who].append(question(observation[0], mask[0], dice[0]))
                actions = (picks if who == CURRENT else draws)(mask, dice)
            self.batch.step(actions)

    def over(self):
        return self.batch.player[0] < 0

    def shown(self, whole_table):
        """What the learner sees."""
        return (state if whole_table else observe)(self.ruleset, self.batch.games, self.seat)[0]


@pytest.mark.parametrize(
    ("cast", "fields", "steps", "whole_table"),
    [
        ("self", {"tables": "tiny"}, 36, False),
        ("league", {"tables": "tiny"}, 36, False),
        ("merchant", {"tables": "tiny"}, 36, False),
        ("mixed", {"tables": "tiny"}, 36, True),
        (NOBODY, {"tables": "tiny"}, 130, True),  # where every decision is a step
        pytest.param("mixed", {"tables": None, "edition": "card"}, 90, False, marks=pytest.mark.soak),
    ],
    ids=["self-seat", "league-seat", "merchant-seat", "mixed-table", "nobody-table", "card edition-seat"],
)
def test_each_place_plays_its_games_as_if_alone(cast, fields, steps, whole_table):
    """Observations, masks and ends, what is shown at an end and after, and what the networks are asked."""
    deciders = networks()
    env, observations = make(9, cast, deciders, whole_table=whole_table, **fields)
    asked = {CURRENT: [], EARLIER: []}
    alone = [Alone(table.ruleset, row, len(table), asked, cast != NOBODY) for table, row in places(env)]
    for one, (table, row) in zip(alone, places(env), strict=True):
        one.deal(table.seated[row])
    finished = set()
    for _ in range(steps):
        masks = env.action_masks()
        for i, one in enumerate(alone):
            assert (observations[i] == one.shown(whole_table)).all()
            assert (masks[i] == one.batch.mask[0]).all()
        actions = picks(masks)
        observations, _, dones, infos = env.step(actions)
        for i, (one, (table, row)) in enumerate(zip(alone, places(env), strict=True)):
            one.play(actions[i])
            assert dones[i] == one.over()
            assert set(infos[i]) == ({"terminal_observation", "scores", "places", "seat"} if dones[i] else set())
            if dones[i]:
                assert infos[i]["terminal_observation"].dtype == np.int8
                assert (infos[i]["terminal_observation"] == one.shown(whole_table)).all()
                assert (infos[i]["scores"] == one.batch.scores()[0]).all()
                assert (infos[i]["places"] == one.batch.places()[0]).all()
                assert infos[i]["seat"] == one.seat
                finished.add(one.ruleset.players)
                one.deal(table.seated[row])
    assert finished == {3, 4, 5}
    for number, network in enumerate(deciders, start=FIRST_NETWORK):
        assert Counter(network.asked) == Counter(asked[number])
        assert bool(network.asked) == (
            cast in {CURRENT: ("self", "league", "mixed"), EARLIER: ("league", "mixed")}[number]
        )


def test_merchants_play_as_they_do_against_plain_seats():
    env, observations = make(9, "merchant", (), tables=None, reward="score-delta", whole_table=False)
    plain = [Seats(3, Ruleset(players=n), opponents="merchant", seed=SEED, reward="score-delta") for n in (3, 4, 5)]
    finished = 0
    for _ in range(48):
        assert (observations == np.concatenate([one.observation for one in plain])).all()
        assert (env.action_masks() == np.concatenate([one.mask for one in plain])).all()
        actions = legal(env)
        observations, rewards, dones, infos = env.step(actions)
        for one, played in zip(plain, np.split(actions, 3), strict=True):
            one.step(played)
        assert (rewards == np.concatenate([one.reward for one in plain])).all()
        assert (dones == np.concatenate([one.done for one in plain])).all()
        final = np.concatenate([one.final_observation for one in plain])
        assert all((infos[i]["terminal_observation"] == final[i]).all() for i in np.flatnonzero(dones))
        finished += dones.sum()
    assert finished > 2


def test_after_an_end_a_new_game_begins():
    env, _ = make()
    numbers = [int(table.batch.games["number"][row]) for table, row in places(env)]
    for _ in range(36):
        observations, _, dones, infos = env.step(legal(env))
        shown = split(observations)
        for i, (table, row) in enumerate(places(env)):
            numbers[i] += len(table) * dones[i]
            assert table.batch.games["number"][row] == numbers[i]
            if dones[i]:
                assert shown["phase"][i, 0] == 1 and shown["placed"][i] < table.ruleset.players
                assert split(infos[i]["terminal_observation"])["phase"][-1] == 1
    assert max(numbers) > 9


# ---------------------------------------------------------------- rewards


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        *((name, {"tables": None if name == "contracts" else "tiny"}) for name in REWARDS),
        pytest.param("score-delta", {"tables": None, "edition": "card"}, marks=pytest.mark.soak),
    ],
    ids=[*REWARDS, "card edition"],
)
def test_rewards_add_up_to_what_the_records_say(name, fields):
    """Everybody plays as `pick` does, so records can be made beside; each game from its first decision to its end."""
    games = 6 if fields["tables"] else 3  # games with all cards are long
    env, _ = make(games, deciders=(Recorder(picks),), reward=name, **fields)
    number, total, finished, found = [row for _, row in places(env)], np.zeros(games), np.zeros(games), set()
    while finished.min() < 2:
        chairs = seats(env)
        _, rewards, dones, _ = env.step(legal(env))
        total += rewards
        for i in np.flatnonzero(dones):
            table, _ = places(env)[i]
            expected = totals(table.ruleset, SEED, number[i])[name][chairs[i]]
            assert total[i] == pytest.approx(expected, abs=1e-4)
            found.add(total[i])
            finished[i] += 1
            number[i] += len(table)
            total[i] = 0
    assert len(found) > 1


@pytest.mark.parametrize("name", ["win", "place", "score"])
def test_rewards_for_the_end_come_at_the_end_only(name):
    env, _ = make(reward=name)
    given = []
    for _ in range(26):
        _, rewards, dones, _ = env.step(legal(env))
        assert not rewards[~dones].any()
        given += rewards[dones].tolist()
    assert len(set(given)) > 1


def test_a_reward_of_ones_own_is_that_of_the_learners_seat():
    env, _ = make(reward=lambda ruleset, before, after: np.tile(np.arange(ruleset.players), (len(after), 1)))
    for _ in range(24):
        chairs = seats(env)
        _, rewards, _, _ = env.step(legal(env))
        assert (rewards == chairs).all()


# ---------------------------------------------------------------- who plays


@pytest.mark.parametrize(("games", "sizes"), [(9, [3, 3, 3]), (11, [4, 4, 3]), (3, [1, 1, 1])])
def test_player_counts_share_the_games_evenly(games, sizes):
    _, observations = make(games)
    counts = split(observations)["players"].argmax(1) + 3
    assert counts.tolist() == np.repeat([3, 4, 5], sizes).tolist()


def test_player_counts_can_be_chosen():
    _, observations = make(5, players=[4])
    assert (split(observations)["players"] == [0, 1, 0]).all()


def test_learners_sit_in_every_seat_as_often():
    env, _ = make(900)
    for table in env.tables:
        share = np.bincount(table.seat, minlength=table.ruleset.players) / len(table)
        assert share == pytest.approx(np.full(table.ruleset.players, 1 / table.ruleset.players), abs=0.07)


def test_learners_move_to_other_seats_from_game_to_game():
    env, _ = make(3)
    sat = {i: {int(seat)} for i, seat in enumerate(seats(env))}
    for _ in range(150):
        env.step(legal(env))
        for i, seat in enumerate(seats(env)):
            sat[i].add(int(seat))
    assert sat == {0: {0, 1, 2}, 1: {0, 1, 2, 3}, 2: {0, 1, 2, 3, 4}}


def test_networks_are_shown_no_secrets():
    """However much the learner is shown, a network gets what its seat may know."""
    deciders = networks()
    env, observations = make(cast="league", deciders=deciders, whole_table=True)
    for _ in range(20):
        observations, *_ = env.step(legal(env))
    slots = slots_of(env.tables[0].ruleset)
    assert observations.shape[1] == state_length(slots)
    assert {len(shown) for network in deciders for shown, *_ in network.asked} == {length(slots)}


# ---------------------------------------------------------------- seeds


def test_the_same_seed_gives_the_same_games_whatever_the_number_of_threads(monkeypatch):
    """Enough games for two threads, of bots and of networks, in every loop."""
    monkeypatch.setattr("borneo_env.engine.batch.GAMES_PER_THREAD", 8)
    played = []
    for threads in (1, 2):
        deciders = Recorder(lambda masks, dice: masks.argmax(1)), Recorder(draws)
        env, observations = make(48, "mixed", deciders, players=(3, 5), threads=threads)
        played.append((observations.tobytes(), outcome(env, 25), [sorted(one.asked) for one in deciders]))
    assert played[0] == played[1]
    assert any(ends for *_, ends in played[0][1])


def test_another_seed_gives_other_games():
    env, first = make()
    env.seed(SEED + 1)
    assert (env.reset() != first).any(1).all()


def test_the_seed_of_the_constructor_decides_all():
    def played(seed):
        env = BorneoVecEnv(9, cast_of("mixed"), networks(), tables="tiny", seed=seed)
        return env.reset().tobytes(), outcome(env, 12)

    assert played(3) == played(3) != played(4)


def test_a_reset_deals_the_next_games():
    env, first = make()
    first, second, third = first.copy(), env.reset().copy(), env.reset()
    assert (second != first).any(1).all() and (third != second).any(1).all()
    for table, row in places(env):
        assert table.batch.games["number"][row] == row + 2 * len(table)


@pytest.mark.parametrize("cast", ["mixed", "nobody"])
def test_a_seed_and_a_reset_repeat_the_games(cast):
    env, first = make(cast=cast)
    first, played = first.copy(), outcome(env, 24)
    env.seed(SEED)
    assert (env.reset() == first).all()
    assert outcome(env, 24) == played


def test_a_reset_in_mid_game_forgets_the_game():
    """Nothing of the games left is told or rewarded."""
    env, _ = make(reward="score-delta")
    for _ in range(10):
        env.step(legal(env))
    env.seed(SEED)
    env.reset()
    fresh, _ = make(reward="score-delta")
    assert outcome(env, 12) == outcome(fresh, 12)


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


def test_hands_are_hidden_unless_they_are_asked_for():
    env = BorneoVecEnv(3, Cast("merchant"), tables="tiny")
    assert env.observation_space.shape == (length(slots_of(env.tables[0].ruleset)),)


def test_the_whole_table_begins_with_what_the_seat_sees():
    (table, shown), (seat, seen) = make(whole_table=True), make(whole_table=False)
    for _ in range(24):
        assert (shown[:, : seen.shape[1]] == seen).all()
        assert shown[:, seen.shape[1] :].any(1).all()
        actions = legal(seat)
        (shown, *_, ends), (seen, *_, seats_ends) = table.step(actions), seat.step(actions)
        for long, short in zip(ends, seats_ends, strict=True):
            if long:
                last = short["terminal_observation"]
                assert (long["terminal_observation"][: len(last)] == last).all()


def test_masks_are_the_legal_moves():
    env, _ = make()
    for _ in range(20):
        masks = env.action_masks()
        for i, (table, row) in enumerate(places(env)):
            texts = [table.batch.actions.text(int(a), table.batch.phase_name(row)) for a in np.flatnonzero(masks[i])]
            assert texts == table.batch.legal_moves(row) and len(texts) > 1
            assert table.batch.player[row] == table.seat[row]
        assert is_masking_supported(env) and env.has_attr("action_masks")
        assert (get_action_masks(env) == masks).all()
        assert (np.array(env.env_method("action_masks", indices=[8, 2])) == masks[[8, 2]]).all()
        assert (np.array(env.env_method("action_masks", indices=4)) == masks[[4]]).all()
        env.step(picks(masks))


def test_every_action_of_the_mask_is_accepted():
    env, _ = make(15, "mixed")
    rng = np.random.default_rng(1)
    for _ in range(30):
        masks = env.action_masks()
        env.step((rng.random(masks.shape) * masks).argmax(1))


@pytest.mark.parametrize("place", [0, 5, 8])
def test_wrong_actions_are_refused_and_change_nothing(place):
    """At every table: what is wrong at one must not be played at the others."""
    env, _ = make(reward="score-delta")
    twin, _ = make(reward="score-delta")
    for _ in range(3):
        actions = legal(env)
        wrong = actions.copy()
        wrong[place] = np.flatnonzero(~env.action_masks()[place])[0]
        row = place % 3
        with pytest.raises(IllegalMove, match=rf"game {row}, player \d, phase .*is not legal; legal are: "):
            env.step(wrong)
        with pytest.raises(TypeError, match="actions are whole numbers, not float64"):
            env.step(actions.astype(float))
        for number in (8, 10):
            with pytest.raises(ValueError, match="one action for each of the 3 games"):
                env.step(np.resize(actions, number))
        assert (env.action_masks() == twin.action_masks()).all()
        (seen, *rest), (expected, *twins) = env.step(actions), twin.step(actions)
        assert (seen == expected).all() and all((a == b).all() for a, b in zip(rest[:2], twins[:2], strict=True))


def position(env):
    """All that a step must not change if it fails."""
    tables = [(table.batch.games.tobytes(), table.seat.tolist(), table.seated.tolist()) for table in env.tables]
    return tables, env.action_masks().tolist(), str(env.rng.bit_generator.state)


@pytest.mark.parametrize("dtype", [np.int64, np.int16])
def test_doing_nothing_is_no_decision_of_a_learner(dtype):
    env, _ = make()
    before, actions = position(env), legal(env).astype(dtype)
    actions[4] = -1
    with pytest.raises(IllegalMove, match=r"game 1, player \d, phase .*'action -1 .*' is not legal; legal are: "):
        env.step(actions)
    assert position(env) == before


@pytest.mark.parametrize(
    ("answers", "error", "message"),
    [
        (lambda masks, dice: np.full(len(masks), -1), IllegalMove, "'action -1 .*' is not legal; legal are: "),
        (lambda masks, dice: masks.argmin(1), IllegalMove, "is not legal; legal are: "),
        (lambda masks, dice: masks.argmax(1).astype(float), TypeError, "whole numbers, not by float64"),
        (lambda masks, dice: masks.argmax(1)[1:], TypeError, r"whole numbers, not by int64 of \("),
    ],
    ids=["nothing", "illegal", "floats", "too few"],
)
@pytest.mark.parametrize("cast", ["self", "league"])
def test_a_network_that_gives_no_legal_answer_is_told_so(cast, answers, error, message):
    """At the first deal, and in a step, which then has not happened."""
    with pytest.raises(error, match=message):
        make(30, cast, (Recorder(answers), Recorder(answers)))
    deciders = networks()
    env, _ = make(30, cast, deciders)
    before = position(env)
    for network in deciders:
        network.decide = answers
    with pytest.raises(error, match=message):
        env.step(legal(env))
    assert position(env) == before


@pytest.mark.parametrize("cast", ["nobody", pytest.param("mixed", marks=pytest.mark.soak)])
def test_a_step_that_is_interrupted_has_not_happened(cast, monkeypatch):
    """Wherever that is: when the actions of a table are played, when opponents are asked, and at the very end."""
    env, shown = make(cast=cast, reward="score-delta")
    twin, _ = make(cast=cast, reward="score-delta")
    left = [0]

    def counted(function):
        def interrupted(*given, **named):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
            return function(*given, **named)

        return interrupted

    for name in ("step", "play", "reset", "observe", "look"):
        monkeypatch.setattr(Batch, name, counted(getattr(Batch, name)))
    monkeypatch.setattr(env, "_told", counted(env._told))
    finished = interrupted = 0
    for number in range(40):
        before, kept, actions = position(env), shown.copy(), legal(env)
        left[0] = 1 + number % 13
        try:
            env.step(actions)
        except KeyboardInterrupt:
            interrupted += 1
            left[0] = 0
            assert position(env) == before
            assert np.array_equal(shown, kept)
        else:
            left[0] = 0
            twin.step(actions)
            continue
        (shown, *rest), (expected, *others) = env.step(actions), twin.step(actions)
        assert (shown == expected).all() and all((a == b).all() for a, b in zip(rest[:2], others[:2], strict=True))
        finished += rest[1].sum()
    assert interrupted > 20 and finished


def test_games_are_reset_before_their_first_step():
    """Opponents may have to decide first."""
    env = BorneoVecEnv(30, cast_of("self"), networks(), tables="tiny", seed=SEED)
    with pytest.raises(ValueError, match=r"in game \d+ it is not the learner who decides: reset the games first"):
        env.step(legal(env))


def test_observations_last_until_the_step_after_next():
    """stable-baselines3 keeps the last ones while it makes a step."""
    env, observations = make(cast="mixed")
    for _ in range(24):
        kept = observations.copy()
        new, *_ = env.step(legal(env))
        assert (observations == kept).all() and not np.shares_memory(new, observations)
        observations = new


def test_everything_else_can_be_kept():
    env, _ = make()
    kept = []
    for _ in range(24):
        kept += [env.action_masks(), *env.env_method("action_masks")]
        _, rewards, dones, infos = env.step(legal(env))
        kept += [rewards, dones]
        kept += [np.asarray(value) for info in infos for value in info.values()]
    before = [array.copy() for array in kept]
    outcome(env, 10)
    env.reset()
    assert all((a == b).all() for a, b in zip(kept, before, strict=True))
    env.action_masks()[:] = True
    assert not env.action_masks().all()


def test_what_single_environments_have_is_told_to_be_missing():
    env, _ = make()
    assert env.get_attr("render_mode") == [None] * 9
    assert env.env_is_wrapped(VecMonitor, indices=[1, 2]) == [False, False]
    assert not env.has_attr("spec")
    with pytest.raises(AttributeError, match="no environments of their own: they have no 'spec'"):
        env.get_attr("spec")
    with pytest.raises(NotImplementedError, match="they have no 'render'"):
        env.env_method("render")
    with pytest.raises(NotImplementedError, match="no attributes to set"):
        env.set_attr("seat", 1)
    env.close()


def test_too_few_games_get_a_clear_error():
    with pytest.raises(ValueError, match="2 games are too few for 3 player counts"):
        BorneoVecEnv(2, Cast("merchant"))


@pytest.mark.parametrize(("cast", "given"), [("self", 0), ("league", 1)])
def test_missing_networks_get_a_clear_error(cast, given):
    with pytest.raises(ValueError, match=f"{given} networks were given, and the opponents '{cast}' have more"):
        make(30, cast, networks()[:given])


def test_stable_baselines3s_wrapper_counts_the_games():
    env, _ = make(reward="score-delta")
    env = VecMonitor(env)
    env.seed(SEED)
    env.reset()
    lengths, finished = np.zeros(9, int), 0
    for _ in range(40):
        _, _, dones, infos = env.step(picks(get_action_masks(env)))
        lengths += 1
        for i in np.flatnonzero(dones):
            points = infos[i]["scores"].astype(float)
            mine = points[infos[i]["seat"]]
            lead = mine - (points.sum() - mine) / (len(points) - 1)
            assert infos[i]["episode"]["r"] == pytest.approx(lead, abs=1e-4)
            assert infos[i]["episode"]["l"] == lengths[i]
            finished += 1
        lengths[dones] = 0
    assert finished > 9


def test_maskable_ppo_trains_with_its_own_policy_and_buffer():
    env, _ = make(8, "merchant", (), whole_table=False)
    learner = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=32, n_epochs=2, seed=1, device="cpu")
    before = [values.clone() for values in learner.policy.parameters()]
    learner.learn(128)
    assert learner.num_timesteps == 128
    assert any((a != b).any() for a, b in zip(before, learner.policy.parameters(), strict=True))
    returns, lengths = evaluate_policy(learner, VecMonitor(env), n_eval_episodes=4, return_episode_rewards=True)
    assert len(returns) == 4 and 0 <= min(returns) <= max(returns) <= 1 and min(lengths) > 1


# ---------------------------------------------------------------- briefing


@pytest.mark.parametrize("whole_table", [False, True])
def test_features_on_options_follow_what_is_seen(whole_table):
    """The learner is given features of its options, and so is every network; asking changes nothing."""
    told = []

    class Network:
        def choose(self, observations, masks, dice):
            told.append((observations, masks.copy()))
            return masks.argmax(1)

    games = BorneoVecEnv(4, Cast("self"), [Network()], players=(3, 4), lookahead=True, whole_table=whole_table, seed=1)
    plain = BorneoVecEnv(4, Cast("self"), [Network()], players=(3, 4), whole_table=whole_table, seed=1)
    shown, without = games.reset(), plain.reset()
    for _ in range(6):
        actions = games.action_masks().argmax(1)
        assert np.array_equal(shown[:, : without.shape[1]], without)
        tables = [table.batch.copy() for table in games.tables]
        views = [Views(batch.ruleset, *batch.view(np.arange(len(batch)))) for batch in tables]
        features = shown[:, without.shape[1] :]
        assert features.shape == (4, MAX_OPTIONS * OPTION_FEATURES) and games.observation_space.contains(shown[0])
        assert np.array_equal(features, np.concatenate([lookahead_features(view) for view in views]))
        shown, without = games.step(actions)[0], plain.step(actions)[0]
    asked = [(seen, masks) for seen, masks in told if seen.shape[1] == 969 + MAX_OPTIONS * OPTION_FEATURES]
    assert asked
    for seen, masks in asked:
        opinions = seen[:, 969:].reshape(-1, MAX_OPTIONS, OPTION_FEATURES)[:, :, ADVICE]
        assert (opinions.max(1) == ADVISED).all() and ((opinions > 0).sum(1) == masks.sum(1)).all()


@pytest.mark.parametrize("whole_table", [False, True])
def test_the_last_observation_of_a_game_is_one_of_the_space(whole_table):
    """It has no options to note anything about; stable-baselines3 values it like any other."""
    env, _ = make(6, "merchant", (), players=(3,), lookahead=True, whole_table=whole_table)
    slots = slots_of(env.tables[0].ruleset)
    known = (state_length if whole_table else length)(slots)
    learner = MaskablePPO("MlpPolicy", env, n_steps=4, batch_size=24, device="cpu")
    ends = []
    while len(ends) < 3:
        *_, infos = env.step(legal(env))
        ends += [info["terminal_observation"] for info in infos if info]
    for last in ends:
        assert env.observation_space.contains(last)
        assert last[:known].any() and not last[known:].any()
        assert learner.policy.predict_values(learner.policy.obs_to_tensor(last)[0]).shape == (1, 1)


# ---------------------------------------------------------------- trials


def test_trials_are_made_in_the_games_of_every_place():
    """At all tables, whoever sits there; nothing is touched."""
    games = BorneoVecEnv(12, Cast("merchant"), players=(3, 4, 5), seed=1)
    games.reset()
    for step in range(6):
        masks = games.action_masks()
        wanted = masks & (np.random.default_rng(step).random(masks.shape) < 0.6)
        before = [table.batch.games.tobytes() for table in games.tables]
        worth = games.worth(wanted, 1)
        assert [table.batch.games.tobytes() for table in games.tables] == before
        assert worth.shape == masks.shape and not worth[~wanted].any()
        for i, (table, row) in enumerate(places(games)):
            alone = Batch(1, table.ruleset, finished="hold")
            alone.games[0] = table.batch.games[row]
            alone.refresh()
            assert np.array_equal(Trials(alone).worth(wanted[i : i + 1], 1)[0], worth[i])
        games.step(masks.argmax(1))


def test_features_and_trials_are_of_the_games_that_were_taken_up():
    """Not of those before."""
    first, other = (BorneoVecEnv(8, Cast("merchant"), players=(4,), lookahead=True, seed=seed) for seed in (1, 2))
    shown = first.reset().copy(), other.reset().copy()
    wanted = first.action_masks()
    worth = first.worth(wanted, 1)
    other.worth(other.action_masks(), 1)
    (table,), (here,) = first.tables, other.tables
    here.go_on(table.batch.copy(), table.seat, table.seated)
    assert not np.array_equal(*shown) and np.array_equal(other.observations(), shown[0])
    assert np.array_equal(other.worth(wanted, 1), worth)


# ---------------------------------------------------------------- saved games


def seats_of(env):
    (table,) = env.tables
    return table.batch.copy(), table.seat.copy(), table.seated.copy()


def other_seat(env, seat, seated):
    seat[2] = (seat[2] + 1) % 4


def both_moved(env, seat, seated):
    """The learner sits where somebody else decides."""
    seat[2] = (seat[2] + 1) % 4
    seated[2] = np.roll(seated[2], 1)


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (lambda env, seat, seated: seat.__setitem__(0, 4), "a learner sits in none of the seats 0 to 3"),
        (lambda env, seat, seated: seat.__setitem__(0, -1), "a learner sits in none of the seats 0 to 3"),
        (lambda env, seat, seated: seat.__setitem__(0, 2**40), "a learner sits in none of the seats 0 to 3"),
        (lambda env, seat, seated: seated.__setitem__((1, 1), -7), "others at a table than the learner"),
        (lambda env, seat, seated: seated.__setitem__((1, 1), 99), "others at a table than the learner"),
        (lambda env, seat, seated: seated.__setitem__(1, LEARNER), "others at a table than the learner"),
        (other_seat, "others at a table than the learner"),
        (both_moved, "it is not the learner who decides"),
    ],
)
def test_seats_that_are_none_are_refused(forge, message):
    """They may come from a forged checkpoint, and the compiled loops would follow them anywhere."""
    env, _ = make(4, "league", players=(4,))
    batch, seat, seated = seats_of(env)
    env.tables[0].go_on(batch, seat, seated)
    forge(env, seat, seated)
    with pytest.raises(ValueError, match=message):
        env.tables[0].go_on(batch, seat, seated)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("change", [lambda seats: seats[1:], lambda seats: seats.astype(np.int8)])
def test_seats_of_another_shape_or_type_are_refused(number, change):
    env, _ = make(4, "league", players=(4,))
    batch, *both = seats_of(env)
    both[number] = change(both[number])
    with pytest.raises(ValueError, match="seats of 4 games of 4 have another type or shape than they should"):
        env.tables[0].go_on(batch, *both)


def test_saved_games_are_played_on_as_the_table_plays_them():
    """However a file says that they are to be played: ends are seen, and nobody is asked what is forced."""
    env, _ = make(4, "nobody", (), players=(4,))
    batch, seat, seated = seats_of(env)
    strange = Batch(4, batch.ruleset, seed=3, finished="reset", skip_forced=False)
    strange.games[:] = batch.games
    strange.refresh()
    twin, _ = make(4, "nobody", (), players=(4,))
    env.tables[0].go_on(strange, seat, seated)
    assert outcome(env, 120) == outcome(twin, 120)
