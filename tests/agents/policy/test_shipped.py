"""The policy that comes with the package: it is small, plays everywhere, and its card tells how strong it is."""

import pytest

pytest.importorskip("stable_baselines3")

from borneo_agents.arena import play_arena
from borneo_agents.policy.agent import SHIPPED
from borneo_agents.policy.model import CARD, WEIGHTS, read_card
from borneo_train.tasks import TASKS

SHIPPED_CARD = read_card(SHIPPED / CARD)


def test_it_is_of_the_board_edition_for_all_player_counts_and_small():
    assert (SHIPPED_CARD.edition, SHIPPED_CARD.players, SHIPPED_CARD.task) == ("board", [3, 4, 5], "win")
    assert (SHIPPED / WEIGHTS).stat().st_size < 6 * 2**20


def test_its_strength_is_told_with_games_seed_and_interval_for_all_player_counts():
    against_merchants = {one["players"]: one for one in SHIPPED_CARD.strength if one["against"] == "merchant"}
    assert set(against_merchants) == {3, 4, 5}
    for players, one in against_merchants.items():
        assert one["measure"] == TASKS["win"][0].name and one["games"] >= 2000 and one["seed"] >= 0
        assert 1 / players < one["low"] < one["value"] < one["high"] < 1, "better than a merchant would be"


@pytest.mark.soak
@pytest.mark.parametrize("players", [3, 4, 5])
def test_it_beats_contractors(players):
    """More often than one of them would."""
    table = ["policy:determinizations=0", "contractor"]
    result = play_arena(table, lineups="challenge", players=players, games=40 * players, seed=1, jobs=0)
    (mine,) = (one for one in result.standings if one.agent == table[0])
    assert not result.faults and mine.win_share.low > 1 / players
