"""ISMCTS: information-set Monte Carlo tree search in any game, for any number of players.

It is the search with a single observer of Cowling, Powley and Whitehouse (2012, IEEE TCIAIG 4). Every iteration plays
down the tree in a new determinization of the view. A node is what the searcher knows at a decision: determinizations
that look alike to the searcher share it, and only what is legal in the present one can be chosen. Every player is taken
to choose what gives them the best value, such as the share of the win. Actions are selected by PUCT (Rosin 2011, AMAI
61; in the form of AlphaGo Zero, Silver et al. 2017, Nature 550): a prior probability leads, and here a part of it is
the bot's action's alone. Where chance decides, it is drawn. Where a playout meets a new node, a bot plays on.
"""

from __future__ import annotations

import time
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.search import descents, known_strategy
from borneo_agents.search.descents import IsmctsConfig, TreeScratch, make_tree_scratch
from borneo_agents.search.known_strategy import NO_STRATEGY, KnownStrategy
from borneo_agents.search.playouts import make_playout_scratch
from borneo_env.agent import UnknownAgent, Views
from kontor.engine.threads import available_cores, in_parallel
from kontor.exact import Tree
from kontor.exact.values import Strategy
from kontor.files import in_short
from kontor.game import Game
from kontor.ruleset import Ruleset
from kontor.templates.rewards import AT_THE_END

LARGEST_TREE = 20_000  # nodes, when the budget is a time
SLICE = 32  # playouts between two looks at the clock
MOST_PLAYOUTS, MOST_MILLISECONDS, MOST_TURNS, MOST_C_PUCT = 1_000_000, 3_600_000, 1000, 1000
TO_THE_END = 1 << 62  # turns


class Ismcts:
    """Searches a tree of what it may come to know: information-set Monte Carlo tree search.

    It keeps nothing from one call to the next, so that several threads may ask the same one.

    Arguments:
        budget: playouts for each decision.
        milliseconds: time for each decision instead; such a bot is not repeatable.
        turns: how many turns begin before a playout is cut off, where the game gives an estimate of the win.
        policy: the bot that plays for all in the playouts; in Borneo random, contractor, climber or merchant, which is
            what it is if nothing is said. In games without bots of their own it is random.
        c_puct: how much it tries options that it has tried seldom; 0 is not at all.
        prior_weight: the part of the prior probability that the bot's action has beyond its share: 0 to 1.
        value: what every player looks for: win, place or score.
    """

    memoryless = True

    def __init__(
        self,
        budget: int = 1000,
        milliseconds: float | None = None,
        turns: int = 2,
        policy: str | None = None,
        c_puct: float = 0.1,
        prior_weight: float = 0.5,
        value: str = "win",
    ) -> None:
        if type(budget) is not int or not 1 <= budget <= MOST_PLAYOUTS:
            raise UnknownAgent(f"a budget is a number of playouts from 1 to {MOST_PLAYOUTS}, not {in_short(budget)}")
        if milliseconds is not None and not (is_number(milliseconds) and 0 < milliseconds <= MOST_MILLISECONDS):
            raise UnknownAgent(
                f"milliseconds are a number above 0, up to {MOST_MILLISECONDS}, not {in_short(milliseconds)}"
            )
        if type(turns) is not int or not 0 <= turns <= MOST_TURNS:
            raise UnknownAgent(f"turns are a number from 0 to {MOST_TURNS}, not {in_short(turns)}")
        if not is_number(c_puct) or not 0 <= c_puct <= MOST_C_PUCT:
            raise UnknownAgent(f"c_puct is a number from 0 to {MOST_C_PUCT}, not {in_short(c_puct)}")
        if not is_number(prior_weight) or not 0 <= prior_weight <= 1:
            raise UnknownAgent(f"prior_weight is a number from 0 to 1, not {in_short(prior_weight)}")
        if value not in AT_THE_END:
            raise UnknownAgent(f"there is no value {in_short(value)} to look for; use one of {', '.join(AT_THE_END)}")
        self._budget, self._milliseconds, self._turns = budget, milliseconds, turns
        self._policy, self._value = policy, value
        self._c_puct, self._prior_weight = float(c_puct), float(prior_weight)

    def check_ruleset(self, ruleset: Ruleset) -> None:
        """Refuse a game that it cannot play as it is told to."""
        game, policies = ruleset.game, ruleset.game.own_bots.names
        if self._policy is not None and self._policy not in policies:
            raise UnknownAgent(
                f"there is no policy {in_short(self._policy)} for playouts; use one of {', '.join(policies)}"
            )
        if unknown := game.cannot_resample():
            raise UnknownAgent(f"{game.title} does not say how {', '.join(unknown)} is dealt anew, so it has no search")

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        return self._searched(views)[0]

    def probabilities(self, views: Views) -> NDArray[np.float64]:
        """(n, actions): the share of its tries that each action had; what it plays had the most."""
        _, tries = self._searched(views)
        shares: NDArray[np.float64] = tries / tries.sum(1, keepdims=True)
        return shares

    def _searched(self, views: Views) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The best action of each view, and how often each was tried, on all cores. Times are those of one core."""
        self.check_ruleset(views.ruleset)
        chosen, tries = np.zeros(len(views), np.int64), np.zeros(views.mask.shape)
        boxes, games, dice = views.arrays()
        threads = available_cores() if self._milliseconds is None else 1
        in_parallel(threads, self._search, (views.ruleset.game, boxes), (games, dice, chosen, tries), 1)
        return chosen, tries

    def _search(
        self,
        game: Game,
        boxes: Any,
        games: Any,
        dice: NDArray[np.uint64],
        chosen: NDArray[np.int64],
        tries: NDArray[np.float64],
    ) -> None:
        """Write what is found of some views, in one thread."""
        scratch, config, search = self._make_scratch(game), self._config(game), game.of(descents)
        for i in range(len(dice)):
            search.begin_tree(boxes, games, i, dice[i], scratch)
            if self._milliseconds is None:
                chosen[i] = search.grow(boxes, games, i, scratch, config, self._budget)
            else:
                end = time.perf_counter() + self._milliseconds / 1000
                chosen[i] = search.grow(boxes, games, i, scratch, config, SLICE)
                while time.perf_counter() < end:
                    chosen[i] = search.grow(boxes, games, i, scratch, config, SLICE)
            search.count_tries(scratch.tree, tries[i])

    def _config(self, game: Game) -> IsmctsConfig:
        bots = game.own_bots
        return IsmctsConfig(
            policy=bots.names.index(bots.usual if self._policy is None else self._policy),
            turns=self._turns if bots.estimate and self._value == "win" else TO_THE_END,
            c_puct=self._c_puct,
            prior_weight=self._prior_weight if bots.rules else 0.0,  # what is drawn at random is no favourite
            value=list(game.all_rewards).index(self._value),
        )

    def _make_scratch(self, game: Game) -> TreeScratch:
        nodes = self._budget + 1 if self._milliseconds is None else LARGEST_TREE
        return make_tree_scratch(game, nodes, self._known())

    def _known(self) -> KnownStrategy:
        """What the others are known to play: nothing."""
        return NO_STRATEGY


class IsmctsResponse(Ismcts):
    """Looks for the best response to others who play by a strategy that it is told: see `kontor.exact`.

    It takes determinizations as often as the strategy makes them likely, and moves of the others from there.

    Arguments:
        tree: all positions of a small game.
        strategy: a probability for each option of each information set, one array for all players.
        settings: those of Ismcts.
    """

    def __init__(self, tree: Tree, strategy: Strategy, **settings: Any) -> None:
        super().__init__(**settings)
        game = tree.ruleset.game
        self._strategy = known_strategy.tabulate(
            tree, strategy, game.of(known_strategy).number_games, make_playout_scratch(game)
        )

    def _known(self) -> KnownStrategy:
        return self._strategy


def is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))
