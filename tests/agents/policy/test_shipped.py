"""The policy that comes with the package: it is small, plays all player counts, and its training is worth something."""

from dataclasses import replace

import numpy as np
import pytest
from borneo_agents.arena import play_arena
from borneo_agents.policy.agent import SHIPPED, Policy
from borneo_agents.policy.model import WEIGHTS, ModelError
from networks import layers_of

from borneo_env import Batch
from borneo_env.agent import Views

MODEL = Policy().model


def untrained(layers):
    """Layers of the same shapes with random weights."""
    rng, (width, inputs) = np.random.default_rng(1), layers[0].weights.shape
    return layers_of(rng, inputs, len(layers[-1].biases), width, len(layers) - 1, liking=1.0)


UNTRAINED = replace(MODEL, layers=untrained(MODEL.layers), critic=untrained(MODEL.critic))


def win_share(agents, **settings):
    """What the first agent wins in one seat against others of the second, from every seat of each deal."""
    result = play_arena(agents, lineups="challenge", seed=1, jobs=0, **settings)
    (first,) = (one for one in result.standings if one.agent == next(iter(agents)))
    assert not result.faults
    return first.win_share


def test_it_is_of_the_board_edition_for_all_player_counts_small_and_can_search():
    assert (MODEL.card.edition, MODEL.card.players, MODEL.card.task) == ("board", [3, 4, 5], "win")
    assert (SHIPPED / WEIGHTS).stat().st_size < 16 * 2**20
    assert MODEL.critic


def test_what_its_card_tells_of_its_strength_has_games_seed_and_interval():
    for one in MODEL.card.strength:
        assert one["players"] in MODEL.card.players and one["games"] > 0 and one["seed"] >= 0
        assert 0 <= one["low"] <= one["value"] <= one["high"] <= 1


def test_the_card_edition_is_refused_in_one_line():
    batch = Batch(1, edition="card")
    with pytest.raises(ModelError, match=r"^the policy was trained for the board edition, not for card-4$"):
        Policy().act(Views(batch.ruleset, *batch.view(np.array([0]))))


@pytest.mark.parametrize(("budget", "deals"), [(0, 4), (40, 2)], ids=["alone", "with search"])
def test_training_makes_the_difference(budget, deals):
    """Against three that differ in their weights alone. Nobody wins 14 times of 16, or 7 of 8, by luck."""
    agents = {"trained": Policy(budget=budget), "untrained": Policy(UNTRAINED, budget=budget)}
    assert win_share(agents, games=4 * deals).value > 0.85


@pytest.mark.soak
@pytest.mark.parametrize("players", [3, 4, 5])
def test_it_beats_contractors(players):
    """More often than one of them would."""
    assert win_share(["policy:budget=0", "contractor"], players=players, games=40 * players).low > 1 / players
