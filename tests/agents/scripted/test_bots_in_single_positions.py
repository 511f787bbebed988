"""Bots in single positions, and that what they try is taken back. Quick enough for bots that run as plain Python."""

import numpy as np
import pytest
from borneo_agents.scripted.agents import Climber, Contractor, Merchant
from borneo_agents.scripted.valuation.win_probability import win_probability
from positions import card, position

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
    assert win_probability(game.ruleset, game.batch.games).tolist() == [[0.0, 0.5, 0.5, 0.0]]


def move(bot, game):
    """What a bot plays in a position, in words."""
    (action,) = bot().act(Views(game.ruleset, *game.batch.view(np.array([0]))))
    return game.batch.actions.text(int(action), game.phase)


@pytest.mark.parametrize(("led", "spared"), [("yellow", "green"), ("green", "yellow")])
def test_of_two_cards_that_win_the_merchant_defends_with_the_one_it_needs_less(led, spared):
    """One red flag is enough, and the strong cards of a company that it leads are worth more in hand."""
    attacker, defence = card("blue", "red"), {company: card(company, "red") for company in (led, spared)}
    game = position(
        phase="traders",
        ladders={"red": [1, 3, 0], led: [1, 2, 3], spared: [2, 3, 0]},
        hands={0: [attacker, "bbb/y"], 1: [*defence.values(), "bbb/g"]},
    )
    game.play("attack red 3 1", f"commit {attacker}", "commit done")
    assert move(Merchant, game) == f"defend {defence[spared]}"
