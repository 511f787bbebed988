"""OpenSpiel's bots as agents: they play in the arena, in `borneo play` and as opponents in the environments.

A bot gets a state in the middle of a game. The cards that it may not see are dealt anew in it, so it cannot cheat.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator
from open_spiel.python.bots.uniform_random import UniformRandomBot

from borneo_env.agent import Views
from borneo_env.engine.hiding import resample
from borneo_env.open_spiel.game import BorneoGame
from borneo_env.ruleset import Ruleset
from kontor.files import in_short


class Hosted:
    """An agent that has a bot of OpenSpiel decide: a subclass has the method `bot`."""

    memoryless = True

    def bot(self, game: BorneoGame, seat: int, random: np.random.RandomState) -> Any:
        """A `pyspiel.Bot` for one decision, which draws from the generator and no other."""
        raise NotImplementedError(f"{type(self).__name__} has no method bot(self, game, seat, random)")

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        game, players, dice = _game(views.ruleset), views.player.tolist(), views.dice.tolist()
        actions = np.empty(len(views), np.int64)
        for i, seat in enumerate(players):
            state = game.state_at(resample(views.games[i], seat, np.random.default_rng(dice[i])))
            random = np.random.RandomState(np.random.MT19937(np.random.SeedSequence([dice[i], 1])))
            actions[i] = self.bot(game, seat, random).step(state)
        return actions


class Uniform(Hosted):
    """OpenSpiel's bot that plays any legal action, each with the same chance."""

    def bot(self, game: BorneoGame, seat: int, random: np.random.RandomState) -> Any:
        return UniformRandomBot(seat, random)


class IsMcts(Hosted):
    """OpenSpiel's information-set Monte Carlo tree search, with random playouts."""

    def __init__(self, simulations: int = 20, uct: float = 1.0) -> None:
        if type(simulations) is not int or simulations < 1:
            raise ValueError(f"simulations is a whole number from 1, not {in_short(simulations)}")
        self.simulations, self.uct = simulations, uct

    def bot(self, game: BorneoGame, seat: int, random: np.random.RandomState) -> Any:
        bot = ISMCTSBot(game, RandomRolloutEvaluator(1, random), self.uct, self.simulations, random_state=random)
        bot.set_resampler(lambda state, player: state.resample_from_infostate(player, random.uniform))
        return bot


@cache
def _game(ruleset: Ruleset) -> BorneoGame:
    return BorneoGame(ruleset=ruleset)
