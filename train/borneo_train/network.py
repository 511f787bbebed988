"""The learner's network for stable-baselines3, and networks as opponents.

The actor sees what a seat may know. The critic, which is needed in training only, may see the whole table: it judges
positions better then, and the actor learns from its judgement (asymmetric actor and critic).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from borneo_agents.merchant import Merchant
from borneo_agents.model import Layers
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from borneo_env.ruleset import PLAYER_COUNTS, Ruleset
from borneo_env.vector import Seats

SCALE_GAMES, SCALE_STEPS = 64, 60


class Towers(nn.Module):
    """Actor and critic up to their last layers, on numbers scaled to about one."""

    def __init__(self, seen: int, scale: NDArray[np.float32], actor: Sequence[int], critic: Sequence[int]) -> None:
        super().__init__()
        self.seen = seen
        self.latent_dim_pi, self.latent_dim_vf = actor[-1], critic[-1]
        self.register_buffer("scale", torch.from_numpy(scale))
        self.actor = tower(seen, actor)
        self.critic = tower(len(scale), critic)

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        latent: torch.Tensor = self.actor(features[:, : self.seen] * self.scale[: self.seen])
        return latent

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        latent: torch.Tensor = self.critic(features * self.scale)
        return latent


def tower(inputs: int, widths: Sequence[int]) -> nn.Sequential:
    """Layers of these widths with rectifiers."""
    layers: list[nn.Module] = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers)


class TablePolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy with an actor that sees a seat's observation and a critic that sees all it is given."""

    def __init__(self, *args: Any, seen: int, scale: NDArray[np.float32], actor: Sequence[int],
                 critic: Sequence[int], **kwargs: Any) -> None:  # fmt: skip
        self._shape = (seen, scale, actor, critic)
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = Towers(*self._shape)  # type: ignore[assignment]

    def actor_layers(self) -> Layers:
        """The actor as plain layers on the unscaled observation: what a model file holds."""
        towers = self.mlp_extractor
        linear = [layer for layer in [*towers.actor, self.action_net] if isinstance(layer, nn.Linear)]
        weights = [layer.weight.detach() for layer in linear]
        weights[0] = weights[0] * towers.scale[: towers.seen]
        return [
            (weight.cpu().numpy().copy(), layer.bias.detach().cpu().numpy().copy())
            for weight, layer in zip(weights, linear, strict=True)
        ]


class Network:
    """A model as an opponent in training: layers on a device that draw actions by how much they are liked."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._layers: list[tuple[torch.Tensor, torch.Tensor]] = []

    def load(self, layers: Layers) -> None:
        """Be this model from now on."""
        self._layers = [
            (torch.from_numpy(weights).to(self._device), torch.from_numpy(biases).to(self._device))
            for weights, biases in layers
        ]

    @torch.no_grad()
    def choose(
        self, observations: NDArray[np.int8], masks: NDArray[np.bool_], dice: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """A legal action for each decision."""
        values = torch.from_numpy(observations).to(self._device).float()
        for number, (weights, biases) in enumerate(self._layers):
            values = torch.addmm(biases, values, weights.T)
            if number < len(self._layers) - 1:
                values.relu_()
        legal = torch.from_numpy(masks).to(self._device)
        odds = torch.softmax(values.masked_fill_(~legal, -torch.inf), 1)
        point = torch.from_numpy((dice >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)).to(self._device)
        heap = odds.cumsum(1)
        actions: NDArray[np.int64] = (heap > (point * heap[:, -1])[:, None]).int().argmax(1).cpu().numpy()
        return actions


def usual_scale(edition: str, whole_table: bool) -> NDArray[np.float32]:
    """What to multiply each number of an observation with, so that none gets far beyond one, by games of merchants."""
    largest = np.float32(1)
    for players in PLAYER_COUNTS:
        ruleset = Ruleset(edition=edition, players=players)
        seats = Seats(SCALE_GAMES, ruleset, opponents=Merchant(), whole_table=whole_table, seed=0, threads=1)
        for _ in range(SCALE_STEPS):
            largest = np.maximum(largest, np.abs(seats.observation).max(0))
            seats.step(seats.batch.sample())
    return (1 / largest).astype(np.float32)
