"""Bots in single positions: what they try is taken back. Quick enough for bots that run as plain Python."""

import numpy as np
import pytest
from borneo_agents.chances import win_chances
from borneo_agents.climber import Climber
from borneo_agents.contractor import Contractor
from borneo_agents.merchant import Merchant
from positions import position

from borneo_env.agent import Views

LADDERS = {"red": [1, 0, 2], "yellow": [2, 1, 3], "green": [3, 2, 0], "blue": [0, 3, 1]}
HANDS = {player: ["any cargo"] * 4 for player in range(4)}
PORTS = {0: ["Ternate", "rry/r"], 1: ["Makassar", "ggg/b", "bbb/r"]}


@pytest.mark.parametrize("phase", ["traders", "ship"])
@pytest.mark.parametrize("bot", [Contractor, Climber, Merchant])
def test_deciding_leaves_the_game_as_it_was(bot, phase):
    batch = position(phase=phase, ladders=LADDERS, hands=HANDS, ports=PORTS).batch
    _, masks, dice = batch.view(np.array([0]))
    games = batch.games.copy()
    (action,) = bot().act(Views(batch.ruleset, games, masks, dice))
    assert masks[0, action]
    assert games.tobytes() == batch.games.tobytes()


def test_a_shared_win_is_shared():
    three = {player: [f"{spice} single"] * 3 for player, spice in ((1, "pepper"), (2, "nutmeg"))}
    game = position(phase="last contract", turn=0, player=0, warehouses=three)
    game.play("contract none")
    assert win_chances(game.ruleset, game.batch.games).tolist() == [[0.0, 0.5, 0.5, 0.0]]
