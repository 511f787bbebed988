"""Options scored by what they change: an actor that looks at the table after each of them, for comparison.

Each option is played in a determinization, so that nothing hidden is seen. What the seat then knows goes through one
network with one output, which is the option's logit. That is one step of the engine and one evaluation for each option.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from borneo_train.actor_critic import UNDECIDED, scale_of
from borneo_train.learner import Learner, adam, none_yet
from borneo_train.network import Dense, Tied, Width, apply
from borneo_train.roles import Thing, table_things
from borneo_train.run.config import Settings, shape
from numpy.typing import NDArray
from torch import Tensor

from borneo_env.agent import Views
from borneo_env.engine.batch import Batch
from borneo_env.engine.hidden import resample
from borneo_env.ruleset import Ruleset


def tables_after(
    ruleset: Ruleset, games: NDArray[np.void], actions: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int8]:
    """(n, numbers): what the deciding player of each game knows after an action."""
    seats = games["player"].astype(np.int64)
    batch = Batch(len(games), ruleset, seed=0, finished="hold")
    batch.games[:] = resample(games, seats, rng)
    batch.refresh(check=False)
    batch.step(actions)
    return batch.observe(seats)


def odds_of(logits: Tensor, mask: Tensor) -> Tensor:
    """(decisions, actions): the logarithms of the odds, from the logits of all legal actions in their order."""
    scores = torch.full(mask.shape, -1e9)
    scores[mask] = logits
    return torch.log_softmax(scores, 1)


class AfterStates(Learner):
    """A learner with such an actor, on a CPU. The rest is as it is."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if self.on_card:
            raise ValueError("after-states are compared on a CPU: use --device cpu")
        units, depth = shape(settings.actor, "--actor")
        things, scale = (
            table_things(settings.edition)[: self.games.known],
            scale_of(settings.edition)[: self.games.known],
        )
        one = [Thing(("seat", 0), {}, ())]
        self.actor = self.networks[0] = Tied(things, scale, Width.of(settings.network, units), depth, one, UNDECIDED)
        self.optimizers[0] = adam(self.actor, self.rate)
        none_yet(self.optimizers[0])
        self._rng = np.random.default_rng(settings.seed)
        self._kept: list[tuple[Tensor, Tensor]] = []  # of each moment: tables after options, and where a game's begin

    def _play_now(self) -> None:
        self._kept = []
        super()._play_now()

    def _chosen(self, actor: list[Dense], table: Tensor, mask: Tensor, chance: Tensor) -> tuple[Tensor, Tensor]:
        games, actions = (found.numpy() for found in mask.nonzero(as_tuple=True))
        parts = []
        for group, rows in zip(self.games.groups, self.games.slices, strict=True):
            own = (games >= rows.start) & (games < rows.stop)
            records = group.batch.games[games[own] - rows.start]
            parts.append(tables_after(group.ruleset, records, actions[own].astype(np.int64), self._rng))
        after = torch.from_numpy(np.concatenate(parts))
        self._kept.append((after, torch.cat([torch.zeros(1, dtype=torch.int64), mask.sum(1).cumsum(0)])))
        odds = odds_of(apply(actor, after)[:, 0], mask)
        heap = odds.exp().cumsum(1)
        action = (heap > chance[:, None] * heap[:, -1:]).byte().argmax(1)
        return action, odds.gather(1, action[:, None])[:, 0]

    def _step_now(self, *rows: Tensor) -> None:
        moment, first = divmod(rows[2].storage_offset(), len(self.games))  # the minibatch is a part of the rollout
        games = torch.arange(first, len(self.games), rows[2].stride(0))
        after, begins = self._kept[moment]
        self._looked_at = torch.cat([after[begins[game] : begins[game + 1]] for game in games.tolist()])
        super()._step_now(*rows)

    def _actor_loss(
        self, table: Tensor, mask: Tensor, action: Tensor, old: Tensor, advantage: Tensor, own: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        odds = odds_of(apply(self._layers(self.actor), self._looked_at)[:, 0], mask)
        change = odds.gather(1, action[:, None])[:, 0] - old
        ratio = change.exp()
        clipped = ratio.clamp(1 - self.settings.clip_range, 1 + self.settings.clip_range)
        policy = -torch.minimum(ratio * advantage, clipped * advantage).mean()
        entropy = -(odds.exp() * odds * mask).sum(1).mean()
        outside = ((ratio - 1).abs() > self.settings.clip_range).float().mean()
        return policy - self.ent_coef * entropy, [policy, entropy, (ratio - 1 - change).mean(), outside]

    def as_agent(self) -> Any:
        with torch.no_grad():
            return Agent([layer.each(torch.clone) for layer in self._layers(self.actor)])


class Agent:
    """Plays the option after which the table looks best to the network."""

    def __init__(self, layers: list[Dense]) -> None:
        self._layers = layers

    @torch.no_grad()
    def act(self, views: Views) -> NDArray[np.int64]:
        """An action for each view."""
        games, actions = np.nonzero(views.mask)
        rng = np.random.default_rng(views.dice)
        after = tables_after(views.ruleset, views.games[games], actions.astype(np.int64), rng)
        logits = apply(self._layers, torch.from_numpy(after))[:, 0]
        return odds_of(logits, torch.from_numpy(views.mask)).argmax(1).numpy()
