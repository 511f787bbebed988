"""Borneo as a game of OpenSpiel: what its own tests ask for, and what they cannot know."""

from collections import Counter

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed; `make openspiel` runs these tests")

from open_spiel.python.observation import make_observation  # noqa: E402
from spiel.playing import game_of, in_every_phase, phase_of, step, walk  # noqa: E402

from borneo_env import PHASES, Batch, Ruleset, RulesetError, every_ruleset, redact  # noqa: E402
from borneo_env.engine.observe import explain  # noqa: E402
from borneo_env.engine.state import CARDS, HAND  # noqa: E402
from borneo_env.rewards import UnknownReward  # noqa: E402

RULESETS = every_ruleset()
PIRATES = Ruleset(players=3, blackbeard=True)  # a game with every phase


@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: ruleset.name)
def test_random_simulation_of_open_spiel(ruleset, capfd):
    pyspiel.random_sim_test(game_of(ruleset), num_sims=1, serialize=True, verbose=False)


@pytest.mark.parametrize("reward", ["win", "place", "score"])
def test_random_simulation_with_every_reward_and_short_games(reward, capfd):
    game = game_of(Ruleset(players=3), reward=reward, tables="tiny")
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)


def test_the_name_says_what_is_played():
    game = pyspiel.load_game("borneo(players=5,edition=card,reward=score)")
    assert (game.ruleset, game.reward) == (Ruleset("card", 5), "score")
    again = pyspiel.deserialize_game(game.serialize())
    assert (again.ruleset, again.reward) == (game.ruleset, game.reward)
    assert pyspiel.load_game("borneo").ruleset == Ruleset()


def test_wrong_parameters_are_told():
    with pytest.raises(RulesetError, match="3, 4 or 5 players"):
        pyspiel.load_game("borneo(players=6)")
    with pytest.raises(UnknownReward, match="use one of win, place, score"):
        pyspiel.load_game("borneo(reward=ranks)")
    with pytest.raises(ValueError, match="no parameters"):
        make_observation(pyspiel.load_game("borneo"), params={"x": 1})


@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: ruleset.name)
def test_no_game_is_longer_than_it_can_be(ruleset):
    game = game_of(ruleset)
    *_, state = walk(game, 1)
    chances = sum(step.player == pyspiel.PlayerId.CHANCE for step in state.full_history())
    assert state.move_number() - chances <= game.max_game_length()
    assert chances <= game.max_chance_nodes_in_history()
    assert game.max_game_length() < 8 * (state.move_number() - chances), "the bound should not be absurd"


def test_chance_is_uniform_and_sums_to_one():
    seen = Counter()
    for state in walk(game_of(PIRATES), 3):
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            assert sum(p for _, p in outcomes) == pytest.approx(1)
            assert len({p for _, p in outcomes}) == 1
            assert [one for one, _ in outcomes] == sorted({one for one, _ in outcomes})
            seen[state.action_to_string(outcomes[0][0]).split()[0]] += 1
    assert seen["start"] == 1
    assert seen["draw"] > 30
    assert seen["port"] > 3


def test_moves_are_told_in_words():
    state = game_of(Ruleset()).new_initial_state()
    assert [state.action_to_string(one) for one, _ in state.chance_outcomes()] == [f"start {i}" for i in range(4)]
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    assert [state.action_to_string(one) for one in state.legal_actions()] == Batch(1).legal_moves()
    assert state.string_to_action("place blue") == Batch(1).actions.action("place blue", "place")


def test_returns_are_the_rewards_of_the_end():
    for reward, total in (("win", 1), ("place", 0), ("score", 0)):
        game = game_of(Ruleset(players=4), reward=reward)
        for state in walk(game, 2):
            assert state.is_terminal() or state.returns() == [0.0] * 4
        assert sum(state.returns()) == pytest.approx(total)
        assert max(state.returns()) > 0
        assert game.min_utility() <= min(state.returns()) <= max(state.returns()) <= game.max_utility()


# ---------------------------------------------------------------- what players know


def knowledge(state, player):
    return (
        state.information_state_string(player),
        state.information_state_tensor(player),
        state.observation_string(player),
        state.observation_tensor(player),
    )


def test_observations_are_those_of_the_environments():
    game = game_of(Ruleset(players=4))
    for state in in_every_phase(game).values():
        batch = Batch(1, game.ruleset)
        batch.games[:] = state.table.position()
        for player in range(4):
            (expected,) = batch.observe([player])
            assert np.array_equal(state.observation_tensor(player), expected)
            assert state.observation_string(player) == f"seat {player}\n{explain(expected)}"


def test_a_spectator_sees_no_hand():
    kind = pyspiel.IIGObservationType(perfect_recall=True, private_info=pyspiel.PrivateInfoType.NONE)
    game = game_of(Ruleset(players=4))
    spectator = make_observation(game, kind)
    *_, state = walk(game, 4)
    assert "draw" not in spectator.string_from(state, 0)
    assert "ship" in spectator.string_from(state, 0)
    assert "draw" in state.information_state_string(0)


@pytest.mark.parametrize("ruleset", [PIRATES, Ruleset("card", 5)], ids=lambda ruleset: ruleset.name)
def test_resampling_keeps_what_the_player_knows_and_deals_the_rest_anew(ruleset):
    game, rng, others = game_of(ruleset), np.random.default_rng(1), Counter()
    for state in in_every_phase(game).values():
        if not state.is_chance_node():
            for player in range(ruleset.players):
                twin = state.resample_from_infostate(player, rng.uniform)
                assert knowledge(twin, player) == knowledge(state, player)
                assert twin.legal_actions() == state.legal_actions() or player != state.current_player()
                seen = [redact(one.table.games[0], player).tobytes() for one in (twin, state)]
                assert seen[0] == seen[1]
                for other in range(ruleset.players):
                    if other != player:
                        others["same" if knowledge(twin, other) == knowledge(state, other) else "other"] += 1
    assert others["other"] > others["same"]  # the same where hands are empty, as at the end


def test_a_resampled_state_has_the_history_of_its_cards():
    game, rng = game_of(PIRATES), np.random.default_rng(2)
    for state in in_every_phase(game).values():
        if not state.is_chance_node():
            twin = state.resample_from_infostate(0, rng.uniform)
            again = game.new_initial_state()
            for action in twin.history():
                again.apply_action_with_legality_check(action)
            assert again.table.games.tobytes() == twin.table.games.tobytes()
            mine = [one.action for one in state.full_history() if one.player >= 0]
            assert mine == [one.action for one in twin.full_history() if one.player >= 0]


def test_resampling_gives_each_unseen_card_the_same_chance():
    state, rng = game_of(Ruleset(players=3)).new_initial_state(), np.random.default_rng(3)
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    held = Counter()
    for _ in range(600):
        twin = state.resample_from_infostate(0, rng.uniform).table.games[0]
        held.update(np.flatnonzero(twin["place"][:CARDS] == HAND + 1).tolist())
    assert set(held) == set(range(CARDS)) - {0, 1, 2}
    expected = 600 * 3 / (CARDS - 3)
    assert max(held.values()) < expected + 5 * expected**0.5
    assert min(held.values()) > expected - 5 * expected**0.5


def test_two_ways_to_one_position_are_two_information_states():
    state = game_of(Ruleset(players=3)).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    for company in ("red", "red"):
        state.apply_action(state.string_to_action(f"place {company}"))
    ways = [state.clone(), state.clone()]
    for way, companies in zip(ways, (("blue", "green"), ("green", "blue")), strict=True):
        for company in companies:  # the last player places two traders in a row
            way.apply_action(way.string_to_action(f"place {company}"))
    for player in range(3):
        assert ways[0].observation_string(player) == ways[1].observation_string(player)
        assert ways[0].information_state_string(player) != ways[1].information_state_string(player)
        assert ways[0].information_state_tensor(player) != ways[1].information_state_tensor(player)


def test_a_state_is_not_resampled_while_chance_is_next():
    state = game_of(Ruleset()).new_initial_state()
    with pytest.raises(ValueError, match="at a decision"):
        state.resample_from_infostate(0, np.random.default_rng(1).uniform)


# ---------------------------------------------------------------- copies


@pytest.mark.parametrize("ruleset", [PIRATES, Ruleset("card", 4)], ids=lambda ruleset: ruleset.name)
def test_serialisation_in_every_phase(ruleset):
    game, found = game_of(ruleset), in_every_phase(game_of(ruleset))
    assert set(found) >= {"chance", "over"} | (set(PHASES) if ruleset is PIRATES else set())
    for state in found.values():
        text = pyspiel.serialize_game_and_state(game, state)
        _, again = pyspiel.deserialize_game_and_state(text)
        assert (again.history(), phase_of(again)) == (state.history(), phase_of(state))
        for player in range(ruleset.players):
            assert knowledge(again, player) == knowledge(state, player)
        for one in (again, state):
            rng = np.random.default_rng(9)
            while not one.is_terminal():
                step(one, rng)
        assert (again.history(), again.returns()) == (state.history(), state.returns())


def test_a_clone_changes_nothing():
    for state in walk(game_of(Ruleset(players=3)), 5):
        if state.move_number() % 25 == 0:
            before, twin = (str(state), state.history()), state.clone()
            if not twin.is_terminal():
                step(twin, np.random.default_rng(1))
                assert str(twin) != before[0]
            assert (str(state), state.history()) == before


# ---------------------------------------------------------------- states in the middle of a game


def middle(seed):
    batch = Batch(1, players=4, seed=seed, finished="hold")
    batch.play_random(50)
    game = pyspiel.load_game("borneo(players=4)")
    return batch, game.state_at(batch.games[0])


def test_a_state_in_the_middle_of_a_game():
    batch, state = middle(1)
    player = int(batch.player[0])
    assert state.current_player() == player
    assert state.legal_actions() == np.flatnonzero(batch.mask[0]).tolist()
    rng = np.random.default_rng(1)
    twin = state.resample_from_infostate(player, rng.uniform)
    assert knowledge(twin, player) == knowledge(state, player)
    assert knowledge(twin, (player + 1) % 4) != knowledge(state, (player + 1) % 4)
    assert middle(2)[1].information_state_string(player) != state.information_state_string(player)
    state.apply_action(state.legal_actions()[0])
    while state.is_chance_node():
        step(state, rng)
    with pytest.raises(ValueError, match="before a move is made"):
        state.resample_from_infostate(player, rng.uniform)
