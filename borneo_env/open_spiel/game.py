"""Borneo and its states as OpenSpiel has them: `pyspiel.load_game("borneo(players=4,edition=board)")`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel

from borneo_env.chance import ChanceGame
from borneo_env.engine.game import BORNEO
from borneo_env.engine.hiding import resample
from borneo_env.ruleset import Ruleset
from kontor.open_spiel.game import SpielGame, SpielState, add

EDITION_CARDS = "edition"  # in place of a card table: a parameter of OpenSpiel cannot be None


class BorneoGame(SpielGame):
    """Borneo with explicit chance: `players`, `edition`, `traders`, `blackbeard` and `tables` are those of a Ruleset.

    `reward` is `win`, `place`, `score` or `points`.
    """

    plays = BORNEO
    short_name = "borneo"
    usual_reward = "win"

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        return super().defaults() | {"tables": EDITION_CARDS}

    def ruleset_of(self, parameters: dict[str, Any]) -> Ruleset:
        if parameters["tables"] == EDITION_CARDS:
            del parameters["tables"]
        return Ruleset(**parameters)

    def new_initial_state(self) -> BorneoState:
        return BorneoState(self, self._begun.copy())

    def state_at(self, record: np.void) -> BorneoState:
        return BorneoState(self, super().state_at(record).table)


class BorneoState(SpielState):
    """One game of Borneo, at a decision, a chance node or its end."""

    table: ChanceGame

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> BorneoState:
        """A random game among those that the player cannot tell from this one (R11.3), with the history it would have.

        Not at a chance node, and from a state in the middle of a game only before a move is made in it.
        """
        rng, table = self.generator(sampler), self.table
        game: BorneoGame = self.get_game()
        if table.begun_at is not None:
            if table.events:
                raise ValueError("a state in the middle of a game is resampled before a move is made in it")
            return game.state_at(resample(table.games[0], player, rng))
        state = game.new_initial_state()
        for action in self._history_with(table.exchanged(player, rng)):
            state.apply_action(action)
        return state

    def _history_with(self, exchanged: dict[int, int]) -> list[int]:
        """The actions of the history, had the cards in some hands been others when they were drawn."""
        history = self.full_history()
        actions = [step.action for step in history]
        for i in range(len(history) - 1, 0, -1):  # a card may have been drawn before: the last time counts
            if history[i].player == pyspiel.PlayerId.CHANCE:
                actions[i] = exchanged.pop(actions[i], actions[i])
        return actions


add(BorneoGame)
