"""Policy: a trained network as an agent, without torch.

A policy with a critic searches before it decides between options it is in doubt about (see `search`).
"""

from __future__ import annotations

import hashlib
import time
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.policy.lookahead import ADVICE, ADVISED, lookahead_features
from borneo_agents.policy.model import CARD, WEIGHTS, Model, ModelError, read_model
from borneo_agents.policy.network import best_actions, drawn_actions, features_of_options, probabilities_of
from borneo_agents.policy.racing import MOST_DETERMINIZATIONS, race_options
from borneo_agents.policy.search import networks_of, search_for, search_options
from borneo_agents.search.agent import MOST_MILLISECONDS, is_number
from borneo_env.agent import UnknownAgent, Views
from borneo_env.engine.threads import available_cores
from borneo_env.files import in_short
from borneo_env.ruleset import Ruleset

SHIPPED = Path(__file__).parent / "shipped"
MOST_EVALUATIONS = 10_000_000  # of networks, for a decision
PER_WIN = 200.0  # by how much the logit of an action is higher that wins for certain
TRUST = 0.02  # win probability by which another action must be better than the merchant's, who errs less than it seems
DOUBTFUL = 0.02  # probability of an action from which it takes part in a search, if another has as much
DOUBT = 0.01  # probability of an action from which it takes part in a race, if another has as much
WEIGHT = 4.0  # what the race counts beside the logits before


class Policy:
    """Plays the actions with the highest logits of a trained network, after a search between those in doubt.

    Arguments:
        path: folder of the model, or the model itself; without it, the policy that comes with the package.
        sample: draw each action by its probability, instead of playing the most probable one.
        determinizations: in so many, at most, options race; fewer are quicker and weaker, with 0 there is no race.
        budget: how often a search asks networks for a decision, about; with 0 the network decides alone.
        milliseconds: time for each decision instead; such a policy is not repeatable.
    """

    memoryless = True

    def __init__(
        self,
        path: str | Path | Model | None = None,
        sample: bool = False,
        determinizations: int = 32,
        budget: int = 1000,
        milliseconds: float | None = None,
    ) -> None:
        if type(sample) is not bool:
            raise UnknownAgent(f"sample is True or False, not {in_short(sample)}")
        if type(determinizations) is not int or not 0 <= determinizations <= MOST_DETERMINIZATIONS:
            raise UnknownAgent(
                f"determinizations are a number from 0 to {MOST_DETERMINIZATIONS}, not {in_short(determinizations)}"
            )
        if type(budget) is not int or not 0 <= budget <= MOST_EVALUATIONS:
            raise UnknownAgent(f"a budget is a number from 0 to {MOST_EVALUATIONS}, not {in_short(budget)}")
        if milliseconds is not None and not (is_number(milliseconds) and 0 <= milliseconds <= MOST_MILLISECONDS):
            raise UnknownAgent(f"milliseconds are a number from 0 to {MOST_MILLISECONDS}, not {in_short(milliseconds)}")
        self.model = path if isinstance(path, Model) else _shared_model(SHIPPED if path is None else Path(str(path)))
        self._sample = sample
        self._determinizations = determinizations
        self._budget, self._milliseconds = budget, milliseconds

    @property
    def fingerprint(self) -> bytes:
        """What the arena knows a policy by: games of two trainings must not be mixed."""
        model = self.model
        layers = (*model.layers, model.option_head or (), *(model.critic or ()), *(model.playout or ()))
        parts = [part for layer in layers for part in layer if part is not None]
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).digest()

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        logits = self._logits(views)
        if self._sample:
            return drawn_actions(logits, views.mask, views.dice)
        return best_actions(logits, views.mask)

    def probabilities(self, views: Views) -> NDArray[np.float64]:
        """(n, actions): the probability of each action when it is drawn; 0 for illegal ones."""
        return probabilities_of(self._logits(views), views.mask)

    def check_ruleset(self, ruleset: Ruleset) -> None:
        """Refuse games that the model was not trained for."""
        card = self.model.card
        if ruleset.edition != card.edition:
            raise ModelError(f"the policy was trained for the {card.edition} edition, not for {ruleset.name}")
        if ruleset.players not in card.players:
            counts = " or ".join(map(str, card.players))
            raise ModelError(f"the policy was trained for {counts} players, not for {ruleset.name}")

    def _logits(self, views: Views) -> NDArray[np.float32]:
        began = time.perf_counter()
        views.arrays()  # which complains about views of nobody
        self.check_ruleset(views.ruleset)
        if self.model.option_head is None:
            logits = self.model.logits(views.observe(), views.mask)
            return self._after_search(views, logits, began) if self._searches() else logits
        threads = available_cores()
        told = lookahead_features(views, threads)
        logits = self.model.logits(np.concatenate([views.observe(), told], 1), views.mask)
        if self.model.card.task != "win":
            return logits
        trust = trusted(told, views.mask)
        logits = logits + PER_WIN * trust
        return self._after_race(views, logits, trust, threads) if self._determinizations else logits

    def _searches(self) -> bool:
        """Whether it does: values of playouts are about winning."""
        effort = self._budget if self._milliseconds is None else self._milliseconds
        return self.model.critic is not None and self.model.card.task == "win" and effort > 0

    @cached_property
    def _networks(self) -> Any:
        return networks_of(self.model)

    def _after_search(self, views: Views, logits: NDArray[np.float32], began: float) -> NDArray[np.float32]:
        """(n, actions): logits after a search between the actions in doubt; those of others are out of reach."""
        probabilities = probabilities_of(logits, views.mask)
        doubtful = probabilities >= DOUBTFUL
        rows = np.flatnonzero(doubtful.sum(1) > 1)
        some = Views(views.ruleset, views.games[rows], views.mask[rows], views.dice[rows])
        priors = np.log(np.maximum(probabilities[rows], DOUBTFUL))
        if self._milliseconds is None:
            behind = search_options(some, doubtful[rows], priors, self._networks, self._budget, available_cores())
        else:
            left = self._milliseconds - 1000 * (time.perf_counter() - began) / max(1, len(views))
            behind = search_for(some, doubtful[rows], priors, self._networks, left)
        logits[rows] = np.where(doubtful[rows], -behind, -np.inf)
        return logits

    def _after_race(
        self, views: Views, logits: NDArray[np.float32], trust: NDArray[np.float32], threads: int
    ) -> NDArray[np.float32]:
        """(n, actions): the logits, once the actions that are in doubt have raced."""
        probabilities = probabilities_of(logits, views.mask)
        doubtful = probabilities >= DOUBT
        rows = np.flatnonzero(doubtful.sum(1) > 1)
        some = Views(views.ruleset, views.games[rows], views.mask[rows], views.dice[rows])
        probabilities, doubtful = probabilities[rows] * doubtful[rows], doubtful[rows]
        with np.errstate(over="ignore", invalid="ignore"):  # a strange file may lead anywhere
            before = above_mean(logits[rows], probabilities)
            lead = trust[rows] + before / (PER_WIN * WEIGHT)
            behind = race_options(some, doubtful, lead.astype(np.float64), self._determinizations, threads)
            after = above_mean(-PER_WIN * behind, probabilities) * WEIGHT / (1 + WEIGHT)
            logits[rows] = np.where(doubtful, after, before)
        return logits


def _shared_model(folder: Path) -> Model:
    """The model in a folder, read once while its files stay as they are: an arena makes many policies of it."""
    try:
        stamps = [(folder / name).stat() for name in (CARD, WEIGHTS)]
    except OSError:
        return read_model(folder)  # which says what is wrong
    return _read_once(folder.absolute(), *((s.st_ino, s.st_size, s.st_mtime_ns) for s in stamps))


@lru_cache(maxsize=4)
def _read_once(folder: Path, *stamps: tuple[int, ...]) -> Model:
    return read_model(folder)


def trusted(told: NDArray[np.int8], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
    """(n, actions): what speaks for the merchant's actions, as so much more win probability."""
    rows, actions, features = features_of_options(told, mask)
    more = np.zeros(mask.shape, np.float32)
    more[rows, actions] = TRUST * (features[:, ADVICE] == ADVISED)
    return more


def above_mean(numbers: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[Any]:
    """(n, actions): numbers less their weighted mean."""
    above: NDArray[Any] = numbers - (numbers * weights).sum(1, keepdims=True) / weights.sum(1, keepdims=True)
    return above
