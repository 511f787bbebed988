"""The Agent protocol: whoever decides, for a batch of games at a time.

An agent decides for a batch: `act(views)` gets the games as their deciding players see them, and returns an action for
each. What it is handed tells nothing hidden, and writing into it changes nothing. That is no wall against a hostile
agent: it runs in this process and can reach its memory. Agents are found by name in `kontor.registry`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kontor.compile import attributes
from kontor.engine.arguments import whole_numbers
from kontor.engine.batch import Batch
from kontor.engine.games import observe, resample
from kontor.files import counted
from kontor.templates.dice import HALF, LOW
from kontor.traces import OF_AGENT


@dataclass(frozen=True)
class Views:
    """Games as their deciding players see them, with the legal actions."""

    ruleset: Any  # of the game that is played
    games: NDArray[np.void]  # (n,) redacted records
    mask: NDArray[np.bool_]  # (n, actions)
    dice: NDArray[np.uint64]  # (n,) 64 random bits for each decision: the same in a batch of any size

    @property
    def player(self) -> NDArray[np.int8]:
        """(n,): who decides, and whose view it is."""
        player: NDArray[np.int8] = self.games["player"]
        return player

    def check(self) -> None:
        """Refuse views that are none, in one clear sentence."""
        ruleset, game, size = self.ruleset, self.ruleset.game, len(self)
        shape = (size, len(game.action_table(ruleset)))
        if (self.games.dtype, self.mask.shape, self.dice.shape) != (game.record, shape, (size,)):
            raise ValueError(
                f"views of {size} games of {ruleset.name} have masks of shape {shape}, not {self.mask.shape}, and dice "
                f"for each, not of shape {self.dice.shape}: give views the ruleset of their batch"
            )
        if (self.player.astype(np.uint8) >= ruleset.players).any():  # -1, for nobody, becomes the highest
            raise ValueError(f"nobody of {ruleset.name} decides in one of the views: it is over, or of another ruleset")

    def arrays(self) -> tuple[Any, NDArray[Any], NDArray[np.uint64]]:
        """The constants, games and dice for compiled rules, which check nothing."""
        self.check()
        games = attributes(np.ascontiguousarray(self.games))
        return attributes(self.ruleset.game.box(self.ruleset)), games, np.ascontiguousarray(self.dice)

    def observe(self) -> NDArray[np.int8]:
        """(n, length): the observations of the deciding players."""
        return observe(self.ruleset, self.games, self.player)

    def resample(self, rng: np.random.Generator) -> NDArray[np.void]:
        """Complete games, each random among those its player cannot tell from the real one."""
        games: NDArray[np.void] = resample(self.ruleset, self.games, self.player, rng)
        return games

    def __len__(self) -> int:
        return len(self.games)


@runtime_checkable
class Agent(Protocol):
    """Whoever decides."""

    def act(self, views: Views) -> NDArray[np.integer[Any]]:
        """An action for each view."""


class Random:
    """Plays any legal action, each with the same chance."""

    memoryless = True

    def act(self, views: Views) -> NDArray[np.int64]:
        options = views.mask.sum(1).astype(np.uint64)
        nth = ((views.dice & LOW) * options) >> HALF
        action: NDArray[np.int64] = (views.mask.cumsum(1) > nth[:, None]).argmax(1)
        return action


class WrongAnswer(ValueError):
    """What an agent answered is not a legal action for each game it was asked for."""


def ask(
    batch: Batch, rows: NDArray[np.intp], agents: Sequence[Agent], seated: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """An action for each of some games; `seated` (games, players) says which agent sits where.

    Each agent is asked once, for all its games together. WrongAnswer names one that answers with anything but a legal
    action for each of them; an error of its own gets a note with its name.
    """
    actions = np.empty(len(rows), np.int64)
    who = seated[rows, batch.player[rows]]
    for number, agent in enumerate(agents):
        mine = np.flatnonzero(who == number)
        if len(mine):
            name = f"agent {number + 1} of {len(agents)} ({type(agent).__name__})"
            try:
                answer = agent.act(Views(batch.ruleset, *batch.view(rows[mine])))
            except Exception as error:
                error.add_note(f"{name} raised this when it was asked for {counted(len(mine), 'game')}")
                if not type(error).__module__.startswith(("kontor", f"{batch.game.name}_")):  # theirs have a remedy
                    setattr(error, OF_AGENT, True)
                raise
            actions[mine] = _legal(batch, rows[mine], answer, name)
    return actions


def are_legal(mask: NDArray[np.bool_], actions: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Which of some whole numbers, one for each row of the masks, are legal actions."""
    inside = (actions >= 0) & (actions < mask.shape[1])
    legal: NDArray[np.bool_] = inside & mask[np.arange(len(mask)), np.where(inside, actions, 0)]
    return legal


def _legal(batch: Batch, rows: NDArray[np.intp], answer: Any, name: str) -> NDArray[np.int64]:
    """An agent's answer, if it is a legal action for each game."""
    try:
        actions = whole_numbers(answer)
    except ValueError:
        raise WrongAnswer(f"{name} answered {answer!r}, which is no array") from None
    if actions.shape != rows.shape or actions.dtype != np.int64:
        raise WrongAnswer(
            f"{name} answered with {actions.dtype} of shape {actions.shape} for {counted(len(rows), 'game')}"
        )
    wrong = np.flatnonzero(~are_legal(batch.mask[rows], actions))
    if len(wrong):
        row, action = int(rows[wrong[0]]), int(actions[wrong[0]])
        move, legal = batch.actions.text(action, batch.phase_name(row)), ", ".join(batch.legal_moves(row))
        raise WrongAnswer(f"{name} answered {move!r} in game {row}, which is not legal; legal are: {legal}")
    return actions
