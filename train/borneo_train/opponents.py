"""Networks that do not learn at the tables of one that does: earlier versions of it, or a policy from elsewhere.

In a share of the games the learner has one seat, and such a network the others. It learns from its own decisions only.
Moves of earlier versions are drawn, as the learner's are. A policy from elsewhere plays what it likes best: most often
it is a copy of an agent, and moves drawn by a copy are worse than the agent's. Random players are a network that likes
all moves the same; so they play on a card as well, where bots cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from borneo_agents.policy.model import read_model
from borneo_agents.policy.network import Layer, Layers
from numpy.typing import NDArray
from torch import Tensor

from borneo_env.agent import known_agents
from borneo_env.engine.state import SEATS
from borneo_train.games import Games, seats_in_order
from borneo_train.network import Dense, apply

RANDOM_PLAYERS = "random"  # instead of the folder of a policy
GOLDEN = (5**0.5 - 1) / 2  # of a turn: steps of it come everywhere equally often


class Opponents:
    """The games with a frozen network in them, and what it does there."""

    def __init__(self, games: Games, share: float, certain: bool = False) -> None:
        """`share` is the part of all games that they are in; where bots play, they are not.

        Who is `certain` plays the most probable actions; else they are drawn.
        """
        self.games = games
        self.host = torch.arange(len(games), device=games.device) % games.players  # the learner's seat there
        own = int((~games.with_bots).sum())
        self.frozen = torch.tensor(spread(own, share * len(games) / max(1, own)), device=games.device)
        self.network: list[Dense] = []  # that plays now
        self.certain = certain
        self.others = torch.zeros(len(games), dtype=torch.bool, device=games.device)
        self.others[self.frozen] = True

    def mark(self) -> None:
        """Write behind the tables who is a stranger: all but the learner, where others play."""
        games = self.games
        host = torch.where(games.with_bots, games.seat, self.host)  # with bots, the learner is always the one asked
        strange = seats_in_order(games.seat, games.players) != host[:, None]
        places = torch.arange(SEATS, device=games.device) < games.players[:, None]
        strangers = strange & places & (self.others | games.with_bots)[:, None]
        games.table[:, games.width : games.width + SEATS] = strangers

    def asked(self) -> Tensor:
        """(games,): whether the frozen network decides."""
        return self.others & (self.games.seat != self.host)

    def be(self, layers: Sequence[Dense]) -> None:
        """Let this network play from now on."""
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
            legal = logits.masked_fill(~self.games.mask[self.frozen], -torch.inf)
            moves = legal.argmax(1) if self.certain else drawn_by(legal.softmax(1), chance[self.frozen])
            theirs = self.games.seat[self.frozen] != self.host[self.frozen]
            actions[self.frozen] = torch.where(theirs, moves, actions[self.frozen])


def undecided(games: Games) -> Layers:
    """A network that likes all actions the same."""
    return [Layer(np.zeros((games.actions, games.known), np.float32), np.zeros(games.actions, np.float32))]


def layers_of(opponent: str, edition: str) -> Layers | None:
    """The actor of a policy in a folder; of other opponents there is none."""
    if opponent in ("", RANDOM_PLAYERS):
        return None
    if opponent in known_agents() and not Path(opponent).exists():
        raise ValueError(
            f"--opponent is {RANDOM_PLAYERS} or the folder of a policy: {opponent} is given with --bot and --bots"
        )
    model = read_model(opponent)
    if model.card.edition != edition:
        has = model.card.edition
        raise ValueError(f"--opponent {opponent} has learnt the {has} edition: train with --edition of it")
    return model.layers


def drawn_by(odds: Tensor, chance: Tensor) -> Tensor:
    """(n,): an action for each row of odds, by a number from 0 to 1."""
    heap = odds.cumsum(1)
    return (heap > chance[:, None] * heap[:, -1:]).byte().argmax(1)


def spread(n: int, share: float) -> NDArray[np.int64]:
    """A share of the numbers below n, evenly spread."""
    chosen: NDArray[np.int64] = np.flatnonzero(np.arange(n) * GOLDEN % 1 < share)
    return chosen
