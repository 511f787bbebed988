"""Any game as a game of OpenSpiel: its own tests, and Kuhn and Leduc poker beside its own."""

from pathlib import Path

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed; `make openspiel` runs these tests")

from open_spiel.python import policy  # noqa: E402
from open_spiel.python.algorithms import cfr, expected_game_score, exploitability  # noqa: E402
from open_spiel.python.algorithms.ismcts import ISMCTSBot  # noqa: E402
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator  # noqa: E402
from open_spiel.python.observation import make_observation  # noqa: E402
from spiel.playing import walk  # noqa: E402

from kontor import find_game  # noqa: E402
from kontor.engine.batch import Batch  # noqa: E402
from kontor.exact import grow, nash_conv  # noqa: E402
from kontor.open_spiel import register  # noqa: E402
from kontor.rewards import UnknownReward  # noqa: E402

EXAMPLES = Path(__file__).parents[2] / "examples"
KUHN = find_game(f"{EXAMPLES / 'kuhn.py'}:KUHN")
LEDUC = find_game(f"{EXAMPLES / 'leduc.py'}:LEDUC")
NAMES = [register(game) for game in (KUHN, LEDUC)]
THREE = "kontor_kuhn(players=3)"
BESIDE = {"kontor_kuhn": "kuhn_poker", THREE: "kuhn_poker(players=3)", "kontor_leduc": "leduc_poker"}
every_game = pytest.mark.parametrize("name", BESIDE)


def test_games_have_names_of_their_own():
    assert NAMES == ["kontor_kuhn", "kontor_leduc"] and register(KUHN) == "kontor_kuhn"
    assert register(KUHN, "my_kuhn") == "my_kuhn" in pyspiel.registered_names()
    game = pyspiel.load_game(THREE)
    assert (game.ruleset, game.num_players()) == (KUHN.Ruleset(players=3), 3)
    assert pyspiel.deserialize_game(game.serialize()).ruleset == game.ruleset
    with pytest.raises(UnknownReward, match="use one of win, place, score, points"):
        pyspiel.load_game("kontor_kuhn(reward=none)")


@every_game
@pytest.mark.parametrize("reward", ["points", "win", "place", "score"])
def test_random_simulation_of_open_spiel(name, reward, capfd):
    players = pyspiel.load_game(name).num_players()
    game = pyspiel.load_game(name.partition("(")[0], {"players": players, "reward": reward})
    assert (game.num_players(), game.reward) == (players, reward)
    pyspiel.random_sim_test(game, num_sims=5, serialize=True, verbose=False)


# ---------------------------------------------------------------- beside OpenSpiel's own


@every_game
def test_every_history_of_open_spiel_is_one_here_with_the_same_returns(name):
    """Both games are walked together. Chance numbers its outcomes otherwise: they go by their order."""
    ours, theirs = (pyspiel.load_game(one).new_initial_state() for one in (name, BESIDE[name]))
    sizes = dict.fromkeys(("chance", "decisions", "ends"), 0)
    infosets = {}  # ours -> theirs
    waiting = [(ours, theirs)]
    while waiting:
        ours, theirs = waiting.pop()
        assert ours.current_player() == theirs.current_player()
        if ours.is_terminal():
            sizes["ends"] += 1
            assert ours.returns() == theirs.returns()
            continue
        if ours.is_chance_node():
            sizes["chance"] += 1
            chances = [state.chance_outcomes() for state in (ours, theirs)]
            assert [p for _, p in chances[0]] == pytest.approx([p for _, p in chances[1]])
            after = zip(*([one for one, _ in chance] for chance in chances), strict=True)
        else:
            sizes["decisions"] += 1
            assert ours.legal_actions() == theirs.legal_actions()
            seen = [state.information_state_string() for state in (ours, theirs)]
            assert infosets.setdefault(seen[0], seen[1]) == seen[1]
            after = zip(ours.legal_actions(), theirs.legal_actions(), strict=True)
        waiting += [(ours.child(one), theirs.child(other)) for one, other in after]
    assert len(set(infosets.values())) == len(infosets)
    tree = grow(pyspiel.load_game(name).ruleset)
    assert sizes | {"information sets": len(infosets)} == tree.sizes()


@every_game
def test_nash_conv_is_that_of_both(name):
    """Of the uniform policy: by OpenSpiel's algorithm for this game and for its own, and by `kontor.exact`."""
    game, own = pyspiel.load_game(name), pyspiel.load_game(BESIDE[name])
    tree = grow(game.ruleset)
    found = exploitability.nash_conv(game, policy.UniformRandomPolicy(game))
    assert found == pytest.approx(nash_conv(tree, tree.uniform()))
    assert found == pytest.approx(exploitability.nash_conv(own, policy.UniformRandomPolicy(own)))


def test_a_solver_of_open_spiel_finds_the_value_of_the_game():
    game = pyspiel.load_game("kontor_kuhn")
    solver = cfr.CFRPlusSolver(game)
    for _ in range(100):
        solver.evaluate_and_update_policy()
    mean = solver.average_policy()
    values = expected_game_score.policy_value(game.new_initial_state(), [mean] * 2)
    assert values == pytest.approx([-1 / 18, 1 / 18], abs=0.003)
    assert exploitability.exploitability(game, mean) < 0.01


# ---------------------------------------------------------------- what players know


@every_game
def test_observations_are_those_of_the_environments(name):
    game = pyspiel.load_game(name)
    for state in walk(game, 1):
        batch = Batch(1, game.ruleset, finished="hold", skip_forced=False)
        batch.lay(state.table.games)
        for player in range(game.num_players()):
            (expected,) = batch.observe([player])
            assert np.array_equal(state.observation_tensor(player), expected)
            told = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))
            told.set_from(state, player)
            assert np.array_equal(told.dict["observation"], expected)
            assert told.dict["seat"].tolist() == [float(seat == player) for seat in range(game.plays.seats)]
    with pytest.raises(ValueError, match="poker take no parameters"):
        make_observation(game, params={"x": 1})


@every_game
def test_a_spectator_sees_no_hand(name):
    game = pyspiel.load_game(name)
    kind = pyspiel.IIGObservationType(perfect_recall=True, private_info=pyspiel.PrivateInfoType.NONE)
    spectator = make_observation(game, kind)
    *_, state = walk(game, 4)
    shown = [one for one in spectator.string_from(state, 0).replace("; ", ", ").split(", ") if one.startswith("card")]
    assert shown == [f"card {player} hidden" for player in range(game.num_players())]


@every_game
def test_a_resampled_state_is_the_same_to_the_player(name):
    game, rng, dealt = pyspiel.load_game(name), np.random.default_rng(1), set()
    for seed in range(10):
        for state in walk(game, seed):
            if state.is_chance_node():
                with pytest.raises(ValueError, match="at a decision"):
                    state.resample_from_infostate(0, rng.uniform)
                continue
            for player in range(game.num_players()):
                twin = state.resample_from_infostate(player, rng.uniform)
                for one in (twin, twin.clone()):
                    assert one.information_state_string(player) == state.information_state_string(player)
                    assert one.observation_tensor(player) == state.observation_tensor(player)
                dealt.add((twin.table.games["card"] == state.table.games["card"]).all())
    assert dealt == {True, False}


@every_game
def test_a_search_of_open_spiel_plays(name):
    game, random = pyspiel.load_game(name), np.random.RandomState(1)
    bot = ISMCTSBot(game, RandomRolloutEvaluator(1, random), 2.0, 50, random_state=random)
    bot.set_resampler(lambda state, player: state.resample_from_infostate(player, random.uniform))
    for state in walk(game, 5):
        if not state.is_chance_node() and not state.is_terminal():
            assert bot.step(state) in state.legal_actions()


@every_game
def test_clones_and_saved_states_go_on_alone(name):
    game = pyspiel.load_game(name)
    for state in walk(game, 6):
        before, twin = (str(state), state.history()), state.clone()
        if not twin.is_terminal():
            twin.apply_action((twin.legal_actions() or [one for one, _ in twin.chance_outcomes()])[0])
            assert str(twin) != before[0]
        assert (str(state), state.history()) == before
        _, again = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
        for player in range(game.num_players()):
            assert again.information_state_string(player) == state.information_state_string(player)
