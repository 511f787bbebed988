"""PPO by self-play, from top to bottom: one network plays all seats of all games and learns from every decision.

The order is: rollout, advantages, update, loop. PPO is Schulman et al. 2017 (arXiv:1707.06347); most details
are among "The 37 implementation details of PPO" (Huang et al. 2022). `advantages.py` and `networks/actor_critic.py` are
all one reads beside this file; settings have a sentence each in `run/config.py`.
"""

from __future__ import annotations

from typing import Protocol

import torch
from borneo_agents.policy.model import MARGIN_END
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from borneo_env.engine.state import SEATS
from borneo_train.advantages import advantages, mean_where, normalised, std_where
from borneo_train.distributed.process_group import SINGLE, ProcessGroup
from borneo_train.games.games import LearnerGames, by_seat, from_decider
from borneo_train.games.opponents import Opponents
from borneo_train.networks.actor_critic import Networks, adam
from borneo_train.networks.cuda_graphs import graphed
from borneo_train.run.config import PPOSettings

LR_END, ENT_END = 0.05, 0.1  # parts of the learning rate and of the entropy bonus that are left at the end
LR_CUT, LR_RISE, LR_LEAST = 0.9, 1.02, 0.1  # its factor after an update beyond --target-kl, after others, and at least
SCALE_DECAY = 0.99  # of the running scale of returns, an update
SNAPSHOTS = 20  # times in a training that an opponent that is an earlier version is replaced
NUMBERS = ("decisions", "updates", "snapshots", "progress", "kl_lr_scale")  # that a checkpoint holds
METRICS = ("policy_gradient_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")


class RolloutBuffer:
    """The decisions between two updates: (timesteps, games, ...) each."""

    def __init__(self, n_steps: int, games: LearnerGames) -> None:
        shape, device = (n_steps, len(games)), games.device
        self.state = torch.empty(*shape, games.state.shape[1], dtype=torch.int8, device=device)
        self.mask = torch.empty(*shape, games.actions, dtype=torch.bool, device=device)
        self.u = torch.empty(*shape, device=device)  # uniform random numbers: actions are drawn by them
        self.action = torch.empty(*shape, dtype=torch.int64, device=device)
        self.log_prob = torch.empty(*shape, device=device)
        self.seat = torch.empty(*shape, dtype=torch.int64, device=device)
        self.is_learner = torch.empty(*shape, dtype=torch.bool, device=device)  # else an opponent decided
        self.reward = torch.empty(*shape, SEATS, device=device)
        self.done = torch.empty(*shape, dtype=torch.bool, device=device)
        self.value = torch.empty(n_steps + 1, len(games), SEATS, device=device)  # one more: after the last decision


class Run(Protocol):
    """Decides how long a learner learns, and takes its metrics."""

    def goes_on(self) -> bool: ...
    def after_update(self, metrics: dict[str, float]) -> None: ...


class PPO:
    """A learner: its networks, its games, and how the first learn from the second."""

    def __init__(
        self,
        settings: PPOSettings,
        games: LearnerGames,
        networks: Networks,
        opponents: Opponents,
        seed: int = 0,
        group: ProcessGroup = SINGLE,
    ) -> None:
        """Each process of a group has its own games, and its own part of each minibatch."""
        self.settings, self.games, self.networks, self.opponents = settings, games, networks, opponents
        self.group = group
        device = games.device
        self.generator = torch.Generator(device).manual_seed(seed)
        games.stagger(self.generator)
        self.learning_rate = torch.tensor(settings.learning_rate, device=device)
        self.optimizer = adam(networks, self.learning_rate)
        self.ent_coef = torch.tensor(settings.ent_coef, device=device)
        self.margin_coef = torch.tensor(settings.margin_coef, device=device)
        self.rollout = RolloutBuffer(settings.n_steps, games)
        self.return_scale = torch.ones((), device=device)  # of returns: the critic learns them divided by it
        self.episode_return = torch.zeros(len(games), SEATS, device=device)  # so far, in the games under way
        self.finished_return = torch.zeros((), device=device)  # per seat, of the games that ended in a rollout
        self.metrics = torch.zeros(len(METRICS), device=device)  # sums over an update
        self.decisions = self.updates = self.snapshots = 0
        self.progress = 0.0  # the part of the training that is over
        self.kl_lr_scale = 1.0  # what is left of the learning rate after updates that went too far
        self._play = graphed(self._play_now, games.on_card)
        self._train_step = graphed(self._train_step_now, device.type == "cuda")

    # ------------------------------------------------------------ rollout

    @torch.no_grad()
    def collect(self) -> None:
        """Play every game on for the decisions of one rollout."""
        if int(self.progress * SNAPSHOTS) > self.snapshots:
            self.snapshots = int(self.progress * SNAPSHOTS)
            self.opponents.snapshot(self.networks)
        self.margin_coef.fill_(self.settings.margin_coef * falling(self.progress, MARGIN_END))
        self.rollout.u.uniform_(generator=self.generator)
        self._play()
        self.decisions += self.rollout.action.numel() * self.group.size

    def _play_now(self) -> None:
        games, rollout, policy = self.games, self.rollout, self.networks()
        self.finished_return.zero_()
        for t in range(self.settings.n_steps):
            rollout.is_learner[t] = self.opponents.write_flags()
            rollout.state[t], rollout.mask[t], rollout.seat[t] = games.state, games.mask, games.seat
            action, rollout.log_prob[t], value = policy.act(games.state, games.mask, rollout.u[t])
            rollout.value[t] = self._by_seat(value)
            rollout.action[t] = self.opponents.act(action, rollout.u[t])
            games.play(rollout.action[t], self.margin_coef)
            rollout.reward[t], rollout.done[t] = games.reward, games.done
            self.episode_return += games.reward
            self.finished_return += (self.episode_return.sum(1) / games.players * games.done).sum()
            self.episode_return *= ~games.done[:, None]
        self.opponents.write_flags()
        rollout.value[-1] = self._by_seat(policy.value(games.state))

    def _by_seat(self, value: Tensor) -> Tensor:
        """(games, seats): the critic's values in the order of the seats, on the scale of returns."""
        games = self.games
        return by_seat(value, games.seat, games.players) * self.return_scale * games.has_seat

    # ------------------------------------------------------------ advantages

    @torch.no_grad()
    def _batch(self) -> tuple[tuple[Tensor, ...], dict[str, float]]:
        """What is learnt from, a row for each decision of the rollout; and how games and critic did."""
        settings, games, rollout, mean = self.settings, self.games, self.rollout, self.group.mean
        found = advantages(rollout.reward, rollout.done, rollout.value, settings.gamma, settings.gae_lambda)
        returns = found + rollout.value[:-1]
        seats = games.has_seat.expand_as(returns)
        std = mean(std_where(returns, seats))
        self.return_scale.copy_(torch.lerp(std, self.return_scale, SCALE_DECAY) if self.updates else std)
        decider = rollout.seat[..., None]
        advantage = normalised(found.gather(2, decider)[..., 0], rollout.is_learner)
        target = from_decider(returns, rollout.seat, games.players) / self.return_scale
        rows = (
            rollout.state, rollout.mask, rollout.action, rollout.log_prob, advantage, rollout.is_learner, target, seats
        )  # fmt: skip
        ended = mean(rollout.done.sum().float()).clamp(1 / self.group.size)
        explained = 1 - mean(mean_where(found.square(), seats)) / std.square()
        about = {
            "ep_rew_mean": float(mean(self.finished_return.clone()) / ended),
            "ep_len_mean": float(rollout.done.numel() / ended),
            "explained_variance": float(explained),
        }
        return tuple(row.flatten(0, 1) for row in rows), about

    # ------------------------------------------------------------ update

    def update(self) -> dict[str, float]:
        """Go through the rollout in minibatches; returns what one looks at, by the names of stable-baselines3."""
        settings = self.settings
        batch, about = self._batch()
        self._set_rates()
        self.metrics.zero_()
        rows, size, steps = len(batch[0]), settings.batch_size // self.group.size, 0
        for _ in range(settings.n_epochs):
            order = torch.randperm(rows, generator=self.generator, device=self.generator.device)
            for chosen in order.split(size):  # type: ignore[no-untyped-call]
                self._train_step(*(row[chosen] for row in batch))
                steps += 1
        self.updates += 1
        metrics = dict(zip(METRICS, (self.group.mean(self.metrics) / steps).tolist(), strict=True))
        self._adapt(metrics["approx_kl"])
        return metrics | about | {"learning_rate": float(self.learning_rate)}

    def _set_rates(self) -> None:
        settings = self.settings
        self.learning_rate.fill_(settings.learning_rate * falling(self.progress, LR_END) * self.kl_lr_scale)
        self.ent_coef.fill_(settings.ent_coef * falling(self.progress, ENT_END))

    def _adapt(self, kl: float) -> None:
        """Make the next updates smaller after one that went too far, and larger again after others."""
        factor = LR_CUT if kl > self.settings.target_kl else LR_RISE
        self.kl_lr_scale = min(1.0, max(LR_LEAST, self.kl_lr_scale * factor))

    def _train_step_now(
        self, state: Tensor, mask: Tensor, action: Tensor, old_log_prob: Tensor, advantage: Tensor,
        is_learner: Tensor, target: Tensor, seats: Tensor,
    ) -> None:  # fmt: skip
        """One step of the optimiser, on a minibatch."""
        clip_range = self.settings.clip_range
        log_prob, entropy, value = self.networks().evaluate(state, mask, action)
        log_ratio = torch.where(is_learner, log_prob - old_log_prob, 0.0)
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
        policy_loss = -mean_where(torch.minimum(ratio * advantage, clipped * advantage), is_learner)
        entropy_mean = mean_where(entropy, is_learner)
        value_loss = mean_where((value - target).square(), seats)
        loss = policy_loss - self.ent_coef * entropy_mean + value_loss

        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.group.average_gradients(self.networks)
        for network in (self.networks.actor, self.networks.critic):
            clip_grad_norm_(network.parameters(), self.settings.max_grad_norm)
        self.optimizer.step()

        with torch.no_grad():  # the KL estimate is Schulman's k3
            kl = mean_where(ratio - 1 - log_ratio, is_learner)
            outside = mean_where(((ratio - 1).abs() > clip_range).float(), is_learner)
            self.metrics += torch.stack([policy_loss, value_loss, entropy_mean, kl, outside])

    # ------------------------------------------------------------ loop

    def learn(self, run: Run) -> None:
        """Learn until the run is over."""
        while run.goes_on():
            self.collect()
            metrics = self.update()
            run.after_update(metrics)

    # ------------------------------------------------------------ what a checkpoint holds

    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name, in place."""
        found = {"return_scale": self.return_scale, "episode_return": self.episode_return}
        found |= self.networks.tensors(self.optimizer) | self.opponents.tensors()
        return found | {"generator": self.generator.get_state()}

    def numbers(self) -> dict[str, float]:
        """The numbers beside them."""
        return {name: getattr(self, name) for name in NUMBERS}

    @torch.no_grad()
    def restore(self, tensors: dict[str, Tensor], numbers: dict[str, float]) -> None:
        """Go on from a checkpoint, whose tensors have the right names and shapes."""
        for name, own in self.tensors().items():
            if name != "generator":
                own.copy_(tensors[name])
        self.generator.set_state(tensors["generator"])
        for name, value in numbers.items():
            setattr(self, name, value)


def falling(progress: float, end: float) -> float:
    """A factor that falls linearly from 1 to `end`."""
    return 1 - (1 - end) * progress
