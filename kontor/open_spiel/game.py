"""Any game and its states as OpenSpiel has them: `pyspiel.load_game("kontor_kuhn(players=3)")`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyspiel

from kontor.chance import SingleGame, kind_of, single_game
from kontor.engine.games import results
from kontor.game import Game
from kontor.open_spiel.observer import Observer
from kontor.rewards import UnknownReward, find_reward
from kontor.ruleset import Ruleset
from kontor.templates.rewards import AT_THE_END

POINTS = "points"  # what players have at the end, in place of a reward made of it
PREFIX = "kontor_"  # of the names, so that none is that of a game which OpenSpiel has itself


class SpielGame(pyspiel.Game):  # type: ignore[misc]  # OpenSpiel has no types
    """A game with explicit chance. Its parameters are the options of its rulesets, and `reward`, what states return at
    the end: the points, or a reward of the end. `register` makes a subclass for each game."""

    plays: ClassVar[Game]
    short_name: ClassVar[str]
    usual_reward: ClassVar[str] = POINTS

    def __init__(self, parameters: dict[str, Any] | None = None, ruleset: Ruleset | None = None) -> None:
        given = self.defaults() | (parameters or {})
        self.reward = given.pop("reward")
        known = (*AT_THE_END, POINTS)
        if self.reward not in known:
            raise UnknownReward(f"there is no reward {self.reward!r} at the end; use one of {', '.join(known)}")
        self.ruleset = ruleset or self.ruleset_of(given)
        self.bounds = self.plays.bounds_of(self.ruleset)
        super().__init__(self.kind(self.reward, self.bounds.total), self._info(), parameters or {})

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The parameters as they are when nobody gives them."""
        return {**cls.plays.Ruleset().as_dict(), "reward": cls.usual_reward}

    def ruleset_of(self, parameters: dict[str, Any]) -> Ruleset:
        """The ruleset that parameters name."""
        return self.plays.Ruleset(**parameters)

    @classmethod
    def kind(cls, reward: str, total: int | None = None) -> Any:
        """OpenSpiel's type of the game, for a reward; `total` is what all points add up to, where that is known."""
        kinds, shared = pyspiel.GameType, cls._shared_by_all(reward, total)
        utility = kinds.Utility
        return kinds(
            short_name=cls.short_name,
            long_name=cls.plays.title,
            dynamics=kinds.Dynamics.SEQUENTIAL,
            chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC,
            information=kinds.Information.IMPERFECT_INFORMATION,
            utility=utility.GENERAL_SUM if shared is None else utility.CONSTANT_SUM if shared else utility.ZERO_SUM,
            reward_model=kinds.RewardModel.TERMINAL,
            max_num_players=max(cls.plays.players),
            min_num_players=min(cls.plays.players),
            provides_information_state_string=True,
            provides_information_state_tensor=True,
            provides_observation_string=True,
            provides_observation_tensor=True,
            parameter_specification=cls.defaults(),
        )

    @classmethod
    def _shared_by_all(cls, reward: str, total: int | None) -> float | None:
        """What the returns of all players add up to; None if that is not always the same."""
        if reward == POINTS:
            return None if total is None else float(total)
        return 0.0 if reward != "win" else 1.0 if cls.plays.always_won else None

    def _info(self) -> Any:
        low, high = self._range()
        shared = self._shared_by_all(self.reward, self.bounds.total)
        return pyspiel.GameInfo(
            num_distinct_actions=len(self.plays.action_table(self.ruleset)),
            max_chance_outcomes=kind_of(self.plays).number_of_outcomes(self.ruleset),
            num_players=self.ruleset.players,
            min_utility=low,
            max_utility=high,
            **({} if shared is None else {"utility_sum": shared}),
            max_game_length=self.bounds.decisions,
        )

    def _range(self) -> tuple[float, float]:
        """No state returns less, or more."""
        lead = float(self.bounds.most - self.bounds.least)
        ranges = {"win": (0.0, 1.0), "place": (-1.0, 1.0), "score": (-lead, lead)}
        return ranges.get(self.reward, (float(self.bounds.least), float(self.bounds.most)))

    def new_initial_state(self) -> SpielState:
        """A game at its beginning."""
        return SpielState(self, self._begun.copy())

    def state_at(self, record: np.void) -> SpielState:
        """A state in the middle of a game, from a complete record. Nothing is known of what came before."""
        return SpielState(self, kind_of(self.plays).at(self.ruleset, record))

    def make_py_observer(self, kind: Any = None, parameters: dict[str, Any] | None = None) -> Observer:
        """What OpenSpiel asks for observations and information states."""
        return Observer(self.ruleset, kind, parameters)

    def max_chance_nodes_in_history(self) -> int:
        return self.bounds.draws

    @cached_property
    def _begun(self) -> SingleGame:
        return single_game(self.ruleset)


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A game at a decision, a chance node or its end."""

    def __init__(self, game: SpielGame, table: SingleGame) -> None:
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
        return list(zip(self.table.outcomes(), self.table.probabilities(), strict=True))

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
        if game.reward == POINTS:
            points: list[float] = results(game.ruleset, table.games).scores[0].astype(float).tolist()
            return points
        reward = find_reward(game.plays, game.reward)
        rewards: list[float] = reward(game.ruleset, game.plays.blank_record(game.ruleset), table.games)[0].tolist()
        return rewards

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> SpielState:
        """A random game among those that the player cannot tell from this one. The player remembers the same; the
        state has no history, and the others know only how the game stands. Not at a chance node."""
        return SpielState(self.get_game(), self.table.resampled(player, self.generator(sampler)))

    def generator(self, sampler: Callable[[], float]) -> np.random.Generator:
        """A generator for dealing anew what a player does not see, which draws from OpenSpiel's."""
        if self.table.is_chance:
            raise ValueError("a state is resampled at a decision or at the end, not while chance is next")
        return np.random.default_rng([int(sampler() * 2**32) for _ in range(2)])

    def __str__(self) -> str:
        """All that has happened, secrets too."""
        return "; ".join(self.table.history()) or "at the beginning"


def register(game: Game, name: str = "") -> str:
    """Add a game to OpenSpiel's; returns the name by which `pyspiel.load_game` finds it."""
    short = name or PREFIX + game.name
    if short not in pyspiel.registered_names():
        kind = type(f"SpielGame_{game.name}", (SpielGame,), {"plays": game, "short_name": short})
        add(kind)
    return short


def add(kind: type[SpielGame]) -> None:
    """Add a class for one game to OpenSpiel's."""
    pyspiel.register_game(kind.kind(kind.usual_reward, kind.plays.bounds_of(kind.plays.Ruleset()).total), kind)
