"""No bit of what is hidden from a seat is in anything the environments hand to it, nor in when they do so.

`test_observation.py` compares observations and masks at all decisions of many games; here is everything else.
"""

import copy
from itertools import groupby

import numpy as np
import pytest
from playing import SEVERAL_RULESETS, Picker, fields, pick
from positions import card, cards, position

import borneo_env
from borneo_env import SPECTATOR, Batch, BorneoEnv, BorneoVectorEnv, Seats, resample
from borneo_env.cards import SPICES
from borneo_env.engine.observe import split
from borneo_env.engine.state import GAME, PHASES, TELLTALE

TWO_RULESETS = [p for p in SEVERAL_RULESETS if p.id in ("board-5-blackbeard", "card-3")]


def twin_of(batch, seats, seed):
    """A batch that differs only in what these seats cannot know."""
    twin = batch.copy()
    twin.games[:] = resample(batch.games, seats, np.random.default_rng(seed))
    twin.refresh()
    assert (twin.games["place"] != batch.games["place"]).any(), "a comparison of equals would be empty"
    return twin


def is_same(one, other):
    """Whether two things handed out are the same, byte for byte."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, np.ndarray):
        return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    return type(one) is type(other) and one == other


# ---------------------------------------------------------------- what is handed out


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_agents_are_given_nothing_else(ruleset):
    """Records with all their bytes, masks, observations and the words of the moves; dice are of no game."""
    batch = Batch(12, ruleset, seed=4)
    rows = np.arange(12)
    for turn in range(12):
        batch.play_random(10)
        twin = twin_of(batch, batch.player, turn)
        assert is_same(twin.view(rows)[:2], batch.view(rows)[:2])
        assert is_same(twin.look(rows)[:2], batch.look(rows)[:2])
        assert [twin.legal_moves(row) for row in rows] == [batch.legal_moves(row) for row in rows]


def handed_out(seats):
    """What a learner gets at its decisions, handed out once more."""
    seats._give_rewards(np.flatnonzero(~seats.done))
    seats._observe(seats.observation)
    return [seats.observation, seats.mask, seats.reward, seats.done, seats.seat]


@pytest.mark.parametrize("name", ["score-delta", "contracts", "ranks"])
def test_learners_of_plain_arrays_are_given_nothing_else(name):
    seats = Seats(12, borneo_env.Ruleset(players=3), reward=name, seed=4)
    for turn in range(12):
        twin = copy.deepcopy(seats)
        twin.batch = twin_of(seats.batch, seats.seat, turn)
        assert is_same(handed_out(twin), handed_out(seats))
        seats.step(seats.batch.sample())


@pytest.mark.parametrize("make", [BorneoEnv, BorneoVectorEnv])
def test_learners_in_gymnasium_are_given_nothing_else(make):
    env = make(players=3, render_mode="ansi") if make is BorneoEnv else make(1, players=3)
    seats = env._seats if make is BorneoEnv else env.seats
    env.reset(seed=4)
    for turn in range(20):
        told = env._info() if make is BorneoEnv else env._infos()
        told = told, env.action_masks(), env.render() if make is BorneoEnv else None
        real, seats.batch = seats.batch, twin_of(seats.batch, seats.seat, turn)
        again = env._info() if make is BorneoEnv else env._infos()
        assert is_same((again, env.action_masks(), env.render() if make is BorneoEnv else None), told)
        seats.batch = real
        action = pick(seats.mask[0])
        env.step(action if make is BorneoEnv else [action])
        if seats.done[0]:
            env.reset()


def memory_of(env, seat, rng):
    """What the environment remembers for those who do not decide, with other secrets."""
    tables = {viewer: np.frombuffer(bytearray(table), GAME) for viewer, (table, _) in env._seen.items()}
    return {viewer: (resample(tables[viewer], seat, rng).tobytes(), told) for viewer, (_, told) in env._seen.items()}


@pytest.mark.parametrize("ruleset", TWO_RULESETS)
def test_seats_in_pettingzoo_are_given_nothing_else(ruleset):
    """Who decides and another seat in turn, at every decision: observation, mask, info and picture."""
    env = borneo_env.raw_env(**fields(ruleset), legal_moves=True, render_mode="ansi")
    env.reset(seed=4)
    rng = np.random.default_rng(4)
    for number in range(40):
        if not env.agents or env.terminations[env.agent_selection]:
            env.reset()
        for agent in {env.agent_selection, env.possible_agents[number % ruleset.players]}:
            seat = env.possible_agents.index(agent)
            twin = copy.deepcopy(env)
            twin._batch.games[:] = resample(env._batch.games, seat, rng)
            twin._seen = memory_of(env, seat, rng)
            if agent == env.agent_selection:
                twin._batch.refresh()
                twin._ask()
            env.viewer = twin.viewer = seat
            given = [(one.observe(agent), one.infos[agent], one.render()) for one in (env, twin)]
            assert is_same(*given)
        env.step(pick(env.observe(env.agent_selection)["action_mask"]))


# ---------------------------------------------------------------- when it is handed out


@pytest.mark.parametrize("ruleset", SEVERAL_RULESETS)
def test_nobody_sees_that_another_is_asked_what_may_be_forced(ruleset):
    """Whether a player has an option in these phases depends on the hand, and who has none is not asked."""
    env = borneo_env.env(**fields(ruleset))
    hushed = {PHASES[phase] for phase in TELLTALE}
    asked = set()
    for seed in range(3):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            decider = env.agent_selection
            asked.add(PHASES[env.infos[decider]["phase"]])
            infos = {agent: env.infos[agent] for agent in env.agents if agent != decider}
            for agent in infos:
                seen = split(env.observe(agent)["observation"])
                if PHASES[seen["phase"].argmax()] in hushed:
                    assert seen["player"][0], "of these decisions a seat sees its own"
            env.step(pick(env.observe(decider)["action_mask"]))
            unasked = infos.keys() - {env.agent_selection}
            assert all(env.infos[agent] is infos[agent] for agent in unasked), "infos are of one's own decisions"
    assert asked > hushed


RED, OTHER_RED, THIRD_RED = cards("red", without="blue")[:3]
IDLE, OTHER_IDLE, THIRD_IDLE = cards("yellow", without="red")[:3]
PAYMENT = [card("blue", spice=spice, double=False) for spice in SPICES]


def a_contest(attacker, defender):
    """Player 0 may pay a contract, or not, and then attack player 1 in red; given are their hands."""
    return position(
        phase="contract",
        ladders={"red": [1, 0, 2, 3], "blue": [3, 2, 1, 0], "green": [0, 1, 2, 3]},
        hands={0: attacker, 1: defender, 2: [cards("green")[0]], 3: [cards("green")[1]]},
        warehouses={0: PAYMENT},
    )


# Each pair differs in which decisions are forced: a second card of the attacker's, or any card of the defender's.
ATTACKERS = ([RED, IDLE], [RED, OTHER_RED])
DEFENDERS = ([OTHER_IDLE, THIRD_IDLE], [OTHER_IDLE, THIRD_RED])
WAYS = ["contract none", "attack red 2 1", f"commit {RED}", "commit done", "defend done", "yield slot"]


def watched(game, viewer):
    """What a viewer is shown in the course of a contest, again and again: all that is different, and who was asked."""
    env = borneo_env.raw_env(render_mode="ansi", legal_moves=True, viewer=viewer)
    env.reset(seed=1)
    env._batch = game.batch.copy()
    env._batch._run["skip_forced"] = True
    env._look()
    env._ask()
    shown, asked = [], []
    while (phase := env._batch.phase_name()) != "ship":
        asked.append(phase)
        shown.append(look(env, viewer))
        way = next(way for way in WAYS if way in env._batch.legal_moves())
        env.step(env._batch.actions.action(way, phase))
    shown.append(look(env, viewer))
    return [key for key, _ in groupby(shown)], asked


def look(env, viewer):
    """The picture, and what a player observes; that it does not decide, a player knows from the mask."""
    return env.render(), None if viewer == SPECTATOR else env.observe(f"player_{viewer}")["observation"].tobytes()


@pytest.mark.parametrize(
    ("viewer", "attackers", "defenders"),
    [
        pytest.param(0, ATTACKERS[:1], DEFENDERS, id="attacker"),
        pytest.param(0, ATTACKERS[1:], DEFENDERS, id="attacker-with-a-choice"),
        pytest.param(1, ATTACKERS, DEFENDERS[:1], id="defender"),
        pytest.param(1, ATTACKERS, DEFENDERS[1:], id="defender-with-a-choice"),
        pytest.param(2, ATTACKERS, DEFENDERS, id="bystander"),
        pytest.param(SPECTATOR, ATTACKERS, DEFENDERS, id="spectator"),
    ],
)
def test_a_contest_looks_the_same_whoever_is_forced(viewer, attackers, defenders):
    """Observations and pictures change alike in games that differ only in what a viewer cannot know."""
    games = [watched(a_contest(attacker, defender), viewer) for attacker in attackers for defender in defenders]
    shown, asked = zip(*games, strict=True)
    assert len(set(map(tuple, asked))) == len(games), "other decisions are asked for"
    assert len(shown[0]) >= 3 and all(one == shown[0] for one in shown)


def test_those_who_run_the_table_see_it_as_it_is():
    """Without a viewer, and where forced decisions are asked for: then that one is open tells nothing."""
    env = borneo_env.env(skip_forced=False)
    env.reset(seed=2)
    batch = Batch(1, env.ruleset, seed=2, finished="hold", skip_forced=False)
    phases = set()
    for _ in range(60):
        phases.add(batch.phase_name())
        for seat, agent in enumerate(env.possible_agents):
            assert (env.observe(agent)["observation"] == batch.observe(seat)[0]).all()
        batch.step([action := pick(batch.mask[0])])
        env.step(action)
    assert {"traders", "commit", "defend"} <= phases


# ---------------------------------------------------------------- opponents of one name


class Pooling(Picker):
    """An agent that would know the hands of all seats it plays, if it were asked for several."""


def test_opponents_of_one_name_do_not_share_what_they_see():
    seats = Seats(3, borneo_env.Ruleset(players=4), opponents=f"{__name__}:Pooling", seat=0, seed=1)
    for _ in range(5):
        seats.step(seats.mask.argmax(1))
    for place, agent in enumerate(seats.opponents, start=1):
        assert agent.views and all((views.player == place).all() for views in agent.views)
