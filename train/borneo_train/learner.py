"""PPO by self-play, from top to bottom: one network plays all seats of all games, and learns from every decision.

A rollout plays every game on for some decisions. The critic values all seats at each of them, so advantages run along
the table's common time line (see `advantages`). An update goes through the rollout in minibatches. Games, networks and
rollouts stay on one device.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from borneo_env.engine.state import SEATS
from borneo_train.actor_critic import actor_of, critic_of, masked
from borneo_train.advantages import advantages
from borneo_train.games import Games, even_sizes, seats_in_order, seats_on_table

LEAD, MOST_LEAD = 12.0, 1.5  # points ahead that count as much as a win, and the most that count, in such units
ADAM = {"betas": (0.9, 0.999), "eps": 1e-5}


@dataclass(frozen=True)
class Plan:
    """How a learner learns. What falls does so evenly, with the part of the training that is over."""

    task: str = "win"
    edition: str = "board"
    players: tuple[int, ...] = (3, 4, 5)
    n_envs: int = 1536
    n_steps: int = 16
    batch_size: int = 1536
    n_epochs: int = 1
    learning_rate: float = 8e-4  # falls to a twentieth
    gamma: float = 0.9995
    gae_lambda: float = 0.97
    clip_range: float = 0.2
    ent_coef: float = 0.03  # falls to a tenth
    max_grad_norm: float = 0.5
    lead: float = 0.5  # what the lead in points counts beside a win; falls to a fifth
    average: float = 0.99  # how much of the averaged actor stays at each update
    actor: tuple[int, int] = (128, 2)  # width and number of layers
    critic: tuple[int, int] = (96, 2)
    seed: int = 0
    device: str = "cpu"
    compiled: bool = False


class Rollout:
    """The decisions between two updates: (moments, games, ...) each."""

    def __init__(self, plan: Plan, games: Games) -> None:
        shape, device = (plan.n_steps, len(games)), games.device
        self.table = torch.empty(*shape, games.table.shape[1], dtype=torch.int8, device=device)
        self.mask = torch.empty(*shape, games.actions, dtype=torch.bool, device=device)
        self.action = torch.empty(*shape, dtype=torch.int64, device=device)
        self.logp = torch.empty(*shape, device=device)
        self.seat = torch.empty(*shape, dtype=torch.int64, device=device)
        self.reward = torch.empty(*shape, SEATS, device=device)
        self.done = torch.empty(*shape, dtype=torch.bool, device=device)
        self.value = torch.empty(plan.n_steps + 1, len(games), SEATS, device=device)  # by seat; one moment more


class Learner:
    """Networks, games, and how the first learn from the second."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.device = torch.device(plan.device)
        self.generator = torch.Generator(self.device).manual_seed(plan.seed)
        torch.manual_seed(plan.seed)
        sizes = even_sizes(plan.n_envs, plan.players)
        dense = {} if plan.task == "win" else {"reward": plan.task}
        self.games = games = Games(sizes, edition=plan.edition, seed=plan.seed, device=plan.device, **dense)
        games.spread_out(self.generator)
        self.actor = actor_of(plan.edition, games.known, games.actions, *plan.actor).to(self.device)
        self.critic = critic_of(plan.edition, *plan.critic).to(self.device)
        self.average = deepcopy(self.actor).requires_grad_(False)
        fused = {"fused": True} if self.device.type == "cuda" else {}
        rate = torch.tensor(plan.learning_rate, device=self.device) if fused else plan.learning_rate
        self.optimizers = [
            torch.optim.Adam(network.parameters(), lr=rate, **ADAM, **fused) for network in (self.actor, self.critic)
        ]
        self.rollout = Rollout(plan, games)
        self.scale = torch.ones((), device=self.device)  # of returns: the critic learns them divided by it
        self.present = torch.arange(SEATS, device=self.device) < games.players[:, None]
        self.decisions = self.updates = 0
        self.progress = 0.0  # the part of the training that is over
        compiled: Callable[..., Any] = torch.compile if plan.compiled else lambda function: function
        self._judge = compiled(self._judged)
        self._losses = compiled(self._losses_of)

    # ------------------------------------------------------------ playing

    @torch.no_grad()
    def play(self) -> None:
        """Play every game on for the decisions of one rollout."""
        games, kept = self.games, self.rollout
        for moment in range(self.plan.n_steps):
            kept.table[moment], kept.mask[moment], kept.seat[moment] = games.table, games.mask, games.seat
            chance = torch.rand(games.mask.shape, generator=self.generator, device=self.device)
            kept.action[moment], kept.logp[moment], value = self._judge(games.table, games.mask, chance)
            kept.value[moment] = self._by_seat(value)
            games.play(kept.action[moment])
            kept.reward[moment], kept.done[moment] = self._rewards(), games.done
        kept.value[-1] = self._by_seat(self._value(games.table))
        self.decisions += kept.action.numel()

    def _judged(self, table: Tensor, mask: Tensor, chance: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Actions drawn by their odds, the logarithms of these, and what the critic thinks."""
        with self._numbers():
            logits = self.actor(table[:, : self.games.known])
            value = self.critic(table)
        odds = torch.log_softmax(masked(logits, mask), 1)
        action = (odds - torch.log(-torch.log(chance.clamp(1e-20)))).argmax(1)
        return action, odds.gather(1, action[:, None])[:, 0], value.float()

    def _value(self, table: Tensor) -> Tensor:
        with self._numbers():
            value: Tensor = self.critic(table).float()
        return value

    def _by_seat(self, value: Tensor) -> Tensor:
        """What the critic thinks of the seats, in their order, as returns."""
        return value.gather(1, seats_on_table(self.games.seat, self.games.players)) * self.scale * self.present

    def _rewards(self) -> Tensor:
        games, plan = self.games, self.plan
        if plan.task != "win":
            return games.reward
        first = (games.places == 1) & self.present
        share = first / first.sum(1, keepdim=True).clamp(1) - 1 / games.players[:, None]
        others = (games.points.sum(1, keepdim=True) - games.points) / (games.players[:, None] - 1)
        lead = ((games.points - others) / LEAD).clamp(-MOST_LEAD, MOST_LEAD)
        worth = plan.lead * (1 - 0.8 * self.progress)
        return (share + worth * lead) * (self.present & games.done[:, None])

    # ------------------------------------------------------------ learning

    def learn(self) -> dict[str, float]:
        """Go through the rollout; returns what one looks at."""
        plan, kept = self.plan, self.rollout
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                rate = plan.learning_rate * (1 - 0.95 * self.progress)
                if isinstance(group["lr"], Tensor):
                    group["lr"].fill_(rate)
                else:
                    group["lr"] = rate
        found = advantages(kept.reward, kept.done, kept.value, plan.gamma, plan.gae_lambda)
        returns = found + kept.value[:-1]
        present = self.present.expand_as(returns)
        explained = 1 - found[present].var() / returns[present].var()
        spread = returns[present].std()
        self.scale = spread if not self.updates else 0.99 * self.scale + 0.01 * spread
        own = found.gather(2, kept.seat[..., None])[..., 0]
        own = (own - own.mean()) / (own.std() + 1e-8)
        order = seats_in_order(kept.seat, self.games.players.expand_as(kept.seat))
        target = returns.gather(2, order) / self.scale
        entropy = plan.ent_coef * (1 - 0.9 * self.progress)
        told = []
        rows = [tensor.flatten(0, 1) for tensor in (kept.table, kept.mask, kept.action, kept.logp, own, target, present)]
        starts = range(0, len(own.flatten()), plan.batch_size)
        for _ in range(plan.n_epochs):
            for number in torch.randperm(len(starts)).tolist():
                part = slice(starts[number], starts[number] + plan.batch_size)
                told.append(self._step(entropy, *(tensor[part] for tensor in rows)))
        self.updates += 1
        names = ("policy_gradient_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")
        figures = dict(zip(names, torch.stack(told).mean(0).tolist(), strict=True))
        return figures | {"explained_variance": float(explained), "scale": float(self.scale)}

    def _step(self, entropy: float, *rows: Tensor) -> Tensor:
        loss, told = self._losses(torch.tensor(entropy, device=self.device), *rows)
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        for network, optimizer in zip((self.actor, self.critic), self.optimizers, strict=True):
            clip_grad_norm_(network.parameters(), self.plan.max_grad_norm)
            optimizer.step()
        keep = min(self.plan.average, 1 - 1 / (1 + self.updates))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.actor.parameters()), 1 - keep)
        return told

    def _losses_of(
        self,
        entropy_coef: Tensor,
        table: Tensor,
        mask: Tensor,
        action: Tensor,
        old: Tensor,
        advantage: Tensor,
        target: Tensor,
        present: Tensor,
    ) -> tuple[Tensor, Tensor]:
        with self._numbers():
            logits = self.actor(table[:, : self.games.known])
            value = self.critic(table)
        odds = torch.log_softmax(masked(logits, mask), 1)
        change = odds.gather(1, action[:, None])[:, 0] - old
        ratio = change.exp()
        clipped = ratio.clamp(1 - self.plan.clip_range, 1 + self.plan.clip_range)
        policy = -torch.minimum(ratio * advantage, clipped * advantage).mean()
        entropy = -(odds.exp() * odds * mask).sum(1).mean()
        worth = ((value.float() - target).square() * present).sum() / present.sum()
        loss = policy - entropy_coef * entropy + worth
        outside = ((ratio - 1).abs() > self.plan.clip_range).float().mean()
        told = torch.stack([policy, worth, entropy, (ratio - 1 - change).mean(), outside]).detach()
        return loss, told

    def _numbers(self) -> Any:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")


def parameters_of(network: nn.Module) -> int:
    """How many numbers a network has learnt."""
    return sum(parameter.numel() for parameter in network.parameters())
