"""PPO of TorchRL learns to play Borneo against random players, hundreds of games side by side. Copy and change it.

python train/examples/torchrl_ppo.py --minutes 3 --seed 1
"""

import json
import time
from dataclasses import asdict
from typing import Annotated

import gymnasium
import torch
import typer
from borneo_agents.arena import play_arena
from tensordict.nn import TensorDictModule
from torch.distributions import Categorical
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from borneo_env.rewards import REWARDS

GAMES, STEPS = 256, 32  # games side by side, and decisions in each of them before an update
EPOCHS, MINIBATCH, LEARNING_RATE = 3, 1024, 1e-3


def reward(ruleset, before, after):
    """The win at the end, and something for points on the way to it: wins alone are too rare to learn from."""
    return REWARDS["win"](ruleset, before, after) + REWARDS["score-delta"](ruleset, before, after) / 20


def network(inputs, outputs):
    return torch.nn.Sequential(torch.nn.Linear(inputs, 128), torch.nn.ReLU(), torch.nn.Linear(128, outputs))


class MaskedActor(torch.nn.Module):
    """Logits of actions; those that are not legal have no chance."""

    def __init__(self, numbers, actions):
        super().__init__()
        self.network = network(numbers, actions)

    def forward(self, observation, action_mask):
        return self.network(observation).masked_fill(action_mask == 0, -1e9)


class Player:
    """An actor of TorchRL as an agent: it can sit in any seat, in the arena and as an opponent."""

    memoryless = True

    def __init__(self, actor):
        self.actor = actor

    def act(self, views):
        with torch.no_grad():
            return self.actor(torch.as_tensor(views.observe()).float(), torch.as_tensor(views.mask)).argmax(1).numpy()


def wins(agent, games, seed):
    """How often an agent wins, alone at tables of three random players, with a 95 % interval."""
    agents = {"learner": agent, "random": "random"}
    rows = play_arena(agents, lineups="challenge", players=4, games=games, seed=seed).lone_seats
    return next({"games": row.games, "seed": seed} | asdict(row.win_share) for row in rows if row.agent == "learner")


def make_env(seed):
    settings = {"players": 4, "opponents": "random", "reward": reward, "dtype": "float32", "illegal": "end"}
    games = gymnasium.make_vec("borneo_env:Borneo-v0", GAMES, vectorization_mode="vector_entry_point", **settings)
    env = GymWrapper(games, categorical_action_encoding=True)
    env.set_seed(seed)
    return env


def main(minutes: float = 3, evaluation_games: int = 1000, seed: int = 0):
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    env = make_env(seed)
    numbers, actions = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
    net = MaskedActor(numbers, actions)
    logits = TensorDictModule(net, in_keys=["observation", "action_mask"], out_keys=["logits"])
    actor = ProbabilisticActor(logits, in_keys=["logits"], distribution_class=Categorical, return_log_prob=True)
    critic = ValueOperator(network(numbers, 1), in_keys=["observation"])
    gae = GAE(gamma=0.99, lmbda=0.8, value_network=critic)
    loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.003, critic_coeff=0.5, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), LEARNING_RATE)
    collector = Collector(env, actor, frames_per_batch=GAMES * STEPS, total_frames=-1)
    begun = time.monotonic()
    n = 0
    for batch in collector:
        t0 = time.monotonic()
        with torch.no_grad():
            gae(batch)
        batch = batch.reshape(-1)
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(batch)).split(MINIBATCH):
                losses = loss(batch[rows])
                sum(losses[k] for k in ("loss_objective", "loss_critic", "loss_entropy")).backward()
                torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
                optimizer.zero_grad()
        n += len(batch)
        print(n, round(time.monotonic() - begun), round(time.monotonic() - t0, 1), batch["next", "reward"][batch["next", "done"]].mean().item(), flush=True)
        if time.monotonic() - begun > 60 * minutes:
            break
    collector.shutdown()
    print(wins(Player(net), evaluation_games, seed + 1))


if __name__ == "__main__":
    typer.run(main)
