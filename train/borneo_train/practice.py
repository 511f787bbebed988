"""Practice: a learner plays its games, and every option it considers is tried before it decides.

Trials tell what each option leads to if merchants play on (see `borneo_agents.trials`), so the learner need not find
out by what it happened to do: it raises the odds of what turned out better than its average, for all options of a
decision at once. A single trial depends on luck and on secrets; the network, which is told neither, learns their mean.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from borneo_train.buffer import order_of
from borneo_train.network import policy_of
from borneo_train.vec_env import BorneoVecEnv

CONSIDERED = 0.01  # odds of an option that is tried


class Decisions(NamedTuple):
    """Decisions of the learner, with what their trials came to."""

    observations: torch.Tensor  # (n, numbers) int8
    masks: torch.Tensor  # (n, actions) bool
    odds: torch.Tensor  # (n, actions): how likely each option was that was tried, else 0
    gains: torch.Tensor  # (n, actions): how much more than expected an option brought; 0 where it was not tried


class Practice(MaskablePPO):
    """MaskablePPO that learns from trials of its options instead of from what its own choices led to.

    `turns` is how many turns begin before a trial is judged: more see further, and depend more on luck.
    """

    def __init__(self, *args: Any, turns: int, **kwargs: Any) -> None:
        self.turns = turns
        super().__init__(*args, **kwargs)

    def collect_rollouts(self, env: Any, callback: BaseCallback, *args: Any, **kwargs: Any) -> bool:
        """Play some decisions in every game, with trials."""
        self.policy.set_training_mode(False)
        callback.on_rollout_start()
        parts = []
        for _ in range(self.n_steps):
            part, actions = self._consider(env)
            parts.append(part)
            self._last_obs, _, self._last_episode_starts, _ = env.step(actions)
            self.num_timesteps += len(actions)
        self._decisions = Decisions(*(torch.cat(same) for same in zip(*parts, strict=True)))
        callback.on_rollout_end()
        return True

    @torch.no_grad()
    def _consider(self, games: BorneoVecEnv) -> tuple[Decisions, NDArray[np.int64]]:
        """Try the options that are likely in every game, and draw an action."""
        observations = torch.tensor(self._last_obs, device=self.device)  # a copy: the games use the array again
        masks = torch.from_numpy(games.action_masks()).to(self.device)
        odds = self._logs(observations, masks).exp()
        tried = odds >= CONSIDERED
        tried &= tried.sum(1, keepdim=True) > 1  # one alone has nothing to be compared with
        worth = torch.from_numpy(games.worth(tried.cpu().numpy(), self.turns)).to(self.device)
        weights = odds * tried
        expected = (weights * worth).sum(1, keepdim=True) / weights.sum(1, keepdim=True).clamp(CONSIDERED)
        actions: NDArray[np.int64] = torch.multinomial(odds, 1).squeeze(1).cpu().numpy()
        return Decisions(observations, masks, weights, (worth - expected) * tried), actions

    def train(self) -> None:
        """Learn from the last decisions, each as often as there are epochs."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        gains = self._decisions.gains
        usual = gains[gains != 0].std() if gains.any() else gains.new_ones(())
        for _ in range(self.n_epochs):
            order = torch.randperm(len(gains), generator=order_of(self)).to(self.device)
            for chosen in torch.split(order, self.batch_size or len(order)):
                self._improve(Decisions(*(part[chosen] for part in self._decisions)), usual)
        self._n_updates += self.n_epochs
        self.logger.record("train/usual_gain", usual.item())

    def _improve(self, decisions: Decisions, usual: torch.Tensor) -> None:
        """One step of the optimiser towards what brings more, and some indecision."""
        _, masks, before, gains = decisions
        logs = self._logs(decisions.observations, masks)
        odds = logs.exp()
        clip = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]  # a schedule by now
        within = torch.clamp(odds, (1 - clip) * before, (1 + clip) * before)
        brought = torch.minimum(odds * gains, within * gains).sum(1).mean() / usual
        indecision = -(odds * logs.masked_fill(~masks, 0)).sum(1).mean()
        loss = -brought - self.ent_coef * indecision
        self.policy.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
        self.policy.optimizer.step()

    def _logs(self, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """(n, actions): logarithms of the odds, -inf for what is not legal."""
        policy = policy_of(self)
        features = policy.extract_features(observations)
        assert isinstance(features, torch.Tensor)  # both towers have the same
        liked = policy.logits(features, policy.mlp_extractor.forward_actor(features), masks)
        return torch.log_softmax(liked.masked_fill(~masks, -torch.inf), 1)
