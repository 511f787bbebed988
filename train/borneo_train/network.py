"""The learner's network for stable-baselines3, and networks as opponents.

The actor sees what a seat may know. The critic, which is needed in training only, may see the whole table: it width
positions better then, and the actor learns from its judgement (asymmetric actor and critic).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from borneo_agents.policy.lookahead import (
    ADVICE,
    ENDS_TURN,
    GAIN,
    IN_TIME,
    OPTION_FEATURES,
    OWN,
    PER_FEATURE,
    PER_POINT,
    PER_PROBABILITY,
)
from borneo_agents.policy.model import Model
from borneo_agents.policy.network import Layer, Layers, OptionHead
from borneo_agents.scripted.agents import Merchant
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn
from torch.nn import functional

from borneo_env.engine.game import MAX_OPTIONS
from borneo_env.engine.observe import length
from borneo_env.engine.state import slots_of
from borneo_env.ruleset import PLAYER_COUNTS, Ruleset
from borneo_env.vector import Seats, seat_spaces
from borneo_train.facts import action_facts

Floats = NDArray[np.float32]
SCALE_GAMES, SCALE_STEPS = 64, 60
LEAST_WIDTH = 16  # numbers between the features on an option and what comes of them; else a quarter of the width
# What an option is logits for at first: each point that the merchant sees, and each tenth of a chance to win in the
# rounds to come (a tenth should count 20, see `Policy`; but a few determinizations tell no more than half of it).
FIRST_TRUST = {ADVICE: 1.5, IN_TIME: 10.0}


class ByFacts(nn.Module):
    """A number for each action, from what it has in common with others and from what it has not."""

    facts: torch.Tensor

    def __init__(self, inputs: int, facts: Floats) -> None:
        super().__init__()
        self.register_buffer("facts", torch.tensor(facts))
        self.common = nn.Linear(inputs, facts.shape[1], bias=False)
        self.own = nn.Linear(inputs, len(facts))
        for layer in (self.common, self.own):
            nn.init.orthogonal_(layer.weight, 0.01)
        nn.init.zeros_(self.own.bias)

    def forward(self, latent: torch.Tensor) -> torch.Tensor:
        return functional.linear(latent, self.weight(), self.own.bias)

    def weight(self) -> torch.Tensor:
        """The same as the weights of a plain layer."""
        return self.own.weight + self.facts @ self.common.weight


class Tower(nn.Module):
    """Layers of one width: each but the first adds what it finds to what there was before it."""

    scale: torch.Tensor

    def __init__(self, scale: Floats, width: int, depth: int) -> None:
        super().__init__()
        self.register_buffer("scale", torch.tensor(scale))
        inputs = [len(scale), *[width] * (depth - 1)]
        self.layers = nn.ModuleList(nn.Linear(size, width) for size in inputs)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in inputs)

    def forward(self, numbers: torch.Tensor) -> torch.Tensor:
        values = numbers * self.scale
        for number, (layer, norm) in enumerate(zip(self.layers, self.norms, strict=True)):
            found = functional.relu(norm(layer(values)))
            values = values + found if number else found
        return values


class Towers(nn.Module):
    """Actor and critic up to their last layers: the actor sees the first numbers, the critic all that have a scale."""

    def __init__(self, seen: int, scale: Floats, actor: tuple[int, int], critic: tuple[int, int]) -> None:
        super().__init__()
        self.seen, self.known = seen, len(scale)
        self.latent_dim_pi, self.latent_dim_vf = actor[0], critic[0]
        self.actor = Tower(scale[:seen], *actor)
        self.critic = Tower(scale, *critic)

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        latent: torch.Tensor = self.actor(features[:, : self.seen])
        return latent

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        latent: torch.Tensor = self.critic(features[:, : self.known])
        return latent


class OptionNetwork(nn.Module):
    """A number for each legal action, from the features on it and what the tower makes of the position."""

    facts: torch.Tensor
    scale: torch.Tensor

    def __init__(self, inputs: int, facts: Floats) -> None:
        super().__init__()
        width = max(LEAST_WIDTH, inputs // 4)
        scale = np.full(OPTION_FEATURES, 1 / PER_FEATURE, np.float32)
        scale[[ADVICE, ENDS_TURN]] = 1 / PER_POINT, 1
        scale[GAIN:OWN] = 10 / PER_PROBABILITY
        self.register_buffer("facts", torch.tensor(facts))
        self.register_buffer("scale", torch.tensor(scale))
        self.features = nn.Linear(OPTION_FEATURES, width, bias=False)
        self.context = nn.Linear(inputs, width, bias=False)
        self.common = nn.Linear(facts.shape[1], width)
        self.own = nn.Parameter(torch.zeros(len(facts), width))
        self.hidden = nn.Linear(width, width)
        self.last = nn.Linear(width, 1, bias=False)
        nn.init.orthogonal_(self.last.weight, 0.01)
        self.direct = nn.Parameter(torch.zeros(OPTION_FEATURES))
        with torch.no_grad():
            for note, trust in FIRST_TRUST.items():
                self.direct[note] = trust

    def forward(self, latent: torch.Tensor, features: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        return option_logits(self.parts(), latent, features, masks)

    def parts(self) -> list[torch.Tensor]:
        """Those of `OptionHead`: on features as they are, with the facts multiplied in."""
        actions = self.common(self.facts) + self.own
        features, direct = self.features.weight * self.scale, self.direct * self.scale
        hidden, last = self.hidden, self.last.weight.flatten()
        return [features, self.context.weight, actions, hidden.weight, hidden.bias, last, direct]


def option_logits(
    parts: Sequence[torch.Tensor], latent: torch.Tensor, features: torch.Tensor, masks: torch.Tensor
) -> torch.Tensor:
    """(n, actions): a number for each legal action, 0 for all others; `parts` are those of `OptionHead`."""
    of_features, context, of_actions, hidden, biases, last, direct = parts
    rows, actions = masks.nonzero(as_tuple=True)
    place = (masks.cumsum(1) - 1)[rows, actions]
    told = features.reshape(len(features), MAX_OPTIONS, OPTION_FEATURES)[rows, place]
    first = functional.relu(told @ of_features.T + (latent @ context.T)[rows] + of_actions[actions])
    values = functional.relu(functional.linear(first, hidden, biases)) @ last + told @ direct
    return torch.zeros(masks.shape, device=latent.device).index_put((rows, actions), values)


class TablePolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy with an actor that sees a seat's observation and a critic that sees all it is given.

    `actor` and `critic` are width and number of their layers. If it is `lookahead`, the last numbers it is given are
    features on its options, and at first it goes by the most telling of them (residual policy learning).
    """

    mlp_extractor: Towers  # type: ignore[assignment]  # instead of layers that know no norms
    action_net: ByFacts

    def __init__(
        self,
        *args: Any,
        edition: str,
        scale: Floats,
        actor: tuple[int, int],
        critic: tuple[int, int],
        lookahead: bool = False,
        **kwargs: Any,
    ) -> None:
        self._edition, self._scale, self._actor, self._critic, self.lookahead = edition, scale, actor, critic, lookahead
        super().__init__(*args, **kwargs)

    def _build_mlp_extractor(self) -> None:
        seen = length(slots_of(Ruleset(self._edition)))
        self.mlp_extractor = Towers(seen, self._scale, self._actor, self._critic)

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net = ByFacts(self._actor[0], action_facts(self._edition))
        if self.lookahead:
            self.option_head = OptionNetwork(self._actor[0], action_facts(self._edition))
        self.optimizer = self.optimizer_class(
            self.parameters(),
            lr=lr_schedule(1),  # type: ignore[call-arg]  # all optimizers have one
            **self.optimizer_kwargs,
        )

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: NDArray[np.bool_] | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions, values and log probabilities."""
        values, distribution = self._judged(obs, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, values, distribution.log_prob(actions)

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """Values, log probabilities of these actions, and entropies."""
        values, distribution = self._judged(obs, action_masks)
        return values, distribution.log_prob(actions), distribution.entropy()

    def get_distribution(self, obs: Any, action_masks: NDArray[np.bool_] | None = None) -> MaskableDistribution:
        """The odds of all actions."""
        return self._judged(obs, action_masks)[1]

    def _judged(self, obs: Any, action_masks: Any) -> tuple[torch.Tensor, MaskableDistribution]:
        features = self.extract_features(obs)
        assert isinstance(features, torch.Tensor)  # both towers have the same
        latent_actor, latent_critic = self.mlp_extractor(features)
        masks = None if action_masks is None else torch.as_tensor(action_masks, device=features.device).bool()
        distribution = self.action_dist.proba_distribution(action_logits=self.logits(features, latent_actor, masks))
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return self.value_net(latent_critic), distribution

    def logits(self, features: torch.Tensor, latent_actor: torch.Tensor, masks: torch.Tensor | None) -> torch.Tensor:
        """How much each action is logits."""
        logits: torch.Tensor = self.action_net(latent_actor)
        if not self.lookahead:
            return logits
        assert masks is not None, "features on options are of no use without knowing which actions are legal"
        of_options: torch.Tensor = self.option_head(latent_actor, features[:, self.mlp_extractor.known :], masks)
        return logits + of_options

    @torch.no_grad()
    def option_head_parts(self) -> OptionHead | None:
        """The option head as a model file holds it, if there is one."""
        return OptionHead(*map(_array, self.option_head.parts())) if self.lookahead else None

    @torch.no_grad()
    def actor_layers(self) -> Layers:
        """The actor as a model file holds it: on the observation as it is, with the facts multiplied in."""
        actor, last = self.mlp_extractor.actor, self.action_net
        modules: Any = zip(actor.layers, actor.norms, strict=True)
        layers = [Layer(*map(_array, (layer.weight, layer.bias, norm.weight, norm.bias))) for layer, norm in modules]
        layers[0] = layers[0]._replace(weights=layers[0].weights * _array(actor.scale))
        return [*layers, Layer(_array(last.weight()), _array(last.own.bias))]


def policy_of(learner: MaskablePPO) -> TablePolicy:
    """The policy of a learner that has ours."""
    assert isinstance(learner.policy, TablePolicy)
    return learner.policy


def _array(tensor: torch.Tensor) -> Floats:
    return tensor.detach().cpu().numpy().copy()


class Network:
    """A model as an opponent in training: layers on a device that draw actions by how much they are logits."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._layers: list[list[torch.Tensor]] = []

    def load(self, model: Model) -> None:
        """Be this model from now on."""
        self._option_head = [torch.from_numpy(part).to(self._device) for part in model.option_head or ()]
        self._layers = [
            [torch.from_numpy(part).to(self._device) for part in layer if part is not None] for layer in model.layers
        ]

    @torch.no_grad()
    def choose(
        self, observations: NDArray[np.int8], masks: NDArray[np.bool_], dice: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """A legal action for each decision."""
        legal = torch.from_numpy(masks).to(self._device)
        logits = self._logits(torch.from_numpy(observations).to(self._device).float(), legal)
        odds = torch.softmax(logits.masked_fill_(~legal, -torch.inf), 1)
        point = torch.from_numpy((dice >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)).to(self._device)
        heap = odds.cumsum(1)
        actions: NDArray[np.int64] = (heap > (point * heap[:, -1])[:, None]).int().argmax(1).cpu().numpy()
        return actions

    def _logits(self, shown: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
        seen = self._layers[0][0].shape[1]
        values = shown[:, :seen]
        for number, (weights, biases, gain, shift) in enumerate(self._layers[:-1]):
            normed = functional.layer_norm(functional.linear(values, weights, biases), gain.shape, gain, shift)
            found = functional.relu(normed)
            values = values + found if number else found
        weights, biases = self._layers[-1]
        logits = functional.linear(values, weights, biases)
        return (
            logits + option_logits(self._option_head, values, shown[:, seen:], legal) if self._option_head else logits
        )


@cache
def usual_scale(edition: str, whole_table: bool) -> Floats:
    """What to multiply each number of an observation with, so that none gets far beyond one, by games of merchants."""
    largest = np.ones(seat_spaces(Ruleset(edition), "int8", whole_table)[0].shape, np.int8)
    for players in PLAYER_COUNTS:
        ruleset = Ruleset(edition=edition, players=players)
        seats = Seats(SCALE_GAMES, ruleset, opponents=Merchant(), whole_table=whole_table, seed=0, threads=1)
        for _ in range(SCALE_STEPS):
            largest = np.maximum(largest, np.abs(seats.observation).max(0))
            seats.step(seats.batch.sample())
    scale: Floats = np.reciprocal(largest, dtype=np.float32)
    return scale
