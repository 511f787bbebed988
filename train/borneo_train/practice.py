"""Practice: a learner plays its games, and every option is tried before it decides.

Trials tell what each option leads to if merchants play on (see `search.trials`), so the learner need not find
out by what it happened to do: it learns what all options of a decision are worth beside each other. A single trial
depends on luck and on secrets; the network, which is told neither, learns their mean.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from borneo_agents.policy.agent import PER_WIN
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from torch.nn import functional

from borneo_train.buffer import order_of
from borneo_train.network import policy_of
from borneo_train.vec_env import BorneoVecEnv


class Decisions(NamedTuple):
    """Decisions of the learner, with what their trials came to."""

    observations: torch.Tensor  # (n, numbers) int8
    masks: torch.Tensor  # (n, actions) bool
    worth: torch.Tensor  # (n, actions): how much an option should be liked; those of a decision add up to 0


class Practice(MaskablePPO):
    """MaskablePPO's games and network, but it learns from trials of its options, not from what its choices led to.

    `turns` is for how many turns an option is tried: more see further, and depend more on luck.
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
        """Try all options in every game, and draw an action."""
        observations = torch.tensor(self._last_obs, device=self.device)  # a copy: the games use the array again
        legal = games.action_masks()
        masks = torch.from_numpy(legal).to(self.device)
        liked = self._liked(observations, masks)
        actions: NDArray[np.int64] = torch.multinomial(torch.softmax(liked, 1), 1).squeeze(1).cpu().numpy()
        chances = torch.from_numpy(games.worth(legal, self.turns)).to(self.device)
        return Decisions(observations, masks, centred(PER_WIN * chances, masks)), actions

    def train(self) -> None:
        """Learn from the last decisions, each as often as there are epochs."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        errors = []
        for _ in range(self.n_epochs):
            order = torch.randperm(len(self._decisions.worth), generator=order_of(self)).to(self.device)
            for chosen in torch.split(order, self.batch_size or len(order)):
                errors.append(self._improve(Decisions(*(part[chosen] for part in self._decisions))))
        self._n_updates += self.n_epochs
        self.logger.record("train/error", torch.stack(errors).mean().item())

    def _improve(self, decisions: Decisions) -> torch.Tensor:
        """One step of the optimiser towards liking options for what they are worth; returns the mean squared error."""
        masks = decisions.masks
        liked = centred(self._liked(decisions.observations, masks), masks)
        error = functional.mse_loss(liked[masks], decisions.worth[masks])
        self.policy.optimizer.zero_grad()
        error.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
        self.policy.optimizer.step()
        return error.detach()

    def _liked(self, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """(n, actions): how much each action is liked, -inf for what is not legal."""
        policy = policy_of(self)
        features = policy.extract_features(observations)
        assert isinstance(features, torch.Tensor)  # both towers have the same
        liked = policy.logits(features, policy.mlp_extractor.forward_actor(features), masks)
        return liked.masked_fill(~masks, -torch.inf)


def centred(numbers: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
    """(n, actions): how much each legal action's number is above the mean of them, 0 for others."""
    numbers = numbers.masked_fill(~masks, 0)
    mean = numbers.sum(1, keepdim=True) / masks.sum(1, keepdim=True)
    return (numbers - mean).masked_fill(~masks, 0)
