"""The game and its states as OpenSpiel has them: `pyspiel.load_game("borneo(players=4,edition=board)")`."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np
import pyspiel

from borneo_env.chance import ChanceGame
from borneo_env.engine.actions import action_table
from borneo_env.engine.hiding import resample
from borneo_env.engine.rules.drawing import DRAWN
from borneo_env.engine.rules.ending import PIRATE_PENALTY
from borneo_env.engine.state import CARDS, FIRST_HAND, make_blank, slots_of
from borneo_env.open_spiel.observer import Observer
from borneo_env.rewards import AT_THE_END, REWARDS, UnknownReward
from borneo_env.ruleset import PLAYER_COUNTS, Ruleset

NAME = "borneo"
EDITION_CARDS = "edition"  # in place of a card table: a parameter of OpenSpiel cannot be None
DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(Ruleset)}
DEFAULTS |= {"tables": EDITION_CARDS, "reward": "win"}
SHARED_BY_ALL = {"win": 1.0, "place": 0.0, "score": 0.0}  # what the rewards of all players add up to

assert [REWARDS[name] for name in SHARED_BY_ALL] == list(AT_THE_END)


def _game_type(reward: str) -> Any:
    kinds = pyspiel.GameType
    return kinds(
        short_name=NAME,
        long_name="Borneo",
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC,
        information=kinds.Information.IMPERFECT_INFORMATION,
        utility=kinds.Utility.CONSTANT_SUM if SHARED_BY_ALL[reward] else kinds.Utility.ZERO_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=max(PLAYER_COUNTS),
        min_num_players=min(PLAYER_COUNTS),
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=DEFAULTS,
    )


def most_turns(ruleset: Ruleset) -> int:
    """No game has more: each turn a card goes to a port, and each port takes so many at most."""
    return sum(port.limit for port in ruleset.tables.ports_in_play(ruleset.players))


def most_chances(ruleset: Ruleset) -> int:
    """No game has more chance nodes: the start player, cards dealt and drawn, ports turned up."""
    ports = len(ruleset.tables.ports_in_play(ruleset.players))
    return 1 + FIRST_HAND * ruleset.players + DRAWN * most_turns(ruleset) + ports


def most_decisions(ruleset: Ruleset) -> int:
    """No game has more decisions.

    A turn has a contract, traders, the ends of an attack and of a defence, and a card kept or a trader that yields:
    five. Cards leave hands once for each time they came there. Things in warehouses, which are taken from ports or
    kept, are paid once. In the end everybody has a contract.
    """
    players, turns = ruleset.players, most_turns(ruleset)
    leaving_hands = FIRST_HAND * players + DRAWN * turns
    taken, kept, ports = turns, turns, len(ruleset.tables.ports_in_play(players))
    return players * ruleset.traders + 5 * turns + leaving_hands + taken + (taken + kept + ports) + players


def _best(ruleset: Ruleset, reward: str) -> float:
    """No reward is higher, nor lower than its opposite: a lead is never more than all points there are."""
    if reward != "score":
        return 1.0
    tables, ports = ruleset.tables, len(ruleset.tables.ports_in_play(ruleset.players))
    supply = tables.supply_in_play(ruleset.players)
    contracts = sum(n * abs(one.points) for n, one in zip(supply, tables.contracts, strict=True))
    return float(CARDS + ports + contracts + PIRATE_PENALTY)


def _game_info(ruleset: Ruleset, reward: str) -> Any:
    best = _best(ruleset, reward)
    return pyspiel.GameInfo(
        num_distinct_actions=len(action_table(slots_of(ruleset))),
        max_chance_outcomes=CARDS + len(ruleset.tables.ports_in_play(ruleset.players)),
        num_players=ruleset.players,
        min_utility=0.0 if reward == "win" else -best,
        max_utility=best,
        utility_sum=SHARED_BY_ALL[reward],
        max_game_length=most_decisions(ruleset),
    )


class BorneoGame(pyspiel.Game):  # type: ignore[misc]  # OpenSpiel has no types
    """Borneo with explicit chance: `players`, `edition`, `traders`, `blackbeard` and `tables` are those of a Ruleset.

    `reward` is `win`, `place` or `score`.
    """

    def __init__(self, parameters: dict[str, Any] | None = None, ruleset: Ruleset | None = None) -> None:
        given = DEFAULTS | (parameters or {})
        self.reward = given.pop("reward")
        if self.reward not in SHARED_BY_ALL:
            raise UnknownReward(f"there is no reward {self.reward!r} at the end; use one of {', '.join(SHARED_BY_ALL)}")
        if given["tables"] == EDITION_CARDS:
            del given["tables"]
        self.ruleset = ruleset or Ruleset(**given)
        super().__init__(_game_type(self.reward), _game_info(self.ruleset, self.reward), parameters or {})

    def new_initial_state(self) -> BorneoState:
        """A game before its deal."""
        return BorneoState(self, deepcopy(self._undealt))

    def state_at(self, game: np.void) -> BorneoState:
        """A state in the middle of a game, from a complete record. Nothing is known of what came before."""
        return BorneoState(self, ChanceGame.at(self.ruleset, game))

    def make_py_observer(self, kind: Any = None, parameters: dict[str, Any] | None = None) -> Observer:
        """What OpenSpiel asks for observations and information states."""
        most_seen = most_decisions(self.ruleset) + most_chances(self.ruleset)
        return Observer(self.ruleset, kind, parameters, most_seen)

    def max_chance_nodes_in_history(self) -> int:
        return most_chances(self.ruleset)

    @cached_property
    def _undealt(self) -> ChanceGame:
        return ChanceGame(self.ruleset)


class BorneoState(pyspiel.State):  # type: ignore[misc]
    """One game of Borneo, at a decision, a chance node or its end."""

    def __init__(self, game: BorneoGame, table: ChanceGame) -> None:
        super().__init__(game)
        self.table = table

    def current_player(self) -> int:
        if self.table.is_chance:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.table.is_over else self.table.player

    def is_terminal(self) -> bool:
        return self.table.is_over

    def _legal_actions(self, player: int) -> list[int]:
        return self.table.options

    def chance_outcomes(self) -> list[tuple[int, float]]:
        outcomes = self.table.outcomes()
        return [(outcome, 1 / len(outcomes)) for outcome in outcomes]

    def _apply_action(self, action: int) -> None:
        if self.table.is_chance:
            self.table.choose(action)
        else:
            self.table.play(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.table.outcome_text(action) if player == pyspiel.PlayerId.CHANCE else self.table.text(action)

    def returns(self) -> list[float]:
        game, table = self.get_game(), self.table
        if not table.is_over:
            return [0.0] * game.num_players()
        rewards: list[float] = REWARDS[game.reward](game.ruleset, make_blank(game.ruleset), table.games)[0].tolist()
        return rewards

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> BorneoState:
        """A random game among those that the player cannot tell from this one (R11.3), with the history it would have.

        Not at a chance node, and from a state in the middle of a game only before a move is made in it.
        """
        if self.table.is_chance:
            raise ValueError("a state is resampled at a decision or at the end, not while chance is next")
        rng = np.random.default_rng([int(sampler() * 2**32) for _ in range(2)])
        game: BorneoGame = self.get_game()
        table = self.table
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

    def __str__(self) -> str:
        """All events, secret ones too."""
        return "; ".join(event.text for event in self.table.events) or "before the deal"


pyspiel.register_game(_game_type("win"), BorneoGame)
