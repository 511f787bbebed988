"""Policy: a trained network as an agent, without torch.

A policy that is briefed, and has learnt to win, weighs the options it is in doubt about before it decides (see
`borneo_agents.weighing`).
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from borneo_agents.bot import as_arrays
from borneo_agents.briefing import ADVICE, ADVISED, brief_on
from borneo_agents.model import (
    CARD,
    WEIGHTS,
    Model,
    ModelError,
    best_actions,
    drawn_actions,
    notes_on_options,
    odds_of,
    read_model,
)
from borneo_agents.weighing import MOST_WORLDS, weigh_options
from borneo_env.agent import UnknownAgent, Views
from borneo_env.engine.threads import available_cores
from borneo_env.files import in_short

SHIPPED = Path(__file__).parent / "shipped"
PER_WIN = 200.0  # how much more an action is liked that wins for certain
TRUST = 0.02  # by how much of a chance another action must be better than the merchant's, who errs less than it seems
DOUBT = 0.01  # odds of an action from which it is weighed, if another has as much
WEIGHT = 4.0  # what weighing counts beside what was liked before


class Policy:
    """Plays what a trained network likes.

    Arguments:
        path: folder of the model, or the model itself; without it, the policy that comes with the package.
        sample: draw each action by how much it is liked, instead of playing the one that is liked most.
        worlds: imagined games, at most, in which it weighs options; fewer are quicker and weaker, with 0 it never does.
    """

    memoryless = True

    def __init__(self, path: str | Path | Model | None = None, sample: bool = False, worlds: int = 32) -> None:
        if type(sample) is not bool:
            raise UnknownAgent(f"sample is True or False, not {in_short(sample)}")
        if type(worlds) is not int or not 0 <= worlds <= MOST_WORLDS:
            raise UnknownAgent(f"worlds are a number of imagined games from 0 to {MOST_WORLDS}, not {in_short(worlds)}")
        self.model = path if isinstance(path, Model) else _shared_model(SHIPPED if path is None else Path(str(path)))
        self._sample = sample
        self._worlds = worlds

    @property
    def fingerprint(self) -> bytes:
        """What the arena knows a policy by: games of two trainings must not be mixed."""
        parts = [part for layer in (*self.model.layers, self.model.judge or ()) for part in layer if part is not None]
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).digest()

    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        logits = self._logits(views)
        if self._sample:
            return drawn_actions(logits, views.mask, views.dice)
        return best_actions(logits, views.mask)

    def odds(self, views: Views) -> NDArray[np.float64]:
        """(n, actions): how likely each action is when it is drawn by liking; illegal ones are not."""
        return odds_of(self._logits(views), views.mask)

    def _logits(self, views: Views) -> NDArray[np.float32]:
        as_arrays(views)
        card, ruleset = self.model.card, views.ruleset
        if ruleset.edition != card.edition:
            raise ModelError(f"the policy was trained for the {card.edition} edition, not for {ruleset.name}")
        if ruleset.players not in card.players:
            counts = " or ".join(map(str, card.players))
            raise ModelError(f"the policy was trained for {counts} players, not for {ruleset.name}")
        if self.model.judge is None:
            return self.model.logits(views.observe(), views.mask)
        threads = available_cores()
        notes = brief_on(views, threads)
        logits = self.model.logits(np.concatenate([views.observe(), notes], 1), views.mask)
        if self.model.card.task != "win":
            return logits
        trust = trusted(notes, views.mask)
        liked = logits + PER_WIN * trust
        return self._weighed(views, liked, trust, threads) if self._worlds else liked

    def _weighed(
        self, views: Views, liked: NDArray[np.float32], trust: NDArray[np.float32], threads: int
    ) -> NDArray[np.float32]:
        """How much each action is liked, once those that are in doubt have been weighed."""
        odds = odds_of(liked, views.mask)
        doubtful = odds >= DOUBT
        rows = np.flatnonzero(doubtful.sum(1) > 1)
        some = Views(views.ruleset, views.games[rows], views.mask[rows], views.dice[rows])
        odds, doubtful = odds[rows] * doubtful[rows], doubtful[rows]
        with np.errstate(over="ignore", invalid="ignore"):  # a strange file may lead anywhere
            before = above_usual(liked[rows], odds)
            ahead = trust[rows] + before / (PER_WIN * WEIGHT)
            behind = weigh_options(some, doubtful, ahead.astype(np.float64), self._worlds, threads)
            after = above_usual(-PER_WIN * behind, odds) * WEIGHT / (1 + WEIGHT)
            liked[rows] = np.where(doubtful, after, before)
        return liked


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


def trusted(notes: NDArray[np.int8], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
    """(n, actions): what speaks for the merchant's actions, as so much of a chance more."""
    rows, actions, told = notes_on_options(notes, mask)
    more = np.zeros(mask.shape, np.float32)
    more[rows, actions] = TRUST * (told[:, ADVICE] == ADVISED)
    return more


def above_usual(numbers: NDArray[Any], odds: NDArray[np.float64]) -> NDArray[Any]:
    """(n, actions): numbers less their mean by the odds."""
    above: NDArray[Any] = numbers - (numbers * odds).sum(1, keepdims=True) / odds.sum(1, keepdims=True)
    return above
