"""Who else may sit at a learner's tables: the learner as it was at earlier times, and scripted bots.

Usually the learner has all seats. In a share of the games it has one, and the others are somebody else's. It learns
from its own decisions only.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from borneo_env.agent import Agent, Views, find_agent
from borneo_env.engine.threads import available_cores
from borneo_train.games import Games
from borneo_train.network import Dense, apply

GOLDEN = (5**0.5 - 1) / 2  # of a turn: steps of it come everywhere equally often


class Opponents:
    """The games with somebody else in them, and what these do there."""

    def __init__(self, games: Games, frozen: float, bots: float, bot: str) -> None:
        """`frozen` and `bots` are the shares of games with earlier versions, and with bots."""
        self.games = games
        self.host = torch.arange(len(games), device=games.device) % games.players  # the learner's seat there
        self.frozen = torch.tensor(spread(len(games), 0.0, frozen), device=games.device)
        self.with_bots = spread(len(games), frozen, frozen + bots)
        self.bot: Agent = find_agent(bot)
        self._threads = available_cores() if getattr(self.bot, "memoryless", False) else 1
        self._pool = ThreadPoolExecutor(self._threads)  # whose threads begin when they are needed
        self.network: list[Dense] = []  # of the earlier version that plays now
        self.others = torch.zeros(len(games), dtype=torch.bool, device=games.device)
        self.others[self.frozen] = True
        self.others[self.with_bots] = True

    def asked(self) -> Tensor:
        """(games,): whether somebody else decides."""
        return self.others & (self.games.seat != self.host)

    def be(self, layers: Sequence[Dense]) -> None:
        """Let this network play the seats of earlier versions from now on."""
        if not self.network:
            self.network = [layer.each(torch.clone) for layer in layers]
        for own, layer in zip(self.network, layers, strict=True):
            for place, part in zip(own, layer, strict=True):
                if place is not None and part is not None:
                    place.copy_(part)

    def decide(self, actions: Tensor, chance: Tensor) -> None:
        """Put the actions of others in the place of the learner's, where they decide."""
        if len(self.frozen):
            logits = apply(self.network, self.games.table[self.frozen]).float()
            odds = logits.masked_fill(~self.games.mask[self.frozen], -torch.inf).softmax(1)
            drawn = drawn_by(odds, chance[self.frozen])
            theirs = self.games.seat[self.frozen] != self.host[self.frozen]
            actions[self.frozen] = torch.where(theirs, drawn, actions[self.frozen])
        if len(self.with_bots):
            self._ask_bots(actions)

    def _ask_bots(self, actions: Tensor) -> None:
        asked = self.asked().cpu().numpy()
        for group, rows in zip(self.games.groups, self.games.slices, strict=True):
            chosen = self.with_bots[(self.with_bots >= rows.start) & (self.with_bots < rows.stop)]
            chosen = chosen[asked[chosen]]
            if len(chosen):
                batch, places = self.games.on_cpu(group, chosen - rows.start)
                decided = torch.from_numpy(self._ask(Views(batch.ruleset, *batch.view(places))))
                actions[torch.from_numpy(chosen)] = decided.to(actions.device)

    def _ask(self, views: Views) -> NDArray[np.int64]:
        """What the bot does; one that remembers nothing is asked by several threads at once."""
        parts = [part for part in np.array_split(np.arange(len(views)), self._threads) if len(part)]
        some = [Views(views.ruleset, views.games[part], views.mask[part], views.dice[part]) for part in parts]
        return np.concatenate([np.asarray(acts, np.int64) for acts in self._pool.map(self.bot.act, some)])


def drawn_by(odds: Tensor, chance: Tensor) -> Tensor:
    """(n,): an action for each row of odds, by a number from 0 to 1."""
    heap = odds.cumsum(1)
    return (heap > chance[:, None] * heap[:, -1:]).byte().argmax(1)


def spread(n: int, low: float, high: float) -> NDArray[np.int64]:
    """The numbers below n that belong to a share of them, from `low` to `high` of the whole, evenly spread."""
    turn = np.arange(n) * GOLDEN % 1
    chosen: NDArray[np.int64] = np.flatnonzero((turn >= low) & (turn < high))
    return chosen
