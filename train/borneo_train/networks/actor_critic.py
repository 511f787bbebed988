"""An actor that sees what a seat knows, and a critic that sees the whole state and values all seats.

The verbs are `act`, `value` and `evaluate`. The state is privileged: it begins with the observation of the deciding
seat, which is all the actor sees. At its end one input per seat says whether an opponent plays it: values depend on who
plays (asymmetric actor-critic, Pinto et al. 2017, arXiv:1710.06542).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from borneo_agents.policy.model import Model
from borneo_agents.policy.network import Layer, Layers
from torch import Tensor, nn

from borneo_env.engine.observe import length, state_layout
from borneo_env.engine.state import SEATS, slots_of
from borneo_env.ruleset import Ruleset
from borneo_train.networks.cuda_graphs import side_by_side
from borneo_train.networks.mlp import Dense, apply, prepared, to_model
from borneo_train.networks.sampling import categorical, masked
from borneo_train.networks.symmetry import Feature, action_features, state_features
from borneo_train.networks.tied import Floats, TiedNetwork, Width

ACTOR_STD, CRITIC_STD = 0.01, 1.0  # of the outputs of a new actor and a new critic, about
ADAM_EPSILON = 1e-5

# How large the numbers of a block get, about, where that is more than 1.
LARGEST = {
    "hand_ages": 3, "hand_size": 6, "draw_left": 40, "ports_left": 9, "port_cards": 3, "port_flags": 5, "port_laid": 4,
    "port_limit": 5, "port_monopoly": 7, "warehouse": 2, "supply": 3, "fulfilled": 2, "scores": 20, "placed": 15,
    "owed": 4, "ranks": 4, "strength": 6, "bonus": 2, "traders": 3, "draw_order": 20, "port_order": 3,
}  # fmt: skip


class ActorCritic(NamedTuple):
    """Both networks as plain layers. They are made once for a rollout, and anew for each step of the optimiser."""

    actor: list[Dense]
    critic: list[Dense]

    def act(self, state: Tensor, mask: Tensor, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Legal actions drawn by uniform numbers `u` (n,), their log-probabilities (n,), and values (n, seats)."""
        log_probs, value = side_by_side(lambda: self._log_probs(state, mask), lambda: self.value(state), state.device)
        action = categorical(log_probs.exp() * mask, u)
        return action, log_probs.gather(1, action[:, None])[:, 0], value

    def value(self, state: Tensor) -> Tensor:
        """(n, seats): a value for each seat, counted from the deciding one."""
        return apply(self.critic, state).float()

    def evaluate(self, state: Tensor, mask: Tensor, action: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Log-probabilities of actions (n,), entropies of the decisions (n,), and values (n, seats)."""
        log_probs, value = side_by_side(lambda: self._log_probs(state, mask), lambda: self.value(state), state.device)
        entropy = -(log_probs.exp() * log_probs).sum(1)
        return log_probs.gather(1, action[:, None])[:, 0], entropy, value

    def _log_probs(self, state: Tensor, mask: Tensor) -> Tensor:
        """(n, actions): log-probabilities of legal actions; 0 elsewhere, where a CPU would be slow at exp."""
        log_probs = torch.log_softmax(masked(apply(self.actor, state), mask), 1)
        return log_probs.masked_fill(~mask, 0.0)


class Networks(nn.Module):
    """The weights of both, and their optimiser."""

    def __init__(self, kind: str, edition: str, actor: tuple[int, int], critic: tuple[int, int]) -> None:
        """`kind` is tied or plain; sizes are width and number of the layers."""
        super().__init__()
        self.actor = actor_of(kind, edition, *actor)
        self.critic = critic_of(kind, edition, *critic)

    def forward(self) -> ActorCritic:
        """Both as plain layers, as the device wants them."""
        return ActorCritic(*(prepared(network.layers(), network.scale.device) for network in (self.actor, self.critic)))

    def tensors(self, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
        """All weights and moments of the optimiser by name, in place."""
        found = dict(self.state_dict())
        for name, parameter in self.named_parameters():
            found |= {f"adam.{name}.{moment}": tensor for moment, tensor in optimizer.state[parameter].items()}
        return found

    @torch.no_grad()
    def load_model(self, model: Model, edition: str) -> None:
        """Load the weights of a policy; another size is a ValueError."""
        if model.card.edition != edition:
            raise ValueError(f"it is of the {model.card.edition} edition: train with --edition {model.card.edition}")
        if model.critic is None:
            raise ValueError("it has no critic")
        self.actor.load_layers(model.layers)
        self.critic.load_layers(model.critic)

    @torch.no_grad()
    def layers_of_model(self, return_scale: float) -> tuple[Layers, Layers]:
        """Both as a policy has them; its critic's values are on the scale of returns."""
        *before, last = to_model(self.critic.layers())
        scaled = Layer(last.weights * return_scale, last.biases * return_scale)
        return to_model(self.actor.layers()), [*before, scaled]

    def are_finite(self) -> bool:
        """Whether all weights are numbers: an update that goes much too far leaves none."""
        return bool(torch.stack([torch.isfinite(parameter).all() for parameter in self.parameters()]).all())


def adam(network: nn.Module, learning_rate: Tensor) -> torch.optim.Adam:
    """Adam, whose rate is that tensor, with its moments in place before the first step."""
    on_card = learning_rate.is_cuda
    optimizer = torch.optim.Adam(
        network.parameters(), lr=learning_rate, eps=ADAM_EPSILON, fused=True, capturable=on_card
    )
    for parameter in network.parameters():
        optimizer.state[parameter] = {
            "step": torch.zeros((), device=parameter.device),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }
    return optimizer


@cache
def scale_of(edition: str) -> Floats:
    """What each number of a state is multiplied by, so that most are about one at most."""
    blocks = state_layout(slots_of(Ruleset(edition)))
    scale = np.ones(blocks[-1].slice.stop, np.float32)
    for block in blocks:
        scale[block.slice] = 1 / LARGEST.get(block.name, 1)
    return scale


def actor_of(kind: str, edition: str, units: int, depth: int) -> TiedNetwork:
    """From what a seat knows to a logit for each action."""
    known = length(slots_of(Ruleset(edition)))
    features, scale = state_features(edition)[:known], scale_of(edition)[:known]
    return TiedNetwork(features, scale, Width.of(kind, units), depth, action_features(edition), ACTOR_STD)


def critic_of(kind: str, edition: str, units: int, depth: int) -> TiedNetwork:
    """From the whole state, and who plays, to a value for each seat, counted from the deciding one."""
    seats, flags = ([Feature((label, seat), {}, ()) for seat in range(SEATS)] for label in ("seat", "is_opponent"))
    scale = np.concatenate([scale_of(edition), np.ones(SEATS, np.float32)])
    return TiedNetwork([*state_features(edition), *flags], scale, Width.of(kind, units), depth, seats, CRITIC_STD)
