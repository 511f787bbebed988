"""PPO of Tianshou learns to play Borneo against random players.

python train/examples/tianshou_ppo.py --steps 80000 --seed 1

Copy this file and against_random.py beside it, and change them.
"""

from typing import Annotated

import numpy as np
import torch
import typer
from against_random import NO_CHANCE, Experiment, network, reward
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams

from borneo_env import BorneoEnv

GAMES, BATCH = 32, 4096  # games side by side, and decisions before an update
SETTINGS = {"gamma": 0.99, "gae_lambda": 0.8, "ent_coef": 0.003, "max_grad_norm": 0.5, "max_batchsize": BATCH}


def make_env():
    """One seat against random players. Tianshou's networks see all of an observation, so the mask is in it."""
    return BorneoEnv(players=4, opponents="random", reward=reward, mask_in_observation=True)


class Critic(torch.nn.Module):
    """What a position is worth."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, seen):
        return self.layers(torch.as_tensor(seen.observation).float())


class Actor(Critic):
    """Logits of actions; those that are not legal have no chance."""

    def forward(self, seen, state=None, info=None):
        legal = torch.as_tensor(seen.action_mask) == 1
        return super().forward(seen).masked_fill(~legal, NO_CHANCE), state


def main(
    steps: int = 80_000,
    evaluation_games: int = 1000,
    seed: int = 0,
    as_json: Annotated[bool, typer.Option("--json")] = False,
):
    """Train a policy; print how often it wins before and after."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # Tianshou shuffles with the global generator
    envs, one = DummyVectorEnv([make_env] * GAMES), make_env()
    envs.seed(seed)
    numbers, actions = one.observation_space["observation"].shape[0], one.action_space.n
    layers = network(numbers, actions)
    policy = DiscreteActorPolicy(actor=Actor(layers), action_space=one.action_space)
    optimizer = AdamOptimizerFactory(lr=1e-3)
    learner = PPO(policy=policy, critic=Critic(network(numbers, 1)), optim=optimizer, **SETTINGS)
    collector = Collector(learner, envs, VectorReplayBuffer(BATCH, GAMES))
    decisions = max(1, steps // BATCH) * BATCH
    training = OnPolicyTrainerParams(
        training_collector=collector,
        max_epochs=1,
        epoch_num_steps=decisions,
        collection_step_num_env_steps=BATCH,
        batch_size=512,
        update_step_num_repetitions=3,
        show_progress=not as_json,
        verbose=False,
    )
    experiment = Experiment("Tianshou", layers, evaluation_games, seed)
    learner.run_training(training)
    experiment.end(decisions, as_json)


if __name__ == "__main__":
    typer.run(main)
