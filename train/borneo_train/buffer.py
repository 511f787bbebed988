"""The rollout buffer: what stable-baselines3's holds, with observations and masks as they come (int8 and bool), on the
device that learns from them."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from stable_baselines3.common.buffers import RolloutBuffer


class LeanBuffer(MaskableRolloutBuffer):
    """A rollout on the device. The order of minibatches is drawn by `generator`, which the trainer gives."""

    generator: torch.Generator
    _observations: torch.Tensor | None = None

    def reset(self) -> None:
        """Make room for a rollout; the large arrays are kept from the last one."""
        RolloutBuffer.reset(self)  # allocates observations in NumPy, never touched: they take no memory
        steps, games = self.buffer_size, self.n_envs
        self.mask_dims = int(self.action_space.n)  # type: ignore[attr-defined]  # it is Discrete
        if self._observations is None:
            self._observations = torch.zeros((steps, games, *self.obs_shape), dtype=torch.int8, device=self.device)
            self._masks = torch.zeros((steps, games, self.mask_dims), dtype=torch.bool, device=self.device)

    def add(  # type: ignore[override]
        self,
        obs: NDArray[np.int8],
        action: NDArray[np.int64],
        reward: NDArray[np.float32],
        episode_start: NDArray[np.bool_],
        value: torch.Tensor,
        log_prob: torch.Tensor,
        action_masks: NDArray[np.bool_],
    ) -> None:
        """Keep one decision of every game."""
        assert self._observations is not None
        self._observations[self.pos].copy_(torch.from_numpy(obs))
        self._masks[self.pos].copy_(torch.from_numpy(action_masks.reshape(self.n_envs, self.mask_dims)))
        self.actions[self.pos] = action
        self.rewards[self.pos] = reward
        self.episode_starts[self.pos] = episode_start
        self.values[self.pos] = value.flatten().cpu().numpy()
        self.log_probs[self.pos] = log_prob.cpu().numpy()
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def get(  # type: ignore[override]
        self, batch_size: int | None = None
    ) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """The decisions in a random order, in minibatches."""
        assert self._observations is not None
        size = self.buffer_size * self.n_envs
        observations, masks = self._observations.flatten(0, 1), self._masks.flatten(0, 1)
        arrays = (self.actions, self.values, self.log_probs, self.advantages, self.returns)
        parts = [observations, *map(self._flat, arrays), masks]
        order = torch.randperm(size, generator=self.generator).to(self.device)
        for chosen in torch.split(order, batch_size or size):
            yield MaskableRolloutBufferSamples(*(part[chosen] for part in parts))

    def _flat(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(array.reshape(-1)).to(self.device)


def order_of(learner: MaskablePPO) -> torch.Generator:
    """What the order is drawn by in which a learner learns."""
    assert isinstance(learner.rollout_buffer, LeanBuffer)
    return learner.rollout_buffer.generator
