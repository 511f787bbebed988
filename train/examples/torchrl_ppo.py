"""PPO of TorchRL learns to play Borneo against random players, in hundreds of games side by side.

python train/examples/torchrl_ppo.py --steps 120000 --seed 1

Copy this file and against_random.py beside it, and change them.
"""

from typing import Annotated

import gymnasium
import torch
import typer
from against_random import NO_CHANCE, Experiment, network, reward
from rich.progress import track
from tensordict.nn import TensorDictModule
from torch.distributions import Categorical
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

GAMES, STEPS = 256, 32  # games side by side, and decisions in each of them before an update
EPOCHS, MINIBATCH, LEARNING_RATE = 3, 1024, 1e-3
LOSSES = ("loss_objective", "loss_critic", "loss_entropy")


def make_env(seed):
    """One seat in each of many games. TorchRL tries an environment with random actions, legal or not."""
    settings = {"players": 4, "opponents": "random", "reward": reward, "dtype": "float32", "illegal": "end"}
    games = gymnasium.make_vec("borneo_env:Borneo-v0", GAMES, vectorization_mode="vector_entry_point", **settings)
    env = GymWrapper(games, categorical_action_encoding=True)
    env.set_seed(seed)
    return env


class Masked(torch.nn.Module):
    """The logits of an actor, in which actions that are not legal have no chance."""

    def __init__(self, actor):
        super().__init__()
        self.actor = actor

    def forward(self, observation, action_mask):
        return self.actor(observation).masked_fill(action_mask == 0, NO_CHANCE)


def update(loss, optimizer, batch):
    """Some epochs of PPO over a batch of decisions."""
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(batch)).split(MINIBATCH):
            losses = loss(batch[rows])
            optimizer.zero_grad()
            sum(losses[name] for name in LOSSES).backward()
            torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimizer.step()


def main(
    steps: int = 120_000,
    evaluation_games: int = 1000,
    seed: int = 0,
    as_json: Annotated[bool, typer.Option("--json")] = False,
):
    """Train a policy; print how often it wins before and after."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    env = make_env(seed)
    numbers, actions = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
    actor, critic = network(numbers, actions), ValueOperator(network(numbers, 1), in_keys=["observation"])
    logits = TensorDictModule(Masked(actor), in_keys=["observation", "action_mask"], out_keys=["logits"])
    policy = ProbabilisticActor(logits, in_keys=["logits"], distribution_class=Categorical, return_log_prob=True)
    advantages = GAE(gamma=0.99, lmbda=0.8, value_network=critic)
    loss = ClipPPOLoss(policy, critic, clip_epsilon=0.2, entropy_coeff=0.003, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), LEARNING_RATE)
    updates = max(1, steps // (GAMES * STEPS))
    decisions = updates * GAMES * STEPS
    collector = Collector(
        env, policy, frames_per_batch=GAMES * STEPS, total_frames=decisions, auto_register_policy_transforms=True
    )
    experiment = Experiment("TorchRL", actor, evaluation_games, seed)
    for batch in track(collector, "learning", updates, disable=as_json):
        with torch.no_grad():
            advantages(batch)
        update(loss, optimizer, batch.reshape(-1))
    collector.shutdown()
    experiment.end(decisions, as_json)


if __name__ == "__main__":
    typer.run(main)
