"""Policy: a trained network as an agent, without torch.

A policy with a critic searches before it decides between options it is in doubt about (see `search`).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from borneo_agents.policy.inference import compiled_network, outputs_of
from borneo_agents.policy.model import CARD, WEIGHTS, Model, ModelError, read_model
from borneo_agents.policy.network import Floats, best_actions, drawn_actions, probabilities_of
from borneo_agents.policy.search import OptionSearch
from borneo_agents.policy.threats import Outlook, outlook_of
from borneo_agents.search.ismcts import MOST_MILLISECONDS, is_number
from borneo_env.agent import UnknownAgent, Views
from borneo_env.ruleset import Ruleset
from kontor.engine.threads import available_cores
from kontor.files import in_short

SHIPPED = Path(__file__).parent / "shipped"
MOST_EVALUATIONS = 10_000_000  # of networks, for a decision
DOUBTFUL = 0.0005  # probability of an action from which it takes part in a search, if another has as much


class Policy:
    """Plays the actions with the highest logits of a trained network, after a search between those in doubt.

    Arguments:
        path: folder of the model, or the model itself; without it, the policy that comes with the package.
        sample: draw each action by its probability, instead of playing the most probable one.
        budget: how often a search asks networks for a decision, about; with 0 the network decides alone.
        milliseconds: time for each decision instead; such a policy is not repeatable.
    """

    memoryless = True

    def __init__(
        self,
        path: str | Path | Model | None = None,
        sample: bool = False,
        budget: int = 1000,
        milliseconds: float | None = None,
    ) -> None:
        if type(sample) is not bool:
            raise UnknownAgent(f"sample is True or False, not {in_short(sample)}")
        if type(budget) is not int or not 0 <= budget <= MOST_EVALUATIONS:
            raise UnknownAgent(f"a budget is a number from 0 to {MOST_EVALUATIONS}, not {in_short(budget)}")
        if milliseconds is not None and not (is_number(milliseconds) and 0 <= milliseconds <= MOST_MILLISECONDS):
            raise UnknownAgent(f"milliseconds are a number from 0 to {MOST_MILLISECONDS}, not {in_short(milliseconds)}")
        self.model = path if isinstance(path, Model) else _shared_model(SHIPPED if path is None else Path(str(path)))
        self._actor = compiled_network(self.model.layers)
        self.samples = sample
        self._budget, self._milliseconds = budget, milliseconds
        effort = budget if milliseconds is None else milliseconds
        self._search = OptionSearch(self.model) if effort > 0 and _can_value(self.model) else None

    @property
    def searches(self) -> bool:
        """Whether it searches before it decides; else its network decides alone."""
        return self._search is not None

    @property
    def fingerprint(self) -> bytes:
        """What the arena knows a policy by: games of two trainings must not be mixed."""
        card, found = self.model.card, hashlib.sha256()
        found.update(repr((card.edition, card.players, card.task, self.model.margin_coef)).encode())
        for name, tensor in self.model.tensors().items():
            found.update(f"{name} {tensor.shape}".encode() + tensor.tobytes())
        return found.digest()

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        logits = self._logits(views)
        if self.samples:
            return drawn_actions(logits, views.mask, views.dice)
        return best_actions(logits, views.mask)

    def probabilities(self, views: Views) -> NDArray[np.float64]:
        """(n, actions): the probability of each action when it is drawn; 0 for illegal ones."""
        return probabilities_of(self._logits(views), views.mask)

    def outlook(self, views: Views, actions: Sequence[int]) -> Outlook | None:
        """Where the actions of a choice lead in the first view; None for a policy that cannot value a table."""
        self.check_ruleset(views.ruleset)
        return outlook_of(self.model, views, actions) if _can_value(self.model) else None

    def check_ruleset(self, ruleset: Ruleset) -> None:
        """Refuse games that the model was not trained for."""
        card = self.model.card
        if ruleset.edition != card.edition:
            raise ModelError(f"the policy was trained for the {card.edition} edition, not for {ruleset.name}")
        if ruleset.players not in card.players:
            counts = " or ".join(map(str, card.players))
            raise ModelError(f"the policy was trained for {counts} players, not for {ruleset.name}")

    def _logits(self, views: Views) -> Floats:
        """(n, actions): what the network makes of each action, and the search of those in doubt."""
        began = time.perf_counter()
        views.arrays()  # which complains about views of nobody
        self.check_ruleset(views.ruleset)
        logits = outputs_of(self._actor, views.observe(), available_cores())
        return logits if self._search is None else self._after_search(self._search, views, logits, began)

    def _after_search(self, search: OptionSearch, views: Views, logits: Floats, began: float) -> Floats:
        """(n, actions): logits after a search between the actions in doubt; those of others are out of reach."""
        probs = probabilities_of(logits, views.mask)
        with np.errstate(divide="ignore"):
            log_probs = np.log(np.where(probs >= DOUBTFUL, probs, 0))
        rows = np.flatnonzero((log_probs > -np.inf).sum(1) > 1)
        some = Views(views.ruleset, views.games[rows], views.mask[rows], views.dice[rows])
        if self._milliseconds is None:
            logits[rows] = search.with_budget(some, log_probs[rows], self._budget, available_cores())
        else:
            left = self._milliseconds - 1000 * (time.perf_counter() - began) / max(1, len(views))
            logits[rows] = search.with_time(some, log_probs[rows], left)
        return logits


def _can_value(model: Model) -> bool:
    """Whether there is a critic, whose values are about winning."""
    return model.critic is not None and model.card.task == "win"


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
