"""PPO of RLlib learns Borneo by self-play: one network plays every seat of the PettingZoo environment. Copy and change it.

python train/examples/rllib_self_play.py --minutes 5 --seed 1
"""

import json
import time
from dataclasses import asdict
from typing import Annotated

import ray
import torch
import typer
from borneo_agents.arena import play_arena
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

import borneo_env
from borneo_env.rewards import REWARDS

POLICY = "everybody"  # the one policy of all seats
PPO = {"train_batch_size_per_learner": 8000, "minibatch_size": 1000, "num_epochs": 4, "lr": 1e-3, "entropy_coeff": 0.003}
PPO |= {"gamma": 0.99, "lambda_": 0.8, "clip_param": 0.2, "vf_clip_param": 10.0, "grad_clip": 0.5}


def reward(ruleset, before, after):
    """The win at the end, and something for points on the way to it: wins alone are too rare to learn from."""
    return REWARDS["win"](ruleset, before, after) + REWARDS["score-delta"](ruleset, before, after) / 20


def network(inputs, outputs):
    return torch.nn.Sequential(torch.nn.Linear(inputs, 128), torch.nn.ReLU(), torch.nn.Linear(128, outputs))


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """An actor and a critic; actions that are not legal have no chance."""

    def setup(self):
        numbers = self.observation_space["observation"].shape[0]
        self.actor, self.critic = network(numbers, self.action_space.n), network(numbers, 1)

    def _forward(self, batch, **_):
        seen = batch[Columns.OBS]
        logits = self.actor(seen["observation"].float())
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen["action_mask"] == 0, -1e9)}

    def compute_values(self, batch, embeddings=None):
        return self.critic(batch[Columns.OBS]["observation"].float()).squeeze(-1)


def make_learner(runners, seed):
    """A learner that knows nothing yet, with processes that play."""
    register_env("borneo", lambda _: PettingZooEnv(borneo_env.env(players=4, reward=reward)))
    config = (
        PPOConfig()
        .environment("borneo", disable_env_checking=True)
        .env_runners(num_env_runners=runners, num_envs_per_env_runner=16, rollout_fragment_length="auto")
        .multi_agent(policies={POLICY}, policy_mapping_fn=lambda *_, **__: POLICY)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={POLICY: RLModuleSpec(module_class=MaskedModule)}))
        .training(**PPO)
        .debugging(seed=seed, log_level="ERROR")
    )
    return config.build_algo()


class Player:
    """A module of RLlib as an agent: it can sit in any seat, in the arena and as an opponent."""

    memoryless = True

    def __init__(self, module):
        self.module = module

    def act(self, views):
        seen = {"observation": torch.as_tensor(views.observe()), "action_mask": torch.as_tensor(views.mask)}
        with torch.no_grad():
            return self.module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS].argmax(1).numpy()


def wins(agent, games, seed):
    """How often an agent wins, alone at tables of three random players, with a 95 % interval."""
    agents = {"learner": agent, "random": "random"}
    rows = play_arena(agents, lineups="challenge", players=4, games=games, seed=seed).lone_seats
    return next({"games": row.games, "seed": seed} | asdict(row.win_share) for row in rows if row.agent == "learner")


def main(minutes: float = 5, runners: int = 2, evaluation_games: int = 1000, seed: int = 0):
    ray.init(num_cpus=runners + 1, include_dashboard=False, logging_level="ERROR")
    learner = make_learner(runners, seed)
    begun = time.monotonic()
    while time.monotonic() - begun < 60 * minutes:
        result = learner.train()
        r = result["env_runners"]
        print(round(time.monotonic() - begun), result["num_env_steps_sampled_lifetime"] if "num_env_steps_sampled_lifetime" in result else r.get("num_env_steps_sampled_lifetime"), result.get("timers", {}).get("env_runner_sampling_timer"), result.get("timers", {}).get("learner_update_timer"), flush=True)
        print(wins(Player(learner.get_module(POLICY)), 200, 5), flush=True)
    print(wins(Player(learner.get_module(POLICY)), evaluation_games, seed + 1))
    learner.stop()
    ray.shutdown()


if __name__ == "__main__":
    typer.run(main)
